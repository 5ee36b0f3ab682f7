"""`ChunkLayout`: the layout of elements in storage, given by keywords or as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from blizzarr.json_values import MISSING, plain
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import Argument, apply_arguments, floats, integer, integers, prefixed
from blizzarr.spec.constraint import MAX_RANK
from blizzarr.spec.grid import Grid as GridClass
from blizzarr.spec.grid import as_grid, grid_from_json, grid_json, shape_json
from blizzarr.spec.layout_constraints import GRID_MEMBERS, USAGES, LayoutConstraints
from blizzarr.spec.members import Members, as_integer, as_list
from blizzarr.spec.pretty import pretty

_order_json = as_list(as_integer(0, MAX_RANK - 1), MAX_RANK)


class ChunkLayout(LayoutConstraints):
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

    __slots__ = ()

    Grid = GridClass

    def __init__(self, json: Any = MISSING, **constraints: Any) -> None:
        super().__init__()
        if json is not MISSING:
            if constraints:
                raise TypeError("expected JSON or keyword arguments, found both")
            self._read(Members(plain(json)))
        elif constraints:
            apply_arguments(ChunkLayout.__init__, self, _ARGUMENTS, constraints)

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

    def _read(self, members: Members) -> None:
        members.take("rank", lambda value: self._set_rank(as_integer(0, MAX_RANK)(value)), None)
        for name, hard in (("inner_order", True), ("inner_order_soft_constraint", False)):
            members.take(name, self._inner_order_reader(hard), None)
        for name, hard in (("grid_origin", True), ("grid_origin_soft_constraint", False)):
            members.take(name, self._origin_reader(hard), None)
        for name in ("chunk", "write_chunk", "read_chunk", "codec_chunk"):
            members.take(name, self._grid_reader(name), None)
        members.end()

    def _inner_order_reader(self, hard: bool) -> Callable[[Any], None]:
        return lambda value: None if value is None else self._set_inner_order(_order_json(value), hard)

    def _origin_reader(self, hard: bool) -> Callable[[Any], None]:
        return lambda value: self._set_origin(shape_json(value), hard)

    def _grid_reader(self, member: str) -> Callable[[Any], None]:
        def apply(name: str, value: Any, hard: bool) -> None:
            for usage in _usages(member, name):
                self._set_grid(usage, name, value, hard)

        return lambda value: grid_from_json(Members(value), apply)

    def to_json(self) -> dict[str, Any]:
        """The constraints as JSON.

        Examples
        --------
        >>> ChunkLayout(rank=2).to_json(), ChunkLayout(chunk_elements=5).to_json()
        ({'rank': 2}, {'read_chunk': {'elements': 5}, 'write_chunk': {'elements': 5}})
        """
        found: dict[str, Any] = {}
        if self._rank != -1 and self._rank_only:
            found["rank"] = self._rank
        if self._inner_order is not None:
            found["inner_order" if self._inner_hard else "inner_order_soft_constraint"] = list(self._inner_order)
        for name, hard in (("grid_origin", True), ("grid_origin_soft_constraint", False)):
            part = self._origin.part(hard)
            if any(value is not None for value in part):
                found[name] = list(part)
        for usage, grid in self._grids.items():
            if not grid.is_unset:
                found[f"{usage}_chunk"] = grid_json(grid)
        return dict(sorted(found.items()))

    def __repr__(self) -> str:
        return pretty(self.to_json(), "ChunkLayout(", ")")

    def __reduce__(self) -> tuple[Any, ...]:
        return ChunkLayout, (self.to_json(),)


def _usages(member: str, name: str) -> tuple[str, ...]:
    """Return the grids that a member applies to; of ``chunk``, only the aspect ratio applies to that of the codec."""
    if member != "chunk":
        return (member.removesuffix("_chunk"),)
    return USAGES if name == "aspect_ratio" else ("write", "read")


def _inner_order_setter(hard: bool) -> Any:
    def apply(layout: ChunkLayout, order: tuple[int, ...]) -> None:
        if order:
            with prefixed("Error setting inner_order"):
                layout._set_inner_order(order, hard)

    return apply


def _origin_setter(hard: bool) -> Any:
    def apply(layout: ChunkLayout, origin: tuple[int | None, ...]) -> None:
        if origin:
            with prefixed("Error setting grid_origin"):
                layout._set_origin(origin, hard)

    return apply


def _grid_setter(member: str) -> Any:
    def apply(layout: ChunkLayout, grid: GridClass) -> None:
        for usage in USAGES:
            names = tuple(name for name in GRID_MEMBERS if usage in _usages(member, name))
            layout._merge_grid(usage, grid._constraints, names)

    return apply


def _member_setter(member: str, name: str, hard: bool) -> Any:
    # TensorStore applies these two to the read chunks.
    read = member == "codec_chunk" and name != "elements"
    usages = ("read",) if read else _usages(member, name)

    def apply(layout: ChunkLayout, value: Any) -> None:
        if value == ():
            return
        for usage in usages:
            with prefixed(f"Error setting {usage}_chunk {name}"):
                layout._set_grid(usage, name, value, hard)

    return apply


def _order(values: Any) -> tuple[int, ...]:
    return tuple(integer(value) for value in integers(values))


_MEMBERS: Final = ("chunk", "write_chunk", "read_chunk", "codec_chunk")
_BOTH: Final = (("", True), ("_soft_constraint", False))
_ARGUMENTS: Final[dict[str, Argument]] = {
    "rank": Argument(integer, ChunkLayout._set_rank),
    **{f"inner_order{end}": Argument(_order, _inner_order_setter(hard)) for end, hard in _BOTH},
    **{f"grid_origin{end}": Argument(integers, _origin_setter(hard)) for end, hard in _BOTH},
    **{member: Argument(as_grid, _grid_setter(member)) for member in _MEMBERS},
    **{
        f"{member}_{name}{end}": Argument(convert, _member_setter(member, name, hard))
        for name, convert in (("shape", integers), ("aspect_ratio", floats), ("elements", integer))
        for member in _MEMBERS
        for end, hard in _BOTH
    },
    "finalize": Argument(bool, ChunkLayout._finalize_if),
}

name_keywords(ChunkLayout.__init__, list(_ARGUMENTS))
name_keywords(ChunkLayout.update, list(_ARGUMENTS))
