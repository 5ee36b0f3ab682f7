"""Our store for one of another library: a store of the same place if that is known.

For stores of zarr-python of which it is not known, there is one that calls theirs.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any, Final

from blizzarr.lazy_imports import is_instance
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.local import LocalStore
from blizzarr.stores.mapping import MappingStore
from blizzarr.stores.protocol import Store, Value
from blizzarr.stores.replaced import have_replaced_methods

_LIBRARIES: Final = ("zarr", "blizzarr.zarr")


def known_store(target: Any, *, read_only: bool = False) -> Store | None:
    """Return our store for an object of obstore, fsspec or universal_pathlib; None for all others.

    None of these libraries is imported for it.

    Raise `ValueError` if a store of obstore does not tell its place, or has options that the engine does not know.
    """
    theirs = _at_obstore(target, read_only) if "obstore" in sys.modules else None
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


def _at_obstore(target: Any, read_only: bool) -> Store | None:
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


def is_zarr_python_store(target: object) -> bool:
    """Return whether this is a store of zarr-python, or derived from one; zarr-python is not imported for it."""
    return library_of(target) is not None


def library_of(store: object) -> str | None:
    """Return the package whose base class a store derives from: zarr-python, or ours under its names; or None."""
    for name in _LIBRARIES:
        if is_instance(store, f"{name}.abc.store:Store"):
            return name
    return None


def of_zarr_python(target: Any) -> tuple[Store, str] | None:
    """Return the store for a store or `StorePath` of zarr-python, and the path in it; None for all else.

    Raise `StoreError` if the place cannot be opened.
    """
    path = ""
    for name in _LIBRARIES:
        if is_instance(target, f"{name}.storage:StorePath"):
            target, path = target.store, target.path
    if not is_zarr_python_store(target):
        return None
    store = native_store(target)
    if store is None:
        # Event loops take a while to import.
        from blizzarr.stores.zarr_python_store import foreign_store

        store = foreign_store(target)
    return store, path


def native_store(store: Any) -> Store | None:
    """Return our store for the place of a store of zarr-python; None where the place is not known, and for all else.

    Only stores of exactly zarr-python's classes count, with the methods that these classes have: a subclass, or whoever
    replaces a method, may change what it does. A zip file that zarr-python may write to is left to it, as it writes the
    directory of the file when it closes it. zarr-python is not imported for this.

    Raise `StoreError` if the place cannot be opened: there is a file in the place of a directory, or no zip file.
    """
    # The class is asked, as a wrapper may pass on all attributes that it does not have itself.
    ours: Store | None = store.engine_store if hasattr(type(store), "engine_store") else None
    zarr: Any = sys.modules.get("zarr.storage")
    if ours is not None or zarr is None:
        return ours
    # A release may lack one of the classes.
    names = ("LocalStore", "MemoryStore", "ZipStore", "ObjectStore", "FsspecStore", "WrapperStore")
    kind = next((name for name in names if type(store) is getattr(zarr, name, None)), None)
    if kind is None or have_replaced_methods([store]):
        return None
    if kind == "LocalStore":
        # Without a user's home in the place of "~", as zarr-python has it.
        return LocalStore(os.path.abspath(store.root), read_only=store.read_only)
    if kind == "MemoryStore":
        return _BufferStore(store._store_dict, read_only=store.read_only)
    # Newer releases also take a file object, and have no path then.
    if kind == "ZipStore" and store._zmode == "r" and store.path is not None:
        return _of_zip_file(store)
    if kind == "ObjectStore":
        return _of_obstore(store)
    if kind == "FsspecStore":
        return _of_files(store)
    return native_store(store._store) if kind == "WrapperStore" else None


class _BufferStore(MappingStore):
    """The memory of a `zarr.storage.MemoryStore`, whose values are buffers of zarr-python."""

    def _taken(self, value: Any) -> Value:
        return memoryview(value.as_numpy_array().view("u1"))

    def _put(self, value: bytes) -> Any:
        return import_module("zarr.core.buffer.cpu").Buffer.from_bytes(value)


def _of_obstore(store: Any) -> Store | None:
    """Return our store for that of obstore in a `zarr.storage.ObjectStore`; None if its place is not known."""
    try:
        return known_store(store.store, read_only=store.read_only)
    except ValueError:
        # zarr-python goes on with what does not tell its place.
        return None


def _of_zip_file(store: Any) -> Store | None:
    """Return our store over the file that a `zarr.storage.ZipStore` reads; None if it is no longer at that path."""
    from blizzarr.stores.zip import ZipStore

    if store._is_open:
        try:
            is_there = os.path.samestat(os.stat(store.path), os.fstat(store._zf.fp.fileno()))
        except FileNotFoundError:
            is_there = False
        if not is_there:
            return None
    return ZipStore(store.path, "r")


def _of_files(store: Any) -> Store | None:
    if store.allowed_exceptions != (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        # What counts as a missing value there is an error for us.
        return None
    file_system = synchronous(store.fs)
    if getattr(file_system, "asynchronous", False):
        return None
    from blizzarr.stores.fsspec_store import FsspecStore, is_local

    # "/" is no directory there, but leaves the path to the file system.
    path = store.path.rstrip("/")
    if is_local(file_system):
        return LocalStore(os.path.abspath(path), read_only=store.read_only)
    return FsspecStore(file_system, path, read_only=store.read_only)


def synchronous(given: Any) -> Any:
    """Return the twin of an asynchronous file system, or of options with one: made anew, as unpickling it does."""
    from blizzarr.stores.fsspec_store import is_file_system

    if isinstance(given, dict):
        # Options of a file system, or file systems by protocol; `fo` may be a million references.
        changed = {name: value if name == "fo" else synchronous(value) for name, value in given.items()}
        if changed.pop("asynchronous", False) is True:
            changed.pop("loop", None)
        return changed
    if not is_file_system(given) or not getattr(given, "asynchronous", False):
        return given
    wrapper: Any = sys.modules.get("fsspec.implementations.asyn_wrapper")
    if wrapper is not None and type(given) is wrapper.AsyncFileSystemWrapper:
        return given.sync_fs
    return type(given)(*given.storage_args, **synchronous(given.storage_options))
