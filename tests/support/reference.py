"""A reference model of the engine in NumPy: reading and writing through a selection, without chunks.

For tests of the real engine: `apply` and `assign` follow a `Form` literally, and `ReferenceHandle` stands
in for ``_native.ArrayHandle`` and follows what the engine is told.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.indexing import ArrayMap, Axes, Form, Map


def _positions(selection: Form) -> tuple[npt.NDArray[np.intp], ...]:
    """Return for each axis of the array the index at every position of the domain."""
    grid = np.indices(selection.shape)
    positions = []
    for map_ in selection.maps:
        match map_:
            case int(index):
                positions.append(np.full(selection.shape, index, np.intp))
            case (dim, offset, stride):
                positions.append(offset + stride * (selection.lower[dim] + grid[dim]))
            case ArrayMap(offset, stride, array):
                positions.append(offset + stride * np.broadcast_to(array, selection.shape))
    return tuple(positions)


def selection_of_axes(shape: tuple[int, ...], axes: Axes) -> Form:
    """Return the axes that the engine takes as a selection again, whose domain has this shape."""
    maps: list[Map] = []
    for axis in axes:
        if isinstance(axis, int) or len(axis) == 3:
            maps.append(axis)
        else:
            dims, array = axis
            along = [length if dim in dims else 1 for dim, length in enumerate(shape)]
            maps.append(ArrayMap(0, 1, array.reshape(along), dims))
    return Form.of_shape(shape)._replace(maps=tuple(maps))


def apply(selection: Form, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the elements that the selection picks.

    Examples
    --------
    >>> apply(Form.of_shape((3,))._replace(maps=((0, 0, 1), (0, 0, 1))), np.arange(9).reshape(3, 3))
    array([0, 4, 8])
    """
    if not selection.maps:
        return np.broadcast_to(array, selection.shape)
    picked: npt.NDArray[Any] = np.asarray(array[_positions(selection)])
    return picked


def assign(selection: Form, array: npt.NDArray[Any], value: npt.ArrayLike) -> None:
    """Assign a value to the selected elements; if one is selected twice, the last position counts."""
    source = np.broadcast_to(np.asarray(value), selection.shape).ravel()
    # In the order of the domain: NumPy guarantees an order only for flat indices.
    positions = tuple(position.ravel() for position in _positions(selection))
    if positions:
        array[positions] = source
    elif source.size:
        array[()] = source[-1]


class ReferenceHandle:
    """A stand-in for ``_native.ArrayHandle`` over an array in memory, with the same checks.

    Examples
    --------
    >>> handle = ReferenceHandle(np.arange(10))
    >>> out = np.empty(3, int)
    >>> handle.read(out, ((0, 9, -2),))
    >>> out
    array([9, 7, 5])
    """

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array

    def read(self, out: npt.NDArray[Any], axes: Axes, threads: int = 0) -> None:
        """Fill `out` with the elements that the axes select."""
        out[...] = apply(self._selection(out.shape, axes), self.array)

    def write(self, source: npt.NDArray[Any], axes: Axes, write_empty: bool = False, threads: int = 0) -> None:
        """Assign `source` to the elements that the axes select."""
        if source.dtype != self.array.dtype:
            raise TypeError(f"expected elements of {self.array.dtype}, found {source.dtype}")
        assign(self._selection(source.shape, axes), self.array, source)

    def resized(self, shape: tuple[int, ...]) -> ReferenceHandle:
        """Return a handle of another shape; new elements are zeros, and those outside are lost."""
        array = np.zeros(shape, self.array.dtype)
        both = tuple(slice(min(sizes)) for sizes in zip(shape, self.array.shape, strict=True))
        array[both] = self.array[both]
        return ReferenceHandle(array)

    def _selection(self, shape: tuple[int, ...], axes: Axes) -> Form:
        if len(axes) != self.array.ndim:
            raise ValueError(f"expected {self.array.ndim} axes, found {len(axes)}")
        owners: dict[int, object] = {}
        for position, (axis, size) in enumerate(zip(axes, self.array.shape, strict=True)):
            if isinstance(axis, int):
                dims: tuple[int, ...] = ()
                ends = [axis]
            elif len(axis) == 3:
                dims = (axis[0],)
                ends = [axis[1], axis[1] + axis[2] * (shape[axis[0]] - 1)]
                if axis[2] == 0:
                    raise ValueError("expected a step other than 0")
            else:
                dims, array = axis
                if array.dtype != np.int64 or not array.flags.c_contiguous:
                    raise TypeError("expected contiguous indices of 64 bit")
                if array.shape != tuple(shape[dim] for dim in dims) or list(dims) != sorted(set(dims)):
                    raise ValueError(f"expected indices over dimensions {dims} of {shape}, found shape {array.shape}")
                ends = [int(array.min()), int(array.max())]
            if not all(0 <= end < size for end in ends):
                raise IndexError(f"index {ends} outside axis {position} of length {size}")
            owner = dims if not isinstance(axis, int) and len(axis) == 2 else position
            for dim in dims:
                if owners.setdefault(dim, owner) != owner:
                    raise ValueError(f"domain dimension {dim} belongs to two axes")
        unused = [dim for dim, length in enumerate(shape) if length != 1 and dim not in owners]
        if unused:
            raise ValueError(f"domain dimensions {unused} are not used")
        return selection_of_axes(shape, axes)
