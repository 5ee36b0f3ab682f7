"""The keys of chunks in Neuroglancer's volumes, which are not made of indices."""

from __future__ import annotations

import re
from dataclasses import dataclass

from blizzarr.model.murmur import murmur

__all__ = ["Intervals", "Shards"]

_INTERVAL = re.compile(r"(-?[0-9]{1,20})-(-?[0-9]{1,20})")


@dataclass(frozen=True, slots=True)
class Intervals:
    """Keys that say where a chunk begins and ends along each axis; axes after these, with one chunk, are left out.

    Examples
    --------
    >>> places = Intervals(starts=(-3, 10), lengths=(4, 2), ends=(2, 13))
    >>> places.parts((0, 1, 0)), places.position(["-3-1", "12-13"])
    (['-3-1', '12-13'], (0, 1))
    >>> places.position(["-3-2", "12-13"])
    """

    starts: tuple[int, ...]
    """The beginning of the first chunk along each axis."""
    lengths: tuple[int, ...]
    """The length of a chunk along each axis."""
    ends: tuple[int, ...]
    """The end of the last chunk along each axis."""

    def parts(self, indices: tuple[int, ...]) -> list[str]:
        """Return the part of the key for each axis."""
        found = []
        for index, start, length, end in zip(indices, self.starts, self.lengths, self.ends, strict=False):
            first = start + index * length
            found.append(f"{first}-{min(first + length, end)}")
        return found

    def position(self, parts: list[str]) -> tuple[int, ...] | None:
        """Return the position of the chunk whose key has these parts; None if there is no such chunk."""
        if len(parts) != len(self.starts):
            return None
        indices = []
        for part, start, length in zip(parts, self.starts, self.lengths, strict=True):
            found = _INTERVAL.fullmatch(part)
            if found is None:
                return None
            indices.append((int(found[1]) - start) // length)
        position = tuple(indices)
        return position if self.parts(position) == parts and min(position, default=0) >= 0 else None

    @property
    def native(self) -> list[tuple[int, int, int]]:
        """The values as the engine takes them."""
        return list(zip(self.starts, self.lengths, self.ends, strict=True))


@dataclass(frozen=True, slots=True)
class Shards:
    """Keys that are the number of a chunk, and the shard of Neuroglancer that holds the chunks of several numbers.

    https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/sharded.md

    Examples
    --------
    >>> places = Shards((0, 0, 0), (16, 16, 16), (2, 2, 2), shifted=0, minishards=3, shards=3, murmur=False,
    ...                 gzip_index=True)
    >>> places.parts((3, 1, 2, 0)), places.native
    (['000000000000002b'], (0, 3, 3, False, True))
    >>> places.stored_in((3, 1, 2, 0))
    '5.shard'
    """

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    """The beginning and the length of each axis, which the meaning of a number depends on."""
    bits: tuple[int, ...]
    """The number of bits that the index along each axis has in the number; axes after these have none."""
    shifted: int
    """The number of low bits that take no part in choosing shard and minishard (``preshift_bits``)."""
    minishards: int
    """The number of bits, after hashing, that choose the minishard (``minishard_bits``)."""
    shards: int
    """The number of bits, after those of the minishard, that choose the shard (``shard_bits``)."""
    murmur: bool
    """True if the number is hashed by MurmurHash3_x86_128; otherwise it is taken as it is."""
    gzip_index: bool
    """True if the indexes of minishards are compressed with gzip."""

    def parts(self, indices: tuple[int, ...]) -> list[str]:
        """Return the number of a chunk; it is a key for this library only, as stores have those of shards."""
        number = place = 0
        for bit in range(max(self.bits, default=0)):
            for index, bits in zip(indices, self.bits, strict=False):
                if bit < bits:
                    number |= (index >> bit & 1) << place
                    place += 1
        return [f"{number:016x}"]

    def stored_in(self, indices: tuple[int, ...]) -> str:
        """Return the key of the shard that holds a chunk."""
        shifted = int(self.parts(indices)[0], 16) >> self.shifted
        shard = (murmur(shifted) if self.murmur else shifted) >> self.minishards & (1 << self.shards) - 1
        return f"{shard:0{-(-self.shards // 4)}x}.shard"

    @property
    def native(self) -> tuple[int, int, int, bool, bool]:
        """The values as the engine takes them."""
        return self.shifted, self.minishards, self.shards, self.murmur, self.gzip_index
