"""A store that may be read but not written through this handle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from blizzarr.errors import ReadOnlyError
from blizzarr.stores.protocol import Store, Value
from blizzarr.stores.wrapper import StoreWrapper

__all__ = ["ReadOnlyStore", "check_writable", "read_only"]


class ReadOnlyStore(StoreWrapper):
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
        self.read_only = True

    @property
    def native(self) -> Any:
        """The engine's handle of the store, if it has one; arrays look at `read_only` before they write."""
        return self.store.native  # type: ignore[attr-defined]  # its absence is ours

    @property
    def version(self) -> Callable[[str], str | bytes | None]:
        """What the store has for telling versions, if it has that."""
        return self.store.version  # type: ignore[attr-defined,no-any-return]  # its absence is ours

    def present(self, keys: Sequence[str]) -> list[str]:
        """Those of the keys that have a value, as the store itself finds out."""
        present = getattr(self.store, "present", None)
        return super().present(keys) if present is None else list(present(keys))

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
    """Refuse before any work when the store will refuse (fault row 89)."""
    if getattr(store, "read_only", False):
        raise ReadOnlyError(
            "the store was opened for reading; open it with mode 'r+' or 'a' to change it",
            key=key or None,
            store=str(store),
        )
