"""Upgrading stored data to a newer format."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from blizzarr.creation.describe import ZarrFormat
from blizzarr.errors import PathError, UnsupportedOperationError
from blizzarr.formats import Format, StoredNode, find_many, format_named, format_of, read_node
from blizzarr.group import Group, node_of
from blizzarr.group_members import as_stored, members_and_errors
from blizzarr.keywords import exact_keywords
from blizzarr.problems import warn
from blizzarr.stores import Store, StoreLike, check_writable, resolve

if TYPE_CHECKING:
    from blizzarr.distributing import Progress
    from blizzarr.upgrading.plan import Upgrade

_SHOWN: Final = 5
"""The most nodes that a warning names."""


@exact_keywords
def upgrade(
    store: StoreLike,
    *,
    to: ZarrFormat = "v3",
    dry_run: bool = False,
    progress: Progress | None = None,
    executor: Any = None,
) -> Upgrade:
    """Give a whole hierarchy the metadata of another format, in place; the bytes of its chunks stay as they are.

    Chunks of v1 and v2 keep their keys, which v3 can express. Chunks of the draft of v3 get new keys: a second link to
    the same file on local file systems, and a copy elsewhere; the old keys go at the end. Until the new document of the
    root is stored, the old documents open as before. To finish an interrupted upgrade, call again. Nobody should write
    to the data in the meantime.

    Parameters
    ----------
    store
        The root of a hierarchy: a path, URL, store or mapping.
    to
        The format, see `create_array`.
    dry_run
        Change nothing, and return what would be done.
    progress
        Called with the number of steps done and of steps in all.
    executor
        Where the work is done, in parts: a `concurrent.futures.Executor`, or a client of Dask. By default it is done
        here, on all cores. See `docs/clusters.md`.

    Returns
    -------
    The upgrade that was done or, with `dry_run`, would be done: `nodes`, `problems`. Print it for the differences.

    Raises
    ------
    MetadataError
        If the format cannot express something, or something cannot be read; the error lists all obstacles, in every
        node. Nothing has been changed then. Not raised with `dry_run`.
    NodeNotFoundError
        If there is nothing.
    PathError
        If `store` is not the root of a hierarchy.
    UnsupportedOperationError
        If the store cannot delete, also with `dry_run`, or an upgrade to another format was interrupted.
    ReadOnlyError
        If the store was opened for reading.
    StoreError
        If the store fails; call again to go on.
    WorkerLostError
        With `executor`, if its workers die again and again; call again to go on.

    Examples
    --------
    >>> import blizzarr
    >>> memory = {}
    >>> z = blizzarr.create_array(memory, name="t", data=[1, 2, 3], zarr_format=2)
    >>> print(upgrade(memory, dry_run=True))  # doctest: +ELLIPSIS
    1 array and 1 group to upgrade from v2 to v3 in <MappingStore over dict at 0x...>
    >>> upgrade(memory).done, sorted(memory)
    (True, ['t/0', 't/zarr.json', 'zarr.json'])
    """
    from blizzarr.distributing import check_progress, workers_of
    from blizzarr.hierarchy.changing import changing
    from blizzarr.upgrading.plan import Upgrade, plan
    from blizzarr.upgrading.run import Record, run

    check_progress(progress)
    resolved, path = resolve(store, "r" if dry_run else "r+")
    if path:
        raise PathError(
            f"expected the root of a hierarchy, found the path {path!r} in {resolved}: nodes above it would not find "
            "it any more; upgrade the whole"
        )
    record = Record.read(resolved)
    old = format_of(read_node(resolved, "")) if record is None else format_named(record.old)
    new = format_named(to)
    # The new document of the root is stored last: if it is there, all others are.
    root = find_many(resolved, [""], [new])[0]
    switched = record is not None and record.switching and isinstance(root, StoredNode)
    if record is not None and record.new != new.name:
        raise UnsupportedOperationError(
            f"an upgrade to {record.new} was interrupted here: finish it first, with to={record.new!r}",
            store=str(resolved),
        )
    if old is new:
        _warn_of_others(resolved, new)
        return Upgrade(resolved, old, new, ())
    resumed = record is not None and record.copied
    planned = plan(resolved, old, new, resumed=resumed, switched=switched)
    if not getattr(resolved, "supports_delete", True):
        # A dry run says so, too: it is what the real one would do.
        raise UnsupportedOperationError(
            "this kind of store cannot delete, so the old documents would stay; make a new one instead: "
            f"{_copy_command(str(resolved), new.name)}",
            store=str(resolved),
            direction="delete",
        )
    if dry_run:
        return planned
    planned.raise_problems()
    check_writable(resolved, "")
    # Groups around the store may list what it has in their consolidated metadata.
    with changing(resolved, ""), workers_of(executor, resolved) as workers:
        run(planned, progress, record=record, switched=switched, workers=workers)
    return replace(planned, done=True)


def _copy_command(path: str, form: str) -> str:
    """Return the command line that writes a copy in another format beside a store.

    >>> _copy_command("my data.zip", "v3")
    "blizzarr copy 'my data.zip' 'my data-v3.zip' --format v3"
    """
    base, ending = os.path.splitext(path)
    return shlex.join(["blizzarr", "copy", path, f"{base}-{form}{ending}", "--format", form])


def _warn_of_others(store: Store, form: Format) -> None:
    """Warn of nodes below that have another format than the root, if the store can list them."""
    root = node_of(store, "", read_node(store, ""))
    if not isinstance(root, Group) or not getattr(store, "supports_list", True):
        return
    members, _ = members_and_errors(as_stored(root), None)
    others = {path: node.metadata.format for path, node in members if node.metadata.format != form.name}
    # Whoever upgrades a group upgrades what is below it.
    tops = [path for path in others if path.rpartition("/")[0] not in others]
    if tops:
        shown = ", ".join(f"/{path} ({others[path]})" for path in tops[:_SHOWN])
        more = f" and {len(tops) - _SHOWN:,} more" if len(tops) > _SHOWN else ""
        warn(
            f"{store}: the hierarchy has the format {form.name} already, but {shown}{more} in it do not; "
            "upgrade each of them by a path or URL of its own"
        )
