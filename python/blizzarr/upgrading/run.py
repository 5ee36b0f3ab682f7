"""Doing an upgrade.

1. A record is stored, by which an interrupted upgrade is known.
2. Where chunks get other keys, they get them beside the old ones: a second link to the same file, or a copy.
3. The new documents are stored, and when all of them are there, that of the root. From then on the hierarchy has the
   new format; until then the old documents open as ever.
4. Old keys of chunks and old documents are removed, inner nodes first, and then the record.

Each step can be done again, so an upgrade that was interrupted is finished by running it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final, TypeVar

from blizzarr.array.stored import stored_chunks
from blizzarr.durability import durable
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store
from blizzarr.stores.many import delete_many, duplicate_many, set_many
from blizzarr.transformers import stored_key
from blizzarr.upgrading.plan import NodeUpgrade, Upgrade
from blizzarr.upgrading.record import KEY, Record

__all__ = ["Told", "run"]

Told = Callable[[int, int], None]
"""Called with the steps that are done and the steps in all."""

T = TypeVar("T")

_IN_ONE_CALL: Final = 16384
_BY_ITSELF: Final = 64
"""So many values are changed, by a store that changes many in one call and by others, before the user is told."""


class _Counter:
    """Counts steps for whoever shows them."""

    def __init__(self, total: int, told: Told | None) -> None:
        self._done, self._total, self._told = 0, total, told
        self(0)

    def __call__(self, more: int = 1) -> None:
        self._done += more
        if self._told is not None:
            self._told(self._done, self._total)


def run(upgrade: Upgrade, told: Told | None = None, *, switched: bool = False) -> None:
    """Do what was planned; only the last step when the new documents count already."""
    store, nodes = upgrade.store, upgrade.nodes
    moves = [move for node in nodes if node.moves_chunks for move in _moves(store, node)]
    inner, root = [node for node in nodes if node.path], [node for node in nodes if not node.path]
    # Inner nodes first: what is left of the old hierarchy is reached from its root.
    levels = [list(level) for _, level in groupby(sorted(nodes, key=_depth, reverse=True), _depth)]
    outdated = [stage for level in levels for stage in _stages([node.outdated for node in level])]
    stored = [_stages([list(node.documents.items()) for node in some]) for some in (inner, root)]
    count = _Counter(
        (1 if switched else 2) * len(moves)
        + (0 if switched else sum(map(len, stored[0] + stored[1])))
        + sum(map(len, outdated)),
        told,
    )

    def all_of(work: Callable[[Store, Sequence[T]], None], items: Sequence[T]) -> None:
        at_once = _IN_ONE_CALL if hasattr(store, "set_many") else _BY_ITSELF
        for start in range(0, len(items), at_once):
            some = items[start : start + at_once]
            work(store, some)
            count(len(some))

    if not switched:
        # The old documents are removed only when a power cut can no longer take the new ones away.
        with durable("full"):
            Record(upgrade.old.name, upgrade.new.name).write(store)
            all_of(duplicate_many, moves)
            for stage in stored[0]:
                all_of(set_many, stage)
        with durable("full"):
            Record(upgrade.old.name, upgrade.new.name, switching=True).write(store)
            for stage in stored[1]:
                all_of(set_many, stage)
    all_of(delete_many, [old for old, _ in moves])
    for gone in outdated:
        all_of(delete_many, gone)
    store.delete(KEY)


def _stages(each: Sequence[Sequence[T]]) -> list[list[T]]:
    """The first of each, the second of each, and so on: those of one stage may be dealt with in any order."""
    return [[some[number] for some in each if number < len(some)] for number in range(max(map(len, each), default=0))]


def _depth(node: NodeUpgrade) -> int:
    return node.path.count("/") + 1 if node.path else 0


def _moves(store: Store, node: NodeUpgrade) -> list[tuple[str, str]]:
    """Old and new keys of what is stored of the chunks of an array."""
    assert isinstance(node.old, ArrayMeta)
    assert isinstance(node.new, ArrayMeta)
    prefix, keys = chunk_prefix(node.path, node.new), node.new.chunk_keys
    here, there = (chunk_store(store, node.path, meta) for meta in (node.old, node.new))
    return [
        (old, new)
        for key, position in stored_chunks(store, node.path, node.old)
        # The plan has seen to it that both can be said.
        if (old := stored_key(here, key, store)) is not None
        and (new := stored_key(there, prefix + keys.key(position), store)) is not None
    ]
