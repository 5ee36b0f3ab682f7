"""What keys of chunks tell in place of indices, in formats that name chunks otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass

from blizzarr.model.murmur import murmur

__all__ = ["Intervals", "Shards"]

_INTERVAL = re.compile(r"(-?[0-9]{1,20})-(-?[0-9]{1,20})")


@dataclass(frozen=True, slots=True)
class Intervals:
    """Where a chunk begins and ends along each axis; further axes are not told, as there is one chunk along them.

    Examples
    --------
    >>> places = Intervals(starts=(-3, 10), lengths=(4, 2), ends=(2, 13))
    >>> places.parts((0, 1, 0)), places.position(["-3-1", "12-13"])
    (['-3-1', '12-13'], (0, 1))
    >>> places.position(["-3-2", "12-13"])
    """

    starts: tuple[int, ...]
    """Where the first chunk along each axis begins."""
    lengths: tuple[int, ...]
    ends: tuple[int, ...]
    """Where the last chunk along each axis ends."""

    def parts(self, indices: tuple[int, ...]) -> list[str]:
        """The part of the key for each axis."""
        found = []
        for index, start, length, end in zip(indices, self.starts, self.lengths, self.ends, strict=False):
            first = start + index * length
            found.append(f"{first}-{min(first + length, end)}")
        return found

    def position(self, parts: list[str]) -> tuple[int, ...] | None:
        """The indices that these parts tell; None if no chunk has them."""
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
        """As the engine takes them."""
        return list(zip(self.starts, self.lengths, self.ends, strict=True))


@dataclass(frozen=True, slots=True)
class Shards:
    """A number for each chunk, and which shard of Neuroglancer that is in: several chunks are one stored value.

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
    """Where the axes begin, and how long they are: of other ones the same number is another chunk."""
    bits: tuple[int, ...]
    """How many bits of the index along each axis the number has; of further axes none."""
    shifted: int
    """How many bits of the number tell neither a shard nor a minishard."""
    minishards: int
    shards: int
    """How many of the others, hashed, tell a minishard, and a shard."""
    murmur: bool
    """Whether they are hashed, by MurmurHash3_x86_128."""
    gzip_index: bool

    def parts(self, indices: tuple[int, ...]) -> list[str]:
        """The key of a chunk, which no store has: its number."""
        number = place = 0
        for bit in range(max(self.bits, default=0)):
            for index, bits in zip(indices, self.bits, strict=False):
                if bit < bits:
                    number |= (index >> bit & 1) << place
                    place += 1
        return [f"{number:016x}"]

    def stored_in(self, indices: tuple[int, ...]) -> str:
        """The key of the shard that a chunk is in."""
        shifted = int(self.parts(indices)[0], 16) >> self.shifted
        shard = (murmur(shifted) if self.murmur else shifted) >> self.minishards & (1 << self.shards) - 1
        return f"{shard:0{-(-self.shards // 4)}x}.shard"

    @property
    def native(self) -> tuple[int, int, int, bool, bool]:
        """As the engine takes them."""
        return self.shifted, self.minishards, self.shards, self.murmur, self.gzip_index
