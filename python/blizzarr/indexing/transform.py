"""The one value that every selection becomes: a map from the positions of a result to the elements of an array.

Definitions
-----------
*Domain*: the shape of what is read or written; a *domain dimension* is one of its axes, a *position* a tuple of
indices in it. *Output*: for one axis of the array, how its index follows from a position. There are three kinds:

=============================  =========================================
`Constant(index)`              ``index``
`Strided(dim, start, step)`    ``start + step * position[dim]``
`Indexed(dims, array)`         ``array[position[dims[0]], position[dims[1]], ...]``
=============================  =========================================

Domain dimensions that no output uses repeat the same elements (`newaxis` makes them with length 1). A dimension used by
two outputs is a diagonal. Coordinates inside are literal: an index is never negative and counts from zero; negative
indices of NumPy, and origins and labels of views, are matters of those who make transforms.

A transform is applied after another with `compose`, so that a view of a view is again one transform.

The engine understands less: a domain dimension belongs to one strided axis, or to one group of axes that are indexed
together. `IndexTransform.axes` lowers what is above to that:

1. two outputs that share a domain dimension (of length other than 1) belong together, and so do those that each share
   one with a third;
2. a strided output that stands alone stays as it is;
3. all others become index arrays over all dimensions of their group, in rising order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Axes", "Axis", "Constant", "IndexArray", "IndexTransform", "Indexed", "Output", "Strided"]

IndexArray: TypeAlias = npt.NDArray[np.int64]

Axis: TypeAlias = int | tuple[int, int, int] | tuple[tuple[int, ...], IndexArray]
"""What the engine is told of one axis: an index, `(dim, start, step)`, or `(dims, index array)`."""

Axes: TypeAlias = tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """The same index for all positions."""

    index: int


@dataclass(frozen=True, slots=True)
class Strided:
    """``start + step * position[dim]``; the step may be negative, and zero is a constant in disguise."""

    dim: int
    start: int
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class Indexed:
    """``array[position[dims]]``; the shape of `array` is that of the domain along `dims`, which rise."""

    dims: tuple[int, ...]
    array: IndexArray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Indexed) and self.dims == other.dims and np.array_equal(self.array, other.array)

    def __hash__(self) -> int:
        return hash((self.dims, self.array.tobytes()))


Output: TypeAlias = Constant | Strided | Indexed


@dataclass(frozen=True, slots=True)
class IndexTransform:
    """A map from the positions in a domain to the elements of an array.

    Parameters
    ----------
    shape
        The shape of the domain.
    outputs
        One output per axis of the array.

    Examples
    --------
    The second column of every other row, backwards:

    >>> column = IndexTransform((3,), (Strided(0, 4, -2), Constant(1)))
    >>> column.axes()
    ((0, 4, -2), 1)

    The last two elements of that:

    >>> column.compose(IndexTransform((2,), (Strided(0, 1, 1),)))
    IndexTransform(shape=(2,), outputs=(Strided(dim=0, start=2, step=-2), Constant(index=1)))
    """

    shape: tuple[int, ...]
    outputs: tuple[Output, ...]

    @classmethod
    def identity(cls, shape: Sequence[int]) -> IndexTransform:
        """All elements of an array of this shape, in their places.

        Examples
        --------
        >>> IndexTransform.identity((4, 6)).axes()
        ((0, 0, 1), (1, 0, 1))
        """
        return cls(tuple(shape), tuple(Strided(axis, 0, 1) for axis in range(len(shape))))

    @classmethod
    def from_axes(cls, shape: tuple[int, ...], axes: Axes) -> IndexTransform:
        """The transform that the engine would follow, given what it is told."""
        return cls(shape, tuple(_output(axis) for axis in axes))

    def compose(self, inner: IndexTransform) -> IndexTransform:
        """First `inner`, then this: the domain is that of `inner`, whose array is this one's domain.

        Examples
        --------
        The diagonal of a matrix, and its last three elements:

        >>> diagonal = IndexTransform.identity((5, 5)).compose(IndexTransform((5,), (Strided(0, 0, 1),) * 2))
        >>> diagonal.compose(IndexTransform((3,), (Strided(0, 2, 1),))).outputs
        (Strided(dim=0, start=2, step=1), Strided(dim=0, start=2, step=1))
        """
        if len(inner.outputs) != len(self.shape):
            raise ValueError(
                f"expected a transform into {len(self.shape)} dimensions, found one into {len(inner.outputs)}"
            )
        return IndexTransform(inner.shape, tuple(_compose(output, inner) for output in self.outputs))

    def axes(self) -> Axes:
        """What the engine is told; see the steps above."""
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

    def _axis(self, output: Output, own: tuple[int, ...], group: tuple[int, ...] | None) -> Axis:
        if not own:
            return int(_values(output, self.shape, ()))
        if group is None and isinstance(output, Strided) and own == (output.dim,):
            return output.dim, output.start, output.step
        dims = group or own
        values = _values(output, self.shape, dims)
        lengths = tuple(self.shape[dim] for dim in dims)
        if values.shape != lengths:
            values = np.broadcast_to(values, lengths)
        return dims, np.ascontiguousarray(values, dtype=np.int64)


def _output(axis: Axis) -> Output:
    if isinstance(axis, int):
        return Constant(axis)
    if len(axis) == 3:
        return Strided(*axis)
    return Indexed(*axis)


def _long(dims: Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions that matter: along those of length 1 nothing changes."""
    return tuple(dim for dim in dims if shape[dim] != 1)


def _dims(output: Output, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The domain dimensions along which the index can change."""
    if isinstance(output, Strided):
        return _long((output.dim,), shape) if output.step else ()
    return _long(output.dims, shape) if isinstance(output, Indexed) else ()


def _connected(used: list[tuple[int, ...]]) -> list[tuple[int, ...] | None]:
    """For each output the dimensions of its group; None for an output that shares no dimension."""
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


def _values(output: Output, shape: tuple[int, ...], dims: tuple[int, ...]) -> npt.NDArray[Any]:
    """The index for all positions along `dims` and at zero along the others, in a shape that broadcasts to theirs."""
    if isinstance(output, Constant):
        return np.array(output.index).reshape((1,) * len(dims))
    if isinstance(output, Strided):
        extent = [shape[dim] if dim == output.dim else 1 for dim in dims]
        count = shape[output.dim] if output.dim in dims else 1
        return (output.start + output.step * np.arange(count)).reshape(extent)
    if dims == output.dims:
        return output.array
    # The dimensions of the array that are left out are those of length 1.
    extent = [shape[dim] if dim in output.dims else 1 for dim in dims]
    return output.array.reshape(extent)


def _compose(output: Output, inner: IndexTransform) -> Output:
    if isinstance(output, Constant):
        return output
    if isinstance(output, Strided):
        source = inner.outputs[output.dim]
        if isinstance(source, Constant):
            return Constant(output.start + output.step * source.index)
        if isinstance(source, Strided):
            return Strided(source.dim, output.start + output.step * source.start, output.step * source.step)
        return Indexed(source.dims, output.start + output.step * source.array)
    sources = [inner.outputs[dim] for dim in output.dims]
    dims = tuple(sorted({dim for source in sources for dim in _dims(source, inner.shape)}))
    values = output.array[tuple(_values(source, inner.shape, dims) for source in sources)]
    return Indexed(dims, values) if dims else Constant(int(values))
