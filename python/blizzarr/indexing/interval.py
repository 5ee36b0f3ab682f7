"""Intervals of integers whose bounds may be infinite or implicit, and how slices change them.

Definitions
-----------
Bounds are *finite* within ±(2**62 - 2), and infinite at ±(2**62 - 1), which is `INF`. The upper bound is exclusive, so
that an interval without bounds is ``[-INF, INF + 1)``.

A bound is *implicit* if it says what is there rather than what is allowed: that of an array which can be resized, for
example. Indices beyond it are not an error yet. The *effective* interval takes implicit bounds for infinite ones.
"""

from __future__ import annotations

from typing import NamedTuple

from blizzarr.errors import OutOfBoundsError, SelectionError, SpecError

INF = 2**62 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


class Bounds(NamedTuple):
    """An interval ``[lower, upper)``.

    >>> print(Bounds(2, 5), Bounds(-INF, INF + 1), Bounds(2, 5).contains(5), Bounds(2, 5).covers(Bounds(9, 9)))
    [2, 5) (-inf, +inf) False True
    """

    lower: int
    upper: int

    def __str__(self) -> str:
        return str(Interval(*self))

    def contains(self, index: int) -> bool:
        """Return whether a finite index lies within."""
        return self.lower + (self.lower == -INF) <= index < self.upper - (self.upper == INF + 1)

    def covers(self, inner: tuple[int, int]) -> bool:
        """Return whether the other interval lies within; an empty one always does."""
        return inner[0] >= inner[1] or (self.lower <= inner[0] and inner[1] <= self.upper)


FINITE = Bounds(-INF + 1, INF)
UNBOUNDED = Bounds(-INF, INF + 1)


class Interval(NamedTuple):
    """An interval whose bounds may be implicit, shown by a star.

    >>> print(Interval(0, 5, False, True), Interval(0, 5, False, True).effective)
    [0, 5*) [0, +inf)
    """

    lower: int
    upper: int
    implicit_lower: bool = False
    implicit_upper: bool = False

    def __str__(self) -> str:
        lower = "(-inf" if self.lower == -INF else f"[{self.lower}"
        upper = "+inf" if self.upper == INF + 1 else str(self.upper)
        return f"{lower}{'*' * self.implicit_lower}, {upper}{'*' * self.implicit_upper})"

    @property
    def bounds(self) -> Bounds:
        """The bounds alone."""
        return Bounds(self.lower, self.upper)

    @property
    def effective(self) -> Bounds:
        """The interval of allowed indices: an implicit bound counts as infinite."""
        return Bounds(-INF if self.implicit_lower else self.lower, INF + 1 if self.implicit_upper else self.upper)

    def hull(self, other: Interval) -> Interval:
        """The smallest interval that covers both."""
        if self.lower == self.upper:
            lower, upper = other.lower, other.upper
        elif other.lower == other.upper:
            lower, upper = self.lower, self.upper
        else:
            lower, upper = min(self.lower, other.lower), max(self.upper, other.upper)
        return self._with_flags(lower, upper, other)

    def intersect(self, other: Interval) -> Interval:
        """Return the intersection of both."""
        lower = max(self.lower, other.lower)
        both = self._with_flags(lower, min(self.upper, other.upper), other)
        # Where they have nothing in common it ends where it begins.
        return both if both.upper >= lower else both._replace(upper=lower)

    def _with_flags(self, lower: int, upper: int, other: Interval) -> Interval:
        # A bound that both have is implicit if it is for both; else the flag comes with the bound that was taken.
        implicit_lower = self.implicit_lower if lower == self.lower else other.implicit_lower
        if self.lower == other.lower:
            implicit_lower = self.implicit_lower and other.implicit_lower
        implicit_upper = self.implicit_upper if upper == self.upper else other.implicit_upper
        if self.upper == other.upper:
            implicit_upper = self.implicit_upper and other.implicit_upper
        return Interval(lower, upper, implicit_lower, implicit_upper)

    def merge(self, other: Interval) -> Interval:
        """Merge two descriptions of the same dimension: unknown bounds give way to known ones.

        Raise `SpecError` if the descriptions contradict each other.
        """
        mine, its = (self.lower, self.implicit_lower), (other.lower, other.implicit_lower)
        lower, implicit_lower = _merged(mine, its, (-INF, True), "Lower")
        mine, its = (self.upper, self.implicit_upper), (other.upper, other.implicit_upper)
        upper, implicit_upper = _merged(mine, its, (INF + 1, True), "Upper")
        return Interval(*closed(lower, upper - 1), implicit_lower, implicit_upper)

    def source(self, offset: int, stride: int) -> Interval:
        """Return the indices that ``offset + stride * index`` maps into this interval.

        >>> print(Interval(0, 5, False, True).source(1, -2))
        [-1*, 1)
        """
        flags = (self.implicit_lower, self.implicit_upper)[:: 1 if stride > 0 else -1]
        return Interval(*affine_domain(self.bounds, offset, stride), *flags)

    def within(self, allowed: Interval) -> Interval:
        """Return the interval with the bounds of another one in place of its implicit bounds.

        >>> print(Interval(0, 5, False, True).within(Interval(-9, 9, True, True)))
        [0, 9*)
        """
        lower = allowed.lower if self.implicit_lower else self.lower
        upper = max(lower, allowed.upper if self.implicit_upper else self.upper)
        return Interval(
            lower, upper, self.implicit_lower and allowed.implicit_lower, self.implicit_upper and allowed.implicit_upper
        )

    def tighten(self, other: Interval) -> Interval:
        """Return the intersection of both, in which explicit bounds take precedence over implicit ones."""
        if self.implicit_lower != other.implicit_lower:
            lower = max(self.effective.lower, other.effective.lower)
        else:
            lower = max(self.lower, other.lower)
        if self.implicit_upper != other.implicit_upper:
            upper = min(self.effective.upper, other.effective.upper)
        else:
            upper = min(self.upper, other.upper)
        implicit_lower = self.implicit_lower and other.implicit_lower
        implicit_upper = self.implicit_upper and other.implicit_upper
        return Interval(lower, max(lower, upper), implicit_lower, implicit_upper)


def _merged(mine: tuple[int, bool], its: tuple[int, bool], unknown: tuple[int, bool], side: str) -> tuple[int, bool]:
    if unknown in (mine, its):
        return its if mine == unknown else mine
    if mine[0] != its[0]:
        raise SpecError(f"{side} bounds do not match")
    return mine[0], mine[1] and its[1]


def closed(lower: int, last: int) -> Bounds:
    """The interval from `lower` to `last`, both included."""
    if not (-INF <= lower < INF and -INF < last <= INF and last >= lower - 1):
        raise SpecError(f"({lower}, {last}) do not specify a valid closed index interval")
    return Bounds(lower, last + 1)


def half_open(lower: int, upper: int) -> Bounds:
    """The interval from `lower` to before `upper`."""
    if not (-INF <= lower < INF and -INF + 1 < upper <= INF + 1 and upper >= lower):
        raise SpecError(f"({lower}, {upper}) do not specify a valid half-open index interval")
    return Bounds(lower, upper)


def sized(lower: int, size: int) -> Bounds:
    """The interval of `size` indices from `lower` on."""
    last = lower + size - 1
    if not (size >= 0 and -INF <= lower < INF and -INF < last <= INF):
        raise SpecError(f"({lower}, {size}) do not specify a valid sized index interval")
    return Bounds(lower, last + 1)


def check_contains(bounds: Bounds, index: int, doing: str = "") -> None:
    """Raise unless a finite index lies within; `doing` is part of the error."""
    if not bounds.contains(index):
        prefix = f"{doing}: " if doing else ""
        hint = "; no index counts from the end" if index < 0 <= bounds.lower else ""
        text = f"OUT_OF_RANGE: {prefix}Index {index} is outside valid range {bounds}{hint}"
        raise OutOfBoundsError(text, index=index)


def shift(bounds: Bounds, by: int) -> Bounds:
    """The interval moved by an offset; infinite bounds stay where they are."""
    lower, last = bounds.lower, bounds.upper - 1
    moved = []
    for bound, infinite in ((lower, -INF), (last, INF)):
        to = bound if bound == infinite else bound + by
        if bound != infinite and not -INF < to < INF:
            raise SelectionError(f"{bound} + {by} is outside valid range {FINITE}")
        moved.append(to)
    return Bounds(moved[0], moved[1] + 1)


def affine_domain(bounds: Bounds, offset: int, step: int) -> Bounds:
    """The largest interval that ``offset + step * index`` maps into `bounds`."""
    if step == 0:
        raise SelectionError("Divisor (stride) must be non-zero")
    if (step == 1 and not offset) or bounds == UNBOUNDED:
        return bounds
    lower, last = bounds.lower, bounds.upper - 1
    divisor, shifted = step, offset
    if step < 0:
        divisor, shifted = -step, -offset
        lower, last = -last, -lower
        if bounds.lower == bounds.upper:
            lower, last = lower - 1, last - 1
    new_lower = lower if lower == -INF else -((shifted - lower) // divisor)
    if bounds.lower == bounds.upper:
        new_upper = new_lower
    elif last == INF:
        new_upper = INF + 1
    else:
        new_upper = (last - shifted) // divisor + 1
    finite = -INF < new_lower < INF or lower == -INF
    if not finite or not (-INF < new_upper - 1 < INF or last == INF or bounds.lower == bounds.upper):
        raise SelectionError(
            f"Integer overflow propagating range {bounds} through inverse affine transform "
            f"with offset {offset} and multiplier {step}"
        )
    # An interval between two multiples of the step holds none of them.
    return Bounds(new_lower, max(new_lower, new_upper))


def affine_range(bounds: Bounds, offset: int, step: int) -> Bounds:
    """The smallest interval that holds ``offset + step * index`` for all indices in `bounds`.

    >>> print(affine_range(Bounds(0, 5), 10, -2))
    [2, 11)
    """
    ends = []
    for bound in (bounds.lower, bounds.upper - 1):
        if bound in (-INF, INF):
            ends.append(-bound if step < 0 else bound)
            continue
        end = bound * step + offset
        if not -INF < end < INF:
            raise SelectionError(
                f"Integer overflow computing affine transform of domain {bounds} with offset {offset} "
                f"and multiplier {step}"
            )
        ends.append(end)
    lower, last = ends
    if bounds.lower == bounds.upper:
        return Bounds(lower, lower)
    if step == 0:
        return Bounds(lower, lower + 1)
    return Bounds(last, lower + 1) if step < 0 else Bounds(lower, last + 1)
