"""The keys of chunks in Neuroglancer's volumes, which are not made of indices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from blizzarr.model import ChunkKeys

NAME = "precomputed"

_MASK = 0xFFFFFFFF
_C1, _C2, _C3 = 0x239B961B, 0xAB0E9789, 0x38B34AE5
_LENGTH = 8

_INTERVAL = re.compile(r"(-?[0-9]{1,20})-(-?[0-9]{1,20})")


@dataclass(frozen=True, slots=True)
class IntervalKeys(ChunkKeys):
    """Keys that say where a chunk begins and ends along each axis; axes after these, with one chunk, are left out.

    >>> keys = IntervalKeys.of(starts=(-3, 10), lengths=(4, 2), ends=(2, 13))
    >>> keys.key((0, 1, 0)), keys.position("-3-1_12-13", 3)
    ('-3-1_12-13', (0, 1, 0))
    >>> keys.position("-3-2_12-13", 3)
    """

    starts: tuple[int, ...]
    """The beginning of the first chunk along each axis."""
    lengths: tuple[int, ...]
    """The length of a chunk along each axis."""
    ends: tuple[int, ...]
    """The end of the last chunk along each axis."""

    @classmethod
    def of(cls, starts: tuple[int, ...], lengths: tuple[int, ...], ends: tuple[int, ...]) -> Self:
        """Return the keys of an array with this grid."""
        return cls(NAME, "_", "", "", starts, lengths, ends)

    def key(self, indices: tuple[int, ...]) -> str:
        parts = []
        for index, (start, length, end) in zip(indices, self._axes, strict=False):
            first = start + index * length
            parts.append(f"{first}-{min(first + length, end)}")
        return self.separator.join(parts)

    def position(self, key: str, rank: int) -> tuple[int, ...] | None:
        matches = [_INTERVAL.fullmatch(part) for part in key.split(self.separator)]
        if len(matches) != len(self.starts):
            return None
        indices = []
        for match, start, length in zip(matches, self.starts, self.lengths, strict=True):
            if match is None:
                return None
            indices.append((int(match[1]) - start) // length)
        position = (*indices, *[0] * (rank - len(indices)))
        return position if min(indices) >= 0 and self.key(position) == key else None

    @property
    def native(self) -> dict[str, Any]:
        return {"intervals": self._axes}

    @property
    def _axes(self) -> list[tuple[int, int, int]]:
        return list(zip(self.starts, self.lengths, self.ends, strict=True))


@dataclass(frozen=True, slots=True)
class ShardKeys(ChunkKeys):
    """Keys that are the number of a chunk, and the shards of Neuroglancer, which contain the chunks of several numbers.

    https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/sharded.md

    >>> keys = ShardKeys.of((0, 0, 0), (16, 16, 16), (2, 2, 2), shifted=0, minishards=3, shards=3, murmur=False,
    ...                     gzip_index=True)
    >>> keys.key((3, 1, 2, 0)), keys.value_key((3, 1, 2, 0)), keys.native["shards"]
    ('000000000000002b', '5.shard', (0, 3, 3, False, True))
    """

    share_values: ClassVar[bool] = True

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

    @classmethod
    def of(cls, starts: tuple[int, ...], lengths: tuple[int, ...], bits: Sequence[int], **sharding: Any) -> Self:
        """Return the keys of an array with this grid."""
        return cls(NAME, "_", "", "", starts, lengths, tuple(bits), **sharding)

    def key(self, indices: tuple[int, ...]) -> str:
        """Return the number of a chunk; it is a key for this library only, as stores have those of shards."""
        return f"{self._number(indices):016x}"

    def value_key(self, indices: tuple[int, ...]) -> str:
        shifted = self._number(indices) >> self.shifted
        shard = (_murmur(shifted) if self.murmur else shifted) >> self.minishards & (1 << self.shards) - 1
        return f"{shard:0{-(-self.shards // 4)}x}.shard"

    def position(self, key: str, rank: int) -> None:
        """Return None: no stored value is a chunk."""
        return

    @property
    def native(self) -> dict[str, Any]:
        shards = self.shifted, self.minishards, self.shards, self.murmur, self.gzip_index
        return {"morton": self.bits, "shards": shards}

    def _number(self, indices: tuple[int, ...]) -> int:
        """Return the interleaved bits of the indices."""
        return sum(
            (indices[axis] >> bit & 1) << position for position, (axis, bit) in enumerate(interleaved(self.bits))
        )


def interleaved(bits: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield, for each bit of the number of a chunk from the lowest on, its axis and which bit of the index it is.

    >>> [*interleaved((2, 1, 3))]
    [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (2, 2)]
    """
    for bit in range(max(bits, default=0)):
        for axis, count in enumerate(bits):
            if bit < count:
                yield axis, bit


def _murmur(number: int) -> int:
    """Return the lower 64 bits of MurmurHash3_x86_128 of the number's bytes in little-endian order.

    https://github.com/aappleby/smhasher/wiki/MurmurHash3. The engine has the same function, to find chunks.

    >>> hex(_murmur(0))
    '0x4772b084e028ae41'
    """
    low, high = number & _MASK, number >> 32
    h1 = _rotated(low * _C1 & _MASK, 15) * _C2 & _MASK ^ _LENGTH
    h2 = _rotated(high * _C2 & _MASK, 16) * _C3 & _MASK ^ _LENGTH
    # h3 and h4 stay equal for an input of eight bytes: `h3` stands for both.
    h1 = h1 + h2 + 2 * _LENGTH & _MASK
    h2, h3 = _mixed(h2 + h1 & _MASK), _mixed(_LENGTH + h1 & _MASK)
    h1 = _mixed(h1) + h2 + 2 * h3 & _MASK
    return (h2 + h1 & _MASK) << 32 | h1


def _rotated(number: int, by: int) -> int:
    return (number << by | number >> 32 - by) & _MASK


def _mixed(h: int) -> int:
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    return h ^ h >> 16
