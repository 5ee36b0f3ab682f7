"""How an array is cut into chunks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RegularGrid"]


@dataclass(frozen=True, slots=True)
class RegularGrid:
    """Chunks that all have the same shape, aligned at the origin; the last ones may overhang the array.

    Examples
    --------
    >>> grid = RegularGrid((5, 20, 400))
    >>> grid.shape((10, 200, 3000))
    (2, 10, 8)
    >>> grid.locate((7, 150, 900))
    ((1, 7, 2), (2, 10, 100))
    """

    chunk_shape: tuple[int, ...]

    def shape(self, array_shape: tuple[int, ...]) -> tuple[int, ...]:
        """The number of chunks along each axis of an array of this shape."""
        return tuple(-(-size // length) for size, length in zip(array_shape, self.chunk_shape, strict=True))

    def locate(self, element: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The chunk that holds an element, and the element's position in that chunk."""
        pairs = [divmod(index, length) for index, length in zip(element, self.chunk_shape, strict=True)]
        return tuple(chunk for chunk, _ in pairs), tuple(offset for _, offset in pairs)
