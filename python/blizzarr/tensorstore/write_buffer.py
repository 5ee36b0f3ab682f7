"""Elements in memory that were written but are not stored yet, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from math import prod
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.indexing import Lowered
from blizzarr.tensorstore.picking import Key, Pieces, Position
from blizzarr.transfer import as_source, empty_result


class WriteBuffer:
    """The elements that were written to the chunks of an array.

    `chunks` has the elements of each chunk by its position in the grid.

    - `chunk_shape`: the shape of the chunks.
    - `dtype`: the data type of the elements.

    >>> buffer = WriteBuffer((2, 3), np.dtype("int8"))
    >>> buffer.write(((4,), (1, (0, 1, 1)), False), np.array([7, 8, 9, 10]))
    >>> sorted(buffer.chunks)
    [(0, 0), (0, 1)]
    >>> buffer.read(((6,), (1, (0, 0, 1)), False), lambda out: np.zeros(6, np.int8))
    array([ 0,  7,  8,  9, 10,  0], dtype=int8)
    """

    def __init__(self, chunk_shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.chunk_shape = chunk_shape
        self.dtype = dtype
        self.chunks: dict[Position, ChunkBuffer] = {}
        self._lock = RLock()

    def write(self, lowered: Lowered, source: npt.ArrayLike, first: Position | None = None) -> None:
        """Keep a copy of elements; a later one for the same position replaces an earlier one.

        The indices of the selection count from the chunk `first`.
        """
        pieces = Pieces(lowered, self.chunk_shape, first)
        elements = as_source(source, lowered[0], self.dtype)
        if not lowered[1] and elements.size:
            elements = elements[(-1,) * elements.ndim + (...,)]
        elements = pieces.arranged(elements)
        with self._lock:
            for position, where, index in pieces:
                chunk = self.chunks.get(position)
                if chunk is None:
                    chunk = self.chunks[position] = ChunkBuffer(self.chunk_shape, self.dtype)
                chunk.put(where, elements[index])

    def read(
        self,
        lowered: Lowered,
        below: Callable[[npt.NDArray[Any] | None], npt.NDArray[Any]],
        out: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[Any]:
        """Return elements that were written; the others come from `below`, which is called only if needed."""
        pieces = Pieces(lowered, self.chunk_shape)
        hits = []
        covered = 0
        with self._lock:
            for position, where, index in pieces.within(self.chunks):
                chunk = self.chunks[position]
                written = chunk.written(where)
                if written is False:
                    continue
                values = chunk.take(where)
                hits.append((index, np.copy(written) if written is not True else True, copied(values)))
                covered += np.size(values) if written is True and lowered[1] else 0
        if covered == pieces.count and covered:
            result = empty_result(lowered[0], self.dtype) if out is None else out
        else:
            result = below(out)
        if hits:
            elements = pieces.arranged(result)
            for index, written, values in hits:
                replace(elements, index, written, values)
            pieces.put_back(elements, result)
        return result


def replace(elements: npt.NDArray[Any], index: Any, written: Any, values: npt.NDArray[Any]) -> None:
    """Replace the elements at an index by those of the values that were written: a mask has these, or True for all."""
    if written is True:
        elements[index] = values
        return
    part = elements[index]
    np.copyto(part, values, where=written)
    if not np.may_share_memory(part, elements):
        # Indices that are listed give a copy.
        elements[index] = part


_Box: TypeAlias = tuple[tuple[int, int], ...]


class ChunkBuffer:
    """Elements of a chunk, and which of them were written: all in a box, or those of a mask.

    - `shape`: the shape of the chunk.
    - `dtype`: the data type of the elements.

    >>> buffer = ChunkBuffer((4, 6), np.dtype("int8"))
    >>> buffer.put((slice(1, 3, 1), slice(0, 6, 1)), np.arange(12).reshape(2, 6))
    >>> buffer.box, buffer.mask is None
    (((1, 3), (0, 6)), True)
    >>> buffer.put((slice(3, 4, 1), slice(0, 6, 2)), np.array([[70, 71, 72]]))
    >>> buffer.mask[3].astype(int)
    array([1, 0, 1, 0, 1, 0])
    """

    __slots__ = ("box", "data", "dtype", "mask", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.data: npt.NDArray[Any] | None = None
        """The chunk; elements that were not written are undefined."""
        self.box: _Box = ((0, 0),) * len(shape)
        """The box of the written elements. Without a mask, every element in the box was written."""
        self.mask: npt.NDArray[np.bool_] | None = None
        """The written elements of the chunk, where they are no box."""

    @property
    def is_whole(self) -> bool:
        """True if every element of the chunk was written."""
        return self.covers(tuple([(0, length) for length in self.shape]))

    def covers(self, box: _Box) -> bool:
        """Return whether every element in a box was written."""
        if self.mask is not None:
            return bool(self.mask[tuple([slice(*ends) for ends in box])].all())
        return _contains(self.box, box)

    def put(self, where: Key, values: npt.NDArray[Any]) -> None:
        """Write some elements; of several for the same position the last counts."""
        box = _box_of(where)
        if box is not None and values.shape == self.shape:
            self.data, self.box, self.mask = copied(values), box, None
            return
        is_first = self.data is None
        self._allocated()[where] = copied(values) if self.dtype.hasobject else values
        if self.mask is None:
            union = box if box is None or is_first else _union(self.box, box)
            if union is not None:
                self.box = union
                return
            self.mask = self.written_mask()
        self.mask[where] = True

    def _allocated(self) -> npt.NDArray[Any]:
        if self.data is None:
            self.data = np.empty(self.shape, self.dtype)
        return self.data

    def written_mask(self) -> npt.NDArray[np.bool_]:
        """Return a mask of all elements that were written."""
        if self.mask is not None:
            return self.mask
        mask = np.zeros(self.shape, np.bool_)
        mask[tuple([slice(*ends) for ends in self.box])] = True
        return mask

    def written(self, where: Key) -> npt.NDArray[np.bool_] | bool:
        """Return a mask of those of these elements that were written; True for all of them, False for none."""
        if self.mask is None:
            box = _box_of(where)
            if box is not None:
                if _contains(self.box, box):
                    return True
                if any(high <= low or up <= down for (low, high), (down, up) in zip(self.box, box, strict=True)):
                    return False
        mask: npt.NDArray[np.bool_] = self.written_mask()[where]
        return bool(mask.flat[0]) if mask.size and (mask.all() or not mask.any()) else mask

    def take(self, where: Key) -> npt.NDArray[Any]:
        """Return some elements; those that were not written are undefined."""
        assert self.data is not None, "something was written"
        elements: npt.NDArray[Any] = self.data[where]
        return elements

    def fill(self, where: Key, values: npt.NDArray[Any]) -> None:
        """Put back elements that were written, and released since."""
        self._allocated()[where] = values

    def cut(self, shape: Sequence[int]) -> bool:
        """Forget elements outside of a shape, and return whether any are left."""
        if self.mask is not None:
            for axis, length in enumerate(shape):
                self.mask[(slice(None),) * axis + (slice(max(length, 0), None),)] = False
            return bool(self.mask.any())
        self.box = tuple([(low, min(high, length)) for (low, high), length in zip(self.box, shape, strict=True)])
        return all(low < high for low, high in self.box)

    def first_outside(self, shape: Sequence[int]) -> tuple[int, ...] | None:
        """Return the first written position outside of a shape, or None."""
        outside = self.written_mask().copy()
        outside[tuple([slice(0, max(length, 0)) for length in shape])] = False
        if not outside.any():
            return None
        return tuple(map(int, np.unravel_index(int(outside.argmax()), outside.shape)))

    def written_lines(self) -> tuple[list[npt.NDArray[np.intp] | range], bool]:
        """Return the written positions: an index array or range for each axis, whose product they are; or else one
        index array for each axis, listing them.
        """
        if self.mask is None:
            return [range(low, high) for low, high in self.box], True
        axes = range(self.mask.ndim)
        lines = [np.flatnonzero(self.mask.any(axis=tuple(other for other in axes if other != axis))) for axis in axes]
        if prod(map(len, lines)) == np.count_nonzero(self.mask):
            # Listing each element would take many times the memory of the chunk.
            return [_range(line) for line in lines], True
        return list(np.nonzero(self.mask)), False


def copied(elements: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy that is not shared with the caller: of objects, which may be lists, a deep one."""
    return deepcopy(elements) if elements.dtype.hasobject else np.array(elements, order="C")


def _range(line: npt.NDArray[np.intp]) -> npt.NDArray[np.intp] | range:
    """Return the indices as a range if they are contiguous."""
    if len(line) and line[-1] - line[0] == len(line) - 1:
        return range(int(line[0]), int(line[-1]) + 1)
    return line


def _box_of(where: Key) -> _Box | None:
    """Return the box that these positions are, or None."""
    box: list[tuple[int, int]] = []
    for picked in where:
        if not isinstance(picked, slice) or (picked.step != 1 and picked.stop - picked.start > 1):
            return None
        box.append((picked.start, picked.stop))
    return tuple(box)


def _contains(one: _Box, other: _Box) -> bool:
    return all(low <= down and up <= high for (low, high), (down, up) in zip(one, other, strict=True))


def _union(one: _Box, other: _Box) -> _Box | None:
    """Return the box that is the union of two, or None."""
    grown: list[tuple[int, int]] = []
    unlike = 0
    for (low, high), (down, up) in zip(one, other, strict=True):
        if up < low or high < down:
            return None
        unlike += (low, high) != (down, up)
        grown.append((min(low, down), max(high, up)))
    if unlike <= 1:
        return tuple(grown)
    return one if _contains(one, other) else other if _contains(other, one) else None
