"""Constraints for each dimension: a value or none, and whether it is hard (must hold) or soft (a wish)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import gcd, isfinite
from typing import Any, Final, NamedTuple

from blizzarr.errors import SelectionError, SpecError
from blizzarr.indexing.interval import INF, INT64_MAX, INT64_MIN
from blizzarr.json_values import braces, number_shown
from blizzarr.views.values import MAX_RANK


class Rule(NamedTuple):
    """A kind of constraint: its valid values, and how a transform of indices changes them."""

    unset: float
    """The value that means none."""
    valid: Callable[[Any], bool]
    always_soft: float | None
    """A value that is a wish however it is given."""
    to_output: Callable[[Any, int, int], Any]
    """From a dimension of a view to that of the store, where an index is ``offset + stride * i``."""
    to_input: Callable[[Any, int, int], Any]
    """The way back."""


@dataclass(frozen=True, slots=True)
class Vector:
    """Constraints of one kind on all dimensions.

    >>> Vector.unset(3).merged(SHAPE, (5, None, -1), hard=True).merged(SHAPE, (6, 7, 8), hard=False)
    Vector(values=(5, 7, -1), hard=frozenset({0}))
    """

    values: tuple[Any, ...] = ()
    hard: frozenset[int] = frozenset()

    @classmethod
    def unset(cls, rank: int) -> Vector:
        """Return no constraints for this number of dimensions."""
        return _UNSET[rank] if 0 <= rank <= MAX_RANK else cls()

    @property
    def is_unset(self) -> bool:
        """True if no dimension has a constraint."""
        return self.values.count(None) == len(self.values)

    def part(self, hard: bool) -> tuple[Any, ...]:
        """Return the hard constraints, or the soft ones; None instead of the others."""
        if not hard and not self.hard:
            return self.values
        return tuple(value if (dim in self.hard) == hard else None for dim, value in enumerate(self.values))

    def merged(self, rule: Rule, values: Sequence[Any], hard: bool | Collection[int]) -> Vector:
        """Return the constraints merged with more: hard ones replace soft ones, and must agree with hard ones."""
        if values.count(None) == len(values):
            return self
        given = [rule.unset if value is None else value for value in values]
        demanded = set(range(len(given))) if hard is True else set(hard or ())
        for dim, value in enumerate(given):
            if not rule.valid(value):
                raise SpecError(f"Invalid value for dimension {dim}: {braces(given)}")
            if value == rule.always_soft:
                demanded.discard(dim)
        for dim in sorted(demanded & self.hard):
            if given[dim] != rule.unset and given[dim] != self.values[dim]:
                raise SpecError(
                    f"New hard constraint ({number_shown(given[dim])}) for dimension {dim} does not match "
                    f"existing hard constraint ({number_shown(self.values[dim])})"
                )
        merged, hardened = list(self.values), set(self.hard)
        for dim, value in enumerate(given):
            if value == rule.unset or not (dim in demanded or merged[dim] is None):
                continue
            merged[dim] = value
            if dim in demanded:
                hardened.add(dim)
        return Vector(tuple(merged), frozenset(hardened))


_UNSET: Final = [Vector((None,) * rank) for rank in range(MAX_RANK + 1)]
"""No constraints on so many dimensions."""


def _exact(value: int, doing: str, least: int, most: int) -> int:
    if not least <= value <= most:
        raise SelectionError(f"Integer overflow {doing}")
    return value


def _origin_to_output(value: int, offset: int, stride: int) -> int:
    doing = f"transforming input origin {value} by offset {offset} and stride {stride}"
    edge = value if stride > 0 else value - 1
    return _exact(stride * edge + offset, doing, 1 - INF, INF - 1)


def _origin_to_input(value: int, offset: int, stride: int) -> int:
    doing = f"transforming output origin {value} by offset {offset} and stride {stride}"
    distance = _exact(value - offset, doing, 1 - INF, INF - 1)
    return -(-(distance if stride > 0 else distance - 1) // stride)


def _shape_to_output(value: int, offset: int, stride: int) -> int:
    return _exact(abs(stride) * value, f"computing abs({stride}) * {value}", 0, INT64_MAX)


ORIGIN: Final = Rule(
    INT64_MIN, lambda value: value == INT64_MIN or -INF < value < INF, None, _origin_to_output, _origin_to_input
)
SHAPE: Final = Rule(
    0,
    lambda value: -1 <= value < INF,
    -1,
    _shape_to_output,
    lambda value, offset, stride: value // gcd(stride, value),
)
ASPECT_RATIO: Final = Rule(
    0.0,
    lambda value: value >= 0 and isfinite(value),
    None,
    lambda value, offset, stride: value * abs(float(stride)),
    lambda value, offset, stride: value / abs(float(stride)),
)
