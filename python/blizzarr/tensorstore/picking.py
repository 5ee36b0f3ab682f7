"""Reading and writing views of NumPy arrays in memory as the engine does stored ones, also chunk by chunk.

At the end: parts of a view, which are a box of its positions, or positions that are listed one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from math import prod
from operator import add
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.indexing import Lowered
from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.indexing.interval import Bounds, affine_domain
from blizzarr.indexing.layout import WHOLE, Arrays, lay_out
from blizzarr.indexing.selection import Axes, Axis


def picked(array: npt.NDArray[Any], lowered: Lowered) -> npt.NDArray[Any]:
    """Return the selected elements of an array: a NumPy view where possible, else a copy.

    >>> picked(np.arange(12).reshape(3, 4), ((2, 3), ((1, 2, -1), (0, 1, 2)), False))
    array([[ 9,  5,  1],
           [11,  7,  3]])
    """
    shape, axes, _ = lowered
    result = _along_each(array, shape, axes)
    if result is not None:
        return result
    result = array[index_arrays(shape, axes)]
    return result if result.shape == shape else np.broadcast_to(result, shape)


def put(array: npt.NDArray[Any], lowered: Lowered, source: npt.NDArray[Any]) -> None:
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
    # Dimensions that no axis has: of one index, or repeated.
    added = [dim for dim in range(len(shape)) if dim not in dims]
    if any(shape[dim] != 1 for dim in added):
        return None
    dims += added
    # The ellipsis keeps an array of one element an array.
    result: npt.NDArray[Any] = array[(*index, *[np.newaxis] * len(added), ...)]
    return result if dims == sorted(dims) else result.transpose([dims.index(dim) for dim in range(len(shape))])


def _along_each(array: npt.NDArray[Any], shape: tuple[int, ...], axes: Axes) -> npt.NDArray[Any] | None:
    """Select what slices select, then along one axis after the other, which is faster than all at once; return None if
    axes depend on each other.
    """
    whole: list[Axis] = []
    extent, lists = list(shape), {}
    for axis, size in zip(axes, array.shape, strict=True):
        if not isinstance(axis, int) and len(axis) == 2 and len(axis[0]) == 1:
            ((dim,), lists[axis[0][0]]) = axis
            extent[dim], axis = size, (dim, 0, 1)
        whole.append(axis)
    result = _simple(array, tuple(extent), tuple(whole))
    # First where the fewest are left.
    for dim in sorted(lists, key=lambda dim: shape[dim] / max(extent[dim], 1)):
        result = None if result is None else result.take(lists[dim], dim)
    return result


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


# A selection divided along chunks.

Picked: TypeAlias = slice | npt.NDArray[np.int64]
"""Along an axis: a range of indices with a step above zero, or each of them."""
Key: TypeAlias = tuple[slice, ...] | tuple[npt.NDArray[np.int64], ...]
"""NumPy's key of some elements: ranges, or index arrays that are broadcast."""
Position: TypeAlias = tuple[int, ...]
Piece: TypeAlias = tuple[Position, Key, Any]
"""A chunk, the key of the selected elements of it, and their key in `Pieces.arranged`."""

_Line: TypeAlias = dict[int, tuple[Picked, Picked]]
"""Along an axis, by the index of the chunk: the selection from it, and which of the elements that are."""


class Pieces:
    """The part of a selection that lies in each chunk of this shape.

    - `first`: the position of the chunk from whose origin the indices of the selection count; by default, all zeros.

    >>> pieces = Pieces(((3,), (1, (0, 5, -2)), False), (2, 3))
    >>> elements = pieces.arranged(np.array([50, 30, 10]))
    >>> for position, where, index in pieces:
    ...     print(position, where, elements[index])
    (0, 0) (slice(1, 2, 1), slice(1, 2, 1)) [[10]]
    (0, 1) (slice(1, 2, 1), slice(0, 3, 2)) [[30 50]]
    """

    def __init__(self, lowered: Lowered, chunks: tuple[int, ...], first: Position | None = None) -> None:
        self._shape, self._axes, _ = lowered
        self._chunks = chunks
        self._first = (0,) * len(chunks) if first is None else first
        self.count = prod(self._shape)
        """The number of elements."""
        dims = [axis[0] for axis in self._axes if not isinstance(axis, int)]
        own = [dim if isinstance(dim, int) else dim[0] for dim in dims if isinstance(dim, int) or len(dim) == 1]
        self.is_listed = len(own) < len(dims) or len(set(own)) < len(own)
        """True if elements are selected one by one; they are then arranged in one dimension."""

    def arranged(self, elements: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Arrange elements in the order in which the axes of the array traverse the selection; a view if possible."""
        if not self._axes:
            return elements
        if self.is_listed:
            return elements.reshape(-1)
        order: list[int] = []
        key: list[Any] = []
        for axis in self._axes:
            if isinstance(axis, int):
                key.append(None)
                continue
            order.append(axis[0] if isinstance(axis[0], int) else axis[0][0])
            key.append(slice(None, None, -1 if len(axis) == 3 and axis[2] < 0 else None))
        # Dimensions that no axis has are of length 1.
        others = [dim for dim in range(len(self._shape)) if dim not in order]
        return elements.transpose(*others, *order)[(0,) * len(others) + (...,)][(*key, ...)]

    def __iter__(self) -> Iterator[Piece]:
        return self.within(None)

    def within(self, positions: Collection[Position] | None) -> Iterator[Piece]:
        """Return the pieces in these chunks; None means all."""
        if not self.count or (positions is not None and not positions):
            return
        if not self._axes:
            yield (), (), (...,)
        elif self.is_listed:
            yield from self._listed(positions)
        else:
            axes = zip(self._axes, self._chunks, self._first, strict=True)
            lines = [line_of(self._shape, axis, length, first) for axis, length, first in axes]
            every: Any = product(*lines)
            if positions is not None and len(positions) < prod(map(len, lines)):
                every = [at for at in positions if all(index in line for index, line in zip(at, lines, strict=True))]
            is_plain = not any(not isinstance(axis, int) and len(axis) == 2 for axis in self._axes)
            for position in every:
                if positions is None or position in positions:
                    result = [line[index] for index, line in zip(position, lines, strict=True)]
                    where, index = zip(*result, strict=True)
                    yield (position, where, index) if is_plain else (position, product_of(where), product_of(index))

    def _listed(self, positions: Collection[Position] | None) -> Iterator[Piece]:
        indices = [np.broadcast_to(along, self._shape).reshape(-1) for along in index_arrays(self._shape, self._axes)]
        cells = [index // length for index, length in zip(indices, self._chunks, strict=True)]
        number = np.zeros(self.count, np.int64)
        for cell in cells:
            number = number * (int(cell.max()) + 1) + cell
        for of_chunk in _alike(number):
            at = [int(cell[of_chunk[0]]) for cell in cells]
            position = tuple(map(add, at, self._first))
            if positions is None or position in positions:
                starts = zip(indices, at, self._chunks, strict=True)
                yield position, tuple([index[of_chunk] - number * length for index, number, length in starts]), of_chunk

    def put_back(self, elements: npt.NDArray[Any], result: npt.NDArray[Any]) -> None:
        """Put arranged elements where they belong in the result, unless they are a view of it."""
        if self.is_listed and not np.shares_memory(elements, result):
            result[...] = elements.reshape(result.shape)


def product_of(picked: Sequence[Picked | range]) -> Key:
    """Return the key of all combinations of these indices: NumPy's `ix_`, which takes ranges, too."""
    return np.ix_(
        *[np.arange(each.start, each.stop, each.step) if isinstance(each, slice) else each for each in picked]
    )


def line_of(shape: tuple[int, ...], axis: Axis, length: int, first: int) -> _Line:
    if isinstance(axis, int):
        return {first + axis // length: (slice(axis % length, axis % length + 1, 1), slice(0, 1, 1))}
    if len(axis) == 2:
        indices = axis[1].reshape(-1)
        cells = indices // length
        parts = {int(cells[part[0]]): part for part in _alike(cells)}
        return {first + cell: (indices[part] - cell * length, part) for cell, part in parts.items()}
    dim, start, step = axis
    count = shape[dim]
    if step < 0:
        start, step = start + step * (count - 1), -step
    result: _Line = {}
    done = 0
    while done < count:
        index = start + done * step
        number = index // length
        here = min(count - done, -(-((number + 1) * length - index) // step)) if step else count
        low = index - number * length
        picked = slice(low, low + (here - 1) * step + 1, step if here > 1 else 1)
        result[first + number] = picked, slice(done, done + here, 1)
        done += here
    return result


def _alike(numbers: npt.NDArray[np.int64]) -> list[npt.NDArray[np.intp]]:
    """Return where each number is among them, in ascending order of the numbers."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


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
        return elements[key]

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
    maps = list(view.maps)
    for output, map_ in enumerate(maps):
        if isinstance(map_, ArrayMap):
            key = tuple([along if dim in map_.dims else WHOLE for dim, along in enumerate(where)])
            maps[output] = ArrayMap(map_.offset, map_.stride, map_.array[key], map_.dims, map_.bounds)
    return Part(number, Form(tuple(lower), tuple(upper), never, never, view.labels, tuple(maps)), tuple(where))


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
