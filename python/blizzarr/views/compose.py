"""Composing two transforms into one: a view of a view.

The domain is that of the inner transform. Bounds that it leaves open (implicit ones) are those which map into the outer
domain; its other bounds must do so, or the view is out of bounds. Bounds stay implicit only where all bounds that they
follow from are implicit. The output maps follow as for every key: see `blizzarr.indexing.layout`.
"""

from __future__ import annotations

from blizzarr.errors import OutOfBoundsError, SelectionError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import INF, Bounds, Interval, check_contains
from blizzarr.indexing.layout import through

_OPEN = Interval(-INF, INF + 1, True, True)


def compose(outer: Form, inner: Form) -> Form:
    """Compose two transforms: first `inner`, then `outer`.

    Raise `SelectionError` if the inner transform does not map into the domain of the outer.
    """
    if len(inner.maps) != outer.rank:
        raise SelectionError(
            f"Rank {outer.rank} -> {len(outer.maps)} transform cannot be composed with "
            f"rank {inner.rank} -> {len(inner.maps)} transform."
        )
    is_empty = inner.is_empty
    inferred: dict[int, Interval] = {}
    for dim, map_ in enumerate(inner.maps):
        if isinstance(map_, tuple):
            own, offset, stride = map_
            inferred[own] = outer.interval(dim).source(offset, stride).tighten(inferred.get(own, _OPEN))
        elif isinstance(map_, int) and not is_empty:
            doing = f"Checking bounds of constant output index map for dimension {dim}"
            check_contains(outer.allowed(dim), map_, doing)
    dims: list[tuple[Interval, str]] = []
    for dim, label in enumerate(inner.labels):
        interval = inner.interval(dim)
        allowed = inferred.get(dim, interval)
        result = interval.within(allowed)
        if not is_empty and not allowed.effective.covers(result.bounds):
            raise OutOfBoundsError(
                f"OUT_OF_RANGE: Propagated bounds {allowed}{_size(allowed)} for dimension {dim} are incompatible with "
                f"existing bounds {result.bounds}{_size(result.bounds).rstrip(',')}."
            )
        dims.append((result, label))
    return through(outer, inner.maps, *Form.of_dims(dims)[:5])


def _size(interval: Interval | Bounds) -> str:
    size = interval.upper - interval.lower
    return "" if size == 2 * INF + 1 else f", with size={size},"
