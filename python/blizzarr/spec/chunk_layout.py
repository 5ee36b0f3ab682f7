"""`ChunkLayout`: the layout of elements in storage, given by keywords or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Final

from blizzarr.errors import InvalidArgumentError, SpecError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import INF, UNBOUNDED, Interval, sized
from blizzarr.json_members import as_integer, as_list, or_none
from blizzarr.json_values import MISSING, braces
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import Argument, apply_arguments, apply_given, apply_json, instance_of, integers, prefixed
from blizzarr.spec.grid import (
    BOTH,
    ORIGIN,
    RULES,
    VALUES,
    GridConstraints,
    Rule,
    Vector,
    check_rank,
    constraints_on,
    grid_from_json,
    grid_json,
    grid_with,
    shape_json,
    vector_json,
)
from blizzarr.spec.grid import Grid as GridClass
from blizzarr.spec.pretty import Pretty
from blizzarr.views import IndexDomain, domain_of
from blizzarr.views.values import MAX_RANK, to_index

USAGES: Final = ("write", "read", "codec")
_NO_VECTOR: Final = Vector()
_NO_GRIDS: Final = dict.fromkeys(USAGES, GridConstraints())


class ChunkLayout(Pretty):
    """The storage layout of an array, or constraints on it.

    Constraints are either hard, which must hold, or soft, which are wishes. There are three grids of chunks: one for
    writing, one for reading, which divides it, and one that codecs work on. ``chunk`` and names that begin with it
    apply to the first two.

    Examples
    --------
    >>> layout = ChunkLayout(inner_order=[0, 2, 1], write_chunk_shape_soft_constraint=[100, None, 200],
    ...                      read_chunk_elements=1_000_000)
    >>> layout
    ChunkLayout({
      'inner_order': [0, 2, 1],
      'read_chunk': {'elements': 1000000},
      'write_chunk': {'shape_soft_constraint': [100, None, 200]},
    })
    >>> layout.rank, layout.read_chunk.elements
    (3, 1000000)
    """

    __slots__ = ("_grids", "_inner_hard", "_inner_order", "_origin", "_rank")

    Grid = GridClass

    def __init__(self, json: Any = MISSING, **constraints: Any) -> None:
        self._rank = -1
        self._inner_order: tuple[int, ...] | None = None
        self._inner_hard = False
        self._origin = _NO_VECTOR
        self._grids = _NO_GRIDS.copy()
        apply_given(self, json, _ARGUMENTS, constraints)

    def update(self, **constraints: Any) -> None:
        """Add constraints.

        They are ``rank``, ``inner_order``, ``grid_origin``; ``chunk``, ``write_chunk``, ``read_chunk`` and
        ``codec_chunk``, each a `Grid`; with ``_shape``, ``_aspect_ratio`` or ``_elements`` behind these four, that of
        the grid. Where a value is one, there is a name with ``_soft_constraint`` behind it too. ``finalize=True`` makes
        a layout of it that leaves nothing open.

        Examples
        --------
        >>> layout = ChunkLayout(chunk_shape=[10, 20])
        >>> layout.update(grid_origin=[0, 0], finalize=True)
        >>> layout.to_json()["read_chunk"]
        {'shape': [10, 20]}
        """
        apply_arguments(ChunkLayout.update, self, _ARGUMENTS, constraints)

    def __copy__(self) -> ChunkLayout:
        return layout_of(self._rank, self._inner_order, self._inner_hard, self._origin, dict(self._grids))

    # Properties

    @property
    def rank(self) -> int:
        """The number of dimensions, -1 if it is not known."""
        return self._rank

    ndim = rank

    @property
    def inner_order(self) -> tuple[int, ...] | None:
        """The dimensions from the slowest to the fastest, in the innermost chunks."""
        return self._inner_order if self._inner_hard else None

    @property
    def inner_order_soft_constraint(self) -> tuple[int, ...] | None:
        """The soft constraint on the order of dimensions."""
        return None if self._inner_hard else self._inner_order

    @property
    def grid_origin(self) -> tuple[int | None, ...] | None:
        """The hard constraints on the origin of the grids."""
        return None if self._rank == -1 else self._origin.part(True)

    @property
    def grid_origin_soft_constraint(self) -> tuple[int | None, ...] | None:
        """The soft constraints on the origin of the grids."""
        return None if self._rank == -1 else self._origin.part(False)

    @property
    def write_chunk(self) -> GridClass:
        """The constraints on the chunks that are written as a whole."""
        return grid_with(self._rank, self._grids["write"])

    @property
    def read_chunk(self) -> GridClass:
        """The constraints on the chunks that can be read individually."""
        return grid_with(self._rank, self._grids["read"])

    @property
    def codec_chunk(self) -> GridClass:
        """The constraints on the blocks that the codec works on."""
        return grid_with(self._rank, self._grids["codec"])

    def _template(self, usage: str) -> IndexDomain:
        if self._rank == -1:
            raise SpecError("Rank of chunk layout is unspecified")
        dims = []
        sides = self._grids[usage].shape.part(True)
        for dim, (origin, side) in enumerate(zip(self._origin.part(True), sides, strict=True)):
            bounds = UNBOUNDED
            if origin is not None and side is not None:
                with prefixed(f"Incompatible grid origin/chunk shape for dimension {dim}"):
                    bounds = sized(origin, side)
            dims.append((Interval(*bounds), ""))
        return domain_of(Form.of_dims(dims))

    @property
    def write_chunk_template(self) -> IndexDomain:
        """The bounds of the first chunk that is written as a whole; infinite where they are not fixed.

        Examples
        --------
        >>> ChunkLayout(grid_origin=[5, 6, 7], write_chunk_shape=[100, None, 300]).write_chunk_template
        { [5, 105), (-inf, +inf), [7, 307) }
        """
        return self._template("write")

    @property
    def read_chunk_template(self) -> IndexDomain:
        """The bounds of the first chunk that can be read individually; infinite where they are not fixed."""
        return self._template("read")

    # Constraints, one by one.

    def _set_rank(self, rank: int) -> None:
        """Set the number of dimensions; -1 has no effect."""
        check_rank(rank, self._rank)
        if self._rank == -1 != rank:
            self._rank = rank
            self._origin = Vector.unset(rank)
            self._grids = {usage: grid.of_rank(rank) for usage, grid in self._grids.items()}

    def _set_inner_order(self, order: tuple[int, ...], hard: bool) -> None:
        if sorted(order) != list(range(len(order))) or len(order) > MAX_RANK:
            raise SpecError(f"Invalid permutation: {braces(order)}")
        self._set_rank(len(order))
        if not order or (self._inner_order is not None and not hard):
            return
        if self._inner_hard and order != self._inner_order:
            there = braces(self._inner_order or ())
            raise SpecError(f"expected the inner order {there} of a hard constraint, found {braces(order)}")
        self._inner_order, self._inner_hard = order, self._inner_hard or hard

    def _set_origin(self, origin: Any, hard: Any) -> None:
        self._set_rank(len(origin))
        self._origin = self._origin.merged(ORIGIN, origin, hard)

    def _set_grid(self, usage: str, name: str, values: Any, hard: Any) -> None:
        if name != "elements":
            self._set_rank(len(values))
        self._grids[usage] = self._grids[usage].merged(name, values, hard)

    @property
    def _rank_only(self) -> bool:
        """True if there is no constraint on single dimensions."""
        vectors = [self._origin]
        for grid in self._grids.values():
            vectors += grid.shape, grid.aspect_ratio
        return self._inner_order is None and all(vector.is_unset for vector in vectors)

    def to_json(self) -> dict[str, Any]:
        """The constraints as JSON.

        Examples
        --------
        >>> ChunkLayout(rank=2).to_json(), ChunkLayout(chunk_elements=5).to_json()
        ({'rank': 2}, {'read_chunk': {'elements': 5}, 'write_chunk': {'elements': 5}})
        """
        members: dict[str, Any] = {}
        if self._rank != -1 and self._rank_only:
            members["rank"] = self._rank
        if self._inner_order is not None:
            members["inner_order" if self._inner_hard else "inner_order_soft_constraint"] = list(self._inner_order)
        members |= vector_json("grid_origin", self._origin)
        for usage, grid in self._grids.items():
            if not grid.is_unset:
                members[f"{usage}_chunk"] = grid_json(grid)
        return dict(sorted(members.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChunkLayout):
            raise TypeError(f"a ChunkLayout cannot be compared with {other!r}")
        if is_unset(self) or is_unset(other):
            return is_unset(self) and is_unset(other)
        if self._rank <= 0 or self._rank != other._rank:
            mine, theirs = ([grid.elements for grid in layout._grids.values()] for layout in (self, other))
            return mine == theirs and self._rank_only and other._rank_only
        return all(getattr(self, name) == getattr(other, name) for name in ChunkLayout.__slots__)


# The constraints of a layout for the rest of the package; the class itself has TensorStore's names only.


def layout_of(
    rank: int, order: tuple[int, ...] | None, order_hard: bool, origin: Vector, grids: dict[str, GridConstraints]
) -> ChunkLayout:
    made = ChunkLayout.__new__(ChunkLayout)
    made._rank, made._origin, made._grids = rank, origin, grids
    made._inner_order, made._inner_hard = order, order_hard
    return made


def layout_from_json(value: Any) -> ChunkLayout:
    layout = ChunkLayout()
    apply_json(layout, value, _ARGUMENTS)
    return layout


def is_unset(layout: ChunkLayout) -> bool:
    """Return whether nothing is known of a layout, not even the number of dimensions."""
    return layout._rank == -1 and layout._grids == _NO_GRIDS


def order_in(layout: ChunkLayout) -> tuple[int, ...] | None:
    """Return the order of dimensions, whether hard or soft."""
    return layout._inner_order


def origin_in(layout: ChunkLayout) -> tuple[int | None, ...]:
    """Return the origin of the grids, whether hard or soft; empty while the number of dimensions is not known."""
    return layout._origin.values


def grid_of(layout: ChunkLayout, usage: str) -> GridConstraints:
    return layout._grids[usage]


def merge_grid(layout: ChunkLayout, usage: str, grid: GridConstraints, names: Iterable[str] = RULES) -> None:
    """Add the constraints of a grid to the grid of a layout for one use."""
    for name in names:
        vector: Vector = getattr(grid, name)
        # Without a constraint, there may still be a number of dimensions.
        if not vector.is_unset or (name != "elements" and len(vector.values) not in (0, layout._rank)):
            with prefixed(f"Error setting {usage}_chunk {name}", InvalidArgumentError):
                layout._set_grid(usage, name, vector.values, vector.hard)


def chunk_constraints(layout: ChunkLayout) -> GridConstraints:
    """Return the constraints on chunks that are written and read as a whole."""
    with prefixed("write_chunk constraints not compatible with existing read_chunk constraints"):
        merge_grid(layout, "read", layout._grids["write"])
    return layout._grids["read"]


def merge_layout(layout: ChunkLayout, other: ChunkLayout) -> None:
    if is_unset(layout):
        copied = copy(other)
        for name in ChunkLayout.__slots__:
            setattr(layout, name, getattr(copied, name))
        return
    if other._inner_order is not None:
        with prefixed("Error setting inner_order", InvalidArgumentError):
            layout._set_inner_order(other._inner_order, other._inner_hard)
    if other._rank > 0:
        with prefixed("Error setting grid_origin", InvalidArgumentError):
            layout._set_origin(other._origin.values, other._origin.hard)
    for usage, grid in other._grids.items():
        if not grid.is_unset:
            merge_grid(layout, usage, grid)


def finalize(layout: ChunkLayout) -> None:
    """Complete a layout: drop soft constraints and aspect ratios; read chunks default to the write chunks."""
    if layout._rank == -1:
        raise SpecError("rank must be specified")
    for dim in range(layout._rank):
        if dim not in layout._origin.hard:
            raise SpecError(f"No grid_origin hard constraint for dimension {dim}")
    for usage in USAGES:
        values = layout._grids[usage].shape.part(True)
        if any(origin + (size or 0) >= INF for origin, size in zip(layout._origin.values, values, strict=True)):
            there = f"origin={braces(layout._origin.values)}, shape={_braces(values)}"
            raise SpecError(f"Invalid {usage} chunk grid: Invalid origin/shape: {there}")
        if usage == "read":
            pairs = zip(values, layout._grids["write"].shape.values, strict=True)
            values = tuple(outer if size is None else size for size, outer in pairs)
        hard = frozenset(dim for dim, size in enumerate(values) if size is not None)
        layout._grids[usage] = GridConstraints(Vector(values, hard), Vector.unset(layout._rank))
    write, read = layout._grids["write"].shape.values, layout._grids["read"].shape.values
    if any(inner and (outer or 0) % inner for outer, inner in zip(write, read, strict=True)):
        raise SpecError(f"write chunk shape {_braces(write)} is not a multiple of read chunk shape {_braces(read)}")


def carried(
    layout: ChunkLayout, rank: int, order: tuple[int, ...] | None, carry: Callable[[Vector, Rule, str], Vector]
) -> ChunkLayout:
    """Return the layout on the other side of a view, where it has this order; `carry` gives its constraints there."""
    origin, grids = carry(layout._origin, ORIGIN, "grid_origin"), {}
    for usage, grid in layout._grids.items():
        with prefixed(f"Error transforming {usage}_chunk"):
            vectors = {name: carry(getattr(grid, name), RULES[name], name) for name in ("shape", "aspect_ratio")}
        grids[usage] = replace(grid, **vectors)
    return layout_of(rank, order, layout._inner_hard, origin, grids)


def _braces(shape: tuple[int | None, ...]) -> str:
    return braces([size or 0 for size in shape])


def _usages(member: str, name: str) -> tuple[str, ...]:
    """Return the grids that a member applies to; of ``chunk``, only the aspect ratio applies to that of the codec."""
    if member != "chunk":
        return (member.removesuffix("_chunk"),)
    return USAGES if name == "aspect_ratio" else ("write", "read")


def _kinds(member: str) -> dict[str, list[str]]:
    """Return the kinds of constraints of a member that apply to each grid."""
    return {usage: [name for name in RULES if usage in _usages(member, name)] for usage in USAGES}


def _apply_grid(
    kinds: dict[str, list[str]], layout: ChunkLayout, of_layout: Callable[[ChunkLayout], GridClass]
) -> None:
    grid = constraints_on(of_layout(layout))
    for usage, names in kinds.items():
        merge_grid(layout, usage, grid, names)


def _given_grid(value: Any) -> Callable[[ChunkLayout], GridClass]:
    grid = instance_of(GridClass)(value)
    return lambda layout: grid


def _parsed_grid(value: Any, layout: ChunkLayout) -> GridClass:
    grid = grid_from_json(value, layout._rank)
    if grid.rank == 0:
        # TensorStore takes over a rank of zero from JSON only, and other ranks with a vector of that length.
        layout._set_rank(0)
    return grid


def _apply_member(member: str, name: str, hard: bool, layout: ChunkLayout, values: Any) -> None:
    # TensorStore applies the shape and the aspect ratio of `codec_chunk` to the read chunks.
    usages = ("read",) if member == "codec_chunk" and name != "elements" else _usages(member, name)
    for usage in usages:
        with prefixed(f"Error setting {usage}_chunk {name}"):
            layout._set_grid(usage, name, values, hard)


_MEMBERS: Final = ("chunk", "write_chunk", "read_chunk", "codec_chunk")
_ARGUMENTS: Final[dict[str, Argument]] = {
    "rank": Argument(to_index, ChunkLayout._set_rank, as_integer(0, MAX_RANK)),
    **{
        f"inner_order{end}": Argument(
            lambda dims: tuple(map(to_index, integers(dims) or ())) or None,
            partial(ChunkLayout._set_inner_order, hard=hard),
            or_none(as_list(as_integer(0, MAX_RANK - 1), MAX_RANK)),
        )
        for end, hard in BOTH
    },
    **{
        f"grid_origin{end}": Argument(integers, partial(ChunkLayout._set_origin, hard=hard), shape_json)
        for end, hard in BOTH
    },
    **{
        member: Argument(_given_grid, partial(_apply_grid, _kinds(member)), lambda value: partial(_parsed_grid, value))
        for member in _MEMBERS
    },
    **{
        f"{member}_{name}{end}": Argument(convert, partial(_apply_member, member, name, hard))
        for name, (convert, _) in VALUES.items()
        for member in _MEMBERS
        for end, hard in BOTH
    },
    "finalize": Argument(bool, lambda layout, wanted: finalize(layout) if wanted else None),
}

name_keywords(ChunkLayout.__init__, list(_ARGUMENTS))
name_keywords(ChunkLayout.update, list(_ARGUMENTS))
