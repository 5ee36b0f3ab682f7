"""The package ``zarr`` of processes that start with a search path on which `blizzarr.zarr` is in its place."""

import sys

from blizzarr.zarr.installing import install

sys.modules.pop("zarr", None)
install()
