"""A store that may be read but not written through this handle."""

from __future__ import annotations

from blizzarr.errors import ReadOnlyError
from blizzarr.stores.handle import StoreHandle
from blizzarr.stores.protocol import Store, Value

__all__ = ["ReadOnlyStore", "check_writable", "read_only"]


class ReadOnlyStore(StoreHandle):
    """Passes reads on and refuses the rest with `ReadOnlyError`, before anything is touched.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore
    >>> ReadOnlyStore(MappingStore({})).set("a", b"value")
    Traceback (most recent call last):
    ...
    blizzarr.errors.ReadOnlyError: key a in ...: the store was opened for reading; open it with mode 'r+' or 'a' ...
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        # Arrays look at this before they write through the engine.
        self.read_only = True

    def set(self, key: str, value: Value) -> None:
        """Refuse."""
        self._check_writable(key)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        """Refuse."""
        self._check_writable(key)
        raise AssertionError

    def discard(self, key: str, expected: Value) -> bool:
        """Refuse."""
        self._check_writable(key)
        raise AssertionError

    def delete(self, key: str) -> None:
        """Refuse."""
        self._check_writable(key)

    def delete_prefix(self, prefix: str) -> None:
        """Refuse."""
        self._check_writable(prefix)

    def flush(self) -> None:
        """Do nothing: nothing was set through this handle."""


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
    """Raise `ReadOnlyError` before any work is done, if the store would refuse the write."""
    if getattr(store, "read_only", False):
        raise ReadOnlyError(
            "the store was opened for reading; open it with mode 'r+' or 'a' to change it",
            key=key or None,
            store=str(store),
        )
