"""Codec chains of arrays, and of those whose last axis is the stored bytes of each element.

Writing to a part of that axis is merged into chunks like any other partial write, and leaves the other bytes of each
element unchanged; this is how a field of a struct is written. The bytes are in stored order, without swapping.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from blizzarr import _native
from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType
from blizzarr.dtypes.data_type import Swap
from blizzarr.model import ArrayMeta

LONG_FILL = 4096
"""Codec chains with fill values of this many bytes or more are not kept."""


def chains_of(metadata: ArrayMeta, *, by_bytes: bool = False) -> Callable[[tuple[int, ...]], _native.Chain]:
    """Return the function that prepares the engine's codec chain for chunks of a shape, of elements or of bytes."""
    fill = metadata.dtype.fill_bytes(metadata.fill_value)
    kept = _chain_of_bytes if by_bytes else _chain
    return partial(kept if len(fill) < LONG_FILL else kept.__wrapped__, metadata.dtype, fill, metadata.codecs)


@lru_cache(256)
def _chain(dtype: DataType, fill: bytes, codecs: CodecChain, shape: tuple[int, ...]) -> _native.Chain:
    return _native.Chain(shape, dtype.itemsize, fill, dtype.boolean, codecs.steps(dtype, shape))


@lru_cache(64)
def _chain_of_bytes(dtype: DataType, fill: bytes, codecs: CodecChain, shape: tuple[int, ...]) -> _native.Chain:
    steps, swap = _of_bytes(codecs.steps(dtype, shape[:-1]), len(shape) - 1, dtype.itemsize)
    return _native.Chain(shape, 1, _swapped(fill, swap), False, steps)


def swap_of_bytes(metadata: ArrayMeta) -> Swap:
    """Return how the stored bytes of an element differ from those in memory; 0 if they do not."""
    return _of_bytes(metadata.codecs.steps(metadata.dtype, metadata.largest), len(metadata.shape), 1)[1]


def _of_bytes(steps: list[Any], rank: int, itemsize: int) -> tuple[list[Any], Swap]:
    """Return the steps for chunks with one more axis, and the byte swapping that was taken out of them."""
    longer: list[Any] = []
    swap: Swap = 0
    for step in steps:
        name = step[0]
        if name == "transpose":
            longer.append((name, (*step[1], rank)))
        elif name == "bytes":
            swap = step[1]
            longer.append((name, 0))
        elif name == "shard":
            _, shape, inner, index, *rest = step
            inner, swap = _of_bytes(inner, rank, itemsize)
            longer.append((name, (*shape, itemsize), inner, _of_grid(index, rank), *rest))
        else:
            longer.append(step)
    return longer, swap


def _of_grid(steps: list[Any], rank: int) -> list[Any]:
    """Return the steps of a shard index whose grid has one more axis, of length 1, before that of offset and length."""
    return [
        (step[0], (*(axis + (axis == rank) for axis in step[1]), rank)) if step[0] == "transpose" else step
        for step in steps
    ]


def _swapped(element: bytes, swap: Swap) -> bytes:
    """Return the bytes of an element in stored order."""
    if not isinstance(swap, tuple):
        unit = swap or 1
        return b"".join(element[start : start + unit][::-1] for start in range(0, len(element), unit))
    pieces, start = [], 0
    for length, inner in swap:
        run = element[start : start + length]
        size = _unit(inner) or length
        pieces += [_swapped(run[at : at + size], inner) for at in range(0, length, size)]
        start += length
    return b"".join(pieces)


def _unit(swap: Swap) -> int:
    """Return the number of bytes after which the swapping pattern repeats; 0 if nothing is swapped."""
    return sum(length for length, _ in swap) if isinstance(swap, tuple) else swap
