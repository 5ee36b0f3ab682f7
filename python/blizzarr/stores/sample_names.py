"""A few names directly below a prefix, without listing all of it, which may be millions of chunks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from blizzarr.stores.confined import entries, opened
from blizzarr.stores.failures import failures
from blizzarr.stores.local import LocalStore
from blizzarr.stores.mapping import MappingStore
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.readonly import ReadOnlyStore

if TYPE_CHECKING:
    from blizzarr.stores.zip import ZipStore


def sample_names(store: Any, prefix: str, most: int) -> list[tuple[str, bool]] | None:
    """Return up to `most` names below a prefix, in any order, each with whether it is a prefix itself.

    Return None for stores that may take long, because they are, or may be, on another machine.

    >>> sample_names(MappingStore({"a/b": b"", "a/c/d": b""}), "a/", 10)
    [('b', False), ('c', True)]
    """
    while isinstance(store, ReadOnlyStore):
        store = store.store
    if isinstance(store, LocalStore):
        with failures("list", prefix, store):
            try:
                if store.links == "within-root":
                    with opened(store, prefix) as descriptor:
                        sample = islice(entries(store, prefix, descriptor), most)
                        return [(entry.name, entry.is_directory) for entry in sample]
                with os.scandir(store.root / prefix) as listed:
                    return [(entry.name, entry.is_dir()) for entry in islice(listed, most)]
            except (FileNotFoundError, NotADirectoryError):
                return []
    if isinstance(store, MemoryStore) or (isinstance(store, MappingStore) and type(store.mapping) is dict):
        return list(islice(_listed(store, prefix), most))
    from blizzarr.stores.zip import ZipStore

    if isinstance(store, ZipStore):
        return list(islice(_listed(store, prefix), most))
    return None


def _listed(store: MemoryStore | ZipStore | MappingStore, prefix: str) -> Iterator[tuple[str, bool]]:
    keys, prefixes = store.list_dir(prefix)
    yield from ((key[len(prefix) :], False) for key in keys)
    yield from ((inner[len(prefix) :].rstrip("/"), True) for inner in prefixes)
