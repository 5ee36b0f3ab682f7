"""Stores: where values are kept under keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blizzarr.lazy_imports import lazy_names
from blizzarr.stores.base import BaseStore
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.local import LocalStore
from blizzarr.stores.mapping import MappingStore
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.protocol import ByteRange, Listing, Replaced, Store, Value
from blizzarr.stores.readonly import ReadOnlyStore, check_writable, read_only
from blizzarr.stores.urls import StoreLike, resolve
from blizzarr.stores.wrapper import StoreWrapper

if TYPE_CHECKING:
    from blizzarr.stores.fsspec_store import FsspecStore
    from blizzarr.stores.object_store import ObjectStore
    from blizzarr.stores.ocdbt import OcdbtStore
    from blizzarr.stores.zip import ZipStore

__all__ = [
    "BaseStore",
    "ByteRange",
    "ForeignStore",
    "FsspecStore",
    "Listing",
    "LocalStore",
    "MappingStore",
    "MemoryStore",
    "ObjectStore",
    "OcdbtStore",
    "ReadOnlyStore",
    "Replaced",
    "Store",
    "StoreLike",
    "StoreWrapper",
    "Value",
    "ZipStore",
    "check_writable",
    "read_only",
    "resolve",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        [
            "blizzarr.stores.fsspec_store:FsspecStore",
            "blizzarr.stores.object_store:ObjectStore",
            "blizzarr.stores.ocdbt:OcdbtStore",
            "blizzarr.stores.zip:ZipStore",
        ],
        "STORES",
    )
