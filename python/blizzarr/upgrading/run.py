"""Running an upgrade.

1. A record is stored, by which an interrupted upgrade is recognised.
2. Chunks that need other keys get them in addition to the old ones: a second link to the same file, or a copy.
3. The new documents are stored, those of members before their group's, so that no group hides members. Where a node has
   both documents, the new one counts. Once the root has it, the hierarchy has the new format.
4. Old chunk keys and old documents are removed, inner nodes first, and then the record. Where the old documents count
   while both are there, because their format is found first, they go before the chunks, from the root on, so that no
   group that counts lacks members or attributes. The record then lists all that is to be removed.

Each step can be repeated, so running an interrupted upgrade again finishes it. What was changed in between is kept: a
node without its new document gets it, and its chunks under the new keys, again; so does one whose old document counts
while it has both. Where the new one counts, it and its chunks stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import groupby
from typing import Any, Final, Self, TypeVar

from blizzarr.array.stored import stored_chunks
from blizzarr.distributing import Progress, Tally, Workers, batches, spread
from blizzarr.durability import durable
from blizzarr.formats import Format, StoredNode, chunk_prefix, chunk_store, find_many
from blizzarr.formats.document import load
from blizzarr.model import ArrayMeta
from blizzarr.model.names import depth
from blizzarr.problems import Problems
from blizzarr.stores import Store
from blizzarr.stores.requests import delete_many, duplicate_many, set_many
from blizzarr.transformers import stored_key
from blizzarr.upgrading.plan import NodeUpgrade, Upgrade, is_found_first

T = TypeVar("T")

_IN_ONE_CALL: Final = 16384
_BY_ITSELF: Final = 64
"""Values changed between two progress reports, in stores without and (`_IN_ONE_CALL`) with calls for many values."""


KEY: Final = "blizzarr-upgrade.json"
"""The key of the record, at the root of the hierarchy."""


@dataclass(frozen=True, slots=True)
class Record:
    """The old and the new format, and which steps are done."""

    old: str
    new: str
    switching: bool = False
    """True once all new documents but the root's are stored."""
    copied: bool = False
    """True once all chunks that need other keys have them; a new document may be stored only then."""
    removed: tuple[tuple[str, ...], ...] = ()
    """The old keys of documents and chunks, in stages, where they cannot be found any more once the root is removed."""

    @classmethod
    def read(cls, store: Store) -> Self | None:
        """Read the record of an interrupted upgrade; `None` if there is none."""
        raw = store.get(KEY)
        if raw is None:
            return None
        try:
            value: Any = load(bytes(raw), Problems())
            names = str(value["old"]), str(value["new"])
            removed = tuple(tuple(map(str, stage)) for stage in value.get("removed", ()))
            return cls(*names, value["switching"] is True, value.get("copied") is True, removed)
        except (KeyError, TypeError):
            # Records are stored atomically, so this is not one.
            return None

    def write(self, store: Store) -> None:
        """Store the record."""
        store.set(KEY, json.dumps(asdict(self)).encode())


def run(
    upgrade: Upgrade,
    progress: Progress | None = None,
    *,
    record: Record | None = None,
    switched: bool = False,
    workers: Workers | None = None,
) -> None:
    """Run a planned upgrade; with `record`, go on with one that was interrupted.

    With `switched` (all new documents are stored), only remove what is old; where old documents count as long as they
    are there, first store again what may have been changed since.
    """
    store, nodes = upgrade.store, upgrade.nodes
    old_first = is_found_first(upgrade.old, upgrade.new)
    only_removing = switched and not old_first
    moving = {node.path: _moves(store, node) for node in nodes if node.moves_chunks}
    copied = record is not None and record.copied
    found = find_many(store, [*moving], [upgrade.new]) if copied and not old_first else []
    with_new = {path for path, node in zip(moving, found, strict=False) if isinstance(node, StoredNode)}
    duplicates = [move for path, moves in moving.items() if path not in with_new for move in moves]
    stale = []
    if record is not None and not only_removing:
        stale = [key for node in nodes if node.path in moving.keys() - with_new for key in _stale(store, node, moving)]
        stale += [key for node in nodes if node.documents for key in _without_need(node, upgrade.new)]
    levels = [list(level) for _, level in groupby(sorted(nodes, key=_depth, reverse=True), _depth)]
    stored = [_stages([list(node.documents.items()) for node in level]) for level in levels]
    inner = [stage for level, stages in zip(levels, stored, strict=True) if level[0].path for stage in stages]
    root = [stage for level, stages in zip(levels, stored, strict=True) if not level[0].path for stage in stages]
    chunks = [old for moves in moving.values() for old, _ in moves]
    listed: tuple[tuple[str, ...], ...] = ()
    if old_first:
        outdated = [stage for level in reversed(levels) for stage in _stages([node.outdated[::-1] for node in level])]
        before = record.removed if switched and record is not None else ()
        listed = tuple(map(tuple, [*outdated, *before, chunks]))
    # Inner nodes first, so that the rest of the old hierarchy can be reached from its root.
    removed = listed or [chunks, *(stage for level in levels for stage in _stages([node.outdated for node in level]))]
    storing = 0 if only_removing else len(stale) + len(duplicates) + sum(map(len, inner + root))
    advance = Tally(progress, storing + sum(map(len, removed)))
    begun = partial(Record, upgrade.old.name, upgrade.new.name)
    if switched:  # the root's old document may be gone: what is to be removed cannot be found without the record
        begun = partial(begun, switching=True, removed=listed)

    def all_of(work: Callable[[Store, Sequence[T]], None], items: Sequence[T]) -> None:
        at_once = _IN_ONE_CALL if hasattr(store, "set_many") else _BY_ITSELF
        for _ in spread(workers, partial(_change, work, store), batches(items, at_once, workers), advance):
            pass

    if not only_removing:
        # Nothing old is removed before the new documents would survive a power cut.
        with durable("full"):
            begun(copied=copied).write(store)
            all_of(delete_many, stale)
            all_of(duplicate_many, duplicates)
        with durable("full"):
            begun(copied=True).write(store)
            for stage in inner:
                all_of(set_many, stage)
        with durable("full"):
            Record(upgrade.old.name, upgrade.new.name, copied=True, switching=True, removed=listed).write(store)
            for stage in root:
                all_of(set_many, stage)
    for keys in removed:
        all_of(delete_many, keys)
    store.delete(KEY)


def _change(
    work: Callable[[Store, Sequence[T]], None], store: Store, some: Sequence[T], advance: Callable[[int], object]
) -> None:
    work(store, some)
    advance(len(some))


def _stages(each: Sequence[Sequence[T]]) -> list[list[T]]:
    """Return all first items, all second items, and so on; the items of one stage may be handled in any order."""
    return [[some[number] for some in each if number < len(some)] for number in range(max(map(len, each), default=0))]


def _depth(node: NodeUpgrade) -> int:
    return depth(node.path)


def _stale(store: Store, node: NodeUpgrade, moving: Mapping[str, list[tuple[str, str]]]) -> Iterator[str]:
    """Iterate over the chunks of an array under their new keys which it no longer has under the old ones."""
    assert isinstance(node.new, ArrayMeta)
    there = chunk_store(store, node.path, node.new)
    targets = {new for _, new in moving[node.path]}
    for key, _ in stored_chunks(store, node.path, node.new):
        if (stored := stored_key(there, key, store)) is not None and stored not in targets:
            yield stored


def _without_need(node: NodeUpgrade, new: Format) -> list[str]:
    """Return the keys of new documents that a node no longer needs: of attributes that are gone since, for example."""
    kept = {*node.documents, *node.outdated, *node.replaced}
    return [key for key in new.document_keys(node.path) if key not in kept]


def _moves(store: Store, node: NodeUpgrade) -> list[tuple[str, str]]:
    assert isinstance(node.old, ArrayMeta)
    assert isinstance(node.new, ArrayMeta)
    prefix, keys = chunk_prefix(node.path, node.new), node.new.chunk_keys
    here, there = (chunk_store(store, node.path, meta) for meta in (node.old, node.new))
    return [
        (old, new)
        for key, position in stored_chunks(store, node.path, node.old)
        # The plan has made sure that both are known.
        if (old := stored_key(here, key, store)) is not None
        and (new := stored_key(there, prefix + keys.key(position), store)) is not None
    ]
