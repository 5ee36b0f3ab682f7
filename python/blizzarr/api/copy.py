"""Copying arrays and groups to any place, in any layout."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from blizzarr.api.open import open
from blizzarr.array import Array
from blizzarr.creation.describe import ZarrFormat, check_option_names
from blizzarr.errors import BlizzarrError, ConflictError, MetadataError, NodeExistsError, Problem
from blizzarr.formats import (
    Format,
    OmeChange,
    detect,
    encode,
    find_again,
    format_named,
    format_of,
    has_consolidated,
    ome_changes,
    translate,
    unfinished,
)
from blizzarr.group import Group, node_of
from blizzarr.group_members import as_stored, left_out, members_and_errors
from blizzarr.hierarchy.consolidate import consolidate
from blizzarr.hierarchy.place import format_above, place_node
from blizzarr.keywords import exact_keywords
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import ancestors, check_path, depth, join
from blizzarr.problems import warn
from blizzarr.stores import Store, StoreLike, resolve
from blizzarr.stores.place import is_below, lasting_place_of
from blizzarr.stores.requests import ARRAYS_AT_ONCE, complete, each, each_array, publish

if TYPE_CHECKING:
    from blizzarr.copying.array import ArrayCopy, Source
    from blizzarr.copying.elements import Lost
    from blizzarr.copying.progress import Record
    from blizzarr.distributing import Progress

_P = ParamSpec("_P")


@exact_keywords
def copy(
    source: Any,
    dest: StoreLike,
    *,
    path: str | None = "",
    progress: Progress | None = None,
    resume: bool = False,
    overwrite: bool = False,
    skip_damaged: bool | Callable[[BlizzarrError], object] = False,
    zarr_format: ZarrFormat = None,
    executor: Any = None,
    **options: Any,
) -> Array | Group:
    """Copy an array, or a group with everything in it, into any layout and any format.

    If a group has consolidated metadata, so has its copy, made anew, where the format has them. What is copied is what
    is stored, also where another program has changed it without them.

    Arrays larger than memory are copied part by part (`config.copy_bytes`), each part on all cores. If the layout stays
    the same, stored objects are copied as they are, without decoding, also damaged ones; `check` finds those in the
    copy, and with `skip_damaged` every chunk is decoded.

    A copy that was interrupted can be finished by calling again with ``resume=True``: a small record beside each
    unfinished array says how far it has come, and is removed when the array is done; one beside each group is there
    until everything is done. If the metadata of the source has changed meanwhile, the call is refused; so it is if
    chunks of a half-copied array were written, for sources in a directory or in memory. Such writes go unnoticed in
    other stores, and in arrays of a group that are done, so do not change elements before the whole copy is done.

    Parameters
    ----------
    source
        A blizzarr array or group, or the path, URL, store or mapping of one; a NumPy array; or the path of a ``.npy``
        or ``.npz`` file.
    dest
        The place of the copy: a path, URL, store or mapping.
    path
        The path of the copy in `dest`.
    progress
        Called with the bytes done and the bytes in all, at the beginning and after each part; once at a time, but
        perhaps by another thread.
    resume
        Finish an interrupted copy. Arrays that are complete are left alone.
    overwrite
        Replace what is there.
    skip_damaged
        Copy what is intact, of damaged data: chunks that cannot be decoded are left as the fill value. True: warn of
        each. A function, like the `append` of a list: call it with the error about each, and about each member of a
        group that cannot be read. A copy that goes on with ``resume=True`` tells only of what it still had to read.
    zarr_format
        The format of the copy, see `create_array`; by default that of the groups above it, otherwise that of the
        source.
    executor
        Where the work is done, in parts: a `concurrent.futures.Executor`, or a client of Dask. By default it is done
        here, on all cores. See `docs/clusters.md`. Arrays of NumPy are in the memory of this process, and copied here.
    **options
        Options of `create_array` that the copy has instead of those of the source: `chunks`, `shards`, `codecs`,
        `compressors`, `dtype`, ...; for a group, in each of its arrays. `chunks` and `shards` may also be mappings from
        the names of dimensions to lengths, ``{"time": 31, "lat": 45}``, and from the paths of arrays to any of these
        forms, ``{"/temperature": (31, 45, 90)}``; arrays and dimensions that are not mentioned stay as they are.

    Raises
    ------
    MetadataError
        If the format of the copy cannot express something; `problems` lists everything, in every node. Nothing has been
        stored then.
    BlizzarrError
        If members of a group cannot be read, and not `skip_damaged`; its class is one that fits the error of each
        member. Everything else has been copied then.
    NodeNotFoundError
        If the source is not there.
    NodeExistsError
        If something is at the destination, and neither `overwrite` nor `resume` is set.
    ConflictError
        If the source is an unfinished copy itself, and not `skip_damaged`. With `resume`, if the source has changed
        since the copy began, or the copy was begun with other options.
    ValueError
        If `resume` and `overwrite` are both set, source and destination overlap, or `chunks` or `shards` names a
        dimension or an array that is not there.
    TypeError
        If an option does not exist, or elements cannot be converted to another data type.
    CodecError
        If a chunk of the source is damaged, and not `skip_damaged`.
    ArchiveError
        If a ``.npy`` or ``.npz`` file is damaged, or has Python objects.
    StoreError
        If a store fails.
    WorkerLostError
        With `executor`, if its workers die again and again; `resume` goes on.

    Examples
    --------
    >>> import numpy as np
    >>> from blizzarr.api import create_array
    >>> target = copy(np.arange(100), {}, chunks=10)
    >>> copy(target, {}, chunks=25, compressors="gzip")[98:].tolist()
    [98, 99]
    >>> copy(target, {}, zarr_format=2).metadata.format
    'v2'
    >>> source = create_array({}, shape=(365, 90, 180), dtype="f4", dimension_names=["time", "lat", "lon"])
    >>> copy(source, {}, chunks={"time": 31, "lat": 45, "lon": 90}, shards={"time": 186}).shards
    (186, 45, 90)
    >>> _ = copy(target, {}, progress=lambda done, total: print(f"{done} of {total} bytes"))
    0 of 800 bytes
    800 of 800 bytes
    """
    from blizzarr.copying.array import ArrayCopy
    from blizzarr.copying.layout import check_layout, layout_for
    from blizzarr.copying.progress import Record
    from blizzarr.distributing import Tally, check_progress, workers_of

    check_progress(progress)
    check_option_names(options, "copy", ("path", "progress", "resume", "overwrite", "skip_damaged", "executor"))
    if resume and overwrite:
        raise ValueError("expected resume= (keep what is there) or overwrite= (remove what is there), found both")
    what = _source(source)
    target, node_path = resolve(dest, "w" if overwrite else "a", path)
    check_path(node_path)
    if isinstance(what, Array | Group):
        _refuse_overlap(what, target, node_path)
    form = _format(what, target, node_path, zarr_format)
    options["zarr_format"] = form.name
    lost: Lost | None = _one_at_a_time(skip_damaged) if callable(skip_damaged) else None
    skipped: list[BlizzarrError] = []
    unreadable: dict[str, BlizzarrError] = {}
    if skip_damaged is True:
        lost = skipped.append
    if isinstance(what, Array | np.ndarray):
        _refuse_unfinished([what], lost)
        check_layout(options, [("", what)])
        jobs = [ArrayCopy.plan(what, target, node_path, layout_for(options, "", what))]
        groups: dict[str, GroupMeta] = {}
        consolidated: list[str] = []
    else:
        jobs, groups, consolidated = _plan_group(what, target, node_path, form, options, lost, unreadable)
        for job in jobs:
            # Members may be links to other places.
            if isinstance(job.source, Array):
                _refuse_overlap(job.source, target, node_path)
    advance = Tally(progress, sum(job.source.nbytes for job in jobs))
    record = Record(target, node_path)
    stores = [job.source.store for job in jobs if isinstance(job.source, Array)]
    with complete(dest, target), workers_of(executor, *stores, *([target] if stores else [])) as workers:
        if groups:
            # A copy of the same group, or of one of its arrays, may have been interrupted.
            in_the_way = not (resume or overwrite) and detect(target, node_path) is not None
            if in_the_way and (record.read() is not None or any(job.interrupted for job in jobs)):
                raise record.refusal()
            planned = groups | {job.path: job.metadata for job in jobs}
            _place_groups(record, _group_mark(what, planned), groups, planned, resume=resume, overwrite=overwrite)
            overwrite = False
        if isinstance(what, Array | Group) and what.metadata.format != form.name:
            _warn_of_reserved(form, node_path, [*groups, *(job.path for job in jobs)])
        changed = [f"/{job.path}: {job.lost_mask}" for job in jobs if job.lost_mask is not None]
        if changed:
            warn(changed[0] + (f"; the like of {len(changed) - 1:,} more" if len(changed) > 1 else ""))

        def run(job: ArrayCopy) -> None:
            job.run(advance, resume=resume, overwrite=overwrite, lost=lost, workers=workers)

        each_array((target, *stores) if workers is None else (), run, jobs, lambda job: job.held_bytes)
        for group in consolidated if getattr(target, "supports_list", True) else ():
            consolidate(target, group, groups[group])
        if groups:
            each(target, lambda group: Record(target, group).finish(), [*groups][1:])
            record.finish()
        publish(target)
    for error in skipped:
        warn(f"not copied: {error}")
    if unreadable and lost is None:
        assert isinstance(what, Group)
        hint = "these members cannot be read, and were not copied; everything else was; skip_damaged=True reports them"
        raise left_out(what, unreadable, hint)
    metadata = detect(target, node_path, form)
    assert metadata is not None
    return node_of(target, node_path, metadata)


def _one_at_a_time(call: Callable[_P, object]) -> Callable[_P, None]:
    """Return a function that calls this one for one thread at a time."""
    lock = Lock()

    def called(*args: _P.args, **kwargs: _P.kwargs) -> None:
        with lock:
            call(*args, **kwargs)

    return called


def _warn_of_reserved(form: Format, root: str, paths: Sequence[str]) -> None:
    """Warn of names that nodes may have in the new format, but that nobody should give them."""
    for path in paths:
        reason = form.reserved(path.rpartition("/")[2]) if path != root else None
        if reason is not None:
            warn(f"/{path}: in {form.name} {reason}; it is kept")


def _source(source: Any) -> Array | Group | np.ndarray[Any, Any] | dict[str, np.ndarray[Any, Any]]:
    """Return the source as an array, a group, or NumPy arrays by name."""
    if isinstance(source, Array | Group | np.ndarray):
        return source
    if isinstance(source, str | os.PathLike):
        from blizzarr.api.numpy_files import arrays_in

        arrays = arrays_in(source)
        if arrays is not None:
            return arrays
    return open(source, mode="r")


def _format(source: Any, store: Store, path: str, zarr_format: ZarrFormat) -> Format:
    if zarr_format is not None:
        return format_named(zarr_format)
    above = format_above(store, path)
    if above is not None:
        return above
    return format_of(source.metadata) if isinstance(source, Array | Group) else format_named(None)


def _plan_group(
    source: Group | dict[str, np.ndarray[Any, Any]],
    store: Store,
    root: str,
    form: Format,
    options: dict[str, Any],
    lost: Lost | None,
    unreadable: dict[str, BlizzarrError],
) -> tuple[list[ArrayCopy], dict[str, GroupMeta], list[str]]:
    """Return the copies of all arrays, the metadata of all groups by path, and the groups to consolidate.

    The errors of members that cannot be read are added to `unreadable`, and `lost` is called with each.

    Raise `MetadataError`: with all problems of all nodes.
    """
    from blizzarr.copying.array import ArrayCopy
    from blizzarr.copying.foreign import warn_of_foreign
    from blizzarr.copying.layout import check_layout, layout_for

    groups: dict[str, GroupMeta] = {}
    consolidated: list[str] = []
    jobs = []
    problems: list[Problem] = []
    members: list[tuple[str, Source | Group | dict[str, Any]]] = [("", source), *_members(source, lost, unreadable)]
    _refuse_unfinished([node for _, node in members], lost)
    check_layout(options, members[1:])
    known = {name: node.metadata for name, node in members if isinstance(node, Array | Group)}
    changes = ome_changes(known, form.name)
    for name, node in members:
        path = join(root, name)
        change = changes.get(name)
        try:
            if isinstance(node, Group | dict):
                groups[path] = _group_meta(node, form, change)
                encode(groups[path], path)
                has = isinstance(node, Group) and node.metadata.consolidated is not None
                # Those of a group have what is in the groups below.
                if has and {*ancestors(path)}.isdisjoint(consolidated):
                    consolidated.append(path)
            else:
                own = {} if change is None else change.options
                jobs.append(ArrayCopy.plan(node, store, path, {**own, **layout_for(options, name, node)}))
        except MetadataError as error:
            problems += [problem.of_node(path) for problem in error.problems]
    if problems:
        way_out = "Nothing was copied. To go on without them, copy the other members one by one, each to its own path."
        if all(problem.path.rpartition(": ")[2].startswith(("chunks", "shards")) for problem in problems):
            way_out = "Nothing was copied. Name the dimensions, or the path of an array, to which the lengths belong."
        raise MetadataError(way_out, problems=problems, store=str(store), wanted_format=form.name)
    if isinstance(source, Group):
        there = (join(source.path, name) for name in (*known, *unreadable))
        warn_of_foreign((node for _, node in members if isinstance(node, Group)), there)
    if consolidated and not has_consolidated(form):
        warn(f"the copy has no consolidated metadata, as {form.name} has none")
        consolidated = []
    return jobs, groups, consolidated


def _group_meta(group: Group | dict[str, Any], form: Format, change: OmeChange | None) -> GroupMeta:
    if not isinstance(group, Group):
        return GroupMeta(format=form.name)
    meta = group.metadata.with_consolidated(None)
    if meta.format == form.name:
        return replace(meta, source=None)
    made = translate(meta, form, ome=change)[0]
    assert isinstance(made, GroupMeta)
    return made


def _members(
    source: Group | dict[str, np.ndarray[Any, Any]], lost: Lost | None, unreadable: dict[str, BlizzarrError]
) -> Iterator[tuple[str, Source | Group]]:
    if not isinstance(source, Group):
        yield from ((check_path(name), data) for name, data in source.items())
    else:
        nodes, errors = members_and_errors(as_stored(source), None, warns=True)
        unreadable |= errors
        if lost is not None:
            for error in errors.values():
                lost(error)
        yield from nodes


def _group_mark(source: Any, planned: Mapping[str, ArrayMeta | GroupMeta]) -> str:
    """Return what tells the copy of this group, with these documents, from any other."""
    from blizzarr.copying.progress import fingerprint

    origin = (lasting_place_of(source.store), source.path) if isinstance(source, Group) else None
    return fingerprint(
        origin, {path: [*map(bytes.decode, encode(meta, path).values())] for path, meta in planned.items()}
    )


def _place_groups(
    record: Record,
    mark: str,
    groups: dict[str, GroupMeta],
    planned: Mapping[str, ArrayMeta | GroupMeta],
    *,
    resume: bool,
    overwrite: bool,
) -> None:
    """Store the groups, outermost first, each with a record; with `resume` those that are there stay as they are.

    Members of any of them may be missing until the copy is complete, also where one is opened by itself.
    """
    store = record.store
    interrupted = resume and record.read() is not None

    def place(path: str) -> None:
        metadata = groups[path]
        here = find_again(store, path) if resume else None
        if here is not None and isinstance(here.meta, ArrayMeta):
            raise NodeExistsError("expected an interrupted copy of a group, found an array", array=f"/{path}")
        outermost = path == record.path
        if outermost and here is not None:
            record.done(mark, None, 0, planned)
        begin = partial(replace(record, path=path).write, mark, None, 0)
        if here is None or not here.documents:  # a group without a document of its own lacks the attributes
            place_node(store, path, metadata, overwrite=overwrite and outermost, before=begin, copied=True)
            return
        assert isinstance(here.meta, GroupMeta)
        bare = replace(here.meta.with_consolidated(None), source=None)
        if not interrupted and encode(bare, path) != encode(metadata, path):
            # Its attributes would stay in the place of those of the source.
            raise NodeExistsError(
                "expected an interrupted or complete copy, found another group; overwrite=True replaces it",
                array=f"/{path}",
                store=str(store),
            )
        begin()

    for _, several in groupby(sorted(groups, key=depth), depth):
        each(store, place, several, ARRAYS_AT_ONCE)


def _refuse_unfinished(sources: Iterable[object], lost: Lost | None) -> None:
    """Raise `ConflictError` if elements of a source are missing; with `lost`, call that with the error instead.

    The copy would look complete.
    """
    nodes = [source for source in sources if isinstance(source, Array | Group)]
    records = each(nodes[0].store, lambda node: unfinished(node.store, node.path), nodes) if nodes else ()
    for node, record in zip(nodes, records, strict=True):
        if record is not None:
            error = ConflictError(
                "an unfinished copy, in which elements are missing; unless it is still going on, the same copy with "
                "resume=True finishes it; skip_damaged=True copies what is there",
                array=node.name,
                store=str(node.store),
            )
            if lost is None:
                raise error
            lost(error)


def _refuse_overlap(source: Array | Group, store: Store, path: str) -> None:
    """A copy into itself would never end, and one over itself would remove what is to be copied."""
    if is_below(source.store, source.path, store, path) or is_below(store, path, source.store, source.path):
        raise ValueError(f"expected a destination outside of the source, found /{path} in {store}, which overlaps it")
