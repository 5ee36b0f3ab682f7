"""Shards of Neuroglancer, ``neuroglancer_uint64_sharded_v1``: the assignment of chunks to shards.

https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/sharded.md

A chunk has a number, its compressed Morton code: the interleaved bits of its indices. In the hash of the shifted
number, the lowest bits are the number of the minishard, and the next ones that of the shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.json_values import dump
from blizzarr.neuroglancer.chunk_keys import interleaved
from blizzarr.neuroglancer.members import Members
from blizzarr.problems import Problems

HASHES: Final = ("identity", "murmurhash3_x86_128")
DATA_ENCODINGS: Final = ("raw", "gzip")
_KIND: Final = "neuroglancer_uint64_sharded_v1"
KEY_BITS: Final = 64
"""The most bits of the number of a chunk."""


@dataclass(frozen=True, slots=True)
class Sharding:
    """The parameters by which chunks are assigned to shards."""

    preshift_bits: int
    minishard_bits: int
    shard_bits: int
    hash: str
    data_encoding: str = "raw"
    minishard_index_encoding: str = "raw"

    def to_json(self) -> dict[str, Any]:
        """Return the parameters as JSON values.

        >>> Sharding(1, 2, 3, "identity").to_json()["shard_bits"]
        3
        """
        return {"@type": _KIND, **dict(sorted(asdict(self).items()))}


def index_bits(size: Sequence[int], chunk: Sequence[int]) -> tuple[int, ...]:
    """Return the number of bits of the index of a chunk along each axis.

    >>> index_bits((34432, 39552, 51508), (64, 64, 64)), index_bits((0, 64, 65), (64, 64, 64))
    ((10, 10, 10), (0, 0, 1))
    """
    return tuple([max(0, -(-length // step) - 1).bit_length() for length, step in zip(size, chunk, strict=True)])


def sharding_of(value: Any, path: str, problems: Problems) -> Sharding | None:
    """Decode the member ``sharding``; `None` if a problem was added."""
    before = len(problems.items)
    if type(value) is not dict:
        problems.add(path, "an object, or null", value)
        return None
    members = Members(value, f"{path}.", problems)
    members.one_of("@type", (_KIND,))
    preshift = members.integer("preshift_bits", 0, 64)
    minishard = members.integer("minishard_bits", 0, 32)
    shard = members.integer("shard_bits", 0, 64 - (minishard or 0))
    hash_ = members.one_of("hash", HASHES)
    data = members.one_of("data_encoding", DATA_ENCODINGS, "raw")
    index = members.one_of("minishard_index_encoding", DATA_ENCODINGS, "raw")
    members.refuse_others()
    if len(problems.items) > before:
        return None
    return Sharding(preshift, minishard, shard, hash_, data, index)  # type: ignore[arg-type]  # all are there


def shard_shape(sharding: Sharding, size: Sequence[int], chunk: Sequence[int]) -> tuple[int, ...] | None:
    """Return the most chunks that a shard holds along each axis; None where these are not a box.

    >>> shard_shape(Sharding(1, 2, 3, "identity"), (64, 64, 64), (16, 16, 16))
    (2, 2, 2)
    >>> shard_shape(Sharding(1, 2, 3, "murmurhash3_x86_128"), (64, 64, 64), (16, 16, 16))
    """
    bits = index_bits(size, chunk)
    if sharding.hash != HASHES[0]:
        return None
    if sum(bits) > sharding.preshift_bits + sharding.minishard_bits + sharding.shard_bits:
        return None
    used = [0, 0, 0]
    for axis, _ in islice(interleaved(bits), sharding.preshift_bits + sharding.minishard_bits):
        used[axis] += 1
    grid = [-(-length // step) for length, step in zip(size, chunk, strict=True)]
    return tuple([min(count, 1 << bit) for count, bit in zip(grid, used, strict=True)])


def check_key_bits(size: Sequence[int], chunk: Sequence[int]) -> None:
    """Raise if there are more chunks than the keys of shards can distinguish."""
    if sum(index_bits(size, chunk)) > KEY_BITS:
        raise SpecError(
            f'"size" of {dump(list(size))} with "chunk_size" of {dump(list(chunk))} is not compatible with sharded '
            f"format because the chunk keys would exceed {KEY_BITS} bits"
        )
