"""Constraints for each dimension, hard (they must hold) or soft (wishes), and on the chunks of one grid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import gcd, isfinite
from typing import Any, Final, NamedTuple

from blizzarr.errors import SelectionError, SpecError
from blizzarr.indexing.interval import INF, INT64_MAX, INT64_MIN
from blizzarr.json_members import as_float, as_index, as_list, or_none
from blizzarr.json_values import MISSING, braces, number_shown
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import Argument, apply_arguments, apply_given, apply_json, floats, instance_of, integers
from blizzarr.views.values import MAX_RANK, to_index


class Rule(NamedTuple):
    """A kind of constraint: its valid values, and how a transform of indices changes them."""

    unset: float
    """The value that means none."""
    valid: Callable[[Any], bool]
    always_soft: float | None
    """A value that is a wish however it is given."""
    to_output: Callable[[Any, int, int], Any] = lambda value, offset, stride: value
    """From a dimension of a view to that of the store, where an index is ``offset + stride * i``."""
    to_input: Callable[[Any, int, int], Any] = lambda value, offset, stride: value
    """The way back."""

    def place(self, dim: int) -> str:
        """The beginning of an error about one value."""
        return "" if self is ELEMENTS else f"dimension {dim}: "


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
        return _UNSET[rank] if 0 <= rank <= MAX_RANK else cls()

    @property
    def is_unset(self) -> bool:
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
                raise SpecError(f"{rule.place(dim)}invalid value in {braces(given)}")
            if value == rule.always_soft:
                demanded.discard(dim)
        for dim in sorted(demanded & self.hard):
            if given[dim] != rule.unset and given[dim] != self.values[dim]:
                there, new = number_shown(self.values[dim]), number_shown(given[dim])
                raise SpecError(f"{rule.place(dim)}expected {there} of a hard constraint, found {new}")
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


def _exact(value: int, least: int = 1 - INF, most: int = INF - 1) -> int:
    if not least <= value <= most:
        raise SelectionError("Integer overflow")
    return value


ORIGIN: Final = Rule(
    INT64_MIN,
    lambda value: value == INT64_MIN or -INF < value < INF,
    None,
    lambda value, offset, stride: _exact(stride * (value - (stride < 0)) + offset),
    lambda value, offset, stride: -(-(_exact(value - offset) - (stride < 0)) // stride),
)
SHAPE: Final = Rule(
    0,
    lambda value: -1 <= value < INF,
    -1,
    lambda value, offset, stride: _exact(abs(stride) * value, 0, INT64_MAX),
    lambda value, offset, stride: value // gcd(stride, value),
)
ASPECT_RATIO: Final = Rule(
    0.0,
    lambda value: value >= 0 and isfinite(value),
    None,
    lambda value, offset, stride: value * abs(float(stride)),
    lambda value, offset, stride: value / abs(float(stride)),
)
ELEMENTS: Final = Rule(INT64_MIN, lambda value: value == INT64_MIN or 0 <= value < INF, None)
RULES: Final = {"shape": SHAPE, "aspect_ratio": ASPECT_RATIO, "elements": ELEMENTS}


shape_json = as_list(or_none(as_index), MAX_RANK)
"""Takes JSON arrays with an integer or null for each dimension."""


def check_rank(rank: int, known: int) -> None:
    """Raise if a number of dimensions is invalid, or differs from the known one (-1 if there is none)."""
    if not -1 <= rank <= MAX_RANK:
        raise SpecError(f"Rank {rank} is outside valid range [0, {MAX_RANK}]")
    if -1 not in (rank, known) and rank != known:
        raise SpecError(f"Rank {rank} does not match existing rank {known}")


@dataclass(frozen=True, slots=True)
class GridConstraints:
    """Constraints on a grid, as a value; those on the number of elements are one, whatever the dimensions."""

    shape: Vector = Vector()
    aspect_ratio: Vector = Vector()
    elements: Vector = _UNSET[1]

    def of_rank(self, rank: int) -> GridConstraints:
        """Return the constraints on the number of elements, and no others, for this number of dimensions."""
        return GridConstraints(Vector.unset(rank), Vector.unset(rank), self.elements)

    @property
    def is_unset(self) -> bool:
        return self.shape.is_unset and self.aspect_ratio.is_unset and self.elements.is_unset

    def merged(self, name: str, values: Sequence[Any], hard: bool | Collection[int]) -> GridConstraints:
        """Return the constraints merged with those on ``"shape"``, ``"aspect_ratio"`` or ``"elements"``."""
        there = getattr(self, name)
        merged = there.merged(RULES[name], values, hard)
        return self if merged is there else replace(self, **{name: merged})


def vector_json(name: str, vector: Vector) -> dict[str, Any]:
    """Return constraints on dimensions as JSON: a member for the hard ones, and another for the soft ones."""
    parts = {name: vector.part(True), f"{name}_soft_constraint": vector.part(False)}
    return {member: list(part) for member, part in parts.items() if any(value is not None for value in part)}


def grid_json(grid: GridConstraints) -> dict[str, Any]:
    members = vector_json("shape", grid.shape) | vector_json("aspect_ratio", grid.aspect_ratio)
    members |= {name: count for name, (count,) in vector_json("elements", grid.elements).items()}
    return dict(sorted(members.items()))


class Grid:
    """Constraints on a regular grid of chunks, for `ChunkLayout`.

    Examples
    --------
    >>> grid = Grid(shape=[100, None], elements_soft_constraint=10_000)
    >>> grid.to_json()
    {'elements_soft_constraint': 10000, 'shape': [100, None]}
    >>> grid.update(shape_soft_constraint=[5, 50])
    >>> grid.shape, grid.shape_soft_constraint, grid.rank
    ((100, None), (None, 50), 2)
    """

    __slots__ = ("_constraints", "_rank")

    def __init__(self, json: Any = MISSING, **constraints: Any) -> None:
        self._rank = -1
        self._constraints = GridConstraints()
        apply_given(self, json, _ARGUMENTS, constraints)

    def update(self, **constraints: Any) -> None:
        """Add constraints: ``rank``, ``shape``, ``aspect_ratio``, ``elements``, ``grid``.

        Each but the first is also there with ``_soft_constraint`` behind it.
        """
        apply_arguments(Grid.update, self, _ARGUMENTS, constraints)

    def _set(self, values: Any, name: str, hard: Any) -> None:
        if name != "elements":
            self._set_rank(len(values))
        self._constraints = self._constraints.merged(name, values, hard)

    def _set_rank(self, rank: int) -> None:
        check_rank(rank, self._rank)
        if self._rank == -1 != rank:
            self._rank = rank
            self._constraints = self._constraints.of_rank(rank)

    def _set_grid(self, other: Grid) -> None:
        for name in RULES:
            vector: Vector = getattr(other._constraints, name)
            if vector.values:
                self._set(vector.values, name, vector.hard)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, `None` if it is not known."""
        return None if self._rank == -1 else self._rank

    ndim = rank

    def _part(self, vector: Vector, hard: bool) -> tuple[Any, ...] | None:
        return None if self._rank == -1 else vector.part(hard)

    @property
    def shape(self) -> tuple[int | None, ...] | None:
        """The hard constraints on the shape."""
        return self._part(self._constraints.shape, True)

    @property
    def shape_soft_constraint(self) -> tuple[int | None, ...] | None:
        """The soft constraints on the shape; -1 is the size of the domain."""
        return self._part(self._constraints.shape, False)

    @property
    def aspect_ratio(self) -> tuple[float | None, ...] | None:
        """The hard constraints on the aspect ratio."""
        return self._part(self._constraints.aspect_ratio, True)

    @property
    def aspect_ratio_soft_constraint(self) -> tuple[float | None, ...] | None:
        """The soft constraints on the aspect ratio."""
        return self._part(self._constraints.aspect_ratio, False)

    @property
    def elements(self) -> int | None:
        """The hard constraint on the approximate number of elements of a chunk."""
        return self._constraints.elements.part(True)[0]

    @property
    def elements_soft_constraint(self) -> int | None:
        """The soft constraint on the approximate number of elements of a chunk."""
        return self._constraints.elements.part(False)[0]

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The constraints as JSON; there are no defaults."""
        return grid_json(self._constraints)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grid):
            raise TypeError(f"a Grid cannot be compared with {other!r}")
        return (self._rank, self._constraints) == (other._rank, other._constraints)

    def __reduce__(self) -> tuple[Any, ...]:
        return Grid, (self.to_json(),)


def grid_with(rank: int, constraints: GridConstraints) -> Grid:
    grid = Grid.__new__(Grid)
    grid._rank, grid._constraints = rank, constraints
    return grid


def grid_from_json(value: Any, rank: int) -> Grid:
    """Parse a grid of this number of dimensions, if that is known (-1 if not)."""
    grid = grid_with(rank, GridConstraints().of_rank(rank))
    apply_json(grid, value, _ARGUMENTS)
    return grid


def constraints_on(grid: Grid) -> GridConstraints:
    return grid._constraints


BOTH: Final = (("", True), ("_soft_constraint", False))
"""The ends of the names of hard and soft constraints."""
VALUES: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "shape": (integers, shape_json),
    "aspect_ratio": (floats, as_list(or_none(as_float), MAX_RANK)),
    "elements": (lambda value: (to_index(value),), lambda value: (as_index(value),)),
}
"""The functions that convert and parse the constraints on a grid."""


_SAME: Final = Argument(instance_of(Grid), Grid._set_grid)
_ARGUMENTS: Final[dict[str, Argument]] = {
    "rank": Argument(to_index, Grid._set_rank),
    **{
        f"{name}{end}": Argument(convert, partial(Grid._set, name=name, hard=hard), parse)
        for name, (convert, parse) in VALUES.items()
        for end, hard in BOTH
    },
    # TensorStore merges these in the same way: hard constraints of the second stay hard.
    "grid": _SAME,
    "grid_soft_constraint": _SAME,
}

name_keywords(Grid.__init__, list(_ARGUMENTS))
name_keywords(Grid.update, list(_ARGUMENTS))
