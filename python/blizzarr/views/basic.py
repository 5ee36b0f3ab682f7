"""The fast path for the most frequent keys: integers, slices, `...` and `newaxis`.

It changes the form of a view directly, in straight lines. It knows no errors: any key that it does not take, for
whatever reason, goes the long way, which decides the meaning of all keys (`numpy_index` and `compose`). Tests prove
that the two agree wherever this one answers.
"""

from __future__ import annotations

from typing import Any

from blizzarr.views.form import ArrayMap, Form, Map
from blizzarr.views.interval import INF
from blizzarr.views.values import MAX_RANK

__all__ = ["index_basic"]

_REST = object()
"""Behind all items: the dimensions that none of them took."""
# No offset is this large unless something overflows.
BEYOND = 2**63


def index_basic(form: Form, key: Any) -> Form | None:
    """Return the form of ``view[key]``; None unless the key is of the simplest kinds and valid.

    Examples
    --------
    >>> form = Form((0, 0), (5, 6), (False,) * 2, (False,) * 2, ("", ""), ((0, 0, 1), (1, 0, 1)))
    >>> index_basic(form, (3, slice(2, 6, 2))).maps
    (3, (0, 0, 2))
    >>> index_basic(form, 7) is None
    True
    """
    items = (*key, _REST) if type(key) is tuple else (key, _REST)
    all_lower, all_upper, all_implicit_lower, all_implicit_upper, all_labels, maps = form
    rank = len(all_lower)
    lower: list[int] = []
    upper: list[int] = []
    implicit_lower: list[bool] = []
    implicit_upper: list[bool] = []
    labels: list[str] = []
    # The fate of each dimension: an index, or (dim, offset, stride).
    became: list[int | tuple[int, int, int]] = []
    dim = 0
    spread = False
    for item in items:
        kind = type(item)
        if kind is int:
            if dim == rank or not all_lower[dim] <= item < all_upper[dim]:
                return None
            became.append(item)
            dim += 1
        elif kind is slice:
            if dim == rank:
                return None
            start, stop, step = item.start, item.stop, item.step
            first, end = all_lower[dim], all_upper[dim]
            open_below, open_above = all_implicit_lower[dim], all_implicit_upper[dim]
            if start is not None:
                if type(start) is not int or not first <= start <= end or start >= INF:
                    return None
                first, open_below = start, False
            if stop is not None:
                if type(stop) is not int or not first <= stop <= end or stop >= INF:
                    return None
                end, open_above = stop, False
            if step is not None and type(step) is int and step < 0:
                down = _counted_down(form, dim, item, open_below, open_above)
                if down is None:
                    return None
                first, end, offset = down
                open_below, open_above = open_above, open_below
                became.append((len(lower), offset, step))
            elif first >= end:
                return None
            elif step is None or step == 1:
                became.append((len(lower), 0, 1))
            else:
                if type(step) is not int or step <= 0 or first < 0 or end > INF:
                    return None
                origin = first // step
                became.append((len(lower), first - origin * step, step))
                first, end = origin, origin - (first - end) // step
            lower.append(first)
            upper.append(end)
            implicit_lower.append(open_below)
            implicit_upper.append(open_above)
            labels.append(all_labels[dim])
            dim += 1
        elif item is _REST or item is Ellipsis:
            after = rank
            if item is Ellipsis:
                taken = len(items) - 2 - sum([other is None for other in items])
                if taken > rank or spread:
                    return None
                spread = True
                after = dim + rank - taken
            while dim < after:
                became.append((len(lower), 0, 1))
                lower.append(all_lower[dim])
                upper.append(all_upper[dim])
                implicit_lower.append(all_implicit_lower[dim])
                implicit_upper.append(all_implicit_upper[dim])
                labels.append(all_labels[dim])
                dim += 1
        elif item is None:
            lower.append(0)
            upper.append(1)
            implicit_lower.append(True)
            implicit_upper.append(True)
            labels.append("")
        else:
            return None
    if len(lower) > MAX_RANK:
        return None
    new_maps = _composed(maps, all_lower, became, lower, upper)
    if new_maps is None:
        return None
    return Form(tuple(lower), tuple(upper), tuple(implicit_lower), tuple(implicit_upper), tuple(labels), new_maps)


def _counted_down(form: Form, dim: int, key: slice, open_below: bool, open_above: bool) -> tuple[int, int, int] | None:
    """Return the bounds of the dimension that a slice with a negative step gives, and the offset of its map; None
    where the general path has to take it.
    """
    start, stop, step = key.start, key.stop, key.step
    first = form.upper[dim] - 1 if start is None else start
    last = form.lower[dim] if stop is None else stop + 1
    # An implicit bound moves with that of the view, and so would everything that is counted from it.
    if (open_above and start is not None) or (open_below and stop is not None):
        return None
    if last > first or first >= form.upper[dim] or last < 0 or first >= INF:
        return None
    origin = -(-first // step)
    return origin, origin - (last - first - 1) // -step, first - origin * step


def _composed(
    maps: tuple[Map, ...],
    origin: tuple[int, ...],
    became: list[int | tuple[int, int, int]],
    lower: list[int],
    upper: list[int],
) -> tuple[Map, ...] | None:
    """Return the output maps after indexing dimensions that began at `origin`; None for the general path."""
    new_maps: list[Map] = []
    for map_ in maps:
        if type(map_) is int:
            new_maps.append(map_)
        elif type(map_) is tuple:
            own, offset, stride = map_
            now = became[own]
            if isinstance(now, tuple):
                offset += stride * now[1]
                new_maps.append((now[0], offset, stride * now[2]))
            else:
                offset += stride * now
                new_maps.append(offset)
            if not -BEYOND < offset < BEYOND:
                return None
        elif isinstance(map_, ArrayMap):
            part = _part_of_array(map_, origin, became, lower, upper)
            if part is None:
                return None
            new_maps.append(part)
    return tuple(new_maps)


def _part_of_array(
    map_: ArrayMap,
    origin: tuple[int, ...],
    became: list[int | tuple[int, int, int]],
    lower: list[int],
    upper: list[int],
) -> ArrayMap | None:
    """Return the part of an index array that a view selects; None if it is a single index."""
    array = map_.array
    key: list[Any] = []
    dims: list[int] = []
    shape = [1] * len(lower)
    for dim, now in enumerate(became):
        single = array.shape[dim] == 1
        if isinstance(now, int):
            key.append(0 if single else now - origin[dim])
            continue
        new, offset, stride = now
        if dim in map_.dims:
            dims.append(new)
        if single:
            key.append(0)
            continue
        count = shape[new] = upper[new] - lower[new]
        start = offset + stride * lower[new] - origin[dim]
        stop = start + stride * count
        key.append(slice(start, None if stop < 0 else stop, stride))
    values = array[tuple(key)]
    if values.size == 1:
        return None
    return ArrayMap(map_.offset, map_.stride, values.reshape(shape), tuple(dims), map_.bounds)
