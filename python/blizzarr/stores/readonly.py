"""A store that may be read but not written through this handle."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from blizzarr.errors import ReadOnlyError
from blizzarr.stores.base import BaseStore
from blizzarr.stores.protocol import ByteRange, Listing, Store, Value

__all__ = ["ReadOnlyStore", "check_writable", "read_only"]


class ReadOnlyStore(BaseStore):
    """Passes reads on and refuses the rest with `ReadOnlyError`, before anything is touched.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore
    >>> ReadOnlyStore(MappingStore({})).set("a", b"value")
    Traceback (most recent call last):
    ...
    blizzarr.errors.ReadOnlyError: key a in ...: the store was opened for reading; open it with mode 'r+' or 'a' ...
    """

    read_only = True

    def __init__(self, store: Store) -> None:
        self.store = store

    def __str__(self) -> str:
        return str(self.store)

    def __repr__(self) -> str:
        return f"ReadOnlyStore({self.store!r})"

    @property
    def native(self) -> Any:
        """The engine's handle of the store, if it has one; arrays look at `read_only` before they write."""
        return self.store.native  # type: ignore[attr-defined]  # its absence is ours

    def get(self, key: str) -> Value | None:
        """The value, or None when there is none."""
        return self.store.get(key)

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        """The values under many keys."""
        get_many = getattr(self.store, "get_many", None)
        return get_many(keys) if get_many else [self.store.get(key) for key in keys]

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Parts of the value; None when there is no value."""
        return self.store.get_ranges(key, ranges)

    def set(self, key: str, value: Value) -> None:
        """Refuse."""
        self._check_writable(key)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        """Refuse."""
        self._check_writable(key)
        raise AssertionError

    def delete(self, key: str) -> None:
        """Refuse."""
        self._check_writable(key)

    def delete_prefix(self, prefix: str) -> None:
        """Refuse."""
        self._check_writable(prefix)

    def list(self, prefix: str = "") -> builtins.list[str]:
        """All keys under the prefix."""
        return builtins.list(self.store.list(prefix))

    def list_dir(self, prefix: str = "") -> Listing:
        """The keys and prefixes directly under the prefix."""
        return self.store.list_dir(prefix)

    def close(self) -> None:
        """Close the store."""
        close = getattr(self.store, "close", None)
        if close is not None:
            close()


def read_only(store: Store) -> Store:
    """The store itself when it is read only already, else a handle of it that is.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore
    >>> read_only(MappingStore({})).read_only
    True
    """
    return store if getattr(store, "read_only", False) else ReadOnlyStore(store)


def check_writable(store: Store, key: str) -> None:
    """Refuse before any work when the store will refuse (fault row 89)."""
    if getattr(store, "read_only", False):
        raise ReadOnlyError(
            "the store was opened for reading; open it with mode 'r+' or 'a' to change it",
            key=key or None,
            store=str(store),
        )
