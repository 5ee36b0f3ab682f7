"""Shards of Neuroglancer, ``neuroglancer_uint64_sharded_v1``: the assignment of chunks to shards.

https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/sharded.md

A chunk has a number, its compressed Morton code: the interleaved bits of its indices. In the hash of the shifted
number, the lowest bits are the number of the minishard, and the next ones that of the shard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.json_members import Members, as_integer, one_of
from blizzarr.json_values import dump, expected
from blizzarr.problems import Problems

HASHES: Final = ("identity", "murmurhash3_x86_128")
DATA_ENCODINGS: Final = ("raw", "gzip")
_KIND: Final = "neuroglancer_uint64_sharded_v1"
KEY_BITS: Final = 64
"""The most bits of the number of a chunk."""

data_encoding: Final = one_of(*DATA_ENCODINGS)
"""A parser of the encoding of the data of shards, or of the indexes of minishards."""


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
    left = dict(value)
    options: dict[str, Any] = {}
    if left.pop("@type", None) != _KIND:
        problems.add(f"{path}.@type", f'"{_KIND}"', value.get("@type"))
    most = {"preshift_bits": 64, "minishard_bits": 32}
    for name in ("preshift_bits", "minishard_bits", "shard_bits"):
        limit = most.get(name, 64 - options.get("minishard_bits", 0))
        bits = left.pop(name, None)
        if type(bits) is float and bits.is_integer():
            bits = int(bits)
        if type(bits) is not int or not 0 <= bits <= limit:
            problems.add(f"{path}.{name}", f"an integer in [0, {limit}]", bits)
            bits = 0
        options[name] = bits
    for name, choices in (
        ("hash", HASHES),
        ("data_encoding", DATA_ENCODINGS),
        ("minishard_index_encoding", DATA_ENCODINGS),
    ):
        options[name] = left.pop(name, "raw" if choices is DATA_ENCODINGS else None)
        if options[name] not in choices:
            problems.add(f"{path}.{name}", f"one of {', '.join(choices)}", options[name])
    for name, other in left.items():
        problems.add(f"{path}.{name}", "no such member", other)
    return None if len(problems.items) > before else Sharding(**options)


def sharding_from_json(value: Any) -> Sharding:
    """Parse the member ``sharding``.

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


def check_is_sharded(sharding: Sharding | None, encoding: str | None) -> None:
    """Raise if an encoding of the data of shards is given, but there are no shards."""
    if encoding is not None and sharding is None:
        raise SpecError("shard_data_encoding requires sharded format")


def check_key_bits(size: Sequence[int], chunk: Sequence[int]) -> None:
    """Raise if there are more chunks than the keys of shards can distinguish."""
    if sum(index_bits(size, chunk)) > KEY_BITS:
        raise SpecError(
            f'"size" of {dump(list(size))} with "chunk_size" of {dump(list(chunk))} is not compatible with sharded '
            f"format because the chunk keys would exceed {KEY_BITS} bits"
        )
