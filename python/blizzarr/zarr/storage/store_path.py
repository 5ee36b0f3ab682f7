"""A store and a path in it; and from what a user passes as a store to the store of the engine."""

from __future__ import annotations

import json
import os
from functools import wraps
from importlib.util import find_spec
from typing import Any, TypeAlias

from blizzarr import stores
from blizzarr.zarr.abc.store import ByteRequest, Store, call_sync
from blizzarr.zarr.buffer import Buffer, default_buffer_prototype
from blizzarr.zarr.storage.stores import MemoryStore, as_zarr_store

StoreLike: TypeAlias = Any
"""A store, a `StorePath`, a path, a URL, or a mapping."""


def _below(name: str) -> Any:
    @wraps(getattr(Store, name), updated=())
    async def call(self: StorePath, *args: Any, **named: Any) -> Any:
        return await getattr(self.store, name)(self.path, *args, **named)

    return call


class StorePath:
    """A store and a path in it.

    Parameters
    ----------
    store, path
        The store, and the path.

    Examples
    --------
    >>> from blizzarr.zarr.storage import MemoryStore
    >>> (StorePath(MemoryStore()) / "a" / "b").path
    'a/b'
    """

    def __init__(self, store: Store, path: str = "") -> None:
        self.store = store
        self.path = normalize_path(path)

    @classmethod
    async def open(cls, store: Store, path: str = "", mode: Any = None) -> StorePath:
        """Return the place in a store that can do what the mode says; with ``"w"``, remove what is there.

        Raises
        ------
        FileExistsError
            If something is there, and the mode is ``"w-"``.
        ValueError
            If the store is read-only and the mode is not ``"r"``, or there is no such mode.
        """
        await store._ensure_open()
        here = cls(store, path)
        if mode not in (None, "r", "r+", "a", "w", "w-"):
            raise ValueError(f"Invalid mode: {mode}. Must be one of: r, r+, a, w, w-")
        if mode == "r" and not store.read_only:
            here.store = store.with_read_only(True)
        elif mode not in (None, "r") and store.read_only:
            raise ValueError(f"Store is read-only but mode is {mode!r}. Create a writable store or use 'r' mode.")
        if mode == "w":
            await here.delete_dir()
        if mode == "w-" and not await here.is_empty():
            raise FileExistsError(f"{here} is not empty, but `mode` is set to 'w-'; remove what is there, or pass 'a'")
        return here

    @property
    def read_only(self) -> bool:
        """True if values cannot be set."""
        return self.store.read_only

    get, set, set_if_not_exists = _below("get"), _below("set"), _below("set_if_not_exists")
    delete, delete_dir, exists, is_empty = map(_below, ("delete", "delete_dir", "exists", "is_empty"))

    def get_sync(self, *, prototype: Any = None, byte_range: ByteRequest | None = None) -> Buffer | None:
        """Return the value, or a part of it; None if there is none."""
        return call_sync(self.store, "get_sync", self.path, prototype=prototype, byte_range=byte_range)

    def set_sync(self, value: Buffer) -> None:
        """Set the value."""
        call_sync(self.store, "set_sync", self.path, value)

    def delete_sync(self) -> None:
        """Remove the value."""
        call_sync(self.store, "delete_sync", self.path)

    async def get_json(self, *, byte_range: ByteRequest | None = None) -> Any:
        """Return the value, which is JSON; None if there is none."""
        value = await self.get(default_buffer_prototype(), byte_range)
        return None if value is None else json.loads(value.to_bytes())

    def __truediv__(self, other: str) -> StorePath:
        return type(self)(self.store, join_paths([self.path, other]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorePath) and (self.store, self.path) == (other.store, other.path)

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return f"{self.store}/{self.path}".rstrip("/")

    def __repr__(self) -> str:
        return f"StorePath({type(self.store).__name__}, '{self}')"


def normalize_path(path: str | bytes | os.PathLike[str] | None) -> str:
    """Return a path without slashes at its ends, and with single ones in it.

    >>> normalize_path("/a//b/")
    'a/b'
    """
    text = "" if path is None else os.fsdecode(path).replace("\\", "/")
    parts = [part for part in text.split("/") if part]
    if any(part in (".", "..") for part in parts):
        raise ValueError(
            f"The path {text!r} is invalid because its string representation contains '.' or '..' segments."
        )
    return "/".join(parts)


def join_paths(paths: Any) -> str:
    """Return paths one below the other.

    >>> join_paths(["", "a", "b/c"])
    'a/b/c'
    """
    return "/".join(filter(None, paths))


def engine_place(
    store: Any, path: str | None = "", mode: str = "r+", storage_options: dict[str, Any] | None = None
) -> tuple[Any, str]:
    """Return the store of the engine for what a user passes as a store, and the path in it.

    Raise `TypeError` if `storage_options` are given with something other than a URL.
    """
    inner = normalize_path(path)
    if isinstance(store, StorePath):
        store, inner = store.store, join_paths([store.path, inner])
    if storage_options and (not isinstance(store, str) or ("://" not in store and "::" not in store)):
        raise TypeError(
            "'storage_options' was provided but unused. 'storage_options' is only used when the store is passed as "
            "an FSSpec URI string."
        )
    # Other programs that say `memory://` mean the memory of fsspec; zarr-python has its own only without fsspec.
    if storage_options or (isinstance(store, str) and store.startswith("memory://") and find_spec("fsspec")):
        store = stores.FsspecStore.from_url(store, storage_options)
    if type(store) is dict:
        store = MemoryStore(store)
    if isinstance(store, bytes | int | float):
        raise TypeError(f"Unsupported type for store_like: '{type(store).__name__}'")
    return stores.resolve(store, mode, inner)


async def make_store(store_like: Any, *, mode: Any = None, storage_options: dict[str, Any] | None = None) -> Store:
    """Return the store that a user means."""
    return (await make_store_path(store_like, mode=mode, storage_options=storage_options)).store


async def make_store_path(
    store_like: Any, *, path: str | None = "", mode: Any = None, storage_options: dict[str, Any] | None = None
) -> StorePath:
    """Return the store that a user means, and the path in it."""
    if isinstance(store_like, StorePath):
        store_like, path = store_like.store, join_paths([store_like.path, normalize_path(path)])
    if isinstance(store_like, Store) and not storage_options:
        return await StorePath.open(store_like, path or "", mode)
    engine, inner = engine_place(store_like, path, mode or "r+", storage_options)
    return StorePath(as_zarr_store(engine), inner)
