"""Lazy views of arrays: ``array.lazy[10:20][::-1]`` reads nothing until its elements are asked for."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from blizzarr.array.facts import LikeNumpy
from blizzarr.array.selector import naming, read_selection, write_selection
from blizzarr.errors import OutOfBoundsError, ViewOutOfBoundsError
from blizzarr.indexing import ArrayMap, Dialect, Form, Lowered, lower_form, selection_of
from blizzarr.indexing.layout import permute

if TYPE_CHECKING:
    from blizzarr.array.array import Array


class LazyArray(LikeNumpy):
    """A view of an array in a store, like NumPy's views of arrays in memory: indexing it returns another view.

    Made by `Array.lazy`. Each step takes every key that NumPy allows for the shape of the view. Views of views are
    combined into one selection, so that only the elements wanted in the end are read. NumPy functions and Dask accept a
    view as an array. Errors of stores are as for `Array`.

    Examples
    --------
    >>> import blizzarr
    >>> z = blizzarr.create_array({}, data=np.arange(24).reshape(4, 6), chunks=(2, 3))
    >>> view = z.lazy[::-1][:, [5, 0]].T
    >>> view.shape, view.dtype
    ((2, 4), dtype('int64'))
    >>> np.asarray(view[0, :2])
    array([23, 17])
    >>> view[1] = 9
    >>> z[:, 0]
    array([9, 9, 9, 9])
    """

    __slots__ = ("__weakref__", "_array", "_selection")

    def __init__(self, array: Array, selection: Form) -> None:
        self._array = array
        self._selection = selection

    # What it is

    @property
    def array(self) -> Array:
        """The array that this is a view of."""
        return self._array

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""
        return self._selection.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy data type of the elements."""
        return self._array.dtype

    @property
    def chunks(self) -> tuple[int, ...]:
        """The lengths in which the view is best read, derived from the chunks of the array.

        Examples
        --------
        >>> import blizzarr
        >>> z = blizzarr.create_array({}, shape=(100, 60), chunks=(20, 10), dtype="int8")
        >>> z.lazy[::4, 5].chunks, z.lazy.T.chunks
        ((5,), (10, 20))
        """
        lengths = list(self.shape)
        largest = self._array.metadata.read_grid.inside(self._array.shape)
        for map_, length in zip(self._selection.maps, largest, strict=True):
            if isinstance(map_, tuple):
                dim, _, stride = map_
                lengths[dim] = min(lengths[dim], max(1, length // abs(stride)))
        return tuple(max(1, length) for length in lengths)

    def __repr__(self) -> str:
        return f"<LazyArray of {self._array!r} shape={self.shape} dtype={self.dtype}>"

    # Views

    def __getitem__(self, key: Any) -> LazyArray:
        """Return a view of the elements that `key` selects, as NumPy would. Nothing is read.

        Raises
        ------
        OutOfBoundsError
            If an index is outside the view.
        SelectionError
            If the key is not one that NumPy allows.
        """
        return self._picked(key, Dialect.NUMPY)

    @property
    def oindex(self) -> LazySelector:
        """Select orthogonally: arrays and masks each select along their own axis, like an outer product."""
        return LazySelector(self, Dialect.ORTHOGONAL)

    @property
    def vindex(self) -> LazySelector:
        """Select points: arrays and masks are broadcast together, and their dimensions come first."""
        return LazySelector(self, Dialect.VECTORISED)

    def _picked(self, key: Any, dialect: Dialect) -> LazyArray:
        with naming(self._array):
            return LazyArray(self._array, selection_of(key, self._selection, dialect))

    def transpose(self, *axes: int | Sequence[int] | None) -> LazyArray:
        """Return the view with its axes in this order; reversed if no order is given.

        Raises
        ------
        numpy.exceptions.AxisError
            If there is no such axis.
        ValueError
            If not every axis is given once.

        Examples
        --------
        >>> import blizzarr
        >>> blizzarr.create_array({}, shape=(2, 3, 4), dtype="int8").lazy.transpose(1, 2, 0).shape
        (3, 4, 2)
        """
        return LazyArray(self._array, permute(self._selection, _axis_order(axes, self.ndim)))

    @property
    def T(self) -> LazyArray:  # noqa: N802
        """The view with its axes reversed."""
        return self.transpose()

    def __iter__(self) -> Iterator[LazyArray]:
        for index in range(len(self)):
            yield self[index]

    # Elements

    def read(self, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Read the elements, as a new array or into `out`, which must have the shape and data type of the view.

        Raises
        ------
        OutOfBoundsError
            If the array has become shorter, and the view reaches beyond it.
        CodecError
            If a chunk is damaged.
        LimitError
            If there is no memory for the result.
        ValueError, TypeError
            If `out` has another shape or data type, or is read-only.
        """
        elements: npt.NDArray[Any] = read_selection(self._array, _lower, self._selection, out)
        return elements

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("expected copy=None or copy=True, found copy=False: reading makes a copy")
        elements = self.read()
        return elements if dtype is None else elements.astype(dtype, copy=False)

    def __setitem__(self, key: Any, value: npt.ArrayLike) -> None:
        """Write to the elements that `key` selects; if an element is selected twice, the last value counts.

        Raises
        ------
        SelectionError, OutOfBoundsError
            If the key is not one that NumPy allows, or an index is outside the view.
        ValueError, TypeError, CodecError, StoreError
            As for `Array.__setitem__`.
        """
        self[key]._write(value)

    def _write(self, value: npt.ArrayLike) -> None:
        write_selection(self._array, _lower, self._selection, value)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        maps = tuple(
            (map_.offset, map_.stride, map_.dims, map_.array.tobytes()) if isinstance(map_, ArrayMap) else map_
            for map_ in self._selection.maps
        )
        return (*self._array.__dask_tokenize__(), self.shape, repr(maps))

    def __reduce__(self) -> tuple[Any, ...]:
        return LazyArray, (self._array, self._selection)


def _lower(selection: Form, shape: tuple[int, ...]) -> Lowered:
    """Lower the selection of a view, for an array that may have another shape by now."""
    try:
        return lower_form(selection, shape)
    except ViewOutOfBoundsError as error:
        reason = (
            f"index {error.index} is out of bounds for axis {error.axis} of length {error.size}: the array has become "
            "shorter since this view was made"
        )
        raise OutOfBoundsError(reason, index=error.index, axis=error.axis, size=error.size) from None


def _axis_order(axes: tuple[Any, ...], ndim: int) -> tuple[int, ...]:
    """Return the axes that are given to `LazyArray.transpose`, none of them negative."""
    if not axes or (len(axes) == 1 and axes[0] is None):
        return tuple(reversed(range(ndim)))
    if len(axes) == 1 and np.ndim(axes[0]):
        axes = tuple(axes[0])
    order = []
    for axis in map(operator.index, axes):
        if len(axes) == ndim and not -ndim <= axis < ndim:
            raise np.exceptions.AxisError(axis, ndim)
        order.append(axis + ndim if axis < 0 else axis)
    if sorted(order) != list(range(ndim)):
        raise ValueError(f"expected each of the {ndim} axes once, found {axes}")
    return tuple(order)


class LazySelector:
    """A lazy view with one way to select: index it for another view, or assign to the elements that a key selects."""

    __iter__: ClassVar[None] = None

    def __init__(self, view: LazyArray, dialect: Dialect) -> None:
        self._view = view
        self._dialect = dialect

    def __getitem__(self, key: Any) -> LazyArray:
        return self._view._picked(key, self._dialect)

    def __setitem__(self, key: Any, value: npt.ArrayLike) -> None:
        self._view._picked(key, self._dialect)._write(value)
