"""Domains: the indices for which a view is defined, as a box with labelled dimensions.

First, what domains and views share: translation, labels, transposition; and that domains and transforms are their form.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from math import prod
from typing import Any, Final, Self, TypeVar, overload

from blizzarr.errors import SelectionError, SpecError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import INF, INT64_MAX
from blizzarr.indexing.layout import permute
from blizzarr.keywords import exact_keywords
from blizzarr.views.compose import compose, cut
from blizzarr.views.descriptions import domain_of_vectors, domain_to_json, form_of_dims, parse_domain
from blizzarr.views.dim import Dim, dim_of, merged_dims
from blizzarr.views.dim_expression import DimExpression, DimSelection, Subscript, apply_expression, d, dims_given
from blizzarr.views.dim_selection import as_dim_specs, normalize_dim, normalize_dims
from blizzarr.views.operations import transpose

V = TypeVar("V", bound="FormValue")

_ALL: Final = d[:]


def form_of(view: Movable) -> Form:
    """Return the form of a domain or of a view."""
    return view._form


class Movable(ABC):
    """A domain or view. These operations apply to all dimensions; `d` applies them to some."""

    __slots__ = ()

    @property
    @abstractmethod
    def _form(self) -> Form:
        """The bare form."""

    @abstractmethod
    def _with_form(self, form: Form) -> Self:
        """Return the same object with another form."""

    @property
    def origin(self) -> tuple[int, ...]:
        """The lower bounds of the domain."""
        return self._form.lower

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions of the domain."""
        return self._form.shape

    @property
    def size(self) -> int:
        """The number of elements of the domain, at most ``2**63 - 1``.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[3, 4, 5]).size
        60
        """
        return min(prod(self._form.shape), INT64_MAX)

    def _changed(self, change: Callable[[Form], Form]) -> Self:
        form = self._form
        try:
            return self._with_form(change(form))
        except SelectionError as error:
            # Not an index is wrong, but a value that was given.
            raise SpecError(str(error)) from None

    def _on_all(self, name: str) -> Subscript[Self]:
        """Return an operation of dimension expressions, on all dimensions."""

        def call(key: Any) -> Any:
            expression = getattr(_ALL, name)[key]
            return self._changed(lambda form: apply_expression(expression, form))

        return Subscript(self, name, call)

    @property
    def translate_to(self) -> Subscript[Self]:
        """The object translated so that it begins at the indices in brackets; None leaves a dimension.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3]).translate_to[5, None]
        { [5, 7), [0, 3) }
        """
        return self._on_all("translate_to")

    @property
    def translate_by(self) -> Subscript[Self]:
        """The object translated by the offsets in brackets."""
        return self._on_all("translate_by")

    @property
    def translate_backward_by(self) -> Subscript[Self]:
        """The object translated back by the offsets in brackets."""
        return self._on_all("translate_backward_by")

    @property
    def label(self) -> Subscript[Self]:
        """The object with the labels in brackets.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3]).label["x", "y"]
        { "x": [0, 2), "y": [0, 3) }
        """
        return self._on_all("label")

    @property
    def mark_bounds_implicit(self) -> Subscript[Self]:
        """The object with implicit (True) or explicit bounds: one flag for both, or a slice of two; None leaves them.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3]).mark_bounds_implicit[:True]
        { [0, 2*), [0, 3*) }
        """
        return self._on_all("mark_bounds_implicit")

    def transpose(self, axes: Any = None) -> Self:
        """Return the object with its dimensions in the order of `axes`, by default reversed.

        Examples
        --------
        >>> from blizzarr.views import IndexDomain
        >>> IndexDomain(shape=[2, 3], labels=["x", "y"]).transpose(["y", 0])
        { "y": [0, 3), "x": [0, 2) }
        """
        specs = None if axes is None else dims_given(axes)
        return self._changed(lambda form: transpose(form, specs))

    @property
    def T(self) -> Self:  # noqa: N802
        """The object with its dimensions in reversed order."""
        form = self._form
        return self._with_form(permute(form, range(len(form.lower))[::-1]))


class FormValue:
    """The base of domains and transforms: immutable objects that consist of their form."""

    __slots__ = ("_form",)

    _form: Form

    def _with_form(self, form: Form) -> Self:
        return _made(type(self), form)

    @property
    def ndim(self) -> int:
        """The number of dimensions of the domain, as NumPy calls it."""
        return len(self._form.lower)

    @property
    def implicit_lower_bounds(self) -> tuple[bool, ...]:
        """For each dimension, True if its lower bound is implicit."""
        return self._form.implicit_lower

    @property
    def implicit_upper_bounds(self) -> tuple[bool, ...]:
        """For each dimension, True if its upper bound is implicit."""
        return self._form.implicit_upper

    def __eq__(self, other: object) -> bool:
        return self._form == other._form if isinstance(other, type(self)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), tuple(self._form))


def _made(kind: type[V], form: Form) -> V:
    value = object.__new__(kind)
    value._form = form
    return value


def _unpickled(kind: type[V], members: tuple[Any, ...]) -> V:
    return _made(kind, Form(*members))


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

    @exact_keywords
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
    ) -> None:
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


def domain_of(form: Form) -> IndexDomain:
    """Return the domain of a form."""
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
