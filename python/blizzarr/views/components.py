"""Domains made from vectors of bounds, shapes and labels, any of which may be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, SupportsIndex, TypeVar

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import INF, Bounds, Interval, closed, half_open, sized
from blizzarr.views.dim import Dim, interval_of
from blizzarr.views.values import MAX_RANK, check_unique, flags, labels_of, to_index, to_indices

T = TypeVar("T")
Upper = tuple[str, tuple[int, ...]]


def domain_of_vectors(
    prefix: str,
    rank: Any,
    inclusive_min: Iterable[int] | None,
    implicit_lower_bounds: Iterable[bool] | None,
    exclusive_max: Iterable[int] | None,
    inclusive_max: Iterable[int] | None,
    shape: Iterable[int] | None,
    implicit_upper_bounds: Iterable[bool] | None,
    labels: Iterable[str | None] | None,
) -> Form:
    """Return the domain of these components; errors name the parameters with the prefix."""
    known: tuple[str, int] | None = None
    if rank is not None:
        known = f"{prefix}rank", to_index(rank)
        if not 0 <= known[1] <= MAX_RANK:
            raise SpecError(f"Invalid {prefix}rank: {rank}")

    def vector(name: str, values: Any, parse: Callable[[Any], tuple[T, ...]]) -> tuple[T, ...] | None:
        nonlocal known
        if values is None:
            return None
        result = parse(values)
        if known is None:
            if len(result) > MAX_RANK:
                raise SpecError(f"Rank specified by `{name}` ({len(result)}) exceeds maximum rank of {MAX_RANK}")
            known = name, len(result)
        elif known[1] != len(result):
            raise SpecError(
                f"Rank specified by `{name}` ({len(result)}) does not match rank specified by `{known[0]}` ({known[1]})"
            )
        return result

    lower = vector(f"{prefix}inclusive_min", inclusive_min, to_indices)
    implicit_lower = vector("implicit_lower_bounds", implicit_lower_bounds, flags)
    upper: Upper | None = None
    for name, values in (("exclusive_max", exclusive_max), ("inclusive_max", inclusive_max), ("shape", shape)):
        if values is not None and upper is not None:
            raise SpecError(f"Cannot specify both `{prefix}{upper[0]}` and `{prefix}{name}`")
        ends = vector(f"{prefix}{name}", values, to_indices)
        upper = upper if ends is None else (name, ends)
    implicit_upper = vector("implicit_upper_bounds", implicit_upper_bounds, flags)
    names = vector(f"{prefix}labels", labels, labels_of)
    if known is None:
        raise SpecError(f"Must specify `{prefix}rank`")
    return complete(known[1], lower, implicit_lower, upper, implicit_upper, names)


def complete(
    rank: int,
    lower: tuple[int, ...] | None,
    implicit_lower: tuple[bool, ...] | None,
    upper: Upper | None,
    implicit_upper: tuple[bool, ...] | None,
    labels: tuple[str, ...] | None,
) -> Form:
    """Return the domain with missing parts filled in: bounds that are not given are infinite and implicit."""
    of_shape = upper is not None and upper[0] == "shape"
    if implicit_lower is None:
        implicit_lower = (lower is None and not of_shape,) * rank
    if implicit_upper is None:
        implicit_upper = (upper is None,) * rank
    if lower is None:
        lower = (0 if of_shape else -INF,) * rank
    labels = labels or ("",) * rank
    check_unique(labels)
    kind, ends = upper or ("exclusive_max", (INF + 1,) * rank)
    intervals = [
        Interval(*_bounds(kind, low, end), *implicit)
        for low, end, *implicit in zip(lower, ends, implicit_lower, implicit_upper, strict=True)
    ]
    return Form.of_dims(list(zip(intervals, labels, strict=True)))


def _bounds(kind: str, lower: int, end: int) -> Bounds:
    if kind == "shape":
        return sized(lower, INF + 1 - lower if end == 2 * INF + 1 else end)
    return closed(lower, end) if kind == "inclusive_max" else half_open(lower, end)


def form_of_dims(dims: Iterable[Any]) -> Form:
    """The domain made of dimensions (`Dim`)."""
    intervals = []
    for dim in dims:
        if not isinstance(dim, Dim):
            hint = "; a shape is given as shape=[...]" if isinstance(dim, SupportsIndex) else ""
            raise TypeError(f"expected dimensions (Dim), found {dim!r}{hint}")
        intervals.append((interval_of(dim), dim.label))
    if len(intervals) > MAX_RANK:
        raise SpecError(f"Rank {len(intervals)} is outside valid range [0, {MAX_RANK}]")
    check_unique([label for _, label in intervals])
    return Form.of_dims(intervals)
