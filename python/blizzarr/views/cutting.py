"""Restricting a view to a domain, whose dimensions are matched by label, or by position if there are no labels."""

from __future__ import annotations

from blizzarr.errors import OutOfBoundsError, SelectionError
from blizzarr.views.compose import gather
from blizzarr.views.dim_selection import normalize_dim
from blizzarr.views.form import ArrayMap, Form, identity_maps, without_arrays
from blizzarr.views.interval import Interval
from blizzarr.views.values import quoted

__all__ = ["cut"]


def cut(form: Form, domain: Form) -> Form:
    """Restrict a form to a domain, whose bounds become explicit, in the dimensions that the domain has.

    Raises
    ------
    SelectionError
        If dimensions cannot be matched, or the domain is not within the form's.
    """
    simple = _cut_simply(form, domain)
    if simple is not None:
        return simple
    dims = _matched(form, domain)
    labels = form.labels
    if not any(labels):
        labels = domain.labels
    intervals = [form.interval(dim) for dim in range(form.rank)]
    is_empty = False
    for place, dim in enumerate(dims):
        bounds = domain.interval(place).bounds
        if not intervals[dim].effective.covers(bounds):
            mine, its = _shown(intervals[dim], form.labels[dim]), _shown(domain.interval(place), domain.labels[place])
            raise OutOfBoundsError(
                f"OUT_OF_RANGE: Cannot slice target dimension {dim} {{{mine}}} with index domain dimension {place} "
                f"{{{its}}}"
            )
        intervals[dim] = Interval(*bounds)
        is_empty = is_empty or bounds.lower == bounds.upper
    new = Form.of_dims(list(zip(intervals, labels, strict=True)), form.maps)
    if is_empty:
        return without_arrays(new)
    identity = new._replace(maps=identity_maps(form.rank))
    maps = tuple(
        ArrayMap(map_.offset, map_.stride, *gather(map_, form, identity), map_.bounds)
        if isinstance(map_, ArrayMap)
        else map_
        for map_ in form.maps
    )
    return new._replace(maps=maps)


def _cut_simply(form: Form, domain: Form) -> Form | None:
    """Restrict a form on the fast path: no labels, no arrays, no errors; return None otherwise."""
    lower, upper = domain.lower, domain.upper
    if len(lower) != len(form.lower) or any(form.labels) or any(domain.labels):
        return None
    for dim, low in enumerate(lower):
        if not form.lower[dim] <= low < upper[dim] <= form.upper[dim]:
            return None
    if any(isinstance(map_, ArrayMap) for map_ in form.maps):
        return None
    never = (False,) * len(lower)
    return Form(lower, upper, never, never, form.labels, form.maps)


def _shown(interval: Interval, label: str) -> str:
    return f"{quoted(label)}: {interval}" if label else str(interval)


def _matched(form: Form, domain: Form) -> list[int]:
    """Return the matching dimension of the form for each dimension of the domain."""
    if not any(form.labels) or not any(domain.labels):
        if form.rank != domain.rank:
            raise SelectionError(
                f"Rank of index domain ({domain.rank}) must match rank of slice target ({form.rank}) when the index "
                "domain or slice target is unlabeled"
            )
        return list(range(form.rank))
    unlabelled = [dim for dim, label in enumerate(form.labels) if not label]
    dims = []
    for label in domain.labels:
        if label:
            dims.append(normalize_dim(label, form.labels))
        elif unlabelled:
            dims.append(unlabelled.pop(0))
        else:
            raise SelectionError(
                "Number of unlabeled dimensions in index domain exceeds number of unlabeled dimensions in slice target"
            )
    if "" in domain.labels and form.rank != domain.rank:
        raise SelectionError(
            f"Rank ({domain.rank}) of index domain containing unlabeled dimensions must equal slice target rank "
            f"({form.rank})"
        )
    return dims
