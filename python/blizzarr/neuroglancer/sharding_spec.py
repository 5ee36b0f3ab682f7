"""Shards in specs, and the boxes of a volume that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.json_values import dump, expected
from blizzarr.neuroglancer.sharding import DATA_ENCODINGS, HASHES, Sharding, index_bits
from blizzarr.spec.members import Members, as_integer, one_of

__all__ = ["data_encoding", "shard_shape", "sharding_from_json"]

_KIND: Final = "neuroglancer_uint64_sharded_v1"

data_encoding: Final = one_of(*DATA_ENCODINGS)


def sharding_from_json(value: Any) -> Sharding:
    """Parse the member ``sharding``.

    Examples
    --------
    >>> sharding_from_json({"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 65})
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Error parsing object member "preshift_bits": Expected integer ... received: 65
    """

    def kind(value: Any) -> str:
        if value != _KIND:
            raise expected(value, dump(_KIND))
        return _KIND

    members = Members(value)
    members.take("@type", kind)
    preshift = members.take("preshift_bits", as_integer(0, 64))
    minishard = members.take("minishard_bits", as_integer(0, 32))
    shard = members.take("shard_bits", as_integer(0, 64 - minishard))
    hash_ = members.take("hash", one_of(*HASHES))
    data = members.take("data_encoding", data_encoding, "raw")
    index = members.take("minishard_index_encoding", data_encoding, "raw")
    members.end()
    return Sharding(preshift, minishard, shard, hash_, data, index)


def shard_shape(sharding: Sharding, size: Sequence[int], chunk: Sequence[int]) -> tuple[int, ...] | None:
    """Return the most chunks that a shard holds along each axis; None where these are not a box.

    Examples
    --------
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
    dim = 0
    for _ in range(min(sharding.preshift_bits + sharding.minishard_bits, sum(bits))):
        while used[dim] == bits[dim]:
            dim = (dim + 1) % 3
        used[dim] += 1
        dim = (dim + 1) % 3
    grid = [-(-length // step) for length, step in zip(size, chunk, strict=True)]
    return tuple([min(count, 1 << bit) for count, bit in zip(grid, used, strict=True)])


def check_is_sharded(sharding: Sharding | None, said: str | None) -> None:
    """Raise if an encoding of the data of shards is given, but there are no shards."""
    if said is not None and sharding is None:
        raise SpecError("shard_data_encoding requires sharded format")
