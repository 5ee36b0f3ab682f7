"""The module ``zarr.abc.buffer``: the classes of `blizzarr.zarr.buffer`, which are not abstract."""

from __future__ import annotations

from blizzarr.zarr.buffer import ArrayLike, Buffer, BufferPrototype, NDArrayLike, NDBuffer

__all__ = ["ArrayLike", "Buffer", "BufferPrototype", "NDArrayLike", "NDBuffer"]
