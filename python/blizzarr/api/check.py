"""Checking what is stored."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from blizzarr.array import Array
from blizzarr.group import Group
from blizzarr.keywords import exact_keywords
from blizzarr.model.names import join
from blizzarr.stores import StoreLike, resolve

if TYPE_CHECKING:
    from blizzarr.checking.check import Options
    from blizzarr.checking.report import Report
    from blizzarr.distributing import Progress


@exact_keywords
def check(
    store: StoreLike | Array | Group,
    path: str = "",
    *,
    fast: bool = False,
    repair: bool = False,
    dry_run: bool = False,
    quarantine: StoreLike | None = None,
    quarantine_damaged: bool = False,
    record: str | os.PathLike[str] | None = None,
    against: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    executor: Any = None,
) -> Report:
    """Check an array, or a group with everything below it: documents, every chunk, and what should not be there.

    Every stored chunk is decoded, on all cores, and dropped again. This takes about as long as reading everything, and
    changes nothing. If others write at the same time, the check sees each object as it is when it is read.

    With `repair`, leftovers of dead writers are removed, chunks outside the shape are moved away, stale consolidated
    metadata is made anew, and the intact inner chunks of a damaged shard are put into a new shard. Before anything is
    replaced or moved, its bytes are copied to the quarantine. Inner chunks that are lost are listed, and read as the
    fill value from then on. Chunks that cannot be decoded stay as they are, and keep raising errors.

    Parameters
    ----------
    store
        A path, URL, store, mapping, array or group.
    path
        The node in it; by default the root.
    fast
        Check only sizes and the indexes of shards, not every byte.
    repair
        Repair what can be repaired.
    dry_run
        With `repair`: only report what would be done.
    quarantine
        The place for damaged bytes: a directory or store outside the data. For a directory ``data.zarr`` the default
        is the directory ``data.zarr.quarantine`` beside it; for other stores it must be given.
    quarantine_damaged
        With `repair`: also move chunks of which nothing can be saved to the quarantine; they then read as the fill
        value.
    record
        A file outside the data. If nothing is damaged, checksums of everything are written to it: a manifest. If its
        name ends with ``.gz``, it is compressed; otherwise ``sha256sum --check`` can read it, too.
    against
        A manifest. Differences from it are reported, too: `changed`, `missing`, and, as a warning, `new`.
    progress
        Called with the number of stored objects that are done, and their number in all.
    executor
        Where the work is done, in parts: a `concurrent.futures.Executor`, or a client of Dask. By default it is done
        here, on all cores. See `docs/clusters.md`.

    Returns
    -------
    The report, worst findings first: `findings`, each with `kind`, `severity`, `path`, `key`, `chunk`, `codec`,
    `message` and `advice`; `ok` is True if nothing is damaged, and everything could be checked; `repairs` lists the
    repairs. Print it for a readable version.

    Raises
    ------
    NodeNotFoundError
        If there is nothing to check.
    PathError
        If something would be replaced but there is no place to keep it, or if the manifest would be among the data.
    ConflictError
        If the manifest is that of another node.
    ValueError
        If arguments contradict each other: more than one of `record`, `against` and `repair`, or `dry_run` without
        `repair`.
    StoreError
        If the store fails, or cannot list.
    WorkerLostError
        With `executor`, if its workers die again and again.

    Examples
    --------
    >>> import blizzarr
    >>> memory = {}
    >>> z = blizzarr.create_array(memory, name="t", data=[1, 2, 3, 4], chunks=2, dtype="int8")
    >>> memory["t/c/1"] = memory["t/c/1"][:-3]
    >>> report = blizzarr.check(memory)
    >>> report.ok, [(finding.kind, finding.key, finding.chunk) for finding in report.findings]
    (False, [('chunk', 't/c/1', (1,))])
    """
    from blizzarr import checking
    from blizzarr.distributing import check_progress, workers_of
    from blizzarr.hierarchy.root_above import root_above

    check_progress(progress)
    if dry_run and not repair:
        raise ValueError("expected dry_run with repair=True: a check changes nothing anyway")
    if (record is not None) + (against is not None) + repair > 1:
        raise ValueError("expected one of record, against and repair")
    if isinstance(store, Array | Group):
        resolved, inner = store.store, join(store.path, path)
    else:
        resolved, inner = resolve(store, "r+" if repair and not dry_run else "r", path)
        # A node of the draft has no directory of its own.
        resolved, inner = root_above(resolved, inner) or (resolved, inner)
    with workers_of(executor, resolved) as workers:
        options: Options = {"fast": fast, "progress": progress, "workers": workers}
        if record is not None:
            return checking.check_and_record(resolved, inner, record, **options)
        if against is not None:
            return checking.check_against(resolved, inner, against, **options)
        if not repair:
            return checking.look(resolved, inner, **options)[0]
        how = checking.Repairs(checking.Quarantine(resolved, quarantine), dry_run, quarantine_damaged)
        return checking.check_and_repair(resolved, inner, how, **options)
