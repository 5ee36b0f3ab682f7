"""A store over another one: passes everything on, so that who derives from it states only what it changes."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from blizzarr.stores.base import BaseStore
from blizzarr.stores.conditional import discard_value, replace_value
from blizzarr.stores.protocol import ByteRange, Listing, Store, Value

__all__ = ["StoreWrapper"]


class StoreWrapper(BaseStore):
    """Passes all calls on to `store`, and is the same place as that: who writes through either excludes the other.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> class Counting(StoreWrapper):
    ...     reads = 0
    ...     def get(self, key):
    ...         self.reads += 1
    ...         return super().get(key)
    >>> counting = Counting(MemoryStore())
    >>> counting.set("a/b", b"value")
    >>> counting.get("a/b"), counting.list_dir("").prefixes, counting.reads
    (b'value', ('a/',), 1)
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._allow_what(store)
        self.shows_at_once = bool(getattr(store, "shows_at_once", False))
        self.deletes_at_once = bool(getattr(store, "deletes_at_once", False))

    def __str__(self) -> str:
        return str(self.store)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.store!r})"

    @property
    def locks(self) -> Any:
        """The engine's handle of the store underneath, whose locks also exclude other processes; None without one."""
        native = getattr(self.store, "native", None)
        return getattr(self.store, "locks", None) if native is None else native

    def get(self, key: str) -> Value | None:
        """The value, or None when there is none."""
        return self.store.get(key)

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        """The values under many keys, in one request where the store has one."""
        get_many = getattr(self.store, "get_many", None)
        return [self.store.get(key) for key in keys] if get_many is None else builtins.list(get_many(keys))

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Parts of the value; None when there is no value."""
        return self.store.get_ranges(key, ranges)

    def set(self, key: str, value: Value) -> None:
        """Replace the value."""
        self.store.set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        """Set the value only if it still is `expected`; excludes whoever the store can exclude."""
        replace = getattr(self.store, "replace", None)
        if replace is None:
            return replace_value(self.store, key, expected, value)
        return bool(replace(key, expected, value))

    def discard(self, key: str, expected: Value) -> bool:
        """Delete the value only if it still is `expected`; excludes whoever the store can exclude."""
        discard = getattr(self.store, "discard", None)
        if discard is None:
            return discard_value(self.store, key, expected)
        return bool(discard(key, expected))

    def delete(self, key: str) -> object:
        """Remove the value; one that is missing is fine."""
        return self.store.delete(key)

    def delete_prefix(self, prefix: str) -> None:
        """Remove every key under the prefix."""
        delete_prefix = getattr(self.store, "delete_prefix", None)
        if delete_prefix is None:
            super().delete_prefix(prefix)
        else:
            delete_prefix(prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        """All keys under the prefix."""
        return builtins.list(self.store.list(prefix))

    def list_dir(self, prefix: str = "") -> Listing:
        """The keys and prefixes directly under the prefix."""
        return self.store.list_dir(prefix)

    def present(self, keys: Sequence[str]) -> builtins.list[str]:
        """Those of the keys that have a value."""
        return [key for key in keys if self.get_ranges(key, [(0, 0)]) is not None]

    def size(self, key: str) -> int | None:
        """The length of the value in bytes; None when there is none. Reads it where the store cannot say without."""
        size = getattr(self.store, "size", None)
        if size is not None:
            found: int | None = size(key)
            return found
        value = self.get(key)
        return None if value is None else memoryview(value).nbytes

    def flush(self) -> None:
        """Flush the store."""
        flush = getattr(self.store, "flush", None)
        if flush is not None:
            flush()

    def close(self) -> None:
        """Close the store."""
        close = getattr(self.store, "close", None)
        if close is not None:
            close()
