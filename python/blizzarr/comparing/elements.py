"""Comparing the elements of two arrays, part by part; parts that cannot be read are reported.

Where neither array has stored anything, both read as their fill values: a part without a stored chunk is not visited.
Where both have the same layout, the stored objects are compared first, and only those that differ are decoded.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.array import Array
from blizzarr.array.facts import binding_of
from blizzarr.comparing.comparison import Difference, Elements
from blizzarr.config import config
from blizzarr.copying.regions import Cell, Region, Regions, plan_regions
from blizzarr.copying.stored import same_layout, stored_objects
from blizzarr.distributing import Workers, batches, spread
from blizzarr.equality import Mask, Tolerance, differing, is_number, largest
from blizzarr.errors import BlizzarrError
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.model.edges import Edges
from blizzarr.stores.requests import at_once
from blizzarr.stores.threads import Threads

REPORTED = 1000
"""The number of unreadable objects of one array that are reported one by one."""


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


Unreadable: TypeAlias = dict[tuple[str, str | None, tuple[int, ...] | None], Difference]
"""The parts that could not be read, by side, key and chunk."""


def compare_elements(
    path: str,
    a: Array,
    b: Array,
    tolerance: Tolerance,
    shown: int,
    advance: Callable[[int], None],
    workers: Workers | None = None,
) -> tuple[Elements, list[Difference]]:
    """Return how the elements of two arrays of the same shape differ, and what could not be read."""
    total = Elements()
    if not a.size:
        return total, []
    parts = plan(a, b)
    comparing = _Comparing(path, a, b, tolerance, shown, parts.regions, parts.alone)
    for compared, unreadable in spread(workers, comparing, parts.pieces(workers), advance):
        total.add(compared, shown)
        for key, difference in unreadable.items():
            if len(comparing.unreadable) < REPORTED:
                comparing.unreadable.setdefault(key, difference)
    left = a.size - total.compared - total.unread
    if left:
        total.add(comparing.left(parts, left), shown)
        advance(left * a.dtype.itemsize)
    for side, array in (("A", a), ("B", b)):
        try:
            # Bytes that are alike were not decoded, and where nothing is stored, nothing was read.
            binding_of(array).compare(array.shape)
        except BlizzarrError as error:
            comparing.unreadable[side, error.key, None] = Difference("unreadable", path, f"{side}: {error}")
    return total, list(comparing.unreadable.values())


@dataclass(slots=True)
class _Comparing:
    """A comparison of two arrays in progress; it is called for some of their regions."""

    path: str
    a: Array
    b: Array
    tolerance: Tolerance
    shown: int
    regions: Regions
    alone: bool
    """True if the stored bytes are compared first."""
    unreadable: Unreadable = field(default_factory=dict)

    def __call__(self, cells: Sequence[Cell], advance: Callable[[int], object]) -> tuple[Elements, Unreadable]:
        """Compare the regions of these cells."""
        own = replace(self, unreadable={})
        total = Elements()
        for cell, alike in stored_alike(self.a, self.b, cells) if self.alone else ((cell, False) for cell in cells):
            region = self.regions.region(cell)
            count = prod(part.stop - part.start for part in region)
            if alike:
                total.compared += count
            else:
                for compared in own._compare(region):
                    total.add(compared, self.shown)
            advance(count * self.a.dtype.itemsize)
        return total, own.unreadable

    def left(self, parts: Parts, count: int) -> Elements:
        """Compare the regions that neither array has stored: one fill value against the other."""
        compared = Elements(compared=count)
        region = parts.first_left()
        if region is None:
            return compared
        # One element stands for all of them.
        corner = tuple(slice(part.start, part.start + 1) for part in region)
        one = next(self._compare(corner))
        if one.different:
            compared.different, compared.largest, compared.first = count, one.largest, one.first
            compared.box = parts.box_left()
            visited = sum(self._chunks(region) for region in parts.visited())
            compared.chunks = self._chunks(tuple(slice(0, length) for length in self.a.shape)) - visited
        return compared

    def _chunks(self, region: Region) -> int:
        """Return the number of chunks of A in a region that cuts none."""
        edges = self.a.metadata.read_grid.edges
        return prod(len(axis.touched(part.start, part.stop)) for part, axis in zip(region, edges, strict=True))

    def _compare(self, region: Region) -> Iterator[Elements]:
        """Compare a region, chunk by chunk if something in it cannot be read."""
        sides = []
        for name, side in (("A", self.a), ("B", self.b)):
            try:
                sides.append(np.asarray(side[*region, ...]))
            except BlizzarrError as error:
                edges = side.metadata.read_grid.edges
                pieces = list(product(*(axis.cut(part) for part, axis in zip(region, edges, strict=True))))
                if len(pieces) > 1:
                    for piece in pieces:
                        yield from self._compare(piece)
                else:
                    self._tell(name, error)
                    yield Elements(unread=prod(part.stop - part.start for part in region))
                return
        yield self._differing(region, *sides)

    def _tell(self, name: str, error: BlizzarrError) -> None:
        key = (name, error.key, error.chunk)
        if key not in self.unreadable and len(self.unreadable) < REPORTED:
            message = f"{error.codec}: {error.reason}" if error.codec else error.reason
            where = f" {error.key}" if error.key else ""
            self.unreadable[key] = Difference(
                "unreadable", self.path, f"{name}{where}: {message}", None, error.key, error.chunk
            )

    def _differing(self, region: Region, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Elements:
        compared = Elements(compared=a.size)
        if _alike(a, b):
            return compared
        mask = differing(a, b, self.tolerance)
        compared.different = int(np.count_nonzero(mask))
        if not compared.different:
            return compared
        start = [part.start for part in region]
        compared.box, compared.chunks = _box(mask, start), _cells(mask, start, self.a.metadata.read_grid.edges)
        for index in _first(mask, self.shown):
            position = tuple(int(at) + begin for at, begin in zip(index, start, strict=True))
            compared.first.append((position, a[index], b[index]))
        if is_number(a.dtype) and is_number(b.dtype):
            compared.largest = largest(a[mask], b[mask])
        return compared


def _alike(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Return whether two contiguous arrays have the same bytes; False if that cannot be decided from memory."""
    if a.dtype != b.dtype or a.dtype.hasobject or a.dtype.kind == "T" or not a.size:
        return False
    if not (a.flags.c_contiguous and b.flags.c_contiguous):
        return False
    one, other = (side.reshape(-1).view(np.uint8).data for side in (a, b))
    return bool(one == other)


def _box(mask: Mask, start: list[int]) -> tuple[tuple[int, int], ...]:
    box = []
    for axis, begin in enumerate(start):
        there = np.flatnonzero(mask.any(axis=tuple(other for other in range(mask.ndim) if other != axis)))
        box.append((begin + int(there[0]), begin + int(there[-1]) + 1))
    return tuple(box)


def _cells(mask: Mask, start: list[int], grid: Sequence[Edges]) -> int:
    """Return the number of chunks with at least one true element of the mask."""
    for axis, (begin, edges) in enumerate(zip(start, grid, strict=True)):
        borders = [part.start - begin for part in edges.cut(slice(begin, begin + mask.shape[axis]))]
        mask = np.logical_or.reduceat(mask, borders, axis=axis)
    return int(np.count_nonzero(mask))


def _first(mask: Mask, count: int) -> Iterator[tuple[Any, ...]]:
    """Yield the indices of the first true elements, without listing all."""
    flat, at = mask.reshape(-1), 0
    for _ in range(count):
        at += int(flat[at:].argmax())
        if not flat[at]:
            return
        yield np.unravel_index(at, mask.shape)
        at += 1
        if at == flat.size:
            return
