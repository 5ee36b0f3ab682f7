"""Parts of a view: a box of its positions, or positions that are listed one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError, ViewOutOfBoundsError
from blizzarr.indexing.form import ArrayMap, Form, Map, dims_of
from blizzarr.indexing.interval import UNBOUNDED
from blizzarr.indexing.layout import WHOLE, index_values, through

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


def positions_within(map_: tuple[int, int, int], begin: int, end: int, low: int, high: int) -> tuple[int, int]:
    """Return the positions between two others whose indices are between two bounds; the end may be before the first.

    >>> positions_within((0, 0, 2), 0, 10, 5, 11)
    (3, 6)
    """
    _, offset, stride = map_
    first, last = (low, high - 1) if stride > 0 else (high - 1, low)
    # Rounded towards the inside.
    return max(begin, -((offset - first) // stride)), min(end, (last - offset) // stride + 1)


def box_within(view: Form, box: Box, axes: Iterable[int], dims: Sequence[int]) -> Box:
    """Return the positions of a view whose indices along these axes are in a box, along the dimensions that have these.

    >>> view = Form((0, 0), (10, 8), (False,) * 2, (False,) * 2, ("",) * 2, ((0, 0, 2), 3, (1, 0, 1)))
    >>> box_within(view, ((5, 11), (0, 4), (2, 3)), [0, 1], [0])
    ((3, 6),)
    """
    result = {dim: (view.lower[dim], view.upper[dim]) for dim in dims}
    for axis in axes:
        map_, (low, high) = view.maps[axis], box[axis]
        if isinstance(map_, int):
            if not low <= map_ < high:
                return ((0, 0),) * len(dims)
        elif isinstance(map_, tuple):
            result[map_[0]] = positions_within(map_, *result[map_[0]], low, high)
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
    form = Form(tuple(lower), tuple(upper), never, never, view.labels, view.maps)
    if any(type(map_) is ArrayMap for map_ in view.maps):
        sources = [(dim, 0, 1) for dim in range(view.rank)]
        form = through(view, sources, *form[:5], constants=False)
    return Part(number, form, tuple(where))


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
    listed = {dim for dim, length in enumerate(numbers.shape) if length > 1}
    # Index arrays over one of these dimensions are listed with all of theirs.
    arrays = [set(dims_of(map_)) for map_ in view.maps if isinstance(map_, ArrayMap)]
    while more := [dims for dims in arrays if listed & dims and not dims <= listed]:
        listed = listed.union(*more)
    if not listed:
        return [Part(int(numbers.reshape(-1)[0]), view, None)]
    shape = view.shape
    numbers = np.broadcast_to(numbers, [shape[dim] if dim in listed else 1 for dim in range(view.rank)])
    order = np.argsort(numbers, axis=None, kind="stable")
    dims = tuple(sorted(listed))
    # The positions, so that those of one number are adjacent.
    points = np.unravel_index(order, [shape[dim] for dim in dims])
    rest = tuple(dim for dim in range(view.rank) if dim not in listed)
    maps: list[Map] = []
    for map_ in view.maps:
        if isinstance(map_, int):
            maps.append(map_)
        elif listed.isdisjoint(dims_of(map_)):
            if isinstance(map_, tuple):
                maps.append((1 + rest.index(map_[0]), *map_[1:]))
            else:
                array = map_.array.reshape([1, *[map_.array.shape[dim] for dim in rest]])
                own = tuple([1 + rest.index(dim) for dim in map_.dims])
                maps.append(ArrayMap(map_.offset, map_.stride, array, own, map_.bounds))
        else:
            # All indices are checked here, so that those of the parts need no checks.
            along = indices_of(view, map_)
            at = tuple([point if along.shape[dim] > 1 else 0 for dim, point in zip(dims, points, strict=True)])
            values = along.reshape([along.shape[dim] for dim in dims])[at]
            maps.append(ArrayMap(0, 1, np.broadcast_to(values, (len(order),)), (0,), UNBOUNDED))
    present, firsts = np.unique(numbers.reshape(-1)[order], return_index=True)
    parts = []
    for number, begin, end in zip(present.tolist(), firsts.tolist(), [*firsts[1:].tolist(), len(order)], strict=True):
        parts.append(
            Part(
                number,
                _of_points(view, maps, rest, begin, end),
                Points((*dims, *rest), tuple([point[begin:end] for point in points])),
            )
        )
    return parts[::-1]


def _of_points(view: Form, maps: list[Map], rest: tuple[int, ...], begin: int, end: int) -> Form:
    own: list[Map] = []
    for map_ in maps:
        if isinstance(map_, ArrayMap) and map_.dims == (0,):
            own.append(ArrayMap(0, 1, map_.array[begin:end].reshape((-1,) + (1,) * len(rest)), (0,), UNBOUNDED))
        else:
            own.append(map_)
    return Form(
        (0, *[view.lower[dim] for dim in rest]),
        (end - begin, *[view.upper[dim] for dim in rest]),
        (False,) * (1 + len(rest)),
        (False,) * (1 + len(rest)),
        ("",) * (1 + len(rest)),
        tuple(own),
    )
