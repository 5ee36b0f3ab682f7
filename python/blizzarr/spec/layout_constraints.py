"""Constraints on a layout, and the rules by which they are merged."""

from __future__ import annotations

from typing import Any, Final, Self

from blizzarr.errors import InvalidArgumentError, SpecError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import UNBOUNDED, Interval, sized
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.constraint import INFINITE, MAX_RANK, ORIGIN, Vector, braces
from blizzarr.spec.grid import Grid as GridClass
from blizzarr.spec.grid import GridConstraints, check_rank
from blizzarr.views import IndexDomain

USAGES: Final = ("write", "read", "codec")
"""The three grids."""
GRID_MEMBERS: Final = ("shape", "aspect_ratio", "elements")
_NO_VECTOR: Final = Vector()
_NO_GRID: Final = GridConstraints()


class LayoutConstraints:
    """The order of dimensions in chunks, the origin of the grids and the grids, each hard or soft.

    Examples
    --------
    >>> layout = LayoutConstraints()
    >>> layout._set_rank(2)
    >>> layout.rank, layout.grid_origin, layout._is_unset
    (2, (None, None), False)
    """

    __slots__ = ("_grids", "_inner_hard", "_inner_order", "_origin", "_rank")

    def __init__(self) -> None:
        self._rank = -1
        self._inner_order: tuple[int, ...] | None = None
        self._inner_hard = False
        self._origin = _NO_VECTOR
        self._grids = dict.fromkeys(USAGES, _NO_GRID)

    @classmethod
    def _of(
        cls,
        rank: int,
        inner_order: tuple[int, ...] | None,
        inner_hard: bool,
        origin: Vector,
        grids: dict[str, GridConstraints],
    ) -> Self:
        """The layout of these parts."""
        found = cls.__new__(cls)
        found._rank, found._origin, found._grids = rank, origin, grids
        found._inner_order, found._inner_hard = inner_order, inner_hard
        return found

    def _copy(self) -> Self:
        """Return an independent copy."""
        return self._of(self._rank, self._inner_order, self._inner_hard, self._origin, dict(self._grids))

    # Properties

    @property
    def rank(self) -> int:
        """The number of dimensions, -1 if it is not known."""
        return self._rank

    ndim = rank

    @property
    def _is_unset(self) -> bool:
        """True if nothing is known, not even the number of dimensions."""
        if self._rank != -1:
            return False
        write, read, codec = self._grids.values()
        return write.elements is None and read.elements is None and codec.elements is None

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
        return GridClass._of(self._rank, self._grids["write"])

    @property
    def read_chunk(self) -> GridClass:
        """The constraints on the chunks that can be read individually."""
        return GridClass._of(self._rank, self._grids["read"])

    @property
    def codec_chunk(self) -> GridClass:
        """The constraints on the blocks that the codec works on."""
        return GridClass._of(self._rank, self._grids["codec"])

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
        return IndexDomain._of(Form.of_dims(dims))

    @property
    def write_chunk_template(self) -> IndexDomain:
        """The bounds of the first chunk that is written as a whole; infinite where they are not fixed.

        Examples
        --------
        >>> from blizzarr.spec.chunk_layout import ChunkLayout
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
            self._grids = {usage: GridConstraints.unset(rank, grid) for usage, grid in self._grids.items()}

    def _set_inner_order(self, order: tuple[int, ...], hard: bool) -> None:
        if sorted(order) != list(range(len(order))) or len(order) > MAX_RANK:
            raise SpecError(f"Invalid permutation: {braces(order)}")
        self._set_rank(len(order))
        if not order or (self._inner_order is not None and not hard):
            return
        if self._inner_hard and order != self._inner_order:
            raise SpecError(
                f"New hard constraint ({braces(order)}) does not match "
                f"existing hard constraint ({braces(self._inner_order or ())})"
            )
        self._inner_order, self._inner_hard = order, self._inner_hard or hard

    def _set_origin(self, origin: Any, hard: Any) -> None:
        self._set_rank(len(origin))
        self._origin = self._origin.merged(ORIGIN, origin, hard)

    def _set_grid(self, usage: str, name: str, value: Any, hard: Any) -> None:
        if name != "elements":
            self._set_rank(len(value))
        grid = self._grids[usage]
        with_it = {"shape": grid.with_shape, "aspect_ratio": grid.with_aspect_ratio, "elements": grid.with_elements}
        self._grids[usage] = with_it[name](value, hard)

    def _merge_grid(self, usage: str, theirs: GridConstraints, names: tuple[str, ...] = GRID_MEMBERS) -> None:
        """Add the constraints of a grid to that for one use."""
        for name in names:
            if name == "elements":
                value, hard = theirs.elements, theirs.elements_hard
            else:
                vector = theirs.shape if name == "shape" else theirs.aspect_ratio
                value, hard = vector.values or None, vector.hard  # type: ignore[assignment]
            if value is not None:
                with prefixed(f"Error setting {usage}_chunk {name}", InvalidArgumentError):
                    self._set_grid(usage, name, value, hard)

    def _merge(self, other: LayoutConstraints, hard: bool = True) -> None:
        """Add the constraints of another layout; as wishes, if not `hard`."""
        if self._is_unset:
            copied = other._copy() if hard else other._softened()
            for name in LayoutConstraints.__slots__:
                setattr(self, name, getattr(copied, name))
            return
        theirs = other if hard else other._softened()
        if theirs._inner_order is not None:
            with prefixed("Error setting inner_order", InvalidArgumentError):
                self._set_inner_order(theirs._inner_order, theirs._inner_hard)
        if theirs._rank > 0:
            with prefixed("Error setting grid_origin", InvalidArgumentError):
                self._set_origin(theirs._origin.values, theirs._origin.hard)
        for usage, grid in theirs._grids.items():
            if not grid.is_unset:
                self._merge_grid(usage, grid)

    def _softened(self) -> Self:
        """Return the same constraints, all of them soft."""
        found = self._copy()
        found._inner_hard = False
        found._origin = self._origin.softened()
        found._grids = {usage: grid.softened() for usage, grid in self._grids.items()}
        return found

    def _finalize_if(self, wanted: bool) -> None:
        if wanted:
            self._finalize()

    def _finalize(self) -> None:
        """Complete the layout: drop soft constraints and aspect ratios; read chunks default to the write chunks."""
        if self._rank == -1:
            raise SpecError("rank must be specified")
        for dim in range(self._rank):
            if dim not in self._origin.hard:
                raise SpecError(f"No grid_origin hard constraint for dimension {dim}")
        for usage in USAGES:
            try:
                self._grids[usage] = self._finalized(usage)
            except SpecError as error:
                raise SpecError(f"Invalid {usage} chunk grid: {error.reason}") from error
        write, read = self._grids["write"].shape.values, self._grids["read"].shape.values
        if any(inner and (outer or 0) % inner for outer, inner in zip(write, read, strict=True)):
            raise SpecError(f"write chunk shape {_braces(write)} is not a multiple of read chunk shape {_braces(read)}")

    def _finalized(self, usage: str) -> GridConstraints:
        grid = self._grids[usage]
        shape = grid.shape
        is_final = len(shape.hard) == self._rank and grid.elements is None and grid.aspect_ratio.is_unset
        if is_final and sum(shape.values) + sum(map(abs, self._origin.values)) < INFINITE:
            # As the layouts of stored arrays are.
            return grid
        values = shape.part(True)
        for origin, size in zip(self._origin.values, values, strict=True):
            if origin + (size or 0) >= INFINITE:
                raise SpecError(f"Invalid origin/shape: origin={braces(self._origin.values)}, shape={_braces(values)}")
        if usage == "read":
            pairs = zip(values, self._grids["write"].shape.values, strict=True)
            values = tuple(outer if size is None else size for size, outer in pairs)
        hard = frozenset(dim for dim, size in enumerate(values) if size is not None)
        return GridConstraints(Vector(values, hard), Vector.unset(self._rank))

    @property
    def _rank_only(self) -> bool:
        """True if there is no constraint on single dimensions."""
        vectors = [self._origin]
        for grid in self._grids.values():
            vectors += grid.shape, grid.aspect_ratio
        return self._inner_order is None and all(vector.is_unset for vector in vectors)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LayoutConstraints):
            raise TypeError(f"a ChunkLayout cannot be compared with {other!r}")
        if self._is_unset or other._is_unset:
            return self._is_unset and other._is_unset
        if self._rank <= 0 or self._rank != other._rank:
            elements = [
                [(grid.elements, grid.elements_hard) for grid in layout._grids.values()] for layout in (self, other)
            ]
            return elements[0] == elements[1] and self._rank_only and other._rank_only
        return all(getattr(self, name) == getattr(other, name) for name in LayoutConstraints.__slots__)

    __hash__ = None  # type: ignore[assignment]


def _braces(shape: tuple[int | None, ...]) -> str:
    return braces([size or 0 for size in shape])
