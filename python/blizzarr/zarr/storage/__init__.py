"""The module ``zarr.storage``: the stores of zarr-python's interface, with asynchronous methods.

The engine reads and writes the place of such a store itself, without these methods. A store of a class that derives
from `blizzarr.zarr.abc.store.Store` or from `WrapperStore` is called for every value.
"""

from __future__ import annotations

from blizzarr.zarr.storage.engine_store import EngineStore
from blizzarr.zarr.storage.store_path import StoreLike, StorePath
from blizzarr.zarr.storage.stores import FsspecStore, LocalStore, MemoryStore, ObjectStore, ZipStore
from blizzarr.zarr.storage.wrappers import LoggingStore, WrapperStore

__all__ = [
    "EngineStore",
    "FsspecStore",
    "LocalStore",
    "LoggingStore",
    "MemoryStore",
    "ObjectStore",
    "StoreLike",
    "StorePath",
    "WrapperStore",
    "ZipStore",
]
