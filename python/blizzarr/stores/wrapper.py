"""A store over another one that passes everything on; subclasses only contain what they change."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Final

from blizzarr.stores.base import BaseStore
from blizzarr.stores.conditional import try_discard, try_replace
from blizzarr.stores.protocol import ByteRange, Listing, Replaced, Store, Value
from blizzarr.stores.requests import abandon, each

_OF_STORE: Final = (
    *("native", "object_client", "present", "unlist"),
    *("version", "get_with_version", "get_ranges_of_version", "set_if_version"),
)
"""The attributes that a handle takes from its store, if the store has them."""


class StoreWrapper(BaseStore):
    """A base class for stores over another one: passes all calls on.

    It counts as the same place as `store`, so writers through either of them exclude each other.

    Parameters
    ----------
    store
        The store underneath.

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
        """The engine's handle of the store underneath, whose locks exclude other processes too; None if it has none."""
        native = getattr(self.store, "native", None)
        return getattr(self.store, "locks", None) if native is None else native

    def get(self, key: str) -> Value | None:
        return self.store.get(key)

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        get_many = getattr(self.store, "get_many", None)
        return each(self.store, self.store.get, keys) if get_many is None else builtins.list(get_many(keys))

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        return self.store.get_ranges(key, ranges)

    def set(self, key: str, value: Value) -> None:
        self.store.set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        """Set the value only if it is still `expected`; excludes whom the store underneath excludes."""
        return try_replace(self.store, key, expected, value)

    def discard(self, key: str, expected: Value) -> bool:
        return try_discard(self.store, key, expected)

    def delete(self, key: str) -> object:
        return self.store.delete(key)

    def delete_prefix(self, prefix: str) -> None:
        # None is how a class says that it lacks a method of its base class.
        (getattr(self.store, "delete_prefix", None) or super().delete_prefix)(prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        return builtins.list(self.store.list(prefix))

    def list_dir(self, prefix: str = "") -> Listing:
        return self.store.list_dir(prefix)

    def size(self, key: str) -> int | None:
        """Return the length of the value in bytes; None if there is none. A store without `size` reads the value."""
        size = getattr(self.store, "size", None)
        if size is not None:
            length: int | None = size(key)
            return length
        value = self.get(key)
        return None if value is None else memoryview(value).nbytes

    def flush(self) -> None:
        (getattr(self.store, "flush", None) or super().flush)()

    def close(self) -> None:
        (getattr(self.store, "close", None) or super().close)()

    def abandon(self) -> None:
        """Leave the file that the store underneath would replace."""
        abandon(self.store)


class StoreHandle(StoreWrapper):
    """Another handle of a store, which the engine bypasses: keys and values are those of the store.

    So it has the native handle of the store, the client of one of objects, the method of zip files that unlists keys,
    and the methods about versions, if the store has them.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.in_memory = getattr(store, "in_memory", False) is True

    def __getattr__(self, name: str) -> Any:
        if name in _OF_STORE:
            return getattr(self.store, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def unwrapped(store: Any, kind: type[StoreWrapper] = StoreWrapper) -> Any:
    """Return the store underneath all wrappers; with the kind `StoreHandle`, it has the same keys."""
    while isinstance(store, kind):
        store = store.store
    return store
