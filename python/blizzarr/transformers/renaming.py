"""A store in which chunks have other keys, and nothing else is changed."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from blizzarr import _native
from blizzarr.stores import ByteRange, Listing, Store, StoreWrapper, Value
from blizzarr.stores.keys import check_key, check_prefix
from blizzarr.stores.listing import list_sorted_dir
from blizzarr.transformers.array_keys import ArrayKeys

__all__ = ["RenamingStore", "stored_key"]


class RenamingStore(StoreWrapper):
    """Stores the chunks of one array under other names; all other keys are passed on as they are.

    Names are below the array's prefix, and stay below it. What lies in the store under a name that no chunk is stored
    by, and that is not the name of a chunk either, is listed as it is.

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
        """The name that the chunk of this name is stored under."""

    @abstractmethod
    def original(self, name: str) -> str | None:
        """The name of the chunk that may be stored under this one.

        Whether there is such a chunk is checked by asking where it is stored, so a guess is good enough.
        """

    def inside(self, key: str) -> str:
        """The key that the value of this key is stored under."""
        start = self.keys.prefix
        if key.startswith(start) and self.keys.is_name(name := key[len(start) :]):
            return start + self.stored(name)
        return check_key(key)

    @property
    def native(self) -> Any:
        """The engine's handle, which asks here for nothing but names; there is none over a store written in Python."""
        inner = getattr(self.store, "native", None)
        if not isinstance(inner, _native.NativeStore):
            raise AttributeError("native")
        return self._renamed(inner)

    def get(self, key: str) -> Value | None:
        """The value, or None when there is none."""
        return super().get(self.inside(key))

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        """The values under many keys."""
        return super().get_many([self.inside(key) for key in keys])

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Parts of the value; None when there is no value."""
        return super().get_ranges(self.inside(key), ranges)

    def set(self, key: str, value: Value) -> None:
        """Replace the value."""
        super().set(self.inside(key), value)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        """Set the value only if it still is `expected`."""
        return super().replace(self.inside(key), expected, value)

    def discard(self, key: str, expected: Value) -> bool:
        """Delete the value only if it still is `expected`."""
        return super().discard(self.inside(key), expected)

    def delete(self, key: str) -> object:
        """Remove the value; one that is missing is fine."""
        return super().delete(self.inside(key))

    def delete_prefix(self, prefix: str) -> None:
        """Remove every key under the prefix."""
        prefix = check_prefix(prefix)
        if self._is_inside(prefix):
            self._check_writable(prefix)
            for key in self.list(prefix):
                self.delete(key)
        else:
            super().delete_prefix(prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        """All keys under the prefix, sorted."""
        prefix = check_prefix(prefix)
        # A chunk of this prefix may be stored anywhere below that of the array.
        listed = super().list(self.keys.prefix if self._is_inside(prefix) else prefix)
        found = (self._outside(key) for key in listed)
        return sorted(key for key in found if key is not None and key.startswith(prefix))

    def list_dir(self, prefix: str = "") -> Listing:
        """The keys and prefixes directly under the prefix."""
        prefix = check_prefix(prefix)
        if prefix != self.keys.prefix and not self._is_inside(prefix):
            return super().list_dir(prefix)
        return list_sorted_dir(self.list(prefix), prefix)

    def size(self, key: str) -> int | None:
        """The length of the value in bytes; None when there is none."""
        return super().size(self.inside(key))

    def _renamed(self, inner: _native.NativeStore) -> _native.RenamedStore:
        # Made anew each time: kept here, it would keep this store, and be kept by it, for ever.
        return _native.RenamedStore(inner, self.inside)

    def _is_inside(self, prefix: str) -> bool:
        """Whether the prefix takes only a part of the array's keys."""
        return len(prefix) > len(self.keys.prefix) and prefix.startswith(self.keys.prefix)

    def _outside(self, key: str) -> str | None:
        """The original of a key that is in the store; None when a chunk's key hides it."""
        start = self.keys.prefix
        if not key.startswith(start):
            return key
        name = key[len(start) :]
        chunk = self.original(name)
        if chunk is not None and self.keys.is_name(chunk) and self.stored(chunk) == name:
            return start + chunk
        return None if self.keys.is_name(name) else key


def stored_key(store: Store, key: str, underneath: Store) -> str | None:
    """The key in the store `underneath` whose value is that of `key`; None where that cannot be said.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> from blizzarr.transformers import HashedTransformer, ShardingTransformer, wrap
    >>> memory, keys = MemoryStore(), ArrayKeys("a/", "c", "/", "c", 1)
    >>> stored_key(wrap(memory, [HashedTransformer()], keys), "a/c0", memory)
    'a/29/d0/c0'
    >>> stored_key(wrap(memory, [HashedTransformer(), ShardingTransformer((2,))], keys), "a/c0", memory)
    """
    while store is not underneath:
        if not isinstance(store, RenamingStore):
            return None
        key = store.inside(key)
        store = store.store
    return key
