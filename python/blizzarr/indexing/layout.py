"""What a key makes of a view, whatever its dialect: one walk over its terms.

Steps
-----
1. Each term stands for some dimensions of the view and gives new ones. `lay_out` counts the new dimensions, in the
   order of the terms, and notes the *source* of each old one: how its index follows from a new position. Indices and
   slices are those of the domain, where nothing is counted from the end, and slices keep their place.
2. `through` replaces the positions in the output maps of the view by their sources: constants and strides multiply
   out. Arrays of indices are not looked at where the view has a stride: they get its bounds, and are checked when data
   move. The part of an array that is selected is taken out of it (`part_of_array`).

Composing two views is the second step alone: the sources are the output maps of the inner one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from blizzarr.errors import OutOfBoundsError, SelectionError, SpecError
from blizzarr.indexing.form import ArrayMap, Form, IndexArray, Map, is_empty
from blizzarr.indexing.interval import (
    INF,
    INT64_MAX,
    INT64_MIN,
    UNBOUNDED,
    Bounds,
    Interval,
    affine_domain,
    check_contains,
    closed,
)

Kept: TypeAlias = tuple[int, int, bool, bool, int, int]
"""A sliced dimension: its new bounds, whether each is implicit, and the offset and stride of its map."""


@dataclass(slots=True, eq=False)
class Arrays:
    """Index arrays of one shape: a single one, or those that stand for a mask, one for each of its dimensions."""

    indices: tuple[IndexArray, ...]
    shape: tuple[int, ...]
    is_mask: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Arrays):
            return NotImplemented
        mine, its = (self.is_mask, self.shape), (other.is_mask, other.shape)
        return (
            mine == its
            and len(self.indices) == len(other.indices)
            and all(map(np.array_equal, self.indices, other.indices))
        )

    __hash__ = None  # type: ignore[assignment]


Term: TypeAlias = int | slice | Kept | Arrays | None
"""An index, a slice of integers and None, what a dialect has made of a slice, arrays, or None for a new dimension."""

WHOLE: Final = slice(None)
"""The term of a dimension that stays as it is."""


_NO_DIMENSIONS: Final = ((),) * 5


def dims_made(term: Any, joint: tuple[int, ...] | None, holds: bool) -> int:
    """Return the number of new dimensions that a term has in its place; see `lay_out`."""
    if isinstance(term, Arrays):
        return len(term.shape) if joint is None else len(joint) if holds else 0
    return 0 if isinstance(term, int) else 1


def lay_out(
    form: Form,
    terms: Sequence[Any],
    dims: Sequence[Any] | None = None,
    joint: tuple[int, ...] | None = None,
    holder: int = -1,
    *,
    constants: bool = True,
) -> Form:
    """Return the view of a view that these terms select.

    Raise `SelectionError` if a slice is not valid. Raise `OutOfBoundsError` if an index or a slice is outside the view;
    indices do not matter if the new view is empty.

    - `terms`: the terms, in the order of their new dimensions; every old dimension has one.
    - `dims`: for each term the dimension that it stands for, for arrays a sequence of these; None if term and dimension
      have the same number.
    - `joint`: the shape to which all index arrays are broadcast; None if each has dimensions of its own.
    - `holder`: the term that has the joint dimensions in its place; -1 puts them first.
    - `constants`: whether an array of a single index becomes a constant, which is checked at once.

    >>> lay_out(Form.of_shape((5, 6)), [3, slice(2, 6, 2)]).maps
    (3, (0, 0, 2))
    """
    all_lower, all_upper, all_open_below, all_open_above, all_labels, _ = form
    # The bounds and the label of each new dimension.
    made: list[tuple[int, int, bool, bool, str]] = []
    sources: list[Any] = [0] * len(all_lower)
    outside: list[int] = []
    placed: list[tuple[Arrays, Any, int]] = []
    end = 0
    if joint and holder < 0:
        end = len(joint)
        made += [(0, length, False, False, "") for length in joint]
    for position, term in enumerate(terms):
        dim = position if dims is None else dims[position]
        kind = type(term)
        if (
            kind is slice
            and term.step is None
            and (first := term.start) is not None
            and (stop := term.stop) is not None
            and all_lower[dim] <= first < stop <= all_upper[dim]
            and stop < INF
        ):
            # The most frequent slices.
            sources[dim] = len(made), 0, 1
            made.append((first, stop, False, False, all_labels[dim]))
        elif kind is int:
            sources[dim] = term
            # An infinite bound is no index.
            if not all_lower[dim] <= term < all_upper[dim] or term == INF or term == -INF:
                outside.append(dim)
        elif term is WHOLE:
            sources[dim] = len(made), 0, 1
            made.append((all_lower[dim], all_upper[dim], all_open_below[dim], all_open_above[dim], all_labels[dim]))
        elif kind is slice or kind is tuple:
            first, stop, open_below, open_above, offset, stride = sliced(form, dim, term) if kind is slice else term
            sources[dim] = len(made), offset, stride
            made.append((first, stop, open_below, open_above, all_labels[dim]))
        elif term is None:
            made.append((0, 1, True, True, ""))
        else:
            if joint is None or len(placed) == holder:
                made += [(0, length, False, False, "") for length in (term.shape if joint is None else joint)]
                end = len(made)
            placed.append((term, dim, end))
    lower, upper, open_below, open_above, labels = zip(*made) if made else _NO_DIMENSIONS  # noqa: B905
    if (outside or placed) and not is_empty(lower, upper, open_below, open_above):
        for dim in outside:
            doing = f"Checking bounds of constant output index map for dimension {dim}"
            check_contains(form.allowed(dim), sources[dim], doing)
        for arrays, own, own_end in placed:
            for dim, array in zip(own, arrays.indices, strict=True):
                # Joint dimensions may be those of a later term.
                sources[dim] = _array_map(array, own_end if joint is None else end, len(lower))
    return through(form, sources, lower, upper, open_below, open_above, labels, constants)


def sliced(form: Form, dim: int, key: slice) -> Kept:
    """Return what a slice makes of a dimension.

    The index of the new interval times the step is near the old index: ``[6:20:3]`` begins at 2, not at 0.

    Raise `OutOfBoundsError` if the slice is not within the dimension. Raise `SelectionError` if it is no valid slice.

    >>> sliced(Form.of_shape((20,)), 0, slice(7, 20, 3))
    (2, 7, False, False, 1, 3)
    """
    lower, upper, open_below, open_above = form[0][dim], form[1][dim], form[2][dim], form[3][dim]
    start, stop, step = key.start, key.stop, key.step
    if step is None:
        step = 1
    elif step == 0 or step <= INT64_MIN:
        raise SelectionError(f"Computing interval slice for dimension {dim}: Invalid stride {step}")
    least = -INF if open_below else lower
    end = INF + 1 if open_above else upper
    if start is None:
        start = lower if step > 0 else upper - 1
    else:
        open_below = False
    if stop is None:
        last = upper - 1 if step > 0 else lower
    else:
        open_above = False
        last = stop if not -INF < stop < INF else stop - 1 if step > 0 else stop + 1
    # The first and the last index, in ascending order.
    first, final = (start, last) if step > 0 else (last, start)
    if first < least or final >= end or first > final + 1 or first == -INF or final == INF:
        _check_slice(form, dim, key, start, first, final)
    if step == 1:
        return first, final + 1, open_below, open_above, 0, 1
    # Rounded towards zero, as integers are divided in C.
    origin = start // step if (start >= 0) == (step > 0) else -(-start // step)
    size = INF + 1 - origin if last in (-INF, INF) else -((first - final - 1) // abs(step))
    offset = start - origin * step
    if step > 0:
        return origin, origin + size, open_below, open_above, offset, step
    # Implicit bounds follow from the dimension, wherever the slice began.
    positions = Interval(origin, origin + size, open_above, open_below)
    return (*positions.within(form.interval(dim).source(offset, step)), offset, step)


def _check_slice(form: Form, dim: int, key: slice, start: int, first: int, final: int) -> None:
    """Raise unless a slice that may be infinite or empty is valid, and within a dimension."""
    doing = f"Computing interval slice for dimension {dim}"
    for bound in (key.start, key.stop):
        if bound is not None and not INT64_MIN <= bound <= INT64_MAX:
            raise TypeError(f"{doing}: expected integers of 64 bits, found {key}")
    if not -INF <= start <= INF:
        raise SelectionError(f"{doing}: Invalid start index {start}")
    if key.step not in (None, 1, -1) and not -INF < start < INF:
        raise SelectionError(f"{doing}: Slicing with non-unit stride of {key.step} requires a finite start index")
    try:
        taken = closed(first, final)
    except SpecError as error:
        raise SelectionError(f"{doing}: {error}") from None
    allowed = form.allowed(dim)
    if not allowed.covers(taken):
        raise OutOfBoundsError(
            f"OUT_OF_RANGE: {doing}: Slice interval {taken} is not contained within domain {allowed}"
        )


def _array_map(array: IndexArray, end: int, rank: int) -> ArrayMap:
    """Return the map of an index array whose last dimension is the new one before `end`."""
    first = end - array.ndim
    dims = tuple([first + along for along, length in enumerate(array.shape) if length != 1])
    if array.ndim != rank:
        array = array.reshape((1,) * first + array.shape + (1,) * (rank - end))
    return ArrayMap(0, 1, array, dims)


def through(
    form: Form,
    sources: Sequence[Map],
    lower: tuple[int, ...],
    upper: tuple[int, ...],
    implicit_lower: tuple[bool, ...],
    implicit_upper: tuple[bool, ...],
    labels: tuple[str, ...],
    constants: bool = True,
) -> Form:
    """Return a view with a new domain, given the source of each of its old dimensions in the new domain.

    Raise `SelectionError` if an offset or a stride does not fit into 64 bits. Raise `OutOfBoundsError` if the single
    index of an array is outside its bounds.
    """
    maps: list[Map] = []
    empty: bool | None = None
    for map_ in form.maps:
        kind = type(map_)
        if kind is tuple:
            dim, offset, stride = map_  # type: ignore[misc]
            source = sources[dim]
            kind = type(source)
            if kind is int:
                offset += stride * source  # type: ignore[operator]
                if not INT64_MIN <= offset <= INT64_MAX:
                    raise _overflow(len(maps))
                maps.append(offset)
                continue
            if kind is tuple:
                own, inner_offset, inner_stride = source  # type: ignore[misc]
                if inner_offset or inner_stride != 1:
                    offset += stride * inner_offset
                    stride *= inner_stride
                    if not (INT64_MIN <= offset <= INT64_MAX and INT64_MIN <= stride <= INT64_MAX):
                        raise _overflow(len(maps))
                maps.append((own, offset, stride))
                continue
        elif kind is int:
            maps.append(map_)
            continue
        if empty is None:
            empty = is_empty(lower, upper, implicit_lower, implicit_upper)
        if empty:
            maps.append(0)
        elif isinstance(map_, ArrayMap):
            array, dims = part_of_array(map_, form, sources, lower, upper)
            maps.append(_checked(ArrayMap(map_.offset, map_.stride, array, dims, map_.bounds), constants))
        else:
            maps.append(_checked(_over_array(offset, stride, source, form.allowed(dim), len(maps))))
    return tuple.__new__(Form, (lower, upper, implicit_lower, implicit_upper, labels, tuple(maps)))


def _overflow(output: int) -> SelectionError:
    return SelectionError(f"Integer overflow computing output offset for output dimension {output}.")


def _over_array(offset: int, stride: int, source: Any, allowed: Bounds, output: int) -> ArrayMap:
    """Return the map of a stride over an index array, whose values have to be in the bounds of the dimension."""
    offset, stride = offset + stride * source.offset, stride * source.stride
    if not (INT64_MIN <= offset <= INT64_MAX and INT64_MIN <= stride <= INT64_MAX):
        raise _overflow(output)
    allowed = affine_domain(allowed, source.offset, source.stride)
    if source.bounds is not UNBOUNDED:
        lower = max(allowed.lower, source.bounds.lower)
        allowed = Bounds(lower, max(lower, min(allowed.upper, source.bounds.upper)))
    return ArrayMap(offset, stride, source.array, source.dims, allowed)


def _checked(map_: ArrayMap, constants: bool = True) -> Map:
    """Return the constant in place of an array with a single index, which is checked; other maps as they are."""
    if not constants or map_.array.size != 1:
        return map_
    index = int(map_.array.item())
    check_contains(map_.bounds, index)
    index = map_.offset + map_.stride * index
    if not INT64_MIN <= index <= INT64_MAX:
        raise SelectionError("Integer overflow computing offset for output dimension.")
    return index


def shifted(form: Form, by: Sequence[int]) -> Form:
    """Return the same view of an array whose indices are these numbers higher.

    >>> shifted(Form.of_shape((5, 6)), (10, 20)).maps
    ((0, 10, 1), (1, 20, 1))
    """
    maps: list[Map] = []
    for map_, number in zip(form.maps, by, strict=True):
        if isinstance(map_, int):
            maps.append(map_ + number)
        elif isinstance(map_, tuple):
            maps.append((map_[0], map_[1] + number, map_[2]))
        else:
            maps.append(ArrayMap(map_.offset + number, map_.stride, map_.array, map_.dims, map_.bounds))
    return form._replace(maps=tuple(maps))


def permute(form: Form, order: Sequence[int]) -> Form:
    """Return the form with its dimensions in another order: `order` has the old number of each new one."""
    order = list(order)
    new_of = {old: new for new, old in enumerate(order)}
    sources = [(new_of[dim], 0, 1) for dim in range(form.rank)]
    return through(form, sources, *form.take(order)[:5], constants=False)


def part_of_array(
    map_: ArrayMap, form: Form, sources: Sequence[Map], lower: Sequence[int], upper: Sequence[int]
) -> tuple[IndexArray, tuple[int, ...]]:
    """Return the index array of a view at the sources of its dimensions, and the new dimensions that index it."""
    rank = len(lower)
    key: list[Any] = [0] * map_.array.ndim
    owns: list[int] = []
    arrays = False
    for dim in map_.dims:
        source = sources[dim]
        if isinstance(source, int):
            key[dim] = source - form.lower[dim]
        elif isinstance(source, tuple):
            own, offset, stride = source
            start = offset + stride * lower[own] - form.lower[dim]
            stop = start + stride * (upper[own] - lower[own])
            key[dim] = slice(start, None if stop < 0 else stop, stride)
            owns.append(own)
        else:
            arrays = True
            key[dim] = index_values(source, Bounds(form.lower[dim], form.upper[dim]), dim) - form.lower[dim]
            owns.extend(source.dims)
    dims = sorted(set(owns))
    if not arrays and len(dims) == len(owns):
        values = map_.array[tuple(key)]
        if owns != dims:
            values = values.transpose([owns.index(own) for own in dims])
        return values.reshape([upper[own] - lower[own] if own in dims else 1 for own in range(rank)]), tuple(dims)
    # Slices become arrays where there are others, or where two of them follow the same dimension.
    for dim in map_.dims:
        if isinstance(key[dim], slice):
            along = np.arange(map_.array.shape[dim])[key[dim]]
            key[dim] = along.reshape([-1 if own == sources[dim][0] else 1 for own in range(rank)])  # type: ignore[index]
    values = map_.array[tuple(key)]
    if arrays:
        # The result is laid out anew, and dimensions of length 1 do not count.
        dims = [own for own in dims if upper[own] - lower[own] != 1]
    return values, tuple(dims)


def index_values(map_: ArrayMap, allowed: Bounds, output: int | None = None) -> IndexArray:
    """Return the indices of an array map, all checked against its bounds; errors name the output dimension.

    Raise `OutOfBoundsError` if one is not.
    """
    offset, stride, array = map_.offset, map_.stride, map_.array
    within = affine_domain(allowed, offset, stride)
    lower, upper = max(within.lower, map_.bounds.lower), min(within.upper, map_.bounds.upper)
    # Read without a sign, negative indices are larger than any bound: one comparison settles the usual case.
    if array.size and (lower or upper <= 0 or int(array.view(np.uint64).max()) >= upper):
        wrong = array[(array < lower) | (array >= upper)]
        if wrong.size:
            doing = "" if output is None else f"In index array map for output dimension {output}"
            check_contains(Bounds(lower, max(lower, upper)), int(wrong[0]), doing)
    return array if not offset and stride == 1 else offset + stride * array
