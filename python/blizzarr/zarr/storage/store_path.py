"""A store and a path in it; and from what a user passes as a store to the store of the engine."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

from blizzarr import stores
from blizzarr.zarr.abc.store import ByteRequest, Store
from blizzarr.zarr.buffer import Buffer, BufferPrototype
from blizzarr.zarr.storage.stores import as_zarr_store

__all__ = ["StoreLike", "StorePath", "engine_place", "join_paths", "make_store", "make_store_path", "normalize_path"]

StoreLike: TypeAlias = Any
"""A store, a `StorePath`, a path, a URL, or a mapping."""


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

    @property
    def read_only(self) -> bool:
        """True if values cannot be set."""
        return self.store.read_only

    async def get(
        self, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return the value at the path; None if there is none."""
        return await self.store.get(self.path, prototype, byte_range)

    async def set(self, value: Buffer) -> None:
        """Set the value at the path."""
        await self.store.set(self.path, value)

    async def set_if_not_exists(self, default: Buffer) -> None:
        """Set the value at the path if there is none."""
        await self.store.set_if_not_exists(self.path, default)

    async def delete(self) -> None:
        """Remove the value at the path."""
        await self.store.delete(self.path)

    async def delete_dir(self) -> None:
        """Remove everything below the path."""
        await self.store.delete_dir(self.path)

    async def exists(self) -> bool:
        """Return whether there is a value at the path."""
        return await self.store.exists(self.path)

    async def is_empty(self) -> bool:
        """Return whether there is nothing below the path."""
        return await self.store.is_empty(self.path)

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

    Examples
    --------
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

    Examples
    --------
    >>> join_paths(["", "a", "b/c"])
    'a/b/c'
    """
    return "/".join(filter(None, paths))


def engine_place(
    store: Any, path: str | None = "", mode: str = "r+", storage_options: dict[str, Any] | None = None
) -> tuple[Any, str]:
    """Return the store of the engine for what a user passes as a store, and the path in it.

    Raises
    ------
    TypeError
        If `storage_options` are given with something other than a URL.
    """
    inner = normalize_path(path)
    if isinstance(store, StorePath):
        store, inner = store.store, join_paths([store.path, inner])
    if storage_options:
        if not isinstance(store, str) or ("://" not in store and "::" not in store):
            raise TypeError(
                "'storage_options' was provided but unused. 'storage_options' is only used when the store is passed as "
                "an FSSpec URI string."
            )
        store = stores.FsspecStore.from_url(store, storage_options)
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
    if isinstance(store_like, Store) and mode is None:
        return StorePath(store_like, normalize_path(path))
    engine, inner = engine_place(store_like, path, mode or "r+", storage_options)
    return StorePath(as_zarr_store(engine), inner)
