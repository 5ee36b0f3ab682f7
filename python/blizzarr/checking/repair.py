"""Repairing what a check has found: rebuilding shards and consolidated metadata, removing what is left over.

A value is replaced or removed only after a copy of it is in the quarantine. Each repair holds the locks that other
writers of this library take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Unpack

from blizzarr.array.binding import engine_handle
from blizzarr.array.exclusive import exclusive
from blizzarr.checking.check import Inventory, Options, look
from blizzarr.checking.finding import Finding
from blizzarr.checking.nodes import find_quietly
from blizzarr.checking.ome_in_v3 import KIND as OME
from blizzarr.checking.ome_in_v3 import translate_old_ome
from blizzarr.checking.quarantine import Quarantine
from blizzarr.checking.report import Repair, Report
from blizzarr.errors import BlizzarrError, UnsupportedOperationError
from blizzarr.formats import StoredNode, array_keys, chunk_store, lock_key
from blizzarr.hierarchy.consolidate import consolidate
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import ancestors, depth
from blizzarr.size_text import count_text
from blizzarr.stores import Store, check_writable

_CHUNKS = ("chunk", "checksum", "inner-chunk", "shard-index")
_HOPELESS = "nothing of it can be saved for certain, so it stays; quarantine_damaged=True moves it away"


@dataclass(frozen=True, slots=True)
class Repairs:
    """The options of a repair."""

    quarantine: Quarantine
    dry_run: bool = False
    quarantine_damaged: bool = False
    """True if objects of which nothing can be saved are moved away, so that they read as fill value afterwards."""


def check_and_repair(store: Store, path: str, how: Repairs, **options: Unpack[Options]) -> Report:
    """Check a node, repair what can be repaired, and return a report of the findings and repairs.

    Raise `PathError` if there is no valid place for the quarantine; nothing was changed then.
    """
    if not how.dry_run:
        check_writable(store, path)
        if not getattr(store, "supports_delete", True):
            raise UnsupportedOperationError(
                "this kind of store cannot replace or delete what is damaged; copy what is intact to another one, with "
                "skip_damaged=True",
                store=str(store),
            )
    report, inventory = look(store, path, **options)
    if not how.dry_run and any(finding.repairable or finding.kind in _CHUNKS for finding in report.findings):
        how.quarantine.check()
    report.repairs += _shards(store, report, inventory, how)
    report.repairs += _outside(store, inventory, how)
    report.repairs += translate_old_ome(store, report, inventory.nodes.metas, dry_run=how.dry_run)
    report.repairs += _consolidated(store, report, inventory, how)
    report.repairs += _leftovers(store, report, how)
    report.dry_run = how.dry_run
    return report


def _shards(store: Store, report: Report, inventory: Inventory, how: Repairs) -> Iterator[Repair]:
    """Repair each damaged object once, however many findings it has."""
    damaged: dict[tuple[str, str], Finding] = {}
    for finding in report.of_kind(*_CHUNKS):
        if finding.key is not None and finding.chunk is not None:
            damaged.setdefault((finding.path, finding.key), finding)
    arrays = inventory.nodes.arrays()
    for (path, key), finding in damaged.items():
        meta = arrays[path[1:]]
        assert finding.chunk is not None
        yield _salvage(store, path, key, meta, finding, how)


def _salvage(store: Store, path: str, key: str, meta: ArrayMeta, finding: Finding, how: Repairs) -> Repair:
    position = (finding.chunk or ())[: len(meta.shape)]
    # Without a certain index, the engine could only move the whole object away.
    if not (finding.repairable or how.quarantine_damaged):
        return Repair(finding.kind, path, key, _HOPELESS, False, chunk=position)
    kept: list[str] = []
    try:
        outcome, count, lost = engine_handle(store, path[1:], meta).salvage(
            position, lambda value: kept.append(how.quarantine.keep(key, value)), how.quarantine_damaged, how.dry_run
        )
    except BlizzarrError as error:
        return Repair(finding.kind, path, key, error.reason or str(error), False)
    message = {
        "rebuilt": f"rebuilt from {count_text(count, 'intact inner chunk')}, "
        f"{count_text(len(lost), 'inner chunk')} lost",
        "removed": "nothing of it can be saved; it reads as fill value",
        "hopeless": _HOPELESS,
        "intact": "nothing is wrong with it by now",
        "gone": "it is not there any more",
    }[outcome]
    # Which inner chunks a shard had cannot be known without its index.
    lost_places = (position,) if outcome == "removed" else tuple((*position, *inner) for inner in lost)
    return Repair(
        finding.kind, path, key, message, outcome != "hopeless", next(iter(kept), None), lost_places, position
    )


def _outside(store: Store, inventory: Inventory, how: Repairs) -> Iterator[Repair]:
    """Move away chunks outside the shape of their array, while its shape is locked."""
    arrays = inventory.nodes.arrays()
    for path, keys in inventory.keys.outside.items():
        meta = arrays[path]
        if how.dry_run:
            yield from (Repair("outside", f"/{path}", key, "moved away", True) for key in keys)
            continue
        try:
            # A concurrent append holds this lock, and stores chunks outside the shape before it changes the shape.
            with exclusive(store, path, lock_key(path, meta)):
                yield from list(_move_outside(store, path, meta, keys, how.quarantine))
        except BlizzarrError as error:
            yield Repair("outside", f"/{path}", None, error.reason or str(error), False)


def _move_outside(
    store: Store, path: str, meta: ArrayMeta, keys: Iterable[str], quarantine: Quarantine
) -> Iterator[Repair]:
    again = find_quietly(store, path)
    if isinstance(again, BlizzarrError):
        raise again
    now = None if again is None else again.meta
    chunks = chunk_store(store, path, meta)
    names = array_keys(path, meta)
    for key in keys:
        position = names.position(key)
        same = isinstance(now, ArrayMeta) and now.chunk_grid == meta.chunk_grid and now.chunk_keys == meta.chunk_keys
        grid = now.chunk_grid.shape(now.shape) if isinstance(now, ArrayMeta) and same else None
        if position is None or grid is None or all(map(int.__lt__, position, grid)):
            yield Repair("outside", f"/{path}", key, "the array has changed since; it stays", False)
            continue
        value = chunks.get(key)
        moved_to = None if value is None else quarantine.keep(key, bytes(value))
        chunks.delete(key)
        yield Repair("outside", f"/{path}", key, "moved away", True, moved_to)


def _consolidated(store: Store, report: Report, inventory: Inventory, how: Repairs) -> Iterator[Repair]:
    """Rebuild wrong consolidated metadata, inner groups first, since a change removes those of the groups above."""
    wrong = {finding.path[1:]: finding for finding in report.of_kind("consolidated")}
    mended = {repair.path[1:] for repair in report.repairs if repair.kind == OME}
    above = {group for path in wrong.keys() | mended for group in ancestors(path)}
    before = {path for path, group in inventory.nodes.groups().items() if group.consolidated is not None}
    by_path = {path: find_quietly(store, path) for path in above | wrong.keys()}
    groups = {path: one.meta for path, one in by_path.items() if isinstance(one, StoredNode)}
    for path in sorted(groups, key=lambda path: (-depth(path), path)):
        group, finding = groups[path], wrong.get(path)
        left_alone = how.dry_run if finding is None else not finding.repairable
        if not isinstance(group, GroupMeta) or path not in before or left_alone:
            continue
        key, kept = None if finding is None else finding.key, None
        try:
            if not how.dry_run:
                if key is not None and (value := store.get(key)) is not None:
                    kept = how.quarantine.keep(key, bytes(value))
                consolidate(store, path, group)
        except BlizzarrError as error:
            yield Repair("consolidated", f"/{path}", key, f"cannot be rebuilt: {error.line}", False)
        else:
            yield Repair("consolidated", f"/{path}", key, "rebuilt from the documents", True, kept)


def _leftovers(store: Store, report: Report, how: Repairs) -> Iterator[Repair]:
    """Remove leftovers of dead writers, whose locks nobody holds."""
    leftovers = report.of_kind("leftover")
    if not leftovers:
        return
    sweep = getattr(store, "sweep", None)
    if how.dry_run or sweep is None:
        unknown = "this store cannot tell whether its writer is dead"
        message = "removed, if its writer is dead" if how.dry_run else unknown
        yield from (Repair("leftover", finding.path, finding.key, message, how.dry_run) for finding in leftovers)
        return
    removed: set[str] = set()
    for directory in {(finding.key or "").rpartition("/")[0] for finding in leftovers}:
        try:
            removed.update(sweep(directory))
        except BlizzarrError as error:
            yield Repair("leftover", f"/{directory}", None, error.reason or str(error), False)
    for finding in leftovers:
        gone = finding.key in removed
        message = "removed" if gone else "its writer may still be at work; it stays"
        yield Repair("leftover", finding.path, finding.key, message, gone)
