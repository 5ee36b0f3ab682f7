"""Composing two transforms into one: a view of a view.

Steps
-----
1. The domain is that of the inner transform. Bounds that it leaves open (implicit ones) are those which map into the
   outer domain; its other bounds must do so, or the view is out of bounds. Bounds stay implicit only where all bounds
   that they follow from are implicit.
2. Each output map of the outer transform is applied to those of the inner: constants and strides multiply out. Arrays
   of indices are not looked at where the outer map is a stride: they get its bounds, and are checked when data move.
3. An array over dimensions that all have length 1 is a constant.
"""

from __future__ import annotations

import numpy as np

from blizzarr.errors import OutOfBoundsError, SelectionError
from blizzarr.views.form import ArrayMap, Form, IndexArray, Map, fits_64_bits
from blizzarr.views.interval import INF, Bounds, Interval, affine_domain, check_contains

__all__ = ["checked_constant", "compose", "gather", "index_values"]


def compose(outer: Form, inner: Form) -> Form:
    """Compose two transforms: first `inner`, then `outer`.

    Raises
    ------
    SelectionError
        If the inner transform does not map into the domain of the outer.
    """
    if len(inner.maps) != outer.rank:
        raise SelectionError(
            f"Rank {outer.rank} -> {len(outer.maps)} transform cannot be composed with "
            f"rank {inner.rank} -> {len(inner.maps)} transform."
        )
    domain = _domain(outer, inner)
    is_empty = domain.is_empty
    maps = tuple(_compose_map(map_, outer, inner, domain, is_empty, output) for output, map_ in enumerate(outer.maps))
    return domain._replace(maps=maps)


def _domain(outer: Form, inner: Form) -> Form:
    """Return the domain of the inner transform, restricted to where the outer one is defined."""
    is_empty = inner.is_empty
    inferred: dict[int, Interval] = {}
    for dim, map_ in enumerate(inner.maps):
        if isinstance(map_, ArrayMap):
            continue
        if isinstance(map_, int):
            if not is_empty:
                check_contains(
                    outer.interval(dim).effective,
                    map_,
                    f"Checking bounds of constant output index map for dimension {dim}",
                )
            continue
        own, offset, stride = map_
        allowed = outer.interval(dim)
        bounds = affine_domain(allowed.bounds, offset, stride)
        flags = (allowed.implicit_lower, allowed.implicit_upper)[:: 1 if stride > 0 else -1]
        found = Interval(*bounds, *flags)
        inferred[own] = found.tighten(inferred.get(own, Interval(-INF, INF + 1, True, True)))

    dims: list[tuple[Interval, str]] = []
    for dim, label in enumerate(inner.labels):
        old = inner.interval(dim)
        new = inferred.get(dim)
        if new is None:
            dims.append((old, label))
            continue
        lower = new.lower if old.implicit_lower else old.lower
        upper = max(lower, new.upper if old.implicit_upper else old.upper)
        if not is_empty and not new.effective.covers((lower, upper)):
            raise OutOfBoundsError(
                f"OUT_OF_RANGE: Propagated bounds {new}{_size(new)} for dimension {dim} are incompatible with existing "
                f"bounds {Bounds(lower, upper)}{_size(Bounds(lower, upper)).rstrip(',')}."
            )
        flags = (old.implicit_lower and new.implicit_lower, old.implicit_upper and new.implicit_upper)
        dims.append((Interval(lower, upper, *flags), label))
    return Form.of_dims(dims)


def _size(interval: Interval | Bounds) -> str:
    size = interval.upper - interval.lower
    return "" if size == 2 * INF + 1 else f", with size={size},"


def _compose_map(map_: Map, outer: Form, inner: Form, domain: Form, is_empty: bool, output: int) -> Map:
    if isinstance(map_, int):
        return map_
    if isinstance(map_, ArrayMap):
        return 0 if is_empty else _compose_array(map_, outer, inner, domain)
    dim, offset, stride = map_
    source = inner.maps[dim]
    if isinstance(source, int):
        return _fitting(offset + stride * source, 0, output)[0]
    if isinstance(source, tuple):
        own, inner_offset, inner_stride = source
        return own, *_fitting(offset + stride * inner_offset, stride * inner_stride, output)
    if is_empty:
        return 0
    new_offset, new_stride = _fitting(offset + stride * source.offset, stride * source.stride, output)
    allowed = affine_domain(outer.interval(dim).effective, source.offset, source.stride)
    lower = max(allowed.lower, source.bounds.lower)
    bounds = Bounds(lower, max(lower, min(allowed.upper, source.bounds.upper)))
    if source.array.size == 1:
        return checked_constant(int(source.array.item()), bounds, new_offset, new_stride)
    return ArrayMap(new_offset, new_stride, source.array, source.dims, bounds)


def _fitting(offset: int, stride: int, output: int) -> tuple[int, int]:
    if not fits_64_bits(offset, stride):
        raise SelectionError(f"Integer overflow computing output offset for output dimension {output}.")
    return offset, stride


def checked_constant(index: int, bounds: Bounds, offset: int, stride: int) -> int:
    """Return the constant in place of an array with a single index, which is checked against its bounds."""
    check_contains(bounds, index)
    found = offset + stride * index
    if not fits_64_bits(found):
        raise SelectionError("Integer overflow computing offset for output dimension.")
    return found


def _compose_array(map_: ArrayMap, outer: Form, inner: Form, domain: Form) -> Map:
    values, dims = gather(map_, outer, domain._replace(maps=inner.maps))
    if values.size == 1:
        return checked_constant(int(values.item()), map_.bounds, map_.offset, map_.stride)
    return ArrayMap(map_.offset, map_.stride, values, dims, map_.bounds)


def gather(map_: ArrayMap, outer: Form, inner: Form) -> tuple[IndexArray, tuple[int, ...]]:
    """Return an outer array at the indices of the inner transform, and the dimensions that index the result."""
    rank = inner.rank
    places: list[IndexArray | int] = [0] * outer.rank
    dims: set[int] = set()
    indexed = False
    for dim in map_.dims:
        source = inner.maps[dim]
        if isinstance(source, int):
            places[dim] = source - outer.lower[dim]
        elif isinstance(source, tuple):
            own, offset, stride = source
            dims.add(own)
            along = offset + stride * np.arange(inner.lower[own], inner.upper[own], dtype=np.int64)
            places[dim] = (along - outer.lower[dim]).reshape([-1 if d == own else 1 for d in range(rank)])
        else:
            indexed = True
            dims.update(source.dims)
            places[dim] = index_values(source, outer.interval(dim).bounds, dim) - outer.lower[dim]
    values = np.asarray(map_.array[tuple(places)])
    if values.ndim < rank:
        values = values.reshape((1,) * rank)
    if indexed:
        # Where it was gathered by arrays, the result is laid out anew, and dimensions of length 1 do not count.
        dims = {dim for dim in dims if inner.upper[dim] - inner.lower[dim] != 1}
    return values, tuple(sorted(dims))


def index_values(map_: ArrayMap, allowed: Bounds, output: int | None = None) -> IndexArray:
    """Return the indices of an array map, all checked against its bounds; errors name the output dimension.

    Raises
    ------
    OutOfBoundsError
        If one is not.
    """
    within = affine_domain(allowed, map_.offset, map_.stride)
    lower, upper = max(within.lower, map_.bounds.lower), min(within.upper, map_.bounds.upper)
    wrong = map_.array[(map_.array < lower) | (map_.array >= upper)]
    if wrong.size:
        doing = "" if output is None else f"In index array map for output dimension {output}"
        check_contains(Bounds(lower, max(lower, upper)), int(wrong[0]), doing)
    return map_.offset + map_.stride * map_.array
