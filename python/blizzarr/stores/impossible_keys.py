"""Keys of which other libraries say that they are wrong, as they know documents of some formats and chunks only."""

from __future__ import annotations

import re
from errno import EISDIR
from typing import Any, Final

from blizzarr.lazy_imports import is_instance
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.wrapper import unwrapped

_OF_CHUNK: Final = re.compile(r"[\d.]+|c(?:\.[\d.]*)?")
"""The last segment of a chunk key: an error for such a key must never read as the fill value."""


def is_impossible(key: str, error: Exception, target: Any) -> bool:
    """Return whether an error only says that there can be no value under the key of a document.

    - `error`: what the store has raised.
    - `target`: the store of zarr-python, or the file system of fsspec.
    """
    return not _OF_CHUNK.fullmatch(key.rpartition("/")[2]) and refuses_key(error, target)


def refuses_key(error: Exception, target: Any) -> bool:
    """Return whether an error only says that there can be no value under a key."""
    if is_of(error, "icechunk"):
        # Their releases have different classes for it. A node called "c" is also a chunk of what is above, a group.
        return any(text in str(error) for text in ("invalid zarr key format", "there is not an array at"))
    if isinstance(error, OSError) and error.errno == EISDIR:
        return True
    behind = innermost(target)
    if isinstance(error, KeyError) and is_of(behind, "tifffile"):
        return True
    if type(error) is not ValueError:
        return False
    return is_of(behind, "virtualizarr") or type(getattr(behind, "fs", behind)).__name__ == "ReferenceFileSystem"


def innermost(store: Any) -> Any:
    """Return the store that wrappers of zarr-python are around."""
    while is_instance(store, "zarr.storage:WrapperStore"):
        store = store._store
    return store


def is_of(value: object, package: str) -> bool:
    """Return whether the class of an object is one of a package."""
    return type(value).__module__.partition(".")[0] == package


def refuses_beyond(store: Any) -> bool:
    """Return whether a store takes no chunks beyond the shape that the document of their array states."""
    store = unwrapped(store)
    return isinstance(store, ForeignStore) and is_of(innermost(getattr(store.target, "store", None)), "icechunk")


def lists_nodes_only(error: Exception) -> bool:
    """Return whether an error only says that there is no node with this prefix, below which keys could be listed."""
    return is_of(error, "icechunk") and "bad key prefix" in str(error)
