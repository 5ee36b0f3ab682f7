"""The bounds that volumes may have, and those that shards need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from blizzarr.errors import SpecError
from blizzarr.json_values import dump
from blizzarr.neuroglancer.sharding import index_bits

__all__ = ["LARGEST", "check_key_bits", "check_region"]

LARGEST: Final = (1 << 62) - 2
"""The last index that there can be."""
_KEY_BITS: Final = 64


def check_region(size: Sequence[int], offset: Sequence[int]) -> None:
    """Raise unless the region is valid.

    Examples
    --------
    >>> check_region((1, 2, -1), (0, 0, 0))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: "size" of [1,2,-1] and "voxel_offset" of [0,0,0] do not specify a valid region
    """
    for first, length in zip(offset, size, strict=True):
        if length < 0 or first < -LARGEST or first + length - 1 > LARGEST:
            raise SpecError(
                f'"size" of {dump(list(size))} and "voxel_offset" of {dump(list(offset))} do not specify a valid region'
            )


def check_key_bits(size: Sequence[int], chunk: Sequence[int]) -> None:
    """Raise if there are more chunks than the keys of shards can distinguish."""
    if sum(index_bits(size, chunk)) > _KEY_BITS:
        raise SpecError(
            f'"size" of {dump(list(size))} with "chunk_size" of {dump(list(chunk))} is not compatible with sharded '
            f"format because the chunk keys would exceed {_KEY_BITS} bits"
        )
