"""Copying arrays and groups to any place, in any layout."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from blizzarr.api.open import open
from blizzarr.array import Array
from blizzarr.copying.array import ArrayCopy, Source, size_of
from blizzarr.errors import NodeExistsError
from blizzarr.formats import detect
from blizzarr.group import Group, node_of
from blizzarr.hierarchy.place import place_node
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import check_path, join
from blizzarr.stores import Store, StoreLike, resolve
from blizzarr.stores.place import is_below

__all__ = ["Progress", "copy"]

Progress = Callable[[int, int], None]
"""Called with the bytes that are done and the bytes in all, as they are in memory."""


def copy(
    source: Any,
    dest: StoreLike,
    *,
    path: str | None = "",
    progress: Progress | None = None,
    resume: bool = False,
    overwrite: bool = False,
    **options: Any,
) -> Array | Group:
    """Copy an array, or a group with everything in it.

    Arrays larger than memory are copied part by part (`config.copy_bytes`); each part is read and written by all cores.
    When the layout stays the same, stored objects are copied as they are, without decoding. A copy that was
    interrupted can be finished by calling again with ``resume=True``: a small record beside each unfinished array says
    how far it has come, and goes when the array is done.

    Parameters
    ----------
    source
        An array or group of ours, or where one is; a NumPy array; the path of a ``.npy`` or ``.npz`` file.
    dest
        Where to: a path, URL, store or mapping.
    path
        The path of the copy in `dest`.
    progress
        Called with the bytes done and the bytes in all, at the beginning and after each part.
    resume
        Finish a copy that was interrupted. What is complete is left alone.
    overwrite
        Replace what is there.
    **options
        What is to be different, as for `create_array`: `chunks`, `shards`, `codecs`, `compressors`, `dtype`, ...;
        of a group, in each of its arrays.

    Examples
    --------
    >>> import numpy as np
    >>> target = copy(np.arange(100), {}, chunks=10)
    >>> copy(target, {}, chunks=25, compressors="gzip")[98:].tolist()
    [98, 99]
    """
    if resume and overwrite:
        raise ValueError("expected resume= (keep what is there) or overwrite= (remove what is there), found both")
    what = _source(source)
    found, place = resolve(dest, "a", path)
    check_path(place)
    if isinstance(what, Array | Group):
        _refuse_overlap(what, found, place)
    if isinstance(what, Array | np.ndarray):
        jobs = [ArrayCopy.plan(what, found, place, options)]
        groups: dict[str, GroupMeta] = {}
    else:
        jobs, groups = _plan_group(what, found, place, options)
    meter = _Meter(progress, sum(size_of(job.source) for job in jobs))
    if groups:
        _place_groups(found, place, groups, resume=resume, overwrite=overwrite)
        overwrite = False
    for job in jobs:
        job.run(meter, resume=resume, overwrite=overwrite)
    flush = getattr(found, "flush", None)
    if flush is not None:
        flush()
    metadata = detect(found, place)
    assert metadata is not None
    return node_of(found, place, metadata)


class _Meter:
    """Adds up what is done."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self(0)

    def __call__(self, more: int) -> None:
        self._done += more
        if self._progress is not None:
            self._progress(self._done, self._total)


def _source(source: Any) -> Array | Group | np.ndarray[Any, Any] | dict[str, np.ndarray[Any, Any]]:
    """What there is to copy."""
    if isinstance(source, Array | Group | np.ndarray):
        return source
    if isinstance(source, str | os.PathLike):
        suffix = Path(source).suffix.lower()
        if suffix == ".npy" and Path(source).is_file():
            mapped: np.ndarray[Any, Any] = np.load(source, mmap_mode="r", allow_pickle=False)
            return mapped
        if suffix == ".npz" and Path(source).is_file():
            with np.load(source, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
    return open(source, mode="r")


def _plan_group(
    source: Group | dict[str, np.ndarray[Any, Any]], store: Store, place: str, options: dict[str, Any]
) -> tuple[list[ArrayCopy], dict[str, GroupMeta]]:
    """The copies of all arrays, and the metadata of all groups by path."""
    groups = {place: GroupMeta()}
    if isinstance(source, Group):
        groups[place] = GroupMeta(attributes=source.attrs.asdict(), extra=source.metadata.extra)
    jobs = []
    for name, node in _members(source):
        if isinstance(node, Group):
            groups[join(place, name)] = GroupMeta(attributes=node.attrs.asdict(), extra=node.metadata.extra)
        else:
            jobs.append(ArrayCopy.plan(node, store, join(place, name), options))
    return jobs, groups


def _members(source: Group | dict[str, np.ndarray[Any, Any]]) -> Iterator[tuple[str, Source | Group]]:
    if isinstance(source, Group):
        yield from source.walk()
    else:
        yield from ((check_path(name), data) for name, data in source.items())


def _place_groups(store: Store, place: str, groups: dict[str, GroupMeta], *, resume: bool, overwrite: bool) -> None:
    """Store the groups, outermost first; with `resume` those that are there stay as they are."""
    for path, metadata in groups.items():
        here = detect(store, path) if resume else None
        if isinstance(here, ArrayMeta):
            raise NodeExistsError("expected an interrupted copy of a group, found an array", array=f"/{path}")
        if here is None:
            place_node(store, path, metadata, overwrite=overwrite and path == place)


def _refuse_overlap(source: Array | Group, store: Store, place: str) -> None:
    """A copy into itself would never end, and one over itself would remove what is to be copied."""
    if is_below(source.store, source.path, store, place) or is_below(store, place, source.store, source.path):
        raise ValueError(f"expected a destination outside of the source, found {place!r} in {store}, which overlaps it")
