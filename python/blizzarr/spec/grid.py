"""Constraints for each dimension, hard (they must hold) or soft (wishes), and on the chunks of one grid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import gcd, isfinite
from typing import Any, Final, NamedTuple

from blizzarr.errors import SelectionError, SpecError
from blizzarr.indexing.interval import INF, INT64_MAX, INT64_MIN
from blizzarr.json_members import Members, as_float, as_integer, as_list, or_none
from blizzarr.json_values import MISSING, braces, number_shown
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import Argument, apply_arguments, apply_given, floats, instance_of, integers
from blizzarr.views.values import MAX_RANK, to_index


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
                there, new = number_shown(self.values[dim]), number_shown(given[dim])
                raise SpecError(f"dimension {dim}: expected {there} of a hard constraint, found {new}")
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


as_index = as_integer(-(1 << 63), (1 << 63) - 1, "64-bit signed integer")
"""Takes JSON integers of 64 bits."""


shape_json = as_list(or_none(as_index), MAX_RANK)
"""Takes JSON arrays with an integer or null for each dimension."""
ratio_json = as_list(or_none(as_float), MAX_RANK)


def check_rank(rank: int, known: int) -> None:
    """Raise if a number of dimensions is invalid, or differs from the known one (-1 if there is none)."""
    if not -1 <= rank <= MAX_RANK:
        raise SpecError(f"Rank {rank} is outside valid range [0, {MAX_RANK}]")
    if -1 not in (rank, known) and rank != known:
        raise SpecError(f"Rank {rank} does not match existing rank {known}")


@dataclass(frozen=True, slots=True)
class GridConstraints:
    """Constraints on a grid, as a value."""

    shape: Vector = field(default_factory=Vector)
    aspect_ratio: Vector = field(default_factory=Vector)
    elements: int | None = None
    elements_hard: bool = False

    @classmethod
    def unset(cls, rank: int, like: GridConstraints | None = None) -> GridConstraints:
        """Return no constraints for this number of dimensions; the number of elements is that of `like`."""
        none = Vector.unset(rank)
        return cls(none, none) if like is None else cls(none, none, like.elements, like.elements_hard)

    @property
    def is_unset(self) -> bool:
        """True if there is no constraint."""
        return self.shape.is_unset and self.aspect_ratio.is_unset and self.elements is None

    def merged(self, name: str, value: Any, hard: Any) -> GridConstraints:
        """Return the constraints merged with one on ``"shape"``, ``"aspect_ratio"`` or ``"elements"``."""
        if name != "elements":
            return replace(self, **{name: getattr(self, name).merged(_RULES[name], value, hard)})
        if value is None or value == INT64_MIN:
            return self
        if not 0 <= value < INF:
            raise SpecError(f"Invalid value: {value}")
        if self.elements is not None:
            if not hard:
                return self
            if self.elements_hard and value != self.elements:
                raise SpecError(f"expected {self.elements} elements of a hard constraint, found {value}")
        return replace(self, elements=value, elements_hard=self.elements_hard or hard)


_RULES: Final = {"shape": SHAPE, "aspect_ratio": ASPECT_RATIO}


def vector_json(name: str, vector: Vector) -> dict[str, Any]:
    """Return constraints on dimensions as JSON: a member for the hard ones, and another for the soft ones."""
    parts = {name: vector.part(True), f"{name}_soft_constraint": vector.part(False)}
    return {member: list(part) for member, part in parts.items() if any(value is not None for value in part)}


def grid_json(grid: GridConstraints) -> dict[str, Any]:
    """The constraints as JSON."""
    members = vector_json("shape", grid.shape) | vector_json("aspect_ratio", grid.aspect_ratio)
    if grid.elements is not None:
        members["elements" if grid.elements_hard else "elements_soft_constraint"] = grid.elements
    return dict(sorted(members.items()))


def grid_from_json(members: Members, apply: Any) -> None:
    """Take the members of a grid one by one; `apply` gets ``"shape"``, ..., the value, and whether it is hard."""
    for name, parse in (("shape", shape_json), ("aspect_ratio", ratio_json), ("elements", as_index)):
        for member, hard in ((name, True), (f"{name}_soft_constraint", False)):
            members.take(member, partial(_apply_json, apply, name, parse, hard), None)
    members.end()


def _apply_json(apply: Any, name: str, parse: Any, hard: bool, value: Any) -> None:
    apply(name, parse(value), hard)


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
        apply_given(self, json, lambda members: grid_from_json(members, self._set), _ARGUMENTS, constraints)

    def update(self, **constraints: Any) -> None:
        """Add constraints: ``rank``, ``shape``, ``aspect_ratio``, ``elements``, ``grid``.

        Each but the first is also there with ``_soft_constraint`` behind it.
        """
        apply_arguments(Grid.update, self, _ARGUMENTS, constraints)

    def _set(self, name: str, value: Any, hard: Any) -> None:
        if name != "elements":
            if not value:
                return
            self._set_rank(len(value))
        self._constraints = self._constraints.merged(name, value, hard)

    def _set_rank(self, rank: int) -> None:
        check_rank(rank, self._rank)
        if self._rank == -1 != rank:
            self._rank = rank
            self._constraints = GridConstraints.unset(rank, self._constraints)

    def _set_grid(self, other: Grid) -> None:
        theirs = other._constraints
        self._set("shape", theirs.shape.values, theirs.shape.hard)
        self._set("aspect_ratio", theirs.aspect_ratio.values, theirs.aspect_ratio.hard)
        self._set("elements", theirs.elements, theirs.elements_hard)

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
        return self._constraints.elements if self._constraints.elements_hard else None

    @property
    def elements_soft_constraint(self) -> int | None:
        """The soft constraint on the approximate number of elements of a chunk."""
        return None if self._constraints.elements_hard else self._constraints.elements

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
    """Return the grid with these constraints."""
    grid = Grid()
    grid._rank, grid._constraints = rank, constraints
    return grid


def constraints_on(grid: Grid) -> GridConstraints:
    """Return the constraints on a grid."""
    return grid._constraints


def _setter(name: str, hard: bool) -> Any:
    return lambda grid, value: grid._set(name, value, hard)


_ARGUMENTS: Final[dict[str, Argument]] = {"rank": Argument(to_index, Grid._set_rank)}
for _name, _convert in (("shape", integers), ("aspect_ratio", floats), ("elements", to_index)):
    _ARGUMENTS[_name] = Argument(_convert, _setter(_name, True))
    _ARGUMENTS[f"{_name}_soft_constraint"] = Argument(_convert, _setter(_name, False))
# TensorStore merges these in the same way: hard constraints of the second stay hard.
_ARGUMENTS["grid"] = _ARGUMENTS["grid_soft_constraint"] = Argument(instance_of(Grid), Grid._set_grid)

name_keywords(Grid.__init__, list(_ARGUMENTS))
name_keywords(Grid.update, list(_ARGUMENTS))
