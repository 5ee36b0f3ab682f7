"""The base class of stores: methods that follow from four others."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Self

from blizzarr.errors import ReadOnlyError
from blizzarr.stores.conditional import replace_value
from blizzarr.stores.keys import check_prefix, list_sorted_dir
from blizzarr.stores.protocol import ByteRange, Listing, Replaced, Store, Value
from blizzarr.stores.ranges import slice_ranges
from blizzarr.stores.requests import abandon, each, is_remote


class BaseStore(Store, ABC):
    """A base class for stores of your own: write `get`, `set`, `delete` and `list`, and the rest follows from them.

    See `Store` for what the methods must do, and for the meaning of the attributes.

    Examples
    --------
    >>> class Shelf(BaseStore):
    ...     def __init__(self): self.values = {}
    ...     def get(self, key): return self.values.get(key)
    ...     def set(self, key, value): self.values[key] = bytes(value)
    ...     def delete(self, key): self.values.pop(key, None)
    ...     def list(self, prefix=""): return [key for key in self.values if key.startswith(prefix)]
    >>> shelf = Shelf()
    >>> shelf.set("a/b", b"value")
    >>> shelf.list_dir("").prefixes
    ('a/',)
    >>> [bytes(part) for part in shelf.get_ranges("a/b", [(1, 2)])]
    [b'al']
    """

    read_only: bool = False
    supports_delete: bool = True
    supports_list: bool = True
    deletes_at_once: bool = False
    shows_at_once: bool = False
    remote: bool = False
    near: bool = False
    """True if a value takes no request, so that each read compares the document of its array."""
    in_memory: bool = False
    """True if `get` returns bytes that lie in memory already, so that the engine takes parts of them itself."""
    has_documents: bool = True
    """True if arrays in the store have documents, which they do not need if a user assumes their metadata."""

    @abstractmethod
    def get(self, key: str) -> Value | None: ...

    @abstractmethod
    def set(self, key: str, value: Value) -> None: ...

    @abstractmethod
    def delete(self, key: str) -> object: ...

    @abstractmethod
    def list(self, prefix: str = "") -> Iterable[str]: ...

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        """Return the values under many keys, None for each that is missing; of a remote store, many at once."""
        return each(self, self.get, keys)

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        value = self.get(key)
        return None if value is None else slice_ranges(value, ranges)

    def list_dir(self, prefix: str = "") -> Listing:
        return list_sorted_dir(sorted(self.list(prefix)), check_prefix(prefix))

    def delete_prefix(self, prefix: str) -> None:
        """Remove every key under the prefix."""
        each(self, self.delete, self.list(prefix))

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        """Set the value only if it is still `expected` (None: only if there is none); return whether it was set.

        This fallback excludes the threads of this process; some stores also exclude others.
        """
        return replace_value(self, key, expected, value)

    def discard(self, key: str, expected: Value) -> bool:
        """Delete the value only if it is still `expected`; return whether it was. Excludes whom `replace` excludes."""
        return replace_value(self, key, expected, None)

    def flush(self) -> None:
        """Make all values that were set visible to other handles, and durable if the store can promise that."""

    def close(self) -> None:
        """Release files and connections. A store that has none can still be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            abandon(self)
        self.close()

    def _allow_what(self, store: Store) -> None:
        """Allow what the store underneath allows; stores of users need not have the attributes."""
        self.read_only = bool(getattr(store, "read_only", False))
        self.supports_delete = bool(getattr(store, "supports_delete", True))
        self.supports_list = bool(getattr(store, "supports_list", True))
        self.remote = is_remote(store)

    def _check_writable(self, key: str) -> None:
        """Raise `ReadOnlyError` if the store was opened for reading."""
        if self.read_only:
            raise refused(self, key)


class ForeignNames(BaseStore):
    """The base class of stores over what may have names that are no keys, written by others."""

    def list(self, prefix: str = "") -> builtins.list[str]:
        return self.list_all(prefix)[0]

    @abstractmethod
    def list_all(self, prefix: str = "") -> tuple[builtins.list[str], builtins.list[str]]:
        """Return what `list` does, and the names under the prefix that are no keys of a store."""


def refused(store: Store, key: str) -> ReadOnlyError:
    """Make the error about a write to a store that can only be read."""
    never = getattr(store, "only_readable", None)
    advice = "to change it, open its path with mode 'r+' or 'a', or make the store without read_only=True"
    reason = never or f"the store was opened for reading; {advice}"
    return ReadOnlyError(reason, key=key or None, store=str(store))
