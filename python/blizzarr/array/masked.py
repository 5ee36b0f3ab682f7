"""Reading and writing with masks of the shape of a whole array, one slab along the first axis at a time.

A mask stands for the coordinates of its true elements. For a large mask, a list of these would need many times the
memory of the result. Slabs can be read one after the other, because elements are selected in C order. If many elements
of a slab are selected, the whole slab is read, and the elements are selected in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from blizzarr import indexing
from blizzarr.model import ChunkGrid
from blizzarr.transfer import Binding, as_source, read, write

LARGE = 1 << 18
"""The number of elements from which on a mask is divided into slabs."""
SLAB_BYTES = 32 << 20
"""The largest number of bytes in a slab, unless a row of chunks has more."""
DENSE = 32
"""A slab is read as a whole if at least one in this many of its elements is selected."""
BOX_BYTES = 64 << 20
"""The largest number of bytes of a slab that is read as a whole."""

Mask = npt.NDArray[np.bool_]


def is_large_mask(key: Any, shape: tuple[int, ...]) -> TypeGuard[Mask]:
    """Return whether a key is a mask of the whole array that should be divided into slabs."""
    return isinstance(key, np.ndarray) and key.dtype == bool and key.shape == shape and key.size >= LARGE


def read_mask(binding: Binding, mask: Mask, grid: ChunkGrid) -> npt.NDArray[Any]:
    """Read the elements where the mask is true, in C order."""
    elements = np.empty(np.count_nonzero(mask), binding.dtype)
    for start, part, where in _slabs(mask, grid, binding.dtype.itemsize):
        count = where.stop - where.start
        if count * DENSE >= part.size and part.size * binding.dtype.itemsize <= BOX_BYTES:
            box = read(binding, indexing.basic(slice(start, start + len(part)), mask.shape))
            elements[where] = box[part]
        else:
            elements[where] = read(binding, indexing.coordinate(_coordinates(part, start), mask.shape))
    return elements


def write_mask(binding: Binding, mask: Mask, grid: ChunkGrid, value: npt.ArrayLike) -> None:
    """Write to the elements where the mask is true; no other elements are written."""
    source = as_source(value, (int(np.count_nonzero(mask)),), binding.dtype)
    for start, part, where in _slabs(mask, grid, binding.dtype.itemsize):
        write(binding, indexing.coordinate(_coordinates(part, start), mask.shape), source[where])


def _slabs(mask: Mask, grid: ChunkGrid, itemsize: int) -> Iterator[tuple[int, Mask, slice]]:
    """Iterate over slabs with true elements: the index where each begins, its mask, and its place in the result."""
    edges, length = grid.edges[0], SLAB_BYTES // max(prod(mask.shape[1:]) * itemsize, 1)
    done = stop = 0
    while (start := stop) < mask.shape[0]:
        # As many rows of chunks as fit, but at least one.
        stop = max(edges.start(edges.locate(start)[0] + 1), edges.start(edges.locate(start + length)[0]))
        part = mask[start:stop]
        count = int(np.count_nonzero(part))
        if count:
            yield start, part, slice(done, done + count)
            done += count


def _coordinates(part: Mask, start: int) -> tuple[npt.NDArray[np.intp], ...]:
    first, *others = indexing.true_indices(part)
    return first + start, *others
