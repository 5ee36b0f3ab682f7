"""Domains: the indices for which a view is defined, as a box with labelled dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Never, overload

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import INF
from blizzarr.keywords import name_keywords, unknown_keywords
from blizzarr.views.compose import compose, cut
from blizzarr.views.descriptions import domain_of_vectors, domain_to_json, form_of_dims, parse_domain
from blizzarr.views.dim import Dim, dim_of, merged_dims
from blizzarr.views.dim_expression import DimExpression, DimSelection, apply_expression
from blizzarr.views.dim_selection import as_dim_specs, normalize_dim, normalize_dims
from blizzarr.views.movable import FormValue, Movable, form_of


class IndexDomain(FormValue, Movable):
    """The box of indices for which a view is defined: for each dimension an interval, and perhaps a label.

    Made from dimensions (`Dim`), from `json`, or from vectors; at most one of `shape`, `exclusive_max` and
    `inclusive_max` may be given. Bounds that are not given are infinite and implicit; with a shape, the lower bounds
    are zero.

    Domains are immutable; indexing them gives new ones.

    Examples
    --------
    >>> IndexDomain(shape=[2, 3], labels=["x", None])
    { "x": [0, 2), [0, 3) }
    >>> IndexDomain([Dim(5), Dim(6, label="y")])["y"]
    Dim(inclusive_min=0, exclusive_max=6, label="y")
    """

    __slots__ = ()

    def __init__(
        self,
        rank: int | Iterable[Dim] | None = None,
        *,
        inclusive_min: Iterable[int] | None = None,
        implicit_lower_bounds: Iterable[bool] | None = None,
        exclusive_max: Iterable[int] | None = None,
        inclusive_max: Iterable[int] | None = None,
        shape: Iterable[int] | None = None,
        implicit_upper_bounds: Iterable[bool] | None = None,
        labels: Iterable[str | None] | None = None,
        dimensions: Iterable[Dim] | None = None,
        json: Any = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            raise unknown_keywords(IndexDomain.__init__, unknown)
        lower = inclusive_min, implicit_lower_bounds
        upper = exclusive_max, inclusive_max, shape, implicit_upper_bounds
        vectors = (*lower, *upper, labels)
        if isinstance(rank, Iterable) and dimensions is None:
            rank, dimensions = None, rank
        if dimensions is None and json is None:
            self._form = domain_of_vectors("", rank, *vectors)
            return
        if (
            rank is not None
            or any(vector is not None for vector in vectors)
            or (dimensions is not None and json is not None)
        ):
            raise TypeError("IndexDomain() takes dimensions, json, or vectors, and only one of these")
        self._form = parse_domain(json) if dimensions is None else form_of_dims(dimensions)

    def _with_form(self, form: Form) -> IndexDomain:
        return domain_of(form)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._form.lower)

    @property
    def inclusive_min(self) -> tuple[int, ...]:
        """The lower bounds."""
        return self._form.lower

    @property
    def exclusive_max(self) -> tuple[int, ...]:
        """The upper bounds: the indices after the last."""
        return self._form.upper

    @property
    def inclusive_max(self) -> tuple[int, ...]:
        """The last indices."""
        return tuple(upper - 1 for upper in self._form.upper)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, empty strings where there is none."""
        return self._form.labels

    @property
    def index_exp(self) -> tuple[slice, ...]:
        """The slices that select the domain from a NumPy array.

        Examples
        --------
        >>> IndexDomain(inclusive_min=[1, 2], exclusive_max=[5, 10]).index_exp
        (slice(1, 5, None), slice(2, 10, None))
        """
        slices = []
        for lower, upper in zip(self._form.lower, self._form.upper, strict=True):
            if -INF < lower < 0 or upper < 0:
                raise SpecError(f"Cannot convert domain {self} with negative bounds to index expression")
            slices.append(slice(None if lower == -INF else lower, None if upper == INF + 1 else upper))
        return tuple(slices)

    def to_json(self) -> dict[str, Any]:
        """The domain as JSON.

        Examples
        --------
        >>> IndexDomain(shape=[2, 3], labels=["x", None], implicit_upper_bounds=[True, False]).to_json()
        {'exclusive_max': [[2], 3], 'inclusive_min': [0, 0], 'labels': ['x', '']}
        """
        return domain_to_json(self._form)

    def intersect(self, other: IndexDomain) -> IndexDomain:
        """Return the intersection of both domains, which must have the same rank and compatible labels.

        Examples
        --------
        >>> IndexDomain(inclusive_min=[1, 2], shape=[3, 3], labels=["x", "y"]).intersect(IndexDomain(shape=[2, 3]))
        { "x": [1, 2), "y": [2, 3) }
        """
        return self._merged(other, "intersect")

    def hull(self, other: IndexDomain) -> IndexDomain:
        """Return the smallest domain that contains both, which must have the same rank and compatible labels.

        Examples
        --------
        >>> IndexDomain(inclusive_min=[1, 2], shape=[3, 3], labels=["x", "y"]).hull(IndexDomain(shape=[2, 3]))
        { "x": [0, 4), "y": [0, 5) }
        """
        return self._merged(other, "hull")

    def _merged(self, other: IndexDomain, how: str) -> IndexDomain:
        if not isinstance(other, IndexDomain):
            raise TypeError(f"expected a domain, found {other!r}")
        try:
            if self.rank != other.rank:
                raise SpecError("Ranks do not match")
            pairs = enumerate(zip(self, other, strict=True))
            return domain_of(form_of_dims(merged_dims(*pair, index, how) for index, pair in pairs))
        except SpecError as error:
            raise SpecError(f"Cannot {how} index domain {self} with index domain {other}: {error}") from None

    def __len__(self) -> int:
        return len(self._form.lower)

    def __iter__(self) -> Iterator[Dim]:
        return map(self._dim, range(len(self._form.lower)))

    def _dim(self, index: int) -> Dim:
        return dim_of(self._form.interval(index), self._form.labels[index])

    @overload
    def __getitem__(self, key: int | str) -> Dim: ...

    @overload
    def __getitem__(self, key: Any) -> IndexDomain: ...

    def __getitem__(self, key: Any) -> Dim | IndexDomain:
        """Return a dimension, by number or label; several, by slices and sequences of these; or the domain, restricted
        to another domain, mapped by a transform, or changed by a dimension expression.

        Examples
        --------
        >>> from blizzarr.views import d
        >>> domain = IndexDomain(shape=[10, 11, 12], labels=["x", "y", "z"])
        >>> domain[:2]
        { "x": [0, 10), "y": [0, 11) }
        >>> domain[IndexDomain(inclusive_min=[1], exclusive_max=[6], labels=["y"])]
        { "x": [0, 10), "y": [1, 6), "z": [0, 12) }
        >>> domain[d["z"].translate_by[5]]
        { "x": [0, 10), "y": [0, 11), "z": [5, 17) }
        """
        form = self._form
        if isinstance(key, IndexDomain):
            return domain_of(cut(form, key._form))
        if isinstance(key, DimExpression) and not isinstance(key, DimSelection):
            return domain_of(apply_expression(key, form))
        if isinstance(key, Movable):
            return domain_of(compose(form, form_of(key)))
        specs = as_dim_specs(key)
        if specs is None:
            raise TypeError(f"expected dimensions, a domain, a transform or a dimension expression, found {key!r}")
        if isinstance(key, str) or (hasattr(key, "__index__") and not getattr(key, "ndim", 0)):
            return self._dim(normalize_dim(specs[0], form.labels))
        return domain_of(form.take(normalize_dims(specs, form.labels, SpecError)))

    def __repr__(self) -> str:
        return "{ " + ", ".join(map(str, self)) + " }"


name_keywords(IndexDomain.__init__)


def domain_of(form: Form) -> IndexDomain:
    """Return the domain of a form.

    >>> domain_of(Form.of_shape((4, 6)))
    { [0, 4), [0, 6) }
    """
    domain = object.__new__(IndexDomain)
    domain._form = form.domain if form.maps else form
    return domain


def merged_domain(domain: IndexDomain, other: IndexDomain) -> IndexDomain:
    """Merge two descriptions of one domain: unknown bounds give way to known ones.

    Raise `SpecError` if they say different things.

    >>> merged_domain(IndexDomain(shape=[2, 3]), IndexDomain(labels=["x", "y"]))
    { "x": [0, 2), "y": [0, 3) }
    """
    return domain._merged(other, "merge")
