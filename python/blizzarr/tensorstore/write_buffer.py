"""Elements in memory that were written but are not stored yet, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from math import prod
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.indexing import Lowered
from blizzarr.tensorstore.picking import Key, Pieces, Position
from blizzarr.transfer import as_source, empty_result


class WriteBuffer:
    """The elements that were written to an array: in `chunks`, those of each chunk by its position in the grid."""

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


class ChunkBuffer:
    """Elements of a chunk, and which of them were written."""

    __slots__ = ("data", "dtype", "mask", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.data: npt.NDArray[Any] | None = None
        """The chunk; elements that were not written are undefined."""
        self.mask: npt.NDArray[np.bool_] | None = np.zeros((1,) * len(shape), np.bool_)
        """The written elements, of length 1 along axes that were always written whole; None for all elements."""

    @property
    def is_whole(self) -> bool:
        """True if every element of the chunk was written."""
        return self.mask is None or bool(self.mask.all())

    def covers(self, box: Sequence[tuple[int, int]]) -> bool:
        """Return whether every element in a box was written."""
        return bool(self.written_mask()[tuple([slice(*ends) for ends in box])].all())

    def put(self, where: Key, values: npt.NDArray[Any]) -> None:
        """Write some elements; of several for the same position the last counts."""
        if values.shape == self.shape and all(isinstance(along, slice) for along in where):
            self.data, self.mask = copied(values), None
            return
        self.fill(where, copied(values) if self.dtype.hasobject else values)
        self._mark(where, True)

    def _mark(self, where: Key, written: bool) -> None:
        """Put into the mask whether some elements were written."""
        if self.mask is None:
            if written:
                return
            self.mask = np.ones((1,) * len(self.shape), np.bool_)
        axes = list(zip(where, self.shape, self.mask.shape, strict=True))
        parts = [not isinstance(along, slice) or along != slice(0, length, 1) for along, length, _ in axes]
        extent = tuple([length if part else kept for part, (_, length, kept) in zip(parts, axes, strict=True)])
        if extent != self.mask.shape:
            mask = np.zeros(extent, np.bool_)
            # Of the rest, the system provides no memory yet.
            np.copyto(mask, True, where=self.mask)
            self.mask = mask
        key: Any = tuple([along if part else slice(None) for part, along in zip(parts, where, strict=True)])
        self.mask[key] = written

    def written_mask(self) -> npt.NDArray[np.bool_]:
        """Return a mask of all elements that were written; it cannot be changed."""
        return np.broadcast_to(True if self.mask is None else self.mask, self.shape)

    def written(self, where: Key) -> npt.NDArray[np.bool_] | bool:
        """Return a mask of those of these elements that were written; True for all of them, False for none."""
        if self.mask is None:
            return True
        mask: npt.NDArray[np.bool_] = self.written_mask()[where]
        return bool(mask.flat[0]) if mask.size and (mask.all() or not mask.any()) else mask

    def take(self, where: Key) -> npt.NDArray[Any]:
        """Return some elements; those that were not written are undefined."""
        assert self.data is not None, "something was written"
        return self.data[where]

    def fill(self, where: Key, values: npt.NDArray[Any]) -> None:
        """Put elements where they belong, also those that were written, and released since."""
        if self.data is None:
            self.data = np.empty(self.shape, self.dtype)
        self.data[where] = values

    def cut(self, shape: Sequence[int]) -> bool:
        """Forget elements outside of a shape, and return whether any are left."""
        whole = [slice(0, length, 1) for length in self.shape]
        for axis, length in enumerate(shape):
            if length < self.shape[axis]:
                outside = slice(max(length, 0), self.shape[axis], 1)
                self._mark((*whole[:axis], outside, *whole[axis + 1 :]), False)
        return self.mask is None or bool(self.mask.any())

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
        if self.mask is None or self.is_whole:
            return list(map(range, self.shape)), True
        mask, axes = self.written_mask(), range(len(self.shape))
        lines = [np.flatnonzero(mask.any(axis=tuple(other for other in axes if other != axis))) for axis in axes]
        if prod(map(len, lines)) != np.count_nonzero(mask):
            return list(np.nonzero(mask)), False
        # Listing each element would take many times the memory of the chunk.
        return [
            range(int(line[0]), int(line[-1]) + 1) if len(line) and line[-1] - line[0] == len(line) - 1 else line
            for line in lines
        ], True


def copied(elements: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a copy that is not shared with the caller: of objects, which may be lists, a deep one."""
    return deepcopy(elements) if elements.dtype.hasobject else np.array(elements, order="C")
