"""Mapping keys and prefixes of chunks to those of shards, and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from blizzarr.transformers.array_keys import ArrayKeys
from blizzarr.transformers.shard import Place


@dataclass(frozen=True, slots=True)
class ShardKeys:
    """The keys of chunks and of shards, which have the same form.

    >>> keys = ShardKeys(ArrayKeys("data/foo/", "c", "/", "c", 2), (32, 2))
    >>> place, entry = keys.locate("data/foo/c97/19")
    >>> place.key, entry, keys.chunk(place, entry)
    ('data/foo/c3/9', 3, 'data/foo/c97/19')
    >>> keys.inside("data/foo/c97/"), list(keys.outside("data/foo/c3/"))[:2]
    ('data/foo/c3/', ['data/foo/c96/', 'data/foo/c97/'])
    """

    keys: ArrayKeys
    chunks_per_shard: tuple[int, ...]

    def locate(self, key: str) -> tuple[Place, int] | None:
        """Return the shard of a chunk, and the number of the chunk in it; `None` if `key` is not a chunk key."""
        position = self.keys.position(key)
        if position is None:
            return None
        shard, entry = [], 0
        for index, count in zip(position, self.chunks_per_shard, strict=True):
            outer, inner = divmod(index, count)
            shard.append(outer)
            entry = entry * count + inner
        return self._place(tuple(shard)), entry

    def shard(self, key: str) -> Place | None:
        """Return the shard that is stored under a key; `None` if `key` is not that of a shard."""
        position = self.keys.position(key)
        return None if position is None else self._place(position)

    def chunk(self, place: Place, entry: int) -> str:
        """Return the key of a chunk from its number in a shard."""
        return self.keys.key(place.chunk(entry))

    def inside(self, prefix: str) -> str:
        """Return the prefix of all shards that have chunks under a prefix."""
        leading = self.keys.leading(prefix)
        if leading is None:
            return prefix
        pairs = zip(leading, self.chunks_per_shard, strict=False)
        return self.keys.prefix_of(tuple(index // count for index, count in pairs))

    def outside(self, prefix: str) -> Iterator[str]:
        """Yield the prefixes of all chunks in the shards under a prefix."""
        leading = self.keys.leading(prefix)
        if leading is None:
            yield prefix
            return
        pairs = zip(leading, self.chunks_per_shard, strict=False)
        for chunk in product(*(range(index * count, (index + 1) * count) for index, count in pairs)):
            yield self.keys.prefix_of(chunk)

    def is_whole(self, prefix: str) -> bool:
        """Return whether every shard with a chunk under a prefix has all its chunks under it."""
        leading = self.keys.leading(prefix) or ()
        return all(count == 1 for count in self.chunks_per_shard[: len(leading)])

    def _place(self, position: tuple[int, ...]) -> Place:
        return Place(self.keys.key(position), position, self.chunks_per_shard)
