"""From a view to the engine's arguments: positions counted from zero, all indices within the stored array.

The engine understands a strided axis for a dimension, and index arrays over groups of dimensions; what a view can say
beyond that (diagonals, dimensions that repeat) becomes index arrays: see `blizzarr.indexing.selection`.
"""

from __future__ import annotations

import numpy as np

from blizzarr.errors import OutOfBoundsError, SelectionError, ViewOutOfBoundsError
from blizzarr.indexing import ConstantMap, IndexArrayMap, Lowered, OutputMap, Selection, StridedMap
from blizzarr.indexing.selection import Axis
from blizzarr.views.compose import compose, index_values
from blizzarr.views.form import ArrayMap, Form, IndexArray, identity_maps
from blizzarr.views.indexing import Indexed as View
from blizzarr.views.interval import Bounds

__all__ = ["is_settled", "lower"]


def lower(view: View, shape: tuple[int, ...]) -> Lowered:
    """Return the engine's selection for reading or writing a view of an array of this shape, in the shape of the view.

    Raises
    ------
    ViewOutOfBoundsError
        If the view reaches beyond the array.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> lower(IndexTransform(input_shape=[20, 30])[3, 4:9], (20, 30))
    ((5,), (3, (0, 4, 1)), False)
    """
    form = view._form
    lowers, uppers, maps = form[0], form[1], form[5]
    if len(maps) != len(shape):
        raise SelectionError(f"expected a view of an array of rank {len(maps)}, found one of rank {len(shape)}")
    # Dimensions as bits: those that have an axis, and those that index arrays share.
    used = 0
    joint: set[int] = set()
    axes: list[Axis] = []
    for map_, size in zip(maps, shape, strict=True):
        if type(map_) is int:
            if not 0 <= map_ < size:
                break
            axes.append(map_)
        elif type(map_) is tuple:
            dim, offset, stride = map_
            bit = 1 << dim
            first = lowers[dim]
            start = offset + stride * first
            last = offset + stride * (uppers[dim] - 1)
            if used & bit or not 0 <= start < size or not 0 <= last < size:
                break
            used |= bit
            axes.append((dim, start, stride))
        elif isinstance(map_, ArrayMap):
            bits = sum(map((1).__lshift__, map_.dims))
            values = _indices_within(map_, size)
            if values is None or (bits not in joint and used & bits):
                break
            joint.add(bits)
            used |= bits
            axes.append((map_.dims, values))
        else:
            break
    else:
        own_shape = tuple([upper - first for first, upper in zip(lowers, uppers, strict=True)])
        # A dimension without an axis may exist if it has one index, as those of `newaxis` do.
        if used == (1 << len(lowers)) - 1 or all(
            length == 1 or used >> dim & 1 for dim, length in enumerate(own_shape)
        ):
            return own_shape, tuple(axes), False
    try:
        return _lower_any(form, shape)
    except OutOfBoundsError as error:
        raise ViewOutOfBoundsError(str(error), index=error.index) from None


def is_settled(form: Form, shape: tuple[int, ...]) -> bool:
    """Return whether the implicit bounds of a view agree with this shape; False if that is expensive to tell.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> view = IndexTransform(input_shape=[20, 30], implicit_upper_bounds=[True, True])[5]
    >>> is_settled(view._form, (20, 30)), is_settled(view._form, (20, 40))
    (True, False)
    """
    if True in form.implicit_lower:
        return False
    if True in form.implicit_upper:
        for map_, size in zip(form.maps, shape, strict=True):
            if type(map_) is tuple:
                dim, offset, stride = map_
                if form.implicit_upper[dim] and (stride != 1 or form.upper[dim] + offset != size):
                    return False
    return True


def _indices_within(map_: ArrayMap, size: int) -> IndexArray | None:
    """Return the indices of the simplest array maps if all are below the size, else None."""
    lower, upper = map_.bounds
    array = map_.array
    if not map_.dims or map_.offset or map_.stride != 1 or lower > 0 or upper < size or not array.size:
        return None
    # Read without a sign, negative indices are larger than any size.
    if int(array.view(np.uint64).max()) >= size:
        return None
    return np.ascontiguousarray(array.reshape([array.shape[dim] for dim in map_.dims]))


def _lower_any(form: Form, shape: tuple[int, ...]) -> Lowered:
    rank = len(shape)
    array = Form((0,) * rank, shape, (False,) * rank, (False,) * rank, ("",) * rank, identity_maps(rank))
    # The selection covers the domain as it is: bounds do not follow from the array here.
    explicit = form._replace(implicit_lower=(False,) * form.rank, implicit_upper=(False,) * form.rank)
    own_shape = form.shape
    outputs: list[OutputMap] = []
    for dim, map_ in enumerate(compose(array, explicit).maps):
        if isinstance(map_, int):
            outputs.append(ConstantMap(map_))
        elif isinstance(map_, ArrayMap):
            values = index_values(map_, Bounds(0, shape[dim]))
            outputs.append(IndexArrayMap(map_.dims, values.reshape([own_shape[own] for own in map_.dims])))
        else:
            own, offset, stride = map_
            outputs.append(StridedMap(own, offset + stride * form.lower[own], stride))
    if 0 in own_shape:
        # Nothing is read: whatever the indices would be does not matter.
        outputs = [StridedMap(own_shape.index(0), 0, 1)] * rank
    return own_shape, Selection(own_shape, tuple(outputs)).axes(), False
