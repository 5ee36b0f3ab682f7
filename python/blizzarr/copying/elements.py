"""Copying elements of a blizzarr or NumPy array into a blizzarr array, region by region."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.array import Array
from blizzarr.array.facts import binding_of
from blizzarr.array.stored import stored_chunks
from blizzarr.config import config
from blizzarr.copying.regions import Cell, Region, Regions, plan_regions
from blizzarr.copying.stored import stored_objects
from blizzarr.distributing import Workers, spread
from blizzarr.errors import ArchiveError, BlizzarrError, ChunkError
from blizzarr.formats import chunk_store
from blizzarr.model import ArrayMeta
from blizzarr.stores import ZipStore
from blizzarr.stores.regular import is_damage
from blizzarr.stores.wrapper import unwrapped

Lost: TypeAlias = Callable[[BlizzarrError], object]
"""Called with the error of each chunk that cannot be decoded."""

_MOST: Final = 1 << 20
"""The most cells that are listed."""


def larger_element(source: Array | npt.NDArray[Any], target: ArrayMeta) -> int:
    """Return the usual bytes of an element in memory, of the source or of the copy, whichever has larger ones."""
    usual = source.metadata.dtype.usual_bytes if isinstance(source, Array) else source.dtype.itemsize
    return max(usual, target.dtype.usual_bytes, 1)


def regions_for(source: Array | npt.NDArray[Any], target: Array) -> Regions:
    """Return the regions in which `source` is copied into `target`."""
    read_shape = source.metadata.read_grid.inside(source.shape) if isinstance(source, Array) else (1,) * source.ndim
    limit = max(1, config.copy_bytes // larger_element(source, target.metadata))
    return plan_regions(target.shape, target.metadata.largest, read_shape, limit, target.metadata.chunk_grid.edges)


def cells_for(source: Array | npt.NDArray[Any], regions: Regions, target: ArrayMeta) -> list[Cell] | None:
    """Return the cells of the regions that hold stored chunks of the source; None if all regions have to be copied.

    Nothing has to be copied where the source reads as its fill value, if that is the one of the new array, too.
    """
    if not isinstance(source, Array) or regions.count <= 1 or config.write_empty_chunks:
        return None
    meta = source.metadata
    fills = (meta.dtype.fill_identity(meta.fill_value), target.dtype.fill_identity(target.fill_value))
    if meta.dtype != target.dtype or fills[0] != fills[1] or target.fill_undefined > meta.fill_undefined:
        return None
    positions = stored_objects(source)
    if positions is None:
        return None
    cells: set[Cell] = set()
    for position in positions:
        cells.update(islice(regions.reached(position, meta.chunk_grid.edges), _MOST))
        if len(cells) >= min(regions.count, _MOST):
            return None
    return sorted(cells)


def copy_elements(
    source: Array | npt.NDArray[Any],
    target: Array,
    regions: Regions | None = None,
    cells: list[Cell] | None = None,
    done: int = 0,
    after: Callable[[int, int], None] | None = None,
    lost: Lost | None = None,
    workers: Workers | None = None,
) -> None:
    """Copy all elements, from the region with number `done` on.

    - `cells`: the cells of the regions to copy, if not all; see `cells_for`.
    - `after`: called after each region with the number of regions that are done and the bytes of this one.
    - `lost`: if given, chunks that cannot be decoded are left as the fill value of the target (of the source, where
      that of the target is null), and this is called with the errors; otherwise, the first one is raised.
    """
    if regions is None:
        if isinstance(source, np.ndarray):
            # It is in memory (or mapped) already, and the engine takes it with any strides.
            target[...] = source
            return
        regions = regions_for(source, target)
        cells = cells_for(source, regions, target.metadata)
    chosen = regions if cells is None else map(regions.region, cells)
    came = 0

    def advance(size: int) -> None:
        nonlocal came
        came = size

    work = partial(_copy_region, source, target, lost is not None)
    # An array of NumPy is in the memory of this process.
    workers = workers if isinstance(source, Array) else None
    for number, errors in enumerate(spread(workers, work, islice(chosen, done, None), advance), done + 1):
        for error in errors:
            assert lost is not None
            lost(error)
        if after is not None:
            after(number, came)
    if isinstance(source, Array):
        # Where nothing is stored, nothing was read.
        binding_of(source).compare(source.shape)


def _copy_region(
    source: Array | npt.NDArray[Any], target: Array, skip: bool, region: Region, advance: Callable[[int], object]
) -> list[BlizzarrError]:
    """Copy the elements of a region; with `skip` return the errors of chunks that cannot be decoded."""
    damaged: list[Region] = []
    errors: list[BlizzarrError] = []
    part = _intact(source, region, damaged, errors.append) if skip and isinstance(source, Array) else source[region]
    target[region] = part
    # Where the target has none, the fill value of the source is there already.
    for piece in () if target.metadata.fill_undefined else damaged:
        target[piece] = target.metadata.fill_value
    advance(np.size(part) * target.dtype.itemsize)
    return errors


def _intact(source: Array, region: Region, damaged: list[Region], lost: Lost) -> npt.NDArray[Any]:
    """Return the elements of a region; the parts that cannot be decoded are added to `damaged`, and mean nothing.

    A region with damage is halved, between chunks, again and again, so that most of it is still read on all cores.
    """
    try:
        return np.asarray(source[*region, ...])
    except BlizzarrError as error:
        if not (isinstance(error, ChunkError) or is_damage(error)):
            raise
        edges = source.metadata.read_grid.edges
        counts = [len(axis.touched(part.start, part.stop)) for part, axis in zip(region, edges, strict=True)]
        most = max(counts, default=1)
        if most == 1:
            lost(error)
            damaged.append(region)
            nothing = np.empty([part.stop - part.start for part in region], source.dtype)
            # Of elements of any type this is one that can be encoded; `full` would take a list for several.
            nothing.fill(source.metadata.fill_value)
            return nothing
        axis = counts.index(most)
        part = region[axis]
        middle = edges[axis].start(edges[axis].locate(part.start)[0] + most // 2)
        halves = slice(part.start, middle), slice(middle, part.stop)
        parts = [_intact(source, (*region[:axis], half, *region[axis + 1 :]), damaged, lost) for half in halves]
        return np.concatenate(parts, axis)


def report_unverified(source: Array, lost: Lost) -> None:
    """Call `lost` for each chunk in a zip file that is damaged although all parts of it could be decoded.

    Of an entry without compression the parts are read that are needed, like inner chunks, so that its checksum says
    nothing of them. Each entry is read once more here, as a whole.
    """
    if not isinstance(unwrapped(source.store), ZipStore):
        return
    store = chunk_store(source.store, source.path, source.metadata)
    for key, _ in stored_chunks(source.store, source.path, source.metadata):
        try:
            store.get(key)
        except ArchiveError as error:
            reason = (error.reason or "").partition(";")[0]
            error.reason = f"{reason}; what could be decoded of it has been copied, and may be wrong"
            lost(error)
