"""The sharding storage transformer, version 1.0: many chunks in one stored object, a shard.

The key of a shard is that of its chunks, with each index divided by the number of chunks in a shard along that axis:
with ``chunks_per_shard = [32, 2]`` the chunks ``c96/18`` to ``c127/19`` are in the shard ``c3/9``.

Reading and writing an array goes through the engine, to which such a shard is the codec ``sharding_indexed``. This
transformer is for code that works with chunk keys; it reads and writes the same bytes.

Reading takes two requests: the indexes of all shards that are needed, then all parts of chunks. Shards may be replaced
in between, so the second request includes the indexes again, and if they differ, reading starts over.

Changing a shard reads it, combines the chunks that stay with the new ones, and replaces it as a whole, so readers find
the old or the new shard. Threads of this process take turns at a shard; changes by other processes are detected if the
store can compare before it replaces, and then the change is repeated. (No store compares before deleting: while the
last chunk of a shard is erased, another process must not set one in it. Writers of the array, which hold the locks of
the engine, are not synchronised with code that writes single keys here.)
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Final

from blizzarr.errors import ConflictError, UnsupportedOperationError
from blizzarr.problems import MISSING, Problems, lengths
from blizzarr.size_text import count_text
from blizzarr.stores import ByteRange, Listing, Replaced, Store, StoreWrapper, Value
from blizzarr.stores.keys import check_prefix, list_sorted_dir
from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.place import place_of
from blizzarr.transformers.array_keys import ArrayKeys
from blizzarr.transformers.base import StorageTransformer
from blizzarr.transformers.shard import ENTRY, Place, encode, read_indices, read_parts, take_apart
from blizzarr.transformers.store_interface import KeyRange, KeyStartValue, by_key, patched, set_partial_values

_ATTEMPTS: Final = 100
_LISTED: Final = 256
"""The number of indexes that are read at a time for listing."""


class ShardedStore(StoreWrapper):
    """The store that `ShardingTransformer` wraps around another, with additional methods for many keys at once."""

    def __init__(self, store: Store, keys: ArrayKeys, chunks_per_shard: tuple[int, ...]) -> None:
        super().__init__(store)
        self.keys, self._grid = keys, chunks_per_shard
        self._place = place_of(store)
        self._locks = _locks(_depth(store))

    def get(self, key: str) -> Value | None:
        if self._locate(key) is None:
            return self.store.get(key)
        return self.get_partial_values([(key, (0, None))])[0]

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        return self.get_partial_values([(key, (0, None)) for key in keys])

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        if self._locate(key) is None:
            return self.store.get_ranges(key, ranges)
        # The extra range tells whether there is a value if `ranges` is empty.
        parts = self.get_partial_values([(key, part) for part in (*ranges, (0, 0))])
        return None if parts[-1] is None else [part for part in parts[:-1] if part is not None]

    def get_partial_values(self, key_ranges: Iterable[KeyRange]) -> builtins.list[Value | None]:
        """Return parts of values in the order asked for, None for each whose key is missing."""
        return read_parts(self.store, [(key, part, self._locate(key)) for key, part in key_ranges])

    def size(self, key: str) -> int | None:
        located = self._locate(key)
        if located is None:
            return super().size(key)
        place, entry = located
        for index in read_indices(self.store, [place]):
            chunk = index.get(entry)
            return None if chunk is None else chunk[1]
        return None

    def set(self, key: str, value: Value) -> None:
        self.set_many([(key, value)])

    def set_many(self, items: Iterable[tuple[str, Value]]) -> None:
        """Replace several values; each shard is written once, and read only if some of its chunks stay."""
        chunks: dict[Place, dict[int, Value]] = {}
        for key, value in items:
            located = self._locate(key)
            if located is None:
                self.store.set(key, value)
            else:
                chunks.setdefault(located[0], {})[located[1]] = value
        for place, new in chunks.items():
            if len(new) == place.count:
                self._check_writable(place.key)
                with self._lock(place):
                    self.store.set(place.key, encode(place.grid, new))
            else:
                self._change(place, lambda old, new=new: {**old, **new})  # type: ignore[misc]

    def set_partial_values(self, key_start_values: Iterable[KeyStartValue]) -> None:
        """Put bytes into values; the parts of one value may not overlap. Each shard is replaced once."""
        chunks: dict[Place, dict[int, builtins.list[tuple[int, Value]]]] = {}
        others: builtins.list[KeyStartValue] = []
        for key, parts in by_key(key_start_values).items():
            located = self._locate(key)
            if located is None:
                others += [(key, start, value) for start, value in parts]
            else:
                chunks.setdefault(located[0], {})[located[1]] = parts
        if others:
            set_partial_values(self.store, others)
        for place, several in chunks.items():

            def change(
                old: dict[int, Value], several: dict[int, builtins.list[tuple[int, Value]]] = several
            ) -> dict[int, Value]:
                return {**old, **{entry: patched(old.get(entry), parts) for entry, parts in several.items()}}

            self._change(place, change)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        """Set the value only if it still is `expected`; as atomic as the `replace` of the inner store."""
        located = self._locate(key)
        if located is None:
            return super().replace(key, expected, value)
        place, entry = located

        def change(old: dict[int, Value]) -> dict[int, Value] | None:
            here = old.get(entry)
            if (here is None) != (expected is None) or (here is not None and bytes(here) != expected):
                return None
            return {**old, entry: value}

        return self._change(place, change)

    def delete(self, key: str) -> bool:
        located = self._locate(key)
        if located is None:
            return bool(self.store.delete(key))
        place, entry = located
        return self._erase(place, {entry})

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several values; each shard is replaced once, and one whose chunks are all named is not read."""
        chunks: dict[Place, builtins.set[int]] = {}
        for key in keys:
            located = self._locate(key)
            if located is None:
                self.store.delete(key)
            else:
                chunks.setdefault(located[0], builtins.set()).add(located[1])
        for place, entries in chunks.items():
            self._erase(place, entries)

    def delete_prefix(self, prefix: str) -> None:
        """Remove every key under the prefix; shards of which nothing stays are not read."""
        prefix = check_prefix(prefix)
        if self.keys.are_cut_by(prefix):
            self.erase_values(self.list(prefix))
        else:
            super().delete_prefix(prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        """Return all keys under the prefix, sorted; chunk keys come from the indexes of shards."""
        prefix = check_prefix(prefix)
        originals, places = [], []
        for key in self.store.list(self.keys.prefix if self.keys.are_cut_by(prefix) else prefix):
            position = self.keys.position(key)
            if position is None:
                originals.append(key)
            else:
                places.append(Place(key, position, self._grid))
        for start in range(0, len(places), _LISTED):
            for index in read_indices(self.store, places[start : start + _LISTED]):
                originals += [self.keys.key(index.place.chunk(entry)) for entry, _, _ in index.spans()]
        return sorted(key for key in originals if key.startswith(prefix))

    def list_dir(self, prefix: str = "") -> Listing:
        prefix = check_prefix(prefix)
        if prefix != self.keys.prefix and not self.keys.are_cut_by(prefix):
            return super().list_dir(prefix)
        return list_sorted_dir(self.list(prefix), prefix)

    def _locate(self, key: str) -> tuple[Place, int] | None:
        """Return the shard of a chunk, and the number of the chunk in it; `None` if `key` is not a chunk key."""
        position = self.keys.position(key)
        if position is None:
            return None
        shard, entry = [], 0
        for index, count in zip(position, self._grid, strict=True):
            outer, inner = divmod(index, count)
            shard.append(outer)
            entry = entry * count + inner
        return Place(self.keys.key(tuple(shard)), tuple(shard), self._grid), entry

    def _erase(self, place: Place, entries: builtins.set[int]) -> bool:
        if not self.supports_delete:
            raise UnsupportedOperationError(
                "this kind of store cannot delete", key=place.key, store=str(self), direction="delete"
            )
        if len(entries) == place.count:
            with self._lock(place):
                return bool(self.store.delete(place.key))

        def change(old: dict[int, Value]) -> dict[int, Value] | None:
            kept = {entry: value for entry, value in old.items() if entry not in entries}
            return None if len(kept) == len(old) else kept

        return self._change(place, change)

    def _change(self, place: Place, change: Callable[[dict[int, Value]], dict[int, Value] | None]) -> bool:
        """Replace a shard by one with other chunks; return False if `change` returns `None`, for no change."""
        self._check_writable(place.key)
        with self._lock(place):
            for _ in range(_ATTEMPTS):
                old = self.store.get(place.key)
                new = change({} if old is None else take_apart(old, place))
                if new is None:
                    return False
                if not new:
                    self.store.delete(place.key)
                    return True
                if super().replace(place.key, old, encode(place.grid, new)):
                    return True
        raise ConflictError(
            f"somebody else changed the shard {_ATTEMPTS} times in a row; try again", key=place.key, store=str(self)
        )

    def _lock(self, place: Place) -> threading.RLock:
        return self._locks[f"{self._place}:{place.key}"]


def _depth(store: Store | None) -> int:
    """Return the number of nested sharded stores below this one."""
    depth = 0
    while isinstance(store, StoreWrapper):
        depth += isinstance(store, ShardedStore)
        store = store.store
    return depth


_LOCKS: Final[dict[int, NamedLocks]] = {}


def _locks(depth: int) -> NamedLocks:
    """Return the locks of all stores of this depth; a holder takes further locks only at lesser depths."""
    return _LOCKS.get(depth) or _LOCKS.setdefault(depth, NamedLocks())


MAX_INDEX_BYTES: Final = 2**30
"""The largest index of a shard, in bytes; it is held in memory as a whole."""


@dataclass(frozen=True, slots=True)
class ShardingTransformer(StorageTransformer):
    """Shards of `chunks_per_shard` chunks along each axis.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> memory = MemoryStore()
    >>> store = ShardingTransformer((32, 2)).wrap(memory, ArrayKeys("data/foo/baz/", "c", "/", "c", 2))
    >>> store.set("data/foo/baz/c96/18", b"chunk")
    >>> list(memory.list()), memory.size("data/foo/baz/c3/9")
    (['data/foo/baz/c3/9'], 1029)
    >>> store.get("data/foo/baz/c96/18"), store.get("data/foo/baz/c96/19"), store.list_dir("data/foo/baz/c96/").keys
    (b'chunk', None, ('data/foo/baz/c96/18',))
    """

    name: ClassVar[str] = "sharding"
    """Used in the months before Zarr v3 was final, which has a codec instead."""
    extension: ClassVar[str] = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0"
    type: ClassVar[str] = "indexed"

    chunks_per_shard: tuple[int, ...]

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        where = f"{path}.configuration.chunks_per_shard"
        counts = lengths(configuration.get("chunks_per_shard", MISSING), where, problems, 1)
        if counts is None:
            return
        if rank is not None and len(counts) != rank:
            problems.add(where, f"{count_text(rank, 'length')}, one for each dimension", list(counts))
        elif ENTRY * prod(counts) > MAX_INDEX_BYTES:
            problems.limit(where, f"an index of at most {MAX_INDEX_BYTES:,} bytes", ENTRY * prod(counts))

    def wrap(self, store: Store, keys: ArrayKeys) -> ShardedStore:
        return ShardedStore(store, keys, self.chunks_per_shard)
