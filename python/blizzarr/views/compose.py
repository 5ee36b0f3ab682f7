"""Views of views: two transforms composed into one, and a view restricted to a domain.

The domain of a composition is that of the inner transform. Bounds that it leaves open (implicit ones) are those which
map into the outer domain; its other bounds must do so, or the view is out of bounds. Bounds stay implicit only where
all bounds that they follow from are implicit. The output maps follow as for every key: see `blizzarr.indexing.layout`.

At the end: the indices that a map gives, as an array.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError, SelectionError, ViewOutOfBoundsError
from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.indexing.interval import INF, UNBOUNDED, Bounds, Interval, check_contains
from blizzarr.indexing.layout import WHOLE, Term, index_values, lay_out, through
from blizzarr.json_values import quote
from blizzarr.views.dim_selection import normalize_dim

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


def cut(form: Form, domain: Form) -> Form:
    """Restrict a form to a domain, whose bounds become explicit, in the dimensions that the domain has.

    Dimensions are matched by label, or by position if there are no labels.

    Raise `SelectionError` if dimensions cannot be matched, or the domain is not within the form's.
    """
    dims = _matched(form, domain)
    terms: list[Term] = [WHOLE] * form.rank
    for position, dim in enumerate(dims):
        lower, upper = domain.lower[position], domain.upper[position]
        if not form.allowed(dim).covers((lower, upper)):
            raise OutOfBoundsError(
                f"OUT_OF_RANGE: Cannot slice target dimension {dim} {{{_shown(form, dim)}}} with index domain "
                f"dimension {position} {{{_shown(domain, position)}}}"
            )
        terms[dim] = lower, upper, False, False, 0, 1
    result = lay_out(form, terms, constants=False)
    return result if any(form.labels) or not any(domain.labels) else result._replace(labels=domain.labels)


def _shown(form: Form, dim: int) -> str:
    label, interval = form.labels[dim], form.interval(dim)
    return f"{quote(label)}: {interval}" if label else str(interval)


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
