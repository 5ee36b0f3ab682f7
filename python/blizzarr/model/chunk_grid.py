"""The division of an array into chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any, ClassVar, Final, Self

from blizzarr.dtypes import DataType
from blizzarr.errors import UnsupportedOperationError
from blizzarr.model.edges import Edges, NativeEdges
from blizzarr.model.shapes import chunk_shape
from blizzarr.open_table import OpenTable
from blizzarr.problems import MISSING, Problems, members

PATH: Final = "chunk_grid.configuration"
"""Where in a document of v3 the configuration of a chunk grid is, for problems."""


class ChunkGrid(ABC):
    """A division of an array into chunks, by lengths along each axis.

    A grid of another package derives from this class, and is a row of `CHUNK_GRIDS`. It is compared with ``==``, so it
    is best a frozen dataclass.
    """

    __slots__ = ()

    name: ClassVar[str]
    """The name of the grid in documents of v3."""
    ends_with_array: bool = False
    """True if the last chunks along each axis are stored without the part outside of the array."""

    @classmethod
    @abstractmethod
    def from_configuration(
        cls, configuration: Mapping[str, Any], shape: tuple[int, ...] | None, dtype: DataType | None, problems: Problems
    ) -> ChunkGrid | None:
        """Return the grid that a document describes; `None` if a problem was added.

        - `shape`, `dtype`: those of the array; `None` if they are not known.
        """

    @abstractmethod
    def to_configuration(self) -> dict[str, Any]:
        """Return the configuration for a document."""

    @property
    @abstractmethod
    def edges(self) -> tuple[Edges, ...]:
        """The lengths of the chunks along each axis."""

    def resized(self, array_shape: tuple[int, ...], units: tuple[int, ...]) -> ChunkGrid:
        """Return the grid of the same array with another shape; chunks inside of both stay as they are.

        - `units`: the lengths of new chunks are multiples of these.
        """
        return self

    def has_chunks_of(self, other: ChunkGrid) -> bool:
        """Return whether all chunks that both grids have are the same ones, as those of an array before it grew."""
        return self == other

    @property
    def native(self) -> list[NativeEdges] | None:
        """The lengths along each axis as the engine takes them; None if all chunks have one shape."""
        return [axis.native for axis in self.edges]

    @property
    def is_even(self) -> bool:
        """True if all chunks have one shape."""
        return all(axis.is_even for axis in self.edges)

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """The shape of a chunk. Raise `UnsupportedOperationError` if chunks have several shapes."""
        edges = self.edges
        if not all(axis.is_even for axis in edges):
            raise UnsupportedOperationError(
                f"expected a grid of chunks of one shape, found the chunk grid {self.name!r} with {self.text}; "
                "read_chunk_sizes and write_chunk_sizes of the array give the length of each chunk"
            )
        return tuple(axis.length(0) for axis in edges)

    @property
    def lengths(self) -> tuple[Any, ...]:
        """The lengths along each axis, as `create_array` takes them: one for all chunks, or one for each.

        Raise `LimitError` if an axis has more chunks than are worth listing.
        """
        return tuple(axis.length(0) if axis.is_even else tuple(axis.listed()) for axis in self.edges)

    def sizes(self, array_shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """Return the length of each chunk along each axis, as far as it is inside of an array of this shape.

        Raise `LimitError` if an axis has more chunks than are worth listing.
        """
        return tuple(tuple(axis.listed(size)) for axis, size in zip(self.edges, array_shape, strict=True))

    def compact_sizes(self, array_shape: tuple[int, ...]) -> tuple[int | tuple[int, ...], ...]:
        """Return the lengths along each axis, as Dask and xarray take them: one for all chunks, or as in `sizes`.

        An axis without elements has a single chunk without elements.
        """
        axes = zip(self.edges, array_shape, strict=True)
        return tuple(axis.length(0) if axis.is_even else tuple(axis.listed(size)) or (0,) for axis, size in axes)

    @property
    def spelling(self) -> list[Any]:
        """The lengths along each axis, as `create_array` takes them, with runs as lengths and counts."""
        return [axis.to_json() for axis in self.edges]

    @property
    def text(self) -> str:
        """The lengths along each axis as a short text."""
        return f"({', '.join(map(str, self.edges))}{',' if len(self.edges) == 1 else ''})"

    def inside(self, array_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the stored shape of the largest chunk of an array of this shape."""
        return tuple(axis.longest(size) for axis, size in zip(self.edges, array_shape, strict=True))

    def divisors(self) -> tuple[int, ...]:
        """Return the greatest lengths that divide those of all chunks: what divides them, divides each chunk."""
        return tuple(gcd(*axis.distinct) or 1 for axis in self.edges)

    def multiples(self, of: Sequence[int]) -> list[Any]:
        """Return the lengths along each axis, as `create_array` takes them, each rounded up to a multiple of these."""
        return [axis.multiples(unit).to_json() for axis, unit in zip(self.edges, of, strict=True)]

    def shape(self, array_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the number of chunks along each axis of an array of this shape."""
        return tuple(axis.count(size) for axis, size in zip(self.edges, array_shape, strict=True))

    def locate(self, element: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the position of the chunk that holds an element, and the position of the element in that chunk."""
        pairs = [axis.locate(index) for axis, index in zip(self.edges, element, strict=True)]
        return tuple(chunk for chunk, _ in pairs), tuple(offset for _, offset in pairs)


@dataclass(frozen=True, slots=True)
class RegularGrid(ChunkGrid):
    """A grid of chunks of one shape, aligned at the origin; the last ones extend beyond the array, or end with it.

    >>> grid = RegularGrid((5, 20, 400))
    >>> grid.shape((10, 200, 3000))
    (2, 10, 8)
    >>> grid.locate((7, 150, 900))
    ((1, 7, 2), (2, 10, 100))
    """

    name: ClassVar[str] = "regular"
    is_even: ClassVar[bool] = True  # what the property of the base class finds out

    # A field without a default, which the property of the base class would become.
    chunk_shape: tuple[int, ...] = field()
    ends_with_array: bool = False
    """True if the last chunks along each axis are stored without the part outside of the array."""

    @classmethod
    def from_configuration(
        cls, configuration: Mapping[str, Any], shape: tuple[int, ...] | None, dtype: DataType | None, problems: Problems
    ) -> Self | None:
        if len(configuration) > 1:
            members(configuration, "chunk_grid", problems, ("chunk_shape",))
        shape_read = chunk_shape(
            configuration.get("chunk_shape", MISSING), f"{PATH}.chunk_shape", shape, dtype, problems
        )
        return None if shape_read is None else cls(shape_read)

    def to_configuration(self) -> dict[str, Any]:
        return {"chunk_shape": list(self.chunk_shape)}

    @property
    def edges(self) -> tuple[Edges, ...]:
        return tuple(map(Edges.even, self.chunk_shape))

    @property
    def native(self) -> None:
        return None

    def inside(self, array_shape: tuple[int, ...]) -> tuple[int, ...]:
        if not self.ends_with_array:
            return self.chunk_shape
        sizes = zip(self.chunk_shape, array_shape, strict=True)
        return tuple([min(length, size or 1) for length, size in sizes])

    def divisors(self) -> tuple[int, ...]:
        return self.chunk_shape

    def shape(self, array_shape: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(-(-size // length) for size, length in zip(array_shape, self.chunk_shape, strict=True))

    def locate(self, element: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        pairs = [divmod(index, length) for index, length in zip(element, self.chunk_shape, strict=True)]
        return tuple(chunk for chunk, _ in pairs), tuple(offset for _, offset in pairs)


@dataclass(frozen=True, slots=True)
class RegularBoundedGrid(RegularGrid):
    """The grid ``zarrs.regular_bounded``: chunks of one shape, of which the last ones end where the array does.

    Specification: https://chunkgrid.zarrs.dev/regular_bounded

    >>> RegularBoundedGrid((5, 20)).inside((3, 50))
    (3, 20)
    """

    name: ClassVar[str] = "zarrs.regular_bounded"

    ends_with_array: bool = True

    def resized(self, array_shape: tuple[int, ...], units: tuple[int, ...]) -> ChunkGrid:
        raise UnsupportedOperationError(
            f"expected an array that can be resized, found one of the chunk grid {self.name!r}, whose last chunks end "
            "where the array does; blizzarr.copy(..., chunks=...) stores its elements in another grid"
        )


CHUNK_GRIDS: Final = OpenTable[type[ChunkGrid]](
    "blizzarr.chunk_grids",
    {
        "regular": "blizzarr.model.chunk_grid:RegularGrid",
        "zarrs.regular_bounded": "blizzarr.model.chunk_grid:RegularBoundedGrid",
        "rectilinear": "blizzarr.model.rectilinear_grid:RectilinearGrid",
        "rectangular": "blizzarr.model.rectilinear_grid:RectangularGrid",
    },
)
"""The class of each name in documents of v3, which reads and writes its configuration."""
