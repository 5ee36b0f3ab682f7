"""The chunk grid ``rectilinear``: chunks of several lengths along each axis.

https://github.com/zarr-developers/zarr-extensions/tree/main/chunk-grids/rectilinear
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from blizzarr.dtypes import DataType
from blizzarr.model.chunk_grid import PATH, ChunkGrid, RegularGrid
from blizzarr.model.edges import Edges
from blizzarr.model.shapes import check_rank, check_size
from blizzarr.problems import INT64_MAX, MISSING, Problems, members

_OPTIONS: Final = ("kind", "chunk_shapes")
MAX_RUNS: Final = 1 << 22
"""The most edge lengths, or runs of them, along one axis: each takes up to 36 times its memory in the document."""
_MOST_PROBLEMS: Final = 100
"""The most wrong lengths of one axis that are listed."""


@dataclass(frozen=True, slots=True)
class RectilinearGrid(ChunkGrid):
    """A grid of chunks of several lengths along each axis.

    An axis whose chunks all have one length, without end, stays as it is when the array grows. Another axis gets one
    more chunk, as long as what its chunks do not cover; if that is a shard, it is as long as it takes to hold whole
    chunks. No chunk ever changes its length, and none is removed from the grid when the array shrinks.

    >>> grid = RectilinearGrid((Edges([(10, 1), (20, 1), (30, 1)]), Edges.even(5)))
    >>> grid.shape((60, 12)), grid.locate((35, 7)), grid.lengths
    ((3, 3), ((2, 1), (5, 2)), ((10, 20, 30), 5))
    >>> grid.to_configuration()
    {'kind': 'inline', 'chunk_shapes': [[10, 20, 30], 5]}
    >>> grid.resized((64, 12), (1, 1)).to_configuration()
    {'kind': 'inline', 'chunk_shapes': [[10, 20, 30, 4], 5]}
    """

    name: ClassVar[str] = "rectilinear"

    edges: tuple[Edges, ...]

    @classmethod
    def from_configuration(
        cls, configuration: Mapping[str, Any], shape: tuple[int, ...] | None, dtype: DataType | None, problems: Problems
    ) -> ChunkGrid | None:
        if configuration.keys() - set(_OPTIONS):
            members(configuration, "chunk_grid", problems, _OPTIONS)
        if (kind := configuration.get("kind", MISSING)) != "inline":
            problems.add(f"{PATH}.kind", '"inline"', kind)
        return _grid(configuration, "chunk_shapes", shape, dtype, problems)

    def to_configuration(self) -> dict[str, Any]:
        return {"kind": "inline", "chunk_shapes": [axis.to_json() for axis in self.edges]}

    def resized(self, array_shape: tuple[int, ...], units: tuple[int, ...]) -> RectilinearGrid:
        sizes = zip(self.edges, array_shape, units, strict=True)
        edges = tuple(axis.grown(size, unit) for axis, size, unit in sizes)
        return self if all(new is old for new, old in zip(edges, self.edges, strict=True)) else RectilinearGrid(edges)

    def has_chunks_of(self, other: ChunkGrid) -> bool:
        if not isinstance(other, RectilinearGrid):
            return False
        pairs = zip(self.edges, other.edges, strict=False)
        return len(self.edges) == len(other.edges) and all(one.agrees(two) for one, two in pairs)


class RectangularGrid(RectilinearGrid):
    """`RectilinearGrid` as it was called before it was registered, with another option; it is written as that."""

    __slots__ = ()
    name: ClassVar[str] = "rectangular"

    @classmethod
    def from_configuration(
        cls, configuration: Mapping[str, Any], shape: tuple[int, ...] | None, dtype: DataType | None, problems: Problems
    ) -> ChunkGrid | None:
        members(configuration, "chunk_grid", problems, ("chunk_shape",))
        return _grid(configuration, "chunk_shape", shape, dtype, problems)


def _grid(
    configuration: Mapping[str, Any],
    option: str,
    shape: tuple[int, ...] | None,
    dtype: DataType | None,
    problems: Problems,
) -> ChunkGrid | None:
    """Decode the option that has the edge lengths of each axis; `None` if a problem was added."""
    before = len(problems.items)
    path, value = f"{PATH}.{option}", configuration.get(option, MISSING)
    if type(value) is not list:
        problems.add(path, "a list of edge lengths, for each dimension", value)
        return None
    if not check_rank(value, path, shape, problems):
        return None
    sizes: Sequence[int | None] = shape or [None] * len(value)
    edges = [
        edges_of(item, size, f"{path}[{axis}]", problems)
        for axis, (item, size) in enumerate(zip(value, sizes, strict=True))
    ]
    axes = [axis for axis in edges if axis is not None]
    if len(problems.items) > before:
        return None
    check_size([axis.longest(INT64_MAX) for axis in axes], path, dtype, problems)
    if all(axis.is_even for axis in axes):
        # The same chunks, as a grid that everything is quicker with; a document that has them keeps its spelling.
        return RegularGrid(tuple(axis.length(0) for axis in axes))
    return RectilinearGrid(tuple(axes))


def edges_of(value: Any, size: int | None, path: str, problems: Problems) -> Edges | None:
    """Decode the edge lengths of one axis of this size; `None` if a problem was added."""
    if type(value) is int:
        if not 1 <= value <= INT64_MAX:
            problems.add(path, "an integer in [1, 2^63)", value)
            return None
        return Edges.even(value)
    if type(value) is not list:
        problems.add(path, "an integer, or a list of edge lengths", value)
        return None
    if len(value) > MAX_RUNS:
        problems.limit(path, f"at most {MAX_RUNS:,} edge lengths or runs of them", len(value))
        return None
    before, total = len(problems.items), 0
    for index, item in enumerate(value):
        if type(item) is int and 1 <= item <= INT64_MAX:
            total += item
        elif type(item) is list and len(item) == 2 and all(type(n) is int and 1 <= n <= INT64_MAX for n in item):
            total += item[0] * item[1]
        else:
            problems.add(f"{path}[{index}]", "an edge length or [edge length, count], of integers in [1, 2^63)", item)
            if len(problems.items) == before + _MOST_PROBLEMS:
                return None
    if len(problems.items) > before:
        return None
    if total > INT64_MAX:
        problems.add(path, "edge lengths that sum to less than 2^63", value)
        return None
    if size is not None and total < size:
        problems.add(path, f"edge lengths that sum to at least {size}, the length of the axis", total)
        return None
    # No list of pairs, which would take many times the memory of the document.
    return Edges((item, 1) if type(item) is int else (item[0], item[1]) for item in value)
