"""One dimension of a domain: an interval and a label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blizzarr.errors import SpecError
from blizzarr.indexing.interval import INF, Interval, closed, half_open, sized
from blizzarr.json_values import MISSING, quote
from blizzarr.keywords import exact_keywords
from blizzarr.views.values import opt_index, to_index

_MISSING: Any = MISSING


class Dim:
    """An interval of indices, with bounds that may be implicit, and a label.

    With one integer (or `size`), it has that length and begins at `inclusive_min`, or at 0. With two integers (or
    `exclusive_max` or `inclusive_max`), it has these bounds. Otherwise it is unbounded. Bounds that are not given are
    implicit, unless `implicit_lower` and `implicit_upper` say otherwise.

    Examples
    --------
    >>> Dim(5), Dim(3, 10, label="x"), Dim("y", implicit_upper=False)
    (Dim(inclusive_min=0, exclusive_max=5), Dim(inclusive_min=3, exclusive_max=10, label="x"), Dim(implicit_upper=False, label="y"))
    >>> print(Dim(exclusive_max=10, label="x"))
    "x": (-inf*, 10)
    """  # noqa: E501

    __slots__ = ("_interval", "_label")

    _interval: Interval
    _label: str

    @exact_keywords
    def __init__(
        self,
        *bounds_or_label: Any,
        label: str | None = _MISSING,
        size: int | None = _MISSING,
        inclusive_min: int | None = _MISSING,
        exclusive_max: int | None = _MISSING,
        inclusive_max: int | None = _MISSING,
        implicit_lower: bool | None = _MISSING,
        implicit_upper: bool | None = _MISSING,
    ) -> None:
        kinds = {"size": size, "exclusive_max": exclusive_max, "inclusive_max": inclusive_max}
        given: dict[str, Any] = {"label": label, "inclusive_min": inclusive_min, **kinds}
        given = {name: value for name, value in given.items() if value is not _MISSING}
        names = _positions(bounds_or_label, "exclusive_max" in given or implicit_lower is None, "label" in given)
        for name, value in zip(names, bounds_or_label, strict=True):
            if name in given:
                raise TypeError(f"Dim() was given {name!r} twice")
            given[name] = value
        ends = [name for name in kinds if name in given]
        if len(ends) > 1:
            raise TypeError(f"Dim() takes only one of {' and '.join(ends)}")
        self.label = "" if given.get("label") is None else given["label"]
        lower = opt_index(given.get("inclusive_min"))
        upper = opt_index(given[ends[0]]) if ends else None
        first = -INF if lower is None else lower
        if ends == ["size"]:
            first = lower or 0
            bounds = half_open(first, INF + 1) if upper in (None, 2 * INF + 1) else sized(first, upper or 0)
        elif ends == ["inclusive_max"]:
            bounds = closed(first, INF if upper is None else upper)
        else:
            bounds = half_open(first, INF + 1 if upper is None else upper)
        self._interval = Interval(
            *bounds,
            lower is None and ends != ["size"] if implicit_lower in (_MISSING, None) else bool(implicit_lower),
            upper is None if implicit_upper in (_MISSING, None) else bool(implicit_upper),
        )

    @property
    def inclusive_min(self) -> int:
        """The first index."""
        return self._interval.lower

    @property
    def exclusive_max(self) -> int:
        """The index after the last."""
        return self._interval.upper

    @property
    def inclusive_max(self) -> int:
        """The last index."""
        return self._interval.upper - 1

    @property
    def exclusive_min(self) -> int:
        """The index before the first."""
        return self._interval.lower - 1

    @property
    def size(self) -> int:
        """The number of indices."""
        return self._interval.upper - self._interval.lower

    @property
    def finite(self) -> bool:
        """True if both bounds are finite."""
        return self._interval.lower != -INF and self._interval.upper != INF + 1

    @property
    def empty(self) -> bool:
        """True if there is no index."""
        return self._interval.lower == self._interval.upper

    @property
    def label(self) -> str:
        """The label, or an empty string."""
        return self._label

    @label.setter
    def label(self, value: str) -> None:
        if not isinstance(value, str):
            raise TypeError(f"expected a label as a string, found {value!r}")
        self._label = value

    @property
    def implicit_lower(self) -> bool:
        """True if the lower bound is implicit."""
        return self._interval.implicit_lower

    @implicit_lower.setter
    def implicit_lower(self, value: bool) -> None:
        self._interval = self._interval._replace(implicit_lower=bool(value))

    @property
    def implicit_upper(self) -> bool:
        """True if the upper bound is implicit."""
        return self._interval.implicit_upper

    @implicit_upper.setter
    def implicit_upper(self, value: bool) -> None:
        self._interval = self._interval._replace(implicit_upper=bool(value))

    def intersect(self, other: Dim) -> Dim:
        """Return the intersection of both.

        Examples
        --------
        >>> Dim(1, 5, label="x").intersect(Dim(3))
        Dim(inclusive_min=1, exclusive_max=3, label="x")
        """
        return _merged(self, other, "intersect")

    def hull(self, other: Dim) -> Dim:
        """Return the smallest interval that contains both.

        Examples
        --------
        >>> Dim(1, 5, label="x").hull(Dim(3))
        Dim(inclusive_min=0, exclusive_max=5, label="x")
        """
        return _merged(self, other, "hull")

    def __len__(self) -> int:
        return self.size

    def __contains__(self, other: object) -> bool:
        if isinstance(other, Dim):
            return self._interval.bounds.covers(other._interval.bounds)
        return self._interval.bounds.contains(to_index(other))

    def __iter__(self) -> Iterator[int]:
        if not self.finite:
            raise SpecError("Cannot iterate over infinite interval")
        return iter(range(self._interval.lower, self._interval.upper))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dim):
            return NotImplemented
        return self._interval == other._interval and self._label == other._label

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return dim_of, (self._interval, self._label)

    def __str__(self) -> str:
        return f"{quote(self._label)}: {self._interval}" if self._label else str(self._interval)

    def __repr__(self) -> str:
        lower, upper, implicit_lower, implicit_upper = self._interval
        terms = []
        if lower != -INF:
            terms.append(f"inclusive_min={lower}")
        if implicit_lower != (lower == -INF):
            terms.append(f"implicit_lower={implicit_lower}")
        if upper != INF + 1:
            terms.append(f"exclusive_max={upper}")
        if implicit_upper != (upper == INF + 1):
            terms.append(f"implicit_upper={implicit_upper}")
        if self._label:
            terms.append(f"label={quote(self._label)}")
        return f"Dim({', '.join(terms)})"


def _positions(args: tuple[Any, ...], bounded: bool, labelled: bool) -> tuple[str, ...]:
    """Name the positional arguments by their number and types."""
    if len(args) == 1 and bounded:
        return ("inclusive_min",)
    if len(args) > 2:
        raise TypeError(f"Dim() takes at most two positional arguments, was given {len(args)}")
    if args and (isinstance(args[0], str) or (args[0] is None and len(args) == 1)):
        if len(args) == 2:
            raise TypeError("Dim() takes a label alone, or after a size")
        return ("label",)
    if len(args) == 2:
        if isinstance(args[1], str) or (args[1] is None and not labelled):
            return "size", "label"
        return "inclusive_min", "exclusive_max"
    return ("size",) if args else ()


def merged_dims(first: Dim, second: Dim, index: int, how: str) -> Dim:
    """Merge two dimensions by a method of `Interval`; errors name the dimension."""
    try:
        return _merged(first, second, how)
    except SpecError as error:
        raise SpecError(f"Mismatch in dimension {index}: {error}") from None


def _merged(first: Dim, second: Dim, how: str) -> Dim:
    if not isinstance(second, Dim):
        raise TypeError(f"expected a Dim, found {type(second).__name__}")
    if first._label and second._label and first._label != second._label:
        raise SpecError("Dimension labels do not match")
    return dim_of(getattr(first._interval, how)(second._interval), first._label or second._label)


def dim_of(interval: Interval, label: str = "") -> Dim:
    """Return the dimension with an interval."""
    dim = object.__new__(Dim)
    dim._interval = interval
    dim._label = label
    return dim


def interval_of(dim: Dim) -> Interval:
    """Return the interval of a dimension."""
    return dim._interval
