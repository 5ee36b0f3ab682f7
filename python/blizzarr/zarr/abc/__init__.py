"""The module ``zarr.abc``: base classes for the stores and codecs of users."""

from blizzarr.zarr.abc import buffer, codec, metadata, store

__all__ = ["buffer", "codec", "metadata", "store"]
