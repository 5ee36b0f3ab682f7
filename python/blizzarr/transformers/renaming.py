"""The base class of stores that store chunks under other keys."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from blizzarr import _native
from blizzarr.stores import ByteRange, Listing, Replaced, Store, StoreWrapper, Value
from blizzarr.stores.keys import check_key, check_prefix, list_sorted_dir
from blizzarr.stores.requests import each
from blizzarr.transformers.array_keys import ArrayKeys


class RenamingStore(StoreWrapper):
    """A store that renames the chunks of one array, and passes all other keys through unchanged.

    Names are relative to the array's prefix, and stay below it. Keys under which no chunk is stored, and that are not
    chunk keys themselves, are listed unchanged.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> class Reversed(RenamingStore):
    ...     def stored(self, name): return name[::-1]
    ...     def original(self, name): return name[::-1]
    >>> memory = MemoryStore()
    >>> store = Reversed(memory, ArrayKeys("a/", head="c.", separator=".", scalar="c", rank=2))
    >>> store.set("a/c.12.3", b"chunk")
    >>> store.set("a/zarr.json", b"document")
    >>> list(memory.list()), list(store.list())
    (['a/3.21.c', 'a/zarr.json'], ['a/c.12.3', 'a/zarr.json'])
    """

    def __init__(self, store: Store, keys: ArrayKeys) -> None:
        super().__init__(store)
        self.keys = keys

    @abstractmethod
    def stored(self, name: str) -> str:
        """Return the name under which the chunk of this name is stored."""

    @abstractmethod
    def original(self, name: str) -> str | None:
        """Return the name of the chunk that may be stored under this name; `None` if there is none.

        The caller checks the result with `stored`, so a guess is good enough.
        """

    def inside(self, key: str) -> str:
        """Return the key under which the value of this key is stored."""
        start = self.keys.prefix
        if key.startswith(start) and self.keys.is_name(name := key[len(start) :]):
            return start + self.stored(name)
        return check_key(key)

    @property
    def native(self) -> Any:
        """The engine's handle, which calls Python only for names; stores written in Python have none."""
        inner = getattr(self.store, "native", None)
        if not isinstance(inner, _native.NativeStore):
            raise AttributeError("native")
        return self._renamed(inner)

    def get(self, key: str) -> Value | None:
        return super().get(self.inside(key))

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        return super().get_many([self.inside(key) for key in keys])

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        return super().get_ranges(self.inside(key), ranges)

    def set(self, key: str, value: Value) -> None:
        super().set(self.inside(key), value)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        return super().replace(self.inside(key), expected, value)

    def discard(self, key: str, expected: Value) -> bool:
        return super().discard(self.inside(key), expected)

    def delete(self, key: str) -> object:
        return super().delete(self.inside(key))

    def delete_prefix(self, prefix: str) -> None:
        prefix = check_prefix(prefix)
        if self.keys.are_cut_by(prefix):
            self._check_writable(prefix)
            each(self, self.delete, self.list(prefix))
        else:
            super().delete_prefix(prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        prefix = check_prefix(prefix)
        listed = super().list(self.keys.prefix if self.keys.are_cut_by(prefix) else prefix)
        outside = (self.outside(key) for key in listed)
        return sorted(key for key in outside if key is not None and key.startswith(prefix))

    def list_dir(self, prefix: str = "") -> Listing:
        prefix = check_prefix(prefix)
        if prefix != self.keys.prefix and not self.keys.are_cut_by(prefix):
            return super().list_dir(prefix)
        return list_sorted_dir(self.list(prefix), prefix)

    def size(self, key: str) -> int | None:
        return super().size(self.inside(key))

    def _renamed(self, inner: _native.NativeStore) -> _native.RenamedStore:
        # Made anew each time: kept here, it would form a reference cycle that is never collected.
        return _native.RenamedStore(inner, self.inside)

    def outside(self, key: str) -> str | None:
        """Return the original key of a stored key; `None` if it is a chunk key under which no chunk is stored."""
        start = self.keys.prefix
        if not key.startswith(start):
            return key
        name = key[len(start) :]
        chunk = self.original(name)
        if chunk is not None and self.keys.is_name(chunk) and self.stored(chunk) == name:
            return start + chunk
        return None if self.keys.is_name(name) else key


def stored_key(store: Store, key: str, underneath: Store) -> str | None:
    """Return the key in the store `underneath` that holds the value of `key`; `None` if no single key does."""
    while store is not underneath:
        if not isinstance(store, RenamingStore):
            return None
        key = store.inside(key)
        store = store.store
    return key


def original_key(store: Store, key: str, underneath: Store) -> str | None:
    """Return the key in `store` of what the store `underneath` has under a key; `None` if that is not known."""
    if store is underneath or not isinstance(store, RenamingStore):
        return key if store is underneath else None
    inner = original_key(store.store, key, underneath)
    return None if inner is None else store.outside(inner)
