"""Elements that were written but are not stored yet, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.indexing import Lowered
from blizzarr.tensorstore.cell import Cell, copied
from blizzarr.tensorstore.pieces import Pieces, Position
from blizzarr.transfer import as_source, empty_result


class Gathered:
    """The elements that were written to the chunks of an array.

    Parameters
    ----------
    chunks
        The shape of the chunks.
    dtype
        That of the elements.

    Examples
    --------
    >>> gathered = Gathered((2, 3), np.dtype("int8"))
    >>> gathered.write(((4,), (1, (0, 1, 1)), False), np.array([7, 8, 9, 10]))
    >>> sorted(gathered.cells)
    [(0, 0), (0, 1)]
    >>> gathered.read(((6,), (1, (0, 0, 1)), False), lambda out: np.zeros(6, np.int8))
    array([ 0,  7,  8,  9, 10,  0], dtype=int8)
    """

    def __init__(self, chunks: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.chunks = chunks
        self.dtype = dtype
        self.cells: dict[Position, Cell] = {}
        self._lock = RLock()

    def write(self, lowered: Lowered, source: npt.ArrayLike) -> None:
        """Keep a copy of elements; a later one for the same position replaces an earlier one."""
        pieces = Pieces(lowered, self.chunks)
        elements = as_source(source, lowered[0], self.dtype)
        if not lowered[1] and elements.size:
            elements = elements[(-1,) * elements.ndim + (...,)]
        elements = pieces.arranged(elements)
        with self._lock:
            for position, where, index in pieces:
                cell = self.cells.get(position)
                if cell is None:
                    cell = self.cells[position] = Cell(self.chunks, self.dtype)
                cell.put(where, elements[index])

    def read(
        self,
        lowered: Lowered,
        below: Callable[[npt.NDArray[Any] | None], npt.NDArray[Any]],
        out: npt.NDArray[Any] | None = None,
    ) -> npt.NDArray[Any]:
        """Return elements that were written; the others come from `below`, which is called only if needed."""
        pieces = Pieces(lowered, self.chunks)
        with self._lock:
            hits = []
            covered = 0
            for position, where, index in pieces.within(self.cells):
                written = self.cells[position].written(where)
                if written is False:
                    continue
                values = self.cells[position].take(where)
                hits.append((index, np.copy(written) if written is not True else True, copied(values)))
                covered += np.size(values) if written is True and lowered[1] else 0
        if covered == pieces.count and covered:
            found = empty_result(lowered[0], self.dtype) if out is None else out
        else:
            found = below(out)
        if hits:
            _put(pieces, found, hits)
        return found


def _put(pieces: Pieces, found: npt.NDArray[Any], hits: list[Any]) -> None:
    elements = pieces.arranged(found)
    for index, written, values in hits:
        if written is True:
            elements[index] = values
        else:
            part = elements[index]
            np.copyto(part, values, where=written)
            if not np.may_share_memory(part, elements):
                # Indices that are listed give a copy.
                elements[index] = part
    if pieces.is_listed and not np.shares_memory(elements, found):
        found[...] = elements.reshape(found.shape)
