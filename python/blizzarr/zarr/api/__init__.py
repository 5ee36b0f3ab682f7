"""The module ``zarr.api``."""

from blizzarr.zarr.api import asynchronous, synchronous

__all__ = ["asynchronous", "synchronous"]
