"""In which parts two arrays are compared, and which parts need not be looked at.

Where neither array has stored anything, both read as their fill values: a part without a stored chunk is not visited.
Where both have the same layout, the stored objects are compared first, and only those that differ are decoded.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

from blizzarr.array import Array
from blizzarr.config import config
from blizzarr.copying.regions import Region, Regions, plan_regions
from blizzarr.copying.stored import same_layout, stored_objects
from blizzarr.errors import BlizzarrError
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.stores.threads import Threads

__all__ = ["Parts", "cut", "plan", "stored_alike"]

Cell: TypeAlias = tuple[int, ...]

TEMPORARY = 4
"""So many times the bytes of an element, of both arrays, are in memory while it is compared; about."""
SPARSE = 8
"""When less than one cell in so many is stored, regions are as small as they can be."""
BATCH = 256


@dataclass(frozen=True, slots=True)
class Parts:
    """The regions to visit: all of them, or those of some cells of their grid."""

    regions: Regions
    cells: list[Cell] | None
    alone: bool
    """Whether each is one stored object of both."""

    def visited(self) -> Iterator[Region]:
        """The regions to look at."""
        if self.cells is None:
            yield from self.regions
        else:
            yield from (self.region(cell) for cell in self.cells)

    def region(self, cell: Cell) -> Region:
        """The region of a cell of the grid."""
        axes = zip(cell, self.regions.region_shape, self.regions.shape, strict=True)
        return tuple(slice(index * part, min((index + 1) * part, length)) for index, part, length in axes)

    @property
    def grid(self) -> Cell:
        """How many cells there are along each axis."""
        lengths = zip(self.regions.shape, self.regions.region_shape, strict=True)
        return tuple(-(-length // part) for length, part in lengths)

    def first_left(self) -> Region | None:
        """The first region that is not visited."""
        visited = set(self.cells or ())
        return next((self.region(cell) for cell in _cells(self.grid) if cell not in visited), None)

    def box_left(self) -> tuple[tuple[int, int], ...]:
        """The smallest box with all regions that are not visited; there is one at least."""
        box, grid = [], self.grid
        for axis, (count, part) in enumerate(zip(grid, self.regions.region_shape, strict=True)):
            layer = prod(grid) // count
            full = Counter(cell[axis] for cell in self.cells or ())
            first = next(index for index in range(count) if full[index] < layer)
            last = next(index for index in range(count - 1, -1, -1) if full[index] < layer)
            box.append((first * part, min((last + 1) * part, self.regions.shape[axis])))
        return tuple(box)


def plan(a: Array, b: Array) -> Parts:
    """How to compare two arrays of one shape."""
    one, other = a.metadata, b.metadata
    stored = [stored_objects(side) for side in (a, b)]
    places = None if stored[0] is None or stored[1] is None else (stored[0], stored[1])
    if places is not None and same_layout(one, other):
        return Parts(Regions(a.shape, one.write_shape), sorted({*places[0], *places[1]}), True)
    bytes_each = TEMPORARY * (max(1, one.dtype.usual_bytes) + max(1, other.dtype.usual_bytes))
    limit = max(1, config.copy_bytes // bytes_each)
    cells = one.chunk_grid.shape(a.shape), other.chunk_grid.shape(b.shape)
    if places is not None and all(SPARSE * len(some) < prod(of) for some, of in zip(places, cells, strict=True)):
        limit = min(limit, max(prod(one.write_shape), prod(other.write_shape)))
    regions = plan_regions(a.shape, one.write_shape, other.chunk_shape, limit)
    parts = Parts(regions, None, False)
    if places is None:
        return parts
    found = {
        cell
        for side, positions in zip((one, other), places, strict=True)
        for position in positions
        for cell in _reached(position, side.write_shape, regions)
    }
    return Parts(regions, sorted(found), False)


def _cells(grid: Cell) -> Iterator[Cell]:
    """All positions in a grid in C order, of which there may be more than fit into memory along one axis."""
    if not grid:
        yield ()
    else:
        yield from ((index, *rest) for index in range(grid[0]) for rest in _cells(grid[1:]))


def _reached(position: Cell, part: Cell, regions: Regions) -> Iterator[Cell]:
    """The regions that a chunk at a position of its grid reaches into."""
    axes = zip(position, part, regions.region_shape, regions.shape, strict=True)
    return product(
        *(
            range(index * size // step, -(-min((index + 1) * size, length) // step))
            for index, size, step, length in axes
        )
    )


def stored_alike(a: Array, b: Array, cells: list[Cell]) -> Iterator[tuple[Cell, bool]]:
    """For each stored object of two arrays of one layout whether its bytes are the same in both."""
    sides = [
        (chunk_store(side.store, side.path, side.metadata), chunk_prefix(side.path, side.metadata), side.metadata)
        for side in (a, b)
    ]

    def alike(cell: Cell) -> bool:
        try:
            one, other = (store.get(prefix + meta.chunk_keys.key(cell)) for store, prefix, meta in sides)
        except BlizzarrError:
            # Told when it is read.
            return False
        return one is not None and other is not None and memoryview(one) == memoryview(other)

    with Threads(min(16, 2 * (os.cpu_count() or 1))) as pool:
        for start in range(0, len(cells), BATCH):
            batch = cells[start : start + BATCH]
            yield from zip(batch, pool.map(alike, batch), strict=True)


def cut(region: Region, grid: Iterable[int]) -> list[Region]:
    """A region along the borders of a grid."""
    axes = [
        [
            slice(max(part.start, start), min(part.stop, start + step))
            for start in range(part.start // step * step, part.stop, step)
        ]
        for part, step in zip(region, grid, strict=True)
    ]
    return list(product(*axes))
