"""Doing an upgrade.

1. A record is stored, by which an interrupted upgrade is known.
2. Where chunks get other keys, they get them beside the old ones: a second link to the same file, or a copy.
3. The new documents are stored, and when all of them are there, that of the root. From then on the hierarchy has the
   new format; until then the old documents open as ever.
4. Old keys of chunks and old documents are removed, inner nodes first, and then the record.

Each step can be done again, so an upgrade that was interrupted is finished by running it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Final

from blizzarr.array.info import stored_chunks
from blizzarr.durability import as_durable_as_here, durable
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store
from blizzarr.stores.duplicate import duplicate
from blizzarr.transformers import stored_key
from blizzarr.upgrading.plan import NodeUpgrade, Upgrade
from blizzarr.upgrading.record import KEY, Record

__all__ = ["Told", "run"]

Told = Callable[[int, int], None]
"""Called with the steps that are done and the steps in all."""


_THREADS: Final = 32
"""They wait for the device more than they work: it writes what many wait for in one go."""


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
    count = _Counter((1 if switched else 2) * (len(moves) + len(nodes)), told)
    with ThreadPoolExecutor(_THREADS) as pool:

        def each(work: Callable[..., None], items: Iterable[tuple[object, ...]]) -> None:
            def one(item: tuple[object, ...]) -> None:
                work(*item)

            for _ in pool.map(as_durable_as_here(one), items):
                count()

        if not switched:
            # The old documents are removed only when a power cut can no longer take the new ones away.
            with durable("full"):
                Record(upgrade.old.name, upgrade.new.name).write(store)
                each(lambda old, new: duplicate(store, old, new), moves)
                each(lambda node: _store_documents(store, node), [(node,) for node in nodes if node.path])
            with durable("full"):
                Record(upgrade.old.name, upgrade.new.name, switching=True).write(store)
                each(lambda node: _store_documents(store, node), [(node,) for node in nodes if not node.path])
        each(lambda old, new: _remove(store, [old]), moves)
        # Inner nodes first: what is left of the old hierarchy is reached from its root.
        deepest = sorted(nodes, key=_depth, reverse=True)
        for _, level in groupby(deepest, _depth):
            each(lambda node: _remove(store, node.outdated), [(node,) for node in level])
    store.delete(KEY)


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


def _store_documents(store: Store, node: NodeUpgrade) -> None:
    for key, value in node.documents.items():
        store.set(key, value)


def _remove(store: Store, keys: Iterable[str]) -> None:
    for key in keys:
        store.delete(key)
