"""Restricting a view to a domain, whose dimensions are matched by label, or by position if there are no labels."""

from __future__ import annotations

from blizzarr.errors import OutOfBoundsError, SelectionError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import Interval
from blizzarr.indexing.layout import WHOLE, Term, lay_out
from blizzarr.json_values import quote
from blizzarr.views.dim_selection import normalize_dim


def cut(form: Form, domain: Form) -> Form:
    """Restrict a form to a domain, whose bounds become explicit, in the dimensions that the domain has.

    Raise `SelectionError` if dimensions cannot be matched, or the domain is not within the form's.
    """
    dims = _matched(form, domain)
    terms: list[Term] = [WHOLE] * form.rank
    for position, dim in enumerate(dims):
        lower, upper = domain.lower[position], domain.upper[position]
        if not form.allowed(dim).covers((lower, upper)):
            mine, its = (
                _shown(form.interval(dim), form.labels[dim]),
                _shown(domain.interval(position), domain.labels[position]),
            )
            raise OutOfBoundsError(
                f"OUT_OF_RANGE: Cannot slice target dimension {dim} {{{mine}}} with index domain dimension {position} "
                f"{{{its}}}"
            )
        terms[dim] = lower, upper, False, False, 0, 1
    result = lay_out(form, terms, constants=False)
    return result if any(form.labels) or not any(domain.labels) else result._replace(labels=domain.labels)


def _shown(interval: Interval, label: str) -> str:
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
