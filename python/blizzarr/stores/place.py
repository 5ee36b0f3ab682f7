"""The place of a store: equal for two handles of one place, and different for two places."""

from __future__ import annotations

import os

from blizzarr.stores.protocol import Store
from blizzarr.stores.wrapper import StoreWrapper

__all__ = ["is_below", "place_of"]


def place_of(store: Store) -> str:
    """Return a text for the place of a store. For directories and files it is the same in other processes.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore, read_only
    >>> values = {}
    >>> place_of(MappingStore(values)) == place_of(read_only(MappingStore(values)))
    True
    """
    while isinstance(store, StoreWrapper):
        store = store.store
    place = getattr(store, "root", None) or getattr(store, "path", None)
    if place is not None:
        return f"file:{os.path.realpath(place)}"
    # There may be several handles of one mapping or object.
    behind = getattr(store, "mapping", getattr(store, "target", store))
    # Each call of fsspec.get_mapper makes a new mapping over the same file system.
    files, root = getattr(behind, "fs", None), getattr(behind, "root", None)
    if files is not None and isinstance(root, str):
        return f"{type(files).__name__}:{id(files)}:{root}"
    return f"{type(store).__name__}:{id(behind)}"


def is_below(store: Store, path: str, other: Store, above: str) -> bool:
    """Return whether the node at `path` in `store` is the one at `above` in `other`, or below it.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> memory = MemoryStore()
    >>> is_below(memory, "a/b", memory, "a"), is_below(memory, "ab", memory, "a"), is_below(memory, "", memory, "")
    (True, False, True)
    """
    return _location(store, path).startswith(_location(other, above))


def _location(store: Store, path: str) -> str:
    return f"{place_of(store)}/{path}".rstrip("/") + "/"
