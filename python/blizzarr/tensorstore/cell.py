"""The elements in memory that were written to one chunk."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Picked: TypeAlias = slice | npt.NDArray[np.int64]
"""Along an axis: a range of indices with a step above zero, or each of them."""
Where: TypeAlias = tuple[Picked, ...]
"""All combinations of them: a plain tuple has ranges only."""


class Listed(tuple[Picked, ...]):
    """All combinations of indices that are listed along some axes."""

    __slots__ = ()


class Points(tuple[npt.NDArray[np.int64], ...]):
    """Single positions: an index array for each axis."""

    __slots__ = ()


_Box: TypeAlias = tuple[tuple[int, int], ...]


class Cell:
    """Elements of a chunk, and which of them were written: all in a box, or those of a mask.

    Places are within the chunk. As long as all was written as one box there is room for no more than that.

    Parameters
    ----------
    shape
        That of the chunk.
    dtype
        That of the elements.

    Examples
    --------
    >>> cell = Cell((4, 6), np.dtype("int8"))
    >>> cell.put((slice(1, 3, 1), slice(0, 6, 1)), np.arange(12).reshape(2, 6))
    >>> cell.box, cell.mask is None, cell.data.shape
    (((1, 3), (0, 6)), True, (2, 6))
    >>> cell.put((slice(3, 4, 1), slice(0, 6, 2)), np.array([[70, 71, 72]]))
    >>> cell.mask[3].astype(int)
    array([1, 0, 1, 0, 1, 0])
    """

    __slots__ = ("_is_full", "box", "data", "dtype", "lower", "mask", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.lower = (0,) * len(shape)
        """The origin of `data`."""
        self.data: npt.NDArray[Any] | None = None
        self._is_full = False
        """True if `data` has room for the whole chunk."""
        self.box: _Box = ((0, 0),) * len(shape)
        """Nothing outside of it was written, and all in it, unless there is a mask."""
        self.mask: npt.NDArray[np.bool_] | None = None
        """Of the whole chunk."""

    @property
    def is_whole(self) -> bool:
        """True if every element of the chunk was written."""
        if self.mask is not None:
            return bool(self.mask.all())
        return self.box == tuple([(0, length) for length in self.shape])

    def put(self, where: Where, values: npt.NDArray[Any]) -> None:
        """Write some elements; of several for the same place the last counts."""
        mask = self.mask
        box = _box_of(where) if mask is None or not self._is_full else None
        if box is not None and mask is None and (self.data is None or _contains(box, self.box)):
            self.data = copied(values)
            self.box = box
            self.lower = tuple([low for low, _ in box])
            self._is_full = self.data.shape == self.shape
            return
        if not self._is_full and (box is None or not _contains(self._extent(), box)):
            self._spread()
        data = self.data
        assert data is not None, "there is room"
        data[where if self._is_full and type(where) is tuple else _at(where, self.lower)] = (
            copied(values) if self.dtype.hasobject else values
        )
        if mask is None:
            union = None if box is None else _union(self.box, box)
            if union is not None:
                self.box = union
                return
            mask = self.mask = self._masked()
        mask[where if type(where) is tuple else _at(where)] = True

    def _extent(self) -> _Box:
        assert self.data is not None, "there is some"
        return tuple([(low, low + length) for low, length in zip(self.lower, self.data.shape, strict=True)])

    def _spread(self) -> npt.NDArray[Any]:
        """Make room for the whole chunk."""
        before, lower = self.data, self.lower
        if before is not None and self._is_full:
            return before
        self._is_full = True
        self.data = data = np.empty(self.shape, self.dtype)
        self.lower = (0,) * len(self.shape)
        if before is not None:
            data[tuple([slice(low, low + length) for low, length in zip(lower, before.shape, strict=True)])] = before
        return data

    def _masked(self) -> npt.NDArray[np.bool_]:
        mask = np.zeros(self.shape, np.bool_)
        mask[tuple([slice(*ends) for ends in self.box])] = True
        return mask

    def written(self, where: Where) -> npt.NDArray[np.bool_] | bool:
        """Return a mask of the elements that were written; True for all of them, False for none."""
        if self.mask is None:
            box = _box_of(where)
            if box is not None:
                if _contains(self.box, box):
                    return True
                if any(high <= low or up <= down for (low, high), (down, up) in zip(self.box, box, strict=True)):
                    return False
        mask = self._masked() if self.mask is None else self.mask
        found: npt.NDArray[np.bool_] = mask[_at(where)]
        return bool(found.flat[0]) if found.size and (found.all() or not found.any()) else found

    def take(self, where: Where) -> npt.NDArray[Any]:
        """Return some elements; those that were not written are undefined."""
        assert self.data is not None, "something was written"
        box = _box_of(where)
        data = self.data
        if not self._is_full and (box is None or not _contains(self._extent(), box)):
            data = self._spread()
        found: npt.NDArray[Any] = data[_at(where, self.lower)]
        return found

    def fill(self, where: Where, values: npt.NDArray[Any]) -> None:
        """Put back elements that were written, and released since."""
        self.data = None
        self._is_full = False
        self._spread()[_at(where)] = values

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
        if all(high <= length for (_, high), length in zip(self.box, shape, strict=True)) and self.mask is None:
            return None
        outside = self._masked() if self.mask is None else self.mask.copy()
        outside[tuple([slice(0, max(length, 0)) for length in shape])] = False
        place = int(outside.argmax())
        if not outside.size or not outside.flat[place]:
            return None
        return tuple(map(int, np.unravel_index(place, outside.shape)))

    def picked(self) -> tuple[list[npt.NDArray[np.intp] | range], bool]:
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


def _at(where: Where, lower: tuple[int, ...] | None = None) -> Any:
    """Return the index for NumPy."""
    if isinstance(where, Points):
        return tuple(where)
    if isinstance(where, Listed):
        return np.ix_(
            *[np.arange(each.start, each.stop, each.step) if isinstance(each, slice) else each for each in where]
        )
    # Only for these there may not be room for all of the chunk.
    if lower is None or not any(lower):
        return where
    return tuple(
        [
            slice(picked.start - low, picked.stop - low, picked.step)  # type: ignore[union-attr]  # ranges
            for picked, low in zip(where, lower, strict=True)
        ]
    )


def _box_of(where: Where) -> _Box | None:
    """Return the box that these positions are, or None."""
    if type(where) is not tuple:
        return None
    found: list[tuple[int, int]] = []
    for picked in where:
        start, stop = picked.start, picked.stop  # type: ignore[union-attr]  # ranges
        if picked.step != 1 and stop - start > 1:  # type: ignore[union-attr]
            return None
        found.append((start, stop))
    return tuple(found)


def _contains(one: _Box, other: _Box) -> bool:
    return all(low <= down and up <= high for (low, high), (down, up) in zip(one, other, strict=True))


def _union(one: _Box, other: _Box) -> _Box | None:
    """Return the box that is the union of two, or None."""
    grown: list[tuple[int, int]] = []
    unlike = 0
    for mine, his in zip(one, other, strict=True):
        if mine == his:
            grown.append(mine)
            continue
        (low, high), (down, up) = mine, his
        if up < low or high < down:
            return None
        unlike += 1
        grown.append((low if low < down else down, high if high > up else up))
    if unlike <= 1:
        return tuple(grown)
    return one if _contains(one, other) else other if _contains(other, one) else None
