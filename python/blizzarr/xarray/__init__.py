"""xarray on blizzarr: ``xr.open_dataset(path, engine="blizzarr")``, and `to_zarr`.

Installed with xarray, blizzarr is one of its engines, and nothing needs to be imported. Importing this package adds
``ds.blizzarr.to_zarr(...)`` to datasets, trees and data arrays.
"""

from __future__ import annotations

try:
    import xarray as _xarray
except ImportError as error:
    raise ImportError("blizzarr.xarray needs xarray: pip install 'blizzarr[xarray]'") from error

from blizzarr.xarray.release import release_of as _release_of

if _release_of(_xarray.__version__) < (2026, 2):
    raise ImportError(
        "blizzarr.xarray needs xarray 2026.2 or newer, as older releases ask for no elements where an axis is read "
        f"backwards to its start; found {_xarray.__version__}: pip install --upgrade xarray"
    )

from blizzarr.xarray.engine import BlizzarrBackendEntrypoint
from blizzarr.xarray.writing import BlizzarrAccessor, to_zarr

__all__ = ["BlizzarrAccessor", "BlizzarrBackendEntrypoint", "to_zarr"]
