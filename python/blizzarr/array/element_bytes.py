"""The stored bytes of elements as an axis of their own, behind those of the array.

What is written through it is merged into the chunks as every other part of them, and leaves the rest of each element
as it is: so a field of a struct is written. Nothing is turned around: the bytes are in the order in which they are
stored.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from blizzarr import _native
from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType
from blizzarr.dtypes.data_type import Swap
from blizzarr.model import ArrayMeta

__all__ = ["chain_of_bytes"]

LONG_FILL = 4096
"""Layouts with fill values of so many bytes are not kept prepared."""
_REMEMBERED = 64


def chain_of_bytes(metadata: ArrayMeta) -> _native.Chain:
    """What the engine knows of a chunk of bytes.

    Examples
    --------
    >>> import blizzarr
    >>> z = blizzarr.create_array({}, shape=(4,), chunks=(2,), dtype=[("a", "u1"), ("b", "i2")])
    >>> chain_of_bytes(z.metadata).length
    6
    """
    fill = metadata.dtype.fill_bytes(metadata.fill_value)
    prepare = _chain if len(fill) < LONG_FILL else _chain.__wrapped__
    return prepare(metadata.write_shape, metadata.dtype, fill, metadata.codecs)


@lru_cache(_REMEMBERED)
def _chain(shape: tuple[int, ...], dtype: DataType, fill: bytes, codecs: CodecChain) -> _native.Chain:
    steps, swap = _of_bytes(codecs.steps(dtype, shape), len(shape), dtype.itemsize)
    return _native.Chain((*shape, dtype.itemsize), 1, _swapped(fill, swap), False, steps)


def _of_bytes(steps: list[Any], rank: int, itemsize: int) -> tuple[list[Any], Swap]:
    """The steps for chunks with an axis more, and what they turned around."""
    found: list[Any] = []
    swap: Swap = 0
    for step in steps:
        name = step[0]
        if name == "transpose":
            found.append((name, (*step[1], rank)))
        elif name == "bytes":
            swap = step[1]
            found.append((name, 0))
        elif name == "shard":
            _, shape, inner, index, at_start = step
            inner, swap = _of_bytes(inner, rank, itemsize)
            found.append((name, (*shape, itemsize), inner, _of_grid(index, rank), at_start))
        else:
            found.append(step)
    return found, swap


def _of_grid(steps: list[Any], rank: int) -> list[Any]:
    """The steps of an index whose grid has an axis more, of length 1, before the last, which has offset and length."""
    return [
        (step[0], (*(axis + (axis == rank) for axis in step[1]), rank)) if step[0] == "transpose" else step
        for step in steps
    ]


def _swapped(element: bytes, swap: Swap) -> bytes:
    """An element as it is stored.

    Examples
    --------
    >>> _swapped(bytes([1, 2, 3, 4, 5]), ((4, 2), (1, 0)))
    b'\\x02\\x01\\x04\\x03\\x05'
    """
    if not isinstance(swap, tuple):
        unit = swap or 1
        return b"".join(element[start : start + unit][::-1] for start in range(0, len(element), unit))
    found, start = [], 0
    for length, inner in swap:
        run = element[start : start + length]
        size = _unit(inner) or length
        found += [_swapped(run[at : at + size], inner) for at in range(0, length, size)]
        start += length
    return b"".join(found)


def _unit(swap: Swap) -> int:
    """The bytes after which it begins anew; 0 if nothing is turned around."""
    return sum(length for length, _ in swap) if isinstance(swap, tuple) else swap
