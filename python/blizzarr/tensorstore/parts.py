"""Parts of a view: a box of its positions, or positions that are listed one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError, ViewOutOfBoundsError
from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.indexing.interval import UNBOUNDED, Bounds, affine_domain
from blizzarr.indexing.layout import WHOLE, Arrays, index_values, lay_out

Box: TypeAlias = tuple[tuple[int, int], ...]
"""A lower and an upper bound for each dimension; the upper one is exclusive."""


class Points(NamedTuple):
    """Positions of a view that are listed: their dimensions come first and are indexed together."""

    order: tuple[int, ...]
    indices: tuple[npt.NDArray[np.int64], ...]


class Part(NamedTuple):
    """A part of a view: the number of what it is in, the part as a view, and its positions; None means all of them."""

    number: int
    form: Form
    where: tuple[slice, ...] | Points | None

    def of(self, elements: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the elements of the whole view that belong to the part."""
        where = self.where
        if where is None:
            return elements
        if isinstance(where, Points):
            return elements.transpose(where.order)[where.indices]
        # The ellipsis keeps a single element an array.
        key: Any = (*where, ...)
        box: npt.NDArray[Any] = elements[key]
        return box

    def put(self, elements: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Replace the elements of the whole view that belong to the part."""
        where = self.where
        if isinstance(where, Points):
            elements.transpose(where.order)[where.indices] = values
        else:
            elements[... if where is None else where] = values


def box_within(view: Form, box: Box, axes: Iterable[int], dims: Sequence[int]) -> Box:
    """Return the positions of a view whose indices along these axes are in a box, along the dimensions that have these.

    >>> view = Form((0, 0), (10, 8), (False,) * 2, (False,) * 2, ("",) * 2, ((0, 0, 2), 3, (1, 0, 1)))
    >>> box_within(view, ((5, 11), (0, 4), (2, 3)), [0, 1], [0])
    ((3, 6),)
    """
    result = {dim: (view.lower[dim], view.upper[dim]) for dim in dims}
    for axis in axes:
        map_, bounds = view.maps[axis], Bounds(*box[axis])
        if isinstance(map_, int):
            if not bounds.contains(map_):
                return ((0, 0),) * len(dims)
        elif isinstance(map_, tuple):
            (low, high), own = result[map_[0]], affine_domain(bounds, *map_[1:])
            result[map_[0]] = max(low, own.lower), min(high, own.upper)
    return tuple([result[dim] for dim in dims])


def cut_to(number: int, view: Form, box: Box, dims: Sequence[int]) -> Part:
    """Return the part of a view in a box of its own positions along these dimensions.

    >>> part = cut_to(0, Form.of_shape((9, 4)), ((3, 5),), [0])
    >>> part.form.lower, part.where
    ((3, 0), (slice(3, 5, None), slice(None, None, None)))
    """
    lower, upper, where = list(view.lower), list(view.upper), [WHOLE] * view.rank
    for dim, (low, high) in zip(dims, box, strict=True):
        where[dim] = slice(low - lower[dim], high - lower[dim])
        lower[dim], upper[dim] = low, high
    never = (False,) * view.rank
    maps = tuple([_array_within(map_, where) if isinstance(map_, ArrayMap) else map_ for map_ in view.maps])
    return Part(number, Form(tuple(lower), tuple(upper), never, never, view.labels, maps), tuple(where))


def _array_within(map_: ArrayMap, where: Sequence[slice]) -> ArrayMap:
    key = tuple([along if dim in map_.dims else WHOLE for dim, along in enumerate(where)])
    return ArrayMap(map_.offset, map_.stride, map_.array[key], map_.dims, map_.bounds)


def indices_of(view: Form, map_: Map) -> npt.NDArray[np.int64]:
    """Return the index that a map gives for every position of a view, as far as it varies.

    Raise `ViewOutOfBoundsError` when an array has an index that is not within its bounds.
    """
    extent = [1] * view.rank
    if isinstance(map_, int):
        return np.full(extent, map_)
    if isinstance(map_, ArrayMap):
        try:
            return index_values(map_, UNBOUNDED)
        except OutOfBoundsError as error:
            raise ViewOutOfBoundsError(str(error), index=error.index) from None
    dim, offset, stride = map_
    extent[dim] = view.upper[dim] - view.lower[dim]
    return (offset + stride * np.arange(view.lower[dim], view.upper[dim])).reshape(extent)


def reach(map_: Map, form: Form) -> tuple[int, int]:
    """Return the smallest and the largest index of a view that is not empty."""
    if isinstance(map_, int):
        return map_, map_
    if isinstance(map_, ArrayMap):
        offset, stride, first, last = map_.offset, map_.stride, int(map_.array.min()), int(map_.array.max())
    else:
        dim, offset, stride = map_
        first, last = form.lower[dim], form.upper[dim] - 1
    one, other = offset + stride * first, offset + stride * last
    return (one, other) if stride > 0 else (other, one)


def parts_by_point(view: Form, numbers: npt.NDArray[np.int64]) -> list[Part]:
    """Return the parts of a view of which an array has the numbers; the part with the highest number comes first.

    The positions along the dimensions of the array that are not of length 1 are listed, and become the first dimension
    of each part.

    >>> parts = parts_by_point(Form.of_shape((3, 4)), np.array([[1], [0], [1]]))
    >>> [(part.number, part.form.shape, part.form.maps[0].array.ravel()) for part in parts]
    [(1, (2, 4), array([0, 2])), (0, (1, 4), array([1]))]
    """
    listed = [dim for dim, length in enumerate(numbers.shape) if length > 1]
    if not listed:
        return [Part(int(numbers.reshape(-1)[0]), view, None)]
    order = np.argsort(numbers, axis=None, kind="stable")
    points = np.unravel_index(order, [numbers.shape[dim] for dim in listed])
    rest = [dim for dim in range(view.rank) if dim not in listed]
    # All points in one view, where those of one number are adjacent.
    arrays = [Arrays((point + view.lower[dim],), order.shape) for dim, point in zip(listed, points, strict=True)]
    terms, dims = [*arrays, *[WHOLE] * len(rest)], [*[[dim] for dim in listed], *rest]
    ordered = lay_out(view, terms, dims, order.shape, constants=False)
    present, firsts = np.unique(numbers.reshape(-1)[order], return_index=True)
    ends = [*firsts.tolist(), len(order)]
    parts = []
    for number, begin, end in zip(present.tolist(), ends, ends[1:], strict=False):
        form = cut_to(number, ordered, ((begin, end),), [0]).form
        parts.append(Part(number, form, Points((*listed, *rest), tuple([point[begin:end] for point in points]))))
    return parts[::-1]
