"""A selection as the engine takes it, and the way there from a view.

The engine takes less than a view can say: each dimension belongs to one strided axis, or to one group of axes with
index arrays. `lower` goes there in these steps:

1. Every output map becomes an axis, whose indices are checked.
2. Two axes that share a dimension (of length other than 1) belong to one group, and so do those that each share one
   with a third. The first axis also has the dimensions along which the same elements repeat, which no map follows.
3. The axes of a group become index arrays over all its dimensions, in ascending order. All others stay as they are.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from blizzarr.errors import OutOfBoundsError, ViewOutOfBoundsError
from blizzarr.indexing.form import Form, IndexArray
from blizzarr.indexing.interval import Bounds
from blizzarr.indexing.layout import index_values

Axis: TypeAlias = int | tuple[int, int, int] | tuple[tuple[int, ...], IndexArray]
"""One axis as the engine takes it: an index, `(dim, start, step)`, or `(dims, index array)`."""

Axes: TypeAlias = tuple[Axis, ...]

Lowered: TypeAlias = tuple[tuple[int, ...], Axes, bool]
"""A selection, ready for the engine: the shape of the result, one entry per axis of the array, and whether NumPy would
return a scalar rather than an array without dimensions.

A plain tuple: a class with named fields would double the time that a basic key takes."""


def lower_form(form: Form, shape: tuple[int, ...]) -> Lowered:
    """Return the engine's selection for reading or writing a view of an array of this shape, in the shape of the view.

    Raise `ViewOutOfBoundsError` if the view reaches beyond the array; unless it is empty.

    >>> lower_form(Form((7,), (9,), (False,), (False,), ("",), ((0, -7, 2), 1)), (10, 4))
    ((2,), ((0, 7, 2), 1), False)
    """
    lowers, uppers, maps = form[0], form[1], form[5]
    own_shape = tuple([upper - lower for lower, upper in zip(lowers, uppers)])  # noqa: B905
    if 0 in own_shape:
        # Nothing is read: whatever the indices would be does not matter.
        return own_shape, _grouped([(own_shape.index(0), 0, 1)] * len(shape), own_shape), False
    # Dimensions as bits: those that have an axis, and those that index arrays share.
    used = 0
    joint: set[int] = set()
    is_plain = True
    axes: list[Axis] = []
    for map_, size in zip(maps, shape, strict=True):
        kind = type(map_)
        if kind is tuple:
            dim, offset, stride = map_  # type: ignore[misc]
            start = offset + stride * lowers[dim]
            last = offset + stride * (uppers[dim] - 1)
            if not (0 <= start < size and 0 <= last < size):
                raise _beyond(len(axes), size, start, last)
            bits = 1 << dim
            is_plain = is_plain and not used & bits
            axes.append((dim, start, stride))
        elif kind is int:
            if not 0 <= map_ < size:  # type: ignore[operator]
                raise _beyond(len(axes), size, map_, map_)  # type: ignore[arg-type]
            axes.append(map_)  # type: ignore[arg-type]
            continue
        else:
            try:
                values = index_values(map_, Bounds(0, size))  # type: ignore[arg-type]
            except OutOfBoundsError as error:
                raise ViewOutOfBoundsError(str(error), index=error.index, axis=len(axes), size=size) from None
            dims = map_.dims  # type: ignore[union-attr]
            bits = sum([1 << dim for dim in dims])
            is_plain = is_plain and bool(dims) and (bits in joint or not used & bits)
            joint.add(bits)
            axes.append((dims, np.ascontiguousarray(values.reshape([values.shape[dim] for dim in dims]))))
        used |= bits
    if is_plain and used != (1 << len(own_shape)) - 1:
        # A dimension without an axis may exist if it has one index, as those of `newaxis` do.
        is_plain = all(length == 1 or used >> dim & 1 for dim, length in enumerate(own_shape))
    return own_shape, tuple(axes) if is_plain else _grouped(axes, own_shape), False


def _beyond(axis: int, size: int, first: int, last: int) -> ViewOutOfBoundsError:
    touched = Bounds(min(first, last), max(first, last) + 1)
    return ViewOutOfBoundsError(
        f"OUT_OF_RANGE: expected indices within {Bounds(0, size)} along dimension {axis} of the array, found {touched}",
        index=last if 0 <= first < size else first,
        axis=axis,
        size=size,
    )


def _grouped(axes: list[Axis], shape: tuple[int, ...]) -> Axes:
    """Return axes in which no dimension belongs to two groups, and none of length other than 1 to no axis."""
    if not axes:
        # An array without axes has one element, whatever the shape is.
        return ()
    used: list[set[int]] = []
    for axis in axes:
        dims = () if isinstance(axis, int) else axis[0] if len(axis) == 2 else axis[:1]
        used.append({dim for dim in dims if shape[dim] != 1})
    used[0] |= {dim for dim, length in enumerate(shape) if length > 1}.difference(*used)
    groups: list[tuple[set[int], list[int]]] = []
    for number, own in enumerate(used):
        together, members = set(own), [number]
        apart = []
        for other in groups:
            if together.isdisjoint(other[0]):
                apart.append(other)
            else:
                together |= other[0]
                members += other[1]
        groups = [*apart, (together, members)]
    grouped = list(axes)
    for together, members in groups:
        for number in members:
            axis = axes[number]
            if len(members) > 1 or isinstance(axis, int) or len(axis) == 2 or together != {axis[0]}:
                grouped[number] = _listed(axis, shape, tuple(sorted(together)))
    return tuple(grouped)


def _listed(axis: Axis, shape: tuple[int, ...], dims: tuple[int, ...]) -> Axis:
    """Return an axis as index arrays over these dimensions, which include all that its indices depend on."""
    own: tuple[int, ...]
    values: IndexArray
    if isinstance(axis, int):
        own, values = (), np.array(axis, np.int64)
    elif len(axis) == 2:
        own, values = axis
    else:
        own, values = axis[:1], axis[1] + axis[2] * np.arange(shape[axis[0]], dtype=np.int64)
    values = values.reshape([shape[dim] if dim in own else 1 for dim in dims])
    if not dims:
        return int(values)
    return dims, np.ascontiguousarray(np.broadcast_to(values, [shape[dim] for dim in dims]))
