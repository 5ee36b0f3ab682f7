"""Masks of the shape of a whole array, a slab at a time.

A mask stands for the coordinates of its true elements; for a large one their list would need many times the memory of
the result. In the order of a mask, slabs along the first axis follow each other, so each is done by itself. Where a
slab is dense enough, its box is read and picked from in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from blizzarr import indexing
from blizzarr.transfer import Binding, as_source, read, write

__all__ = ["is_large_mask", "read_mask", "write_mask"]

LARGE = 1 << 18
"""Elements from which on a mask is taken apart."""
SLAB = 1 << 22
"""Elements of a slab, at most, unless a row of chunks has more."""
DENSE = 32
"""A box is read when one in this many of its elements is wanted."""
BOX_BYTES = 64 << 20
"""No larger boxes are read."""

Mask = npt.NDArray[np.bool_]


def is_large_mask(key: Any, shape: tuple[int, ...]) -> TypeGuard[Mask]:
    """Whether this is a mask of the whole array that should be taken apart."""
    return isinstance(key, np.ndarray) and key.dtype == bool and key.shape == shape and key.size >= LARGE


def read_mask(binding: Binding, mask: Mask, chunk_shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The elements where the mask is true, in C order."""
    found = np.empty(np.count_nonzero(mask), binding.dtype)
    for start, part, where in _slabs(mask, chunk_shape):
        count = where.stop - where.start
        if count * DENSE >= part.size and part.size * binding.dtype.itemsize <= BOX_BYTES:
            box = read(binding, indexing.basic(slice(start, start + len(part)), mask.shape))
            found[where] = box[part]
        else:
            found[where] = read(binding, indexing.coordinate(_coordinates(part, start), mask.shape))
    return found


def write_mask(binding: Binding, mask: Mask, chunk_shape: tuple[int, ...], value: npt.ArrayLike) -> None:
    """Write to where the mask is true; only those elements are touched, whatever else is written meanwhile."""
    source = as_source(value, (int(np.count_nonzero(mask)),), binding.dtype)
    for start, part, where in _slabs(mask, chunk_shape):
        write(binding, indexing.coordinate(_coordinates(part, start), mask.shape), source[where])


def _slabs(mask: Mask, chunk_shape: tuple[int, ...]) -> Iterator[tuple[int, Mask, slice]]:
    """Where slabs begin that have true elements, their masks, and the places of those elements in the result."""
    row = chunk_shape[0] * prod(mask.shape[1:])
    length = chunk_shape[0] * max(1, SLAB // max(row, 1))
    done = 0
    for start in range(0, mask.shape[0], length):
        part = mask[start : start + length]
        count = int(np.count_nonzero(part))
        if count:
            yield start, part, slice(done, done + count)
            done += count


def _coordinates(part: Mask, start: int) -> tuple[npt.NDArray[np.intp], ...]:
    first, *others = part.nonzero()
    return first + start, *others
