"""Reading and writing views of NumPy arrays in memory as the engine does stored ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.indexing import Lowered
from blizzarr.indexing.selection import Axes, Axis


def picked(array: npt.NDArray[Any], lowered: Lowered) -> npt.NDArray[Any]:
    """Return the selected elements of an array: a NumPy view where possible, else a copy.

    >>> picked(np.arange(12).reshape(3, 4), ((2, 3), ((1, 2, -1), (0, 1, 2)), False))
    array([[ 9,  5,  1],
           [11,  7,  3]])
    """
    shape, axes, _ = lowered
    simple = _simple(array, shape, axes)
    if simple is not None:
        return simple
    result = _along_each(array, shape, axes)
    if result is not None:
        return result
    result = array[index_arrays(shape, axes)]
    return result if result.shape == shape else np.broadcast_to(result, shape)


def put(array: npt.NDArray[Any], lowered: Lowered, source: npt.NDArray[Any]) -> None:
    """Replace the selected elements."""
    shape, axes, _ = lowered
    simple = _simple(array, shape, axes)
    if simple is not None:
        simple[...] = source
        return
    if not axes:
        array[...] = source[(-1,) * len(shape)]
        return
    index = index_arrays(shape, axes)
    room = np.broadcast_shapes(*(part.shape for part in index))
    # Where positions of the view share an element, the last counts.
    repeated = tuple(-1 if length == 1 and size > 1 else slice(None) for length, size in zip(room, shape, strict=True))
    array[index] = source[repeated].reshape(room) if room != shape else source


def _simple(array: npt.NDArray[Any], shape: tuple[int, ...], axes: Axes) -> npt.NDArray[Any] | None:
    """Return what plain slices select; None if the selection needs more than slices."""
    index: list[Any] = []
    dims: list[int] = []
    for axis, size in zip(axes, array.shape, strict=True):
        if isinstance(axis, int):
            index.append(axis)
        elif len(axis) == 3 and axis[2] and axis[0] not in dims:
            dim, start, step = axis
            index.append(_slice(start, step, shape[dim], size))
            dims.append(dim)
        else:
            return None
    rank = len(shape)
    if len(dims) != rank:
        # Dimensions that no axis has: of one index, or repeated.
        added = [dim for dim in range(rank) if dim not in dims]
        if any(shape[dim] != 1 for dim in added):
            return None
        dims += added
        index += [np.newaxis] * len(added)
        result: npt.NDArray[Any] = array[tuple(index)]
    else:
        # The ellipsis keeps an array of one element an array.
        result = array[(*index, ...)]
    return result if dims == sorted(dims) else result.transpose([dims.index(dim) for dim in range(rank)])


def _along_each(array: npt.NDArray[Any], shape: tuple[int, ...], axes: Axes) -> npt.NDArray[Any] | None:
    """Select along one axis after the other, which is faster than all at once; return None if axes depend on each
    other.
    """
    used = [dim for axis in axes if not isinstance(axis, int) for dim in (axis[0] if len(axis) == 2 else axis[:1])]
    if len(set(used)) < len(used):
        return None
    index: list[slice] = []
    left: list[Axis] = []
    lists: list[tuple[float, int, npt.NDArray[np.int64]]] = []
    for number, (axis, size) in enumerate(zip(axes, array.shape, strict=True)):
        if isinstance(axis, int):
            index.append(slice(axis, axis + 1))
            left.append(0)
        elif len(axis) == 3:
            dim, start, step = axis
            if not step:
                return None
            index.append(_slice(start, step, shape[dim], size))
            left.append((dim, 0, 1))
        else:
            dims, values = axis
            if len(dims) != 1:
                return None
            index.append(slice(None))
            left.append((dims[0], 0, 1))
            lists.append((values.size / max(size, 1), number, values))
    result: npt.NDArray[Any] = array[tuple(index)]
    # First where the fewest are left.
    for _, number, values in sorted(lists, key=lambda one: one[0]):
        result = result.take(values, number)
    if left == [(dim, 0, 1) for dim in range(len(shape))]:
        return result
    return _simple(result, shape, tuple(left))


def _slice(start: int, step: int, count: int, size: int) -> slice:
    if not count:
        return slice(0, 0)
    stop = start + step * count
    return slice(start, None if stop < 0 else min(stop, size), step)


def index_arrays(shape: tuple[int, ...], axes: Axes) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the index array of each axis, over the dimensions of the result."""
    index = []
    for axis in axes:
        extent = [1] * len(shape)
        if isinstance(axis, int):
            values: Any = np.array(axis)
        elif len(axis) == 3:
            dim, start, step = axis
            values = start + step * np.arange(shape[dim])
            extent[dim] = shape[dim]
        else:
            dims, values = axis
            for dim in dims:
                extent[dim] = shape[dim]
        index.append(values.reshape(extent))
    return tuple(index)
