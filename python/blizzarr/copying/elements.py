"""Copying elements of a blizzarr or NumPy array into a blizzarr array, region by region."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.array import Array
from blizzarr.config import config
from blizzarr.copying.regions import Regions, plan_regions

__all__ = ["copy_elements", "regions_for"]


def regions_for(source: Array | npt.NDArray[Any], target: Array) -> Regions:
    """Return the regions in which `source` is copied into `target`."""
    read_shape = source.metadata.chunk_shape if isinstance(source, Array) else (1,) * source.ndim
    found = source.metadata.dtype.usual_bytes if isinstance(source, Array) else source.dtype.itemsize
    itemsize = max(found, target.metadata.dtype.usual_bytes, 1)
    return plan_regions(target.shape, target.metadata.write_shape, read_shape, max(1, config.copy_bytes // itemsize))


def copy_elements(
    source: Array | npt.NDArray[Any],
    target: Array,
    regions: Regions | None = None,
    done: int = 0,
    after: Callable[[int, int], None] | None = None,
) -> None:
    """Copy all elements, from the region with number `done` on.

    Parameters
    ----------
    after
        Called after each region with the number of regions that are done and the bytes of this one.
    """
    if regions is None:
        if isinstance(source, np.ndarray):
            # It is in memory (or mapped) already, and the engine takes it with any strides.
            target[...] = source
            return
        regions = regions_for(source, target)
    for number, region in enumerate(regions):
        if number < done:
            continue
        part = source[region]
        target[region] = part
        came = np.size(part) * target.dtype.itemsize
        # Released before the next one is read.
        del part
        if after is not None:
            after(number + 1, came)
