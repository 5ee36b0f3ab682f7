"""From a store, path or file system of another library to our store of the same place, where that is known."""

from __future__ import annotations

import sys
from typing import Any

from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.local import LocalStore
from blizzarr.stores.protocol import Store


def known_store(target: Any, *, read_only: bool = False) -> Store | None:
    """Return our store for an object of obstore, fsspec or universal_pathlib; None for all others.

    None of these libraries is imported for it.

    Raise `ValueError` if a store of obstore does not tell its place, or has options that the engine does not know.
    """
    theirs = _of_obstore(target, read_only) if "obstore" in sys.modules else None
    if theirs is not None:
        return theirs
    if "fsspec" not in sys.modules:
        return None
    from blizzarr.stores.fsspec_store import FsspecStore, is_file_system, is_local

    if is_file_system(target):
        return FsspecStore(target, read_only=read_only)
    # Paths have `path`, and mappings have `root`.
    file_system: Any = getattr(target, "fs", None)
    path = getattr(target, "path", None) or getattr(target, "root", None)
    if not is_file_system(file_system) or not isinstance(path, str):
        return None
    if is_local(file_system):
        return LocalStore(path, read_only=read_only)
    return FsspecStore(file_system, path, read_only=read_only)


def _of_obstore(target: Any, read_only: bool) -> Store | None:
    from blizzarr.stores.obstore_stores import ObstoreMemory, directory_of_obstore, kind_of_obstore

    kind = kind_of_obstore(target)
    if kind is None:
        return None
    if kind == "LocalStore":
        # Local files with our locks; theirs cannot replace a value only if it is still the one that was read.
        return LocalStore(directory_of_obstore(target), read_only=read_only)
    if kind == "MemoryStore":
        return ForeignStore(ObstoreMemory(target), read_only=read_only)
    from blizzarr.stores.object_store import ObjectStore

    return ObjectStore(target, read_only=read_only or None)
