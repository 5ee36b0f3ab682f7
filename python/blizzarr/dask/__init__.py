"""Dask's arrays on blizzarr: `from_zarr` and `to_zarr`.

Several workers may write parts of one chunk or shard, so the chunks of Dask need not match those that are stored.
"""

from __future__ import annotations

try:
    import dask.array
except ImportError as error:
    raise ImportError("blizzarr.dask needs Dask: pip install 'blizzarr[dask]'") from error

from blizzarr.dask.reading import from_zarr
from blizzarr.dask.writing import to_zarr

__all__ = ["from_zarr", "to_zarr"]
