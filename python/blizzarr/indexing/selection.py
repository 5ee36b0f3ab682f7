"""The value that every selection becomes: a map from the positions of a result to the elements of an array.

Definitions
-----------
*Domain*: the shape of the data that is read or written; a *domain dimension* is one of its axes, a *position* is a
tuple of indices in it. *Output map*: how the index along one axis of the array follows from a position. There are three
kinds:

==============================  ==================================================
`ConstantMap(index)`            ``index``
`StridedMap(dim, start, step)`  ``start + step * position[dim]``
`IndexArrayMap(dims, array)`    ``array[position[dims[0]], position[dims[1]], ...]``
==============================  ==================================================

Along a domain dimension that no output map uses, the same elements repeat (`newaxis` makes such dimensions, of length
1). A dimension that two output maps use is a diagonal. All indices are absolute: they count from zero and are never
negative. The negative indices of NumPy, and the origins and labels of views, are resolved by whoever makes a selection.

Two selections compose into one (`Selection.compose`), so a view of a view is again a single selection.

The engine takes less: each domain dimension belongs to one strided axis, or to one group of axes with index arrays.
`Selection.axes` lowers a selection to that:

1. Two output maps that share a domain dimension (of length other than 1) belong to one group, and so do those that each
   share one with a third.
2. A strided map that is alone in its group stays as it is.
3. All others become index arrays over all dimensions of their group, in ascending order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Axes", "Axis", "ConstantMap", "IndexArray", "IndexArrayMap", "OutputMap", "Selection", "StridedMap"]

IndexArray: TypeAlias = npt.NDArray[np.int64]

Axis: TypeAlias = int | tuple[int, int, int] | tuple[tuple[int, ...], IndexArray]
"""One axis as the engine takes it: an index, `(dim, start, step)`, or `(dims, index array)`."""

Axes: TypeAlias = tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class ConstantMap:
    """``index``, the same for all positions."""

    index: int


@dataclass(frozen=True, slots=True)
class StridedMap:
    """``start + step * position[dim]``; the step may be negative, or zero, which makes it a constant."""

    dim: int
    start: int
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class IndexArrayMap:
    """``array[position[dims]]``; `dims` ascend, and `array` has the shape of the domain along them."""

    dims: tuple[int, ...]
    array: IndexArray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IndexArrayMap) and self.dims == other.dims and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return hash((self.dims, self.array.tobytes()))


OutputMap: TypeAlias = ConstantMap | StridedMap | IndexArrayMap


@dataclass(frozen=True, slots=True)
class Selection:
    """A map from the positions in a domain to the elements of an array.

    Parameters
    ----------
    shape
        The shape of the domain.
    outputs
        One output map per axis of the array.

    Examples
    --------
    The second column of every other row, backwards:

    >>> column = Selection((3,), (StridedMap(0, 4, -2), ConstantMap(1)))
    >>> column.axes()
    ((0, 4, -2), 1)

    The last two elements of that:

    >>> column.compose(Selection((2,), (StridedMap(0, 1, 1),)))
    Selection(shape=(2,), outputs=(StridedMap(dim=0, start=2, step=-2), ConstantMap(index=1)))
    """

    shape: tuple[int, ...]
    outputs: tuple[OutputMap, ...]

    @classmethod
    def identity(cls, shape: Sequence[int]) -> Selection:
        """Select all elements of an array of this shape, in place.

        Examples
        --------
        >>> Selection.identity((4, 6)).axes()
        ((0, 0, 1), (1, 0, 1))
        """
        return cls(tuple(shape), tuple(StridedMap(axis, 0, 1) for axis in range(len(shape))))

    @classmethod
    def from_axes(cls, shape: tuple[int, ...], axes: Axes) -> Selection:
        """Turn the axes that the engine takes back into a selection with a domain of this shape."""
        return cls(shape, tuple(_output(axis) for axis in axes))

    def compose(self, inner: Selection) -> Selection:
        """Return the selection that applies `inner` to the result of this one.

        Its domain is that of `inner`; the outputs of `inner` are positions in the domain of this one.

        Raises
        ------
        ValueError
            If `inner` selects from another number of dimensions than this domain has.

        Examples
        --------
        The diagonal of a matrix, and its last three elements:

        >>> diagonal = Selection.identity((5, 5)).compose(Selection((5,), (StridedMap(0, 0, 1),) * 2))
        >>> diagonal.compose(Selection((3,), (StridedMap(0, 2, 1),))).outputs
        (StridedMap(dim=0, start=2, step=1), StridedMap(dim=0, start=2, step=1))
        """
        if len(inner.outputs) != len(self.shape):
            raise ValueError(
                f"expected a selection from {len(self.shape)} dimensions, found one from {len(inner.outputs)}"
            )
        return Selection(inner.shape, tuple(_compose(output, inner) for output in self.outputs))

    def axes(self) -> Axes:
        """Lower the selection to one entry per axis for the engine, by the steps in the module's docstring."""
        if not self.outputs:
            # An array without axes has one element, whatever the domain is.
            return ()
        used = [_dims(output, self.shape) for output in self.outputs]
        repeated = {dim for dim, length in enumerate(self.shape) if length > 1}.difference(*used)
        if repeated:
            # Elements that repeat along a dimension are indexed by it, with the same index all along.
            used[0] = tuple(sorted({*used[0], *repeated}))
        groups = _connected(used)
        return tuple(
            self._axis(output, own, group) for output, own, group in zip(self.outputs, used, groups, strict=True)
        )

    def _axis(self, output: OutputMap, own: tuple[int, ...], group: tuple[int, ...] | None) -> Axis:
        if not own:
            return int(_values(output, self.shape, ()))
        if group is None and isinstance(output, StridedMap) and own == (output.dim,):
            return output.dim, output.start, output.step
        dims = group or own
        values = _values(output, self.shape, dims)
        lengths = tuple(self.shape[dim] for dim in dims)
        if values.shape != lengths:
            values = np.broadcast_to(values, lengths)
        return dims, np.ascontiguousarray(values, dtype=np.int64)


def _output(axis: Axis) -> OutputMap:
    if isinstance(axis, int):
        return ConstantMap(axis)
    if len(axis) == 3:
        return StridedMap(*axis)
    return IndexArrayMap(*axis)


def _long(dims: Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Drop the dimensions of length 1, along which no index can change."""
    return tuple(dim for dim in dims if shape[dim] != 1)


def _dims(output: OutputMap, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the domain dimensions along which the index can change."""
    if isinstance(output, StridedMap):
        return _long((output.dim,), shape) if output.step else ()
    return _long(output.dims, shape) if isinstance(output, IndexArrayMap) else ()


def _connected(used: list[tuple[int, ...]]) -> list[tuple[int, ...] | None]:
    """Return the dimensions of each output map's group; None for one that shares no dimension."""
    groups: list[tuple[set[int], list[int]]] = []
    for position, dims in enumerate(used):
        together, members = set(dims), [position]
        apart = []
        for other in groups:
            if together.isdisjoint(other[0]):
                apart.append(other)
            else:
                together |= other[0]
                members += other[1]
        groups = [*apart, (together, members)]
    found: list[tuple[int, ...] | None] = [None] * len(used)
    for together, members in groups:
        if len(members) > 1:
            for position in members:
                found[position] = tuple(sorted(together))
    return found


def _values(output: OutputMap, shape: tuple[int, ...], dims: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return the indices for all positions along `dims`, and zero along the others; they broadcast to the domain."""
    if isinstance(output, ConstantMap):
        return np.array(output.index).reshape((1,) * len(dims))
    if isinstance(output, StridedMap):
        extent = [shape[dim] if dim == output.dim else 1 for dim in dims]
        count = shape[output.dim] if output.dim in dims else 1
        return (output.start + output.step * np.arange(count)).reshape(extent)
    if dims == output.dims:
        return output.array
    # The dimensions of the array that are left out are those of length 1.
    extent = [shape[dim] if dim in output.dims else 1 for dim in dims]
    return output.array.reshape(extent)


def _compose(output: OutputMap, inner: Selection) -> OutputMap:
    if isinstance(output, ConstantMap):
        return output
    if isinstance(output, StridedMap):
        source = inner.outputs[output.dim]
        if isinstance(source, ConstantMap):
            return ConstantMap(output.start + output.step * source.index)
        if isinstance(source, StridedMap):
            return StridedMap(source.dim, output.start + output.step * source.start, output.step * source.step)
        return IndexArrayMap(source.dims, output.start + output.step * source.array)
    sources = [inner.outputs[dim] for dim in output.dims]
    dims = tuple(sorted({dim for source in sources for dim in _dims(source, inner.shape)}))
    values = output.array[tuple(_values(source, inner.shape, dims) for source in sources)]
    return IndexArrayMap(dims, values) if dims else ConstantMap(int(values))
