"""Elements that were written but are not stored yet, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.indexing import Lowered
from blizzarr.tensorstore.chunk_buffer import ChunkBuffer, copied
from blizzarr.tensorstore.pieces import Pieces, Position
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
