"""Parts of a view: a box of its positions, or positions that are listed one by one."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError, ViewOutOfBoundsError
from blizzarr.indexing.form import ArrayMap, Form, Map, dims_of
from blizzarr.indexing.interval import UNBOUNDED
from blizzarr.indexing.layout import index_values, lay_out

__all__ = ["Box", "Part", "Points", "box_within", "cut_to", "indices_of", "parts_by_point"]

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
        return elements[where]

    def put(self, elements: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Replace the elements of the whole view that belong to the part."""
        where = self.where
        if isinstance(where, Points):
            elements.transpose(where.order)[where.indices] = values
        else:
            elements[... if where is None else where] = values


def box_within(view: Form, box: Box) -> Box:
    """Return the positions of a view whose indices are in a box, as far as these do not come from arrays.

    Examples
    --------
    >>> box_within(Form((0,), (10,), (False,), (False,), ("",), ((0, 0, 2), 3)), ((5, 11), (0, 4)))
    ((3, 6),)
    """
    found = list(zip(view.lower, view.upper, strict=True))
    for map_, (low, high) in zip(view.maps, box, strict=True):
        if isinstance(map_, int):
            if not low <= map_ < high:
                return tuple((first, first) for first, _ in found)
        elif isinstance(map_, tuple):
            dim, offset, stride = map_
            first, last = (low, high - 1) if stride > 0 else (high - 1, low)
            # Rounded towards the inside.
            lower = max(found[dim][0], -((offset - first) // stride))
            found[dim] = lower, max(lower, min(found[dim][1], (last - offset) // stride + 1))
    return tuple(found)


def cut_to(number: int, view: Form, box: Box) -> Part:
    """Return the part of a view in a box of its own positions.

    Examples
    --------
    >>> part = cut_to(0, Form.of_shape((9, 4)), ((3, 5), (0, 4)))
    >>> part.form.lower, part.where
    ((3, 0), (slice(3, 5, None), slice(0, 4, None)))
    """
    form = lay_out(view, [(low, high, False, False, 0, 1) for low, high in box], constants=False)
    where = tuple([slice(low - at, high - at) for (low, high), at in zip(box, view.lower, strict=True)])
    return Part(number, form, where)


def indices_of(view: Form) -> list[npt.NDArray[np.int64]]:
    """Return, for each dimension of the array, the index for every position of the view, as far as it varies.

    Raises
    ------
    ViewOutOfBoundsError
        When an array has an index that is not within its bounds.
    """
    indices: list[Any] = []
    for map_ in view.maps:
        extent = [1] * view.rank
        if isinstance(map_, int):
            indices.append(np.full(extent, map_))
        elif isinstance(map_, ArrayMap):
            try:
                indices.append(index_values(map_, UNBOUNDED))
            except OutOfBoundsError as error:
                raise ViewOutOfBoundsError(str(error), index=error.index) from None
        else:
            dim, offset, stride = map_
            extent[dim] = view.upper[dim] - view.lower[dim]
            indices.append((offset + stride * np.arange(view.lower[dim], view.upper[dim])).reshape(extent))
    return indices


def parts_by_point(view: Form, numbers: npt.NDArray[np.int64]) -> list[Part]:
    """Return the parts of a view of which an array has the numbers; the part with the highest number comes first.

    The positions along the dimensions of the array that are not of length 1 are listed, and become the first dimension
    of each part.

    Examples
    --------
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
    indices = indices_of(view)
    maps: list[Map] = []
    for map_, along in zip(view.maps, indices, strict=True):
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
