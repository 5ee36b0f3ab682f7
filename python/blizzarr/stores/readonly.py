"""A handle of a store that can be read but not written through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Never

from blizzarr.stores.base import refused
from blizzarr.stores.protocol import Store, Value
from blizzarr.stores.wrapper import StoreHandle


class ReadOnlyStore(StoreHandle):
    """A store that passes reads on to another one, and raises `ReadOnlyError` for everything else.

    Parameters
    ----------
    store
        The store to read.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore
    >>> ReadOnlyStore(MappingStore({})).set("a", b"value")
    Traceback (most recent call last):
    ...
    blizzarr.errors.ReadOnlyError: key a in ...: the store was opened for reading; to change it, ...
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        # Arrays check this before they write through the engine.
        self.read_only = True

    def __eq__(self, other: object) -> bool:
        return self.store == other.store if isinstance(other, ReadOnlyStore) else NotImplemented

    def __hash__(self) -> int:
        return hash((ReadOnlyStore, self.store))

    def set(self, key: str, value: Value) -> None:
        self._refuse(key)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        self._refuse(key)

    def discard(self, key: str, expected: Value) -> bool:
        self._refuse(key)

    @property
    def set_if_version(self) -> Callable[[str, Value, str | None], bool]:
        """A method that raises `ReadOnlyError`."""
        return lambda key, value, version: self._refuse(key)

    def delete(self, key: str) -> None:
        self._refuse(key)

    def delete_prefix(self, prefix: str) -> None:
        self._refuse(prefix)

    def unlist(self, key: str) -> None:
        """Raise `ReadOnlyError`."""
        self._refuse(key)

    def flush(self) -> None:
        """Do nothing: nothing was set through this handle."""

    def _refuse(self, key: str) -> Never:
        raise refused(self, key)


def read_only(store: Store) -> Store:
    """Return the store if it is read-only, otherwise a read-only handle of it.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore
    >>> read_only(MappingStore({})).read_only
    True
    """
    return store if getattr(store, "read_only", False) else ReadOnlyStore(store)


def check_writable(store: Store, key: str) -> None:
    """Raise `ReadOnlyError` before any work is done, if the store has a true attribute `read_only`."""
    if getattr(store, "read_only", False):
        raise refused(store, key)
