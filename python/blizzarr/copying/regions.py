"""The regions in which an array is copied.

Each *region* is read into memory and then written. Regions consist of whole shards (or chunks) of the destination, so
nothing is read back from there. A source chunk is decoded once for each region that it overlaps; so regions are
enlarged, within the allowed memory, such that their borders cut as few source chunks as possible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from blizzarr.model.edges import Edges

Region: TypeAlias = tuple[slice, ...]
Cell: TypeAlias = tuple[int, ...]
"""A position in the grid of regions."""


@dataclass(frozen=True, slots=True)
class Regions:
    """Regions that cover an array, in C order; those at its ends are clipped to it.

    They have the shape `region_shape`, unless `edges` are given: then these are their lengths along each axis, of which
    `region_shape` are the largest.

    >>> regions = Regions((5, 4), (3, 4))
    >>> len(regions), list(regions)
    (2, [(slice(0, 3, None), slice(0, 4, None)), (slice(3, 5, None), slice(0, 4, None))])
    """

    shape: tuple[int, ...]
    region_shape: tuple[int, ...]
    edges: tuple[Edges, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", self.edges or tuple(map(Edges.even, self.region_shape)))

    def __len__(self) -> int:
        return self.count

    @property
    def count(self) -> int:
        """The number of regions, which may be larger than `len` can return."""
        return math.prod(self.grid)

    @property
    def grid(self) -> Cell:
        """The number of regions along each axis."""
        return tuple(axis.count(length) for axis, length in zip(self.edges, self.shape, strict=True))

    def region(self, cell: Cell) -> Region:
        """Return the region of a cell of the grid."""
        axes = zip(cell, self.edges, self.shape, strict=True)
        return tuple(slice(axis.start(index), min(axis.start(index + 1), length)) for index, axis, length in axes)

    def reached(self, position: Cell, chunks: Sequence[Edges]) -> Iterator[Cell]:
        """Return the cells of the regions that a chunk at a position in its own grid overlaps."""
        axes = zip(position, chunks, self.edges, self.shape, strict=True)
        return product(
            *(
                axis.touched(chunk.start(index), min(chunk.start(index + 1), length))
                for index, chunk, axis, length in axes
            )
        )

    def __iter__(self) -> Iterator[Region]:
        return map(self.region, self.cells())

    def cells(self) -> Iterator[Cell]:
        """Return all cells of the grid in C order; never a list of an axis, which may be huge."""
        return _cells(self.grid)


def _cells(grid: Cell) -> Iterator[Cell]:
    if not grid:
        yield ()
    elif 0 not in grid:
        yield from ((index, *rest) for index in range(grid[0]) for rest in _cells(grid[1:]))


def plan_regions(
    shape: Sequence[int],
    write_shape: Sequence[int],
    read_shape: Sequence[int],
    limit: int,
    chunks: Sequence[Edges] = (),
) -> Regions:
    """Return regions of at most `limit` elements (or of one `write_shape`, if that has more).

    `chunks` are the lengths of the chunks along each axis, where those of `write_shape` are only the largest ones.

    >>> plan_regions((100, 100), write_shape=(10, 10), read_shape=(1, 100), limit=2000).region_shape
    (20, 100)
    >>> plan_regions((100, 100), write_shape=(10, 10), read_shape=(100, 1), limit=2000).region_shape
    (100, 20)
    """
    region = list(write_shape)
    # First in small steps, which leave room for the other axes, then as far as the rest of the memory allows. Without
    # elements there is no region, and nothing that limits its length.
    for steps in (_longer, _longest) if 0 not in shape else ():
        while (best := _best(region, shape, write_shape, read_shape, limit, steps)) is not None:
            axis, grown = best
            region[axis] = grown
    joined = [chunk if chunk.is_even else chunk.joined(most) for chunk, most in zip(chunks, region, strict=False)]
    edges = (Edges.even(most) if chunk.is_even else chunk for chunk, most in zip(joined, region, strict=False))
    return Regions(tuple(shape), tuple(region), tuple(edges))


def _best(
    region: list[int],
    shape: Sequence[int],
    write_shape: Sequence[int],
    read_shape: Sequence[int],
    limit: int,
    steps: Callable[[int, int, int, int, int], set[int]],
) -> tuple[int, int] | None:
    """Return the axis to enlarge next and its new length; None if there is no room for more."""
    best: tuple[tuple[float, int], int] | None = None
    now = amplification(region, read_shape, shape)
    size = math.prod(map(min, region, shape))
    for axis, length in enumerate(shape):
        room = limit * min(region[axis], length) // max(1, size)
        for grown in sorted(steps(region[axis], write_shape[axis], read_shape[axis], length, room)):
            candidate = [*region[:axis], grown, *region[axis + 1 :]]
            saved = now - amplification(candidate, read_shape, shape)
            if min(grown, length) > room or saved < 0:
                continue
            # The reading that is saved in relation to the memory; if nothing is saved, later axes first, whose elements
            # are adjacent.
            score = saved / math.log2(1 + grown / region[axis]), axis
            if best is None or score > best[0]:
                best = score, grown
    return None if best is None else (best[0][1], best[1])


def amplification(region: Sequence[int], read_shape: Sequence[int], shape: Sequence[int]) -> float:
    """Return about how many times each source chunk is decoded when the source is read in such regions."""
    product = 1.0
    for part, chunk, length in zip(region, read_shape, shape, strict=True):
        if part < length and part % chunk:
            reach = min(part + chunk - math.gcd(part, chunk), length + chunk)
            product *= reach / part
    return product


def _longer(part: int, write: int, read: int, length: int, room: int) -> set[int]:
    """Return lengths to enlarge a region to: twice the length, a common multiple with the source, or the whole axis."""
    whole = -(-length // write) * write
    # Only the next common multiple: later ones save nothing more, and steps of one chunk would take too long.
    common = math.lcm(write, read)
    return {grown for grown in (2 * part, -(-part // common) * common, whole) if part < grown <= whole}


def _longest(part: int, write: int, read: int, length: int, room: int) -> set[int]:
    """Return the greatest length that there is room for."""
    whole = -(-length // write) * write
    grown = whole if length <= room else room // write * write
    return {grown} if part < grown else set()
