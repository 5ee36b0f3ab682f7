"""xarray on blizzarr: ``xr.open_dataset(path, engine="blizzarr")``, and `to_zarr`.

Installed with xarray, blizzarr is one of its engines, and nothing needs to be imported. Importing this package adds
``ds.blizzarr.to_zarr(...)`` to datasets, trees and data arrays.
"""

from __future__ import annotations

import re as _re

try:
    import xarray as _xarray
except ImportError as error:
    raise ImportError("blizzarr.xarray needs xarray: pip install 'blizzarr[xarray]'") from error

# What was built from its sources says no release, and is taken for a later one.
if (_year_month := _re.match(r"(20[0-9]{2})[.]([0-9]+)", _xarray.__version__)) and tuple(
    map(int, _year_month.groups())
) < (2026, 9):
    raise ImportError(
        "blizzarr.xarray needs xarray 2026.9 or newer, as older ones without zarr-python write no dimension names; "
        f"found {_xarray.__version__}: pip install --upgrade xarray"
    )

from blizzarr.lazy_imports import lazy_names as _lazy_names
from blizzarr.xarray.engine import BlizzarrBackendEntrypoint
from blizzarr.xarray.writing import BlizzarrAccessor, to_zarr

__all__ = ["BlizzarrAccessor", "BlizzarrBackendEntrypoint", "to_zarr"]

__getattr__ = _lazy_names(__name__, (), "MODULE")[0]
