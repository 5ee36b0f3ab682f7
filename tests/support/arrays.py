"""Arrays in memory, and documents in any store, without the rest of the library."""

from __future__ import annotations

from typing import Any

from blizzarr.array import Array
from blizzarr.creation.describe import describe_array
from blizzarr.formats import encode
from blizzarr.hierarchy.place import place_node
from blizzarr.stores import MemoryStore

__all__ = ["make", "write_node"]


def make(data: Any = None, *, store: Any = None, path: str = "a", **options: Any) -> Array:
    """A new array with these elements."""
    if data is not None:
        options = {"shape": data.shape, "dtype": data.dtype} | options
    store = MemoryStore() if store is None else store
    metadata = describe_array(**options)
    place_node(store, path, metadata)
    array = Array(store, path, metadata)
    if data is not None:
        array[...] = data
    return array


def write_node(store: Any, path: str, meta: Any) -> None:
    """Store the documents of a node, whatever is there."""
    for key, value in encode(meta, path).items():
        store.set(key, value)
