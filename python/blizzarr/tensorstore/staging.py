"""What a transaction has gathered for one array: the elements that were written, and which they are.

Both are kept as arrays in memory, with the chunks of the array and no codecs, so that the engine reads and writes them
through the very selections that are used for the array. When it is committed, each chunk is written once.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.api.create import create_array
from blizzarr.array import Array
from blizzarr.array.binding import bind
from blizzarr.array.info import stored_chunks
from blizzarr.errors import SpecError
from blizzarr.futures import submit
from blizzarr.indexing import Lowered
from blizzarr.stores import MemoryStore
from blizzarr.transactions import Transaction
from blizzarr.transfer import Binding, read, write

__all__ = ["Staged", "staged_in"]


def staged_in(transaction: Transaction, array: Array, key: object) -> Staged:
    """What this transaction has for an array."""
    return transaction.join(key, lambda: Staged(array, transaction.atomic))


class Staged:
    """Elements that are to be written to an array."""

    def __init__(self, array: Array, atomic: bool) -> None:
        self._array = array
        self._binding: Binding = bind(array.store, array.path, array.metadata)
        self._atomic = atomic
        chunks = array.metadata.write_shape
        self._data = _scratch(array.shape, chunks, array.metadata.dtype.numpy)
        self._mask = _scratch(array.shape, chunks, np.dtype(bool))

    def read(self, lowered: Lowered, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """What is stored, and over it what was written."""
        found: npt.NDArray[Any] = read(self._binding, lowered, out)
        mask = read(_bound(self._mask), lowered)
        if mask.any():
            found[mask] = read(_bound(self._data), lowered)[mask]
        return found

    def write(self, lowered: Lowered, source: npt.NDArray[Any]) -> None:
        """Keep what is to be written."""
        write(_bound(self._data), lowered, source)
        write(_bound(self._mask), lowered, True)

    def commit(self) -> None:
        """Write each chunk once."""
        positions = [position for _, position in stored_chunks(self._mask.store, self._mask.path, self._mask.metadata)]
        if self._atomic and len(positions) > 1:
            raise SpecError(f"Cannot commit {len(positions)} chunks of {self._array!r} as a single atomic transaction")
        for future in [submit(partial(self._commit_chunk, position)) for position in positions]:
            future.result()

    def _commit_chunk(self, position: tuple[int, ...]) -> None:
        chunks = self._array.metadata.write_shape
        starts = [index * length for index, length in zip(position, chunks, strict=True)]
        box = tuple(
            slice(start, min(start + length, size))
            for start, length, size in zip(starts, chunks, self._array.shape, strict=True)
        )
        mask, data = np.asarray(self._mask[box]), np.asarray(self._data[box])
        if mask.all():
            axes = tuple((dim, part.start, 1) for dim, part in enumerate(box))
            write(self._binding, (data.shape, axes, False), data)
            return
        points = np.nonzero(mask)
        listed = tuple(((0,), start + found) for start, found in zip(starts, points, strict=True))
        write(self._binding, (points[0].shape, listed, False), data[points])

    def abort(self) -> None:
        """Forget it."""
        self._data = self._mask = _scratch((0,), (1,), np.dtype(bool))


def _scratch(shape: tuple[int, ...], chunks: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    return create_array(
        MemoryStore(), shape=shape, chunks=chunks, dtype=dtype, fill_value=None, compressors=None, filters=None
    )


def _bound(array: Array) -> Binding:
    return array._binding or array._bind()
