"""The division of an array into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True, slots=True)
class RegularGrid:
    """A grid of chunks of one shape, aligned at the origin; the last ones extend beyond the array, or end with it.

    Examples
    --------
    >>> grid = RegularGrid((5, 20, 400))
    >>> grid.shape((10, 200, 3000))
    (2, 10, 8)
    >>> grid.locate((7, 150, 900))
    ((1, 7, 2), (2, 10, 100))
    """

    chunk_shape: tuple[int, ...]
    ends_with_array: bool = False
    """True if the last chunks along each axis are stored without the part outside of the array."""

    def inside(self, array_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the stored shape of the first chunk of an array of this shape."""
        if not self.ends_with_array:
            return self.chunk_shape
        sizes = zip(self.chunk_shape, array_shape, strict=True)
        return tuple([min(length, size or 1) for length, size in sizes])

    def at_ends(self, array_shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the other stored shapes, which chunks at the ends of the axes have; there are none without ends.

        Examples
        --------
        >>> grid = RegularGrid((4, 4), ends_with_array=True)
        >>> grid.at_ends((6, 9)), grid.inside((3, 9)), grid.at_ends((3, 8))
        ([(4, 1), (2, 4), (2, 1)], (3, 4), [])
        """
        if not self.ends_with_array:
            return []
        whole = self.inside(array_shape)
        lengths = [{length, size % length or length} for length, size in zip(whole, array_shape, strict=True)]
        return [shape for shape in product(*(sorted(both, reverse=True) for both in lengths)) if shape != whole]

    def shape(self, array_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the number of chunks along each axis of an array of this shape."""
        return tuple(-(-size // length) for size, length in zip(array_shape, self.chunk_shape, strict=True))

    def locate(self, element: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the position of the chunk that holds an element, and the position of the element in that chunk."""
        pairs = [divmod(index, length) for index, length in zip(element, self.chunk_shape, strict=True)]
        return tuple(chunk for chunk, _ in pairs), tuple(offset for _, offset in pairs)
