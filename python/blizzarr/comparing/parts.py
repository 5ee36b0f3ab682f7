"""Planning in which parts two arrays are compared, and which parts can be skipped.

Where neither array has stored anything, both read as their fill values: a part without a stored chunk is not visited.
Where both have the same layout, the stored objects are compared first, and only those that differ are decoded.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from blizzarr.array import Array
from blizzarr.config import config
from blizzarr.copying.regions import Cell, Region, Regions, plan_regions
from blizzarr.copying.stored import same_layout, stored_objects
from blizzarr.distributing import Workers, batches
from blizzarr.errors import BlizzarrError
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.stores.requests import at_once
from blizzarr.stores.threads import Threads

TEMPORARY = 4
"""Memory in use while elements are compared, as an approximate multiple of the size of both."""
SPARSE = 8
"""If fewer than one in this many chunks is stored, regions are made as small as possible."""
BATCH = 256


@dataclass(frozen=True, slots=True)
class Parts:
    """The regions to compare: all, or only some cells of their grid."""

    regions: Regions
    cells: list[Cell] | None
    alone: bool
    """True if each region is exactly one stored object of each array."""

    def visited(self) -> Iterator[Region]:
        """Return the regions to compare."""
        return iter(self.regions) if self.cells is None else map(self.regions.region, self.cells)

    def pieces(self, workers: Workers | None) -> Iterator[Sequence[Cell]]:
        """Yield the cells of the regions to compare: several at a time if the stored bytes are compared first."""
        if not self.alone or self.cells is None:
            yield from ((cell,) for cell in (self.regions.cells() if self.cells is None else self.cells))
        else:
            yield from batches(self.cells, BATCH, workers)

    def first_left(self) -> Region | None:
        """Return the first region that is skipped."""
        visited = set(self.cells or ())
        return next((self.regions.region(cell) for cell in self.regions.cells() if cell not in visited), None)

    def box_left(self) -> tuple[tuple[int, int], ...]:
        """Return the smallest box with all skipped regions, of which there must be at least one."""
        box, grid = [], self.regions.grid
        for axis, (count, edges) in enumerate(zip(grid, self.regions.edges, strict=True)):
            layer = prod(grid) // count
            full = Counter(cell[axis] for cell in self.cells or ())
            first = next(index for index in range(count) if full[index] < layer)
            last = next(index for index in range(count - 1, -1, -1) if full[index] < layer)
            box.append((edges.start(first), min(edges.start(last + 1), self.regions.shape[axis])))
        return tuple(box)


def plan(a: Array, b: Array) -> Parts:
    """Plan the comparison of two arrays of the same shape."""
    one, other = a.metadata, b.metadata
    stored = [stored_objects(side) for side in (a, b)]
    places = None if stored[0] is None or stored[1] is None else (stored[0], stored[1])
    if places is not None and same_layout(one, other):
        regions = Regions(a.shape, one.largest, one.chunk_grid.edges)
        return Parts(regions, sorted({*places[0], *places[1]}), True)
    bytes_each = TEMPORARY * (max(1, one.dtype.usual_bytes) + max(1, other.dtype.usual_bytes))
    limit = max(1, config.copy_bytes // bytes_each)
    cells = one.chunk_grid.shape(a.shape), other.chunk_grid.shape(b.shape)
    if places is not None and all(SPARSE * len(some) < prod(of) for some, of in zip(places, cells, strict=True)):
        limit = min(limit, max(prod(one.largest), prod(other.largest)))
    regions = plan_regions(a.shape, one.largest, other.read_grid.inside(b.shape), limit, one.chunk_grid.edges)
    parts = Parts(regions, None, False)
    if places is None:
        return parts
    stored_cells = {
        cell
        for side, positions in zip((one, other), places, strict=True)
        for position in positions
        for cell in regions.reached(position, side.chunk_grid.edges)
    }
    return Parts(regions, sorted(stored_cells), False)


def stored_alike(a: Array, b: Array, cells: Sequence[Cell]) -> Iterator[tuple[Cell, bool]]:
    """Yield for each cell whether the stored bytes of two arrays with the same layout are equal."""
    sides = [
        (chunk_store(side.store, side.path, side.metadata), chunk_prefix(side.path, side.metadata), side.metadata)
        for side in (a, b)
    ]

    def alike(cell: Cell) -> bool:
        try:
            one, other = (store.get(prefix + meta.chunk_keys.key(cell)) for store, prefix, meta in sides)
        except BlizzarrError:
            # Reported when the region is read.
            return False
        return one is not None and other is not None and memoryview(one) == memoryview(other)

    size = 2 * prod(a.metadata.largest) * a.metadata.dtype.itemsize
    threads = min(16, 2 * (config.threads or os.cpu_count() or 1))
    with Threads(at_once(a.store, b.store, otherwise=threads, size=size)) as pool:
        yield from zip(cells, pool.map(alike, cells), strict=True)
