"""``import zarr`` is `blizzarr.zarr`."""

from blizzarr.zarr.installing import install

install()
