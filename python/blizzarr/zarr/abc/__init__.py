"""The module ``zarr.abc``: base classes for the stores and codecs of users."""

from blizzarr.zarr.abc import codec, metadata, store

__all__ = ["codec", "metadata", "store"]
