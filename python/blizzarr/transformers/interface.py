"""The abstract store interface of the draft of December 2022, with the fallbacks that it recommends.

The draft names its operations differently from ours (`erase` for `delete`, `list_prefix` for `list`), and has some that
work on parts of values. A store that implements the draft's interface derives from `StoreWithPartialAccess` and may
omit operations that have a fallback:

=====================  ================================  ==========================================
operation              falls back on                     capability
=====================  ================================  ==========================================
`get`                  `get_partial_values`              readable
`get_partial_values`   `get`                             readable
`set`                  `erase` and `set_partial_values`  writable
`set_partial_values`   `get` and `set`                   writable
`erase`                `erase_values`                    erasable
`erase_values`         `erase`                           erasable
`erase_prefix`         `list_prefix` and `erase_values`  erasable
`list`                 `list_prefix` or `list_dir`       listable
`list_prefix`          `list` or `list_dir`              listable
`list_dir`             `list_prefix` or `list`           listable
=====================  ================================  ==========================================

The prefix of all keys is empty here; the draft has none (no key begins with its ``/``).
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator

from blizzarr.errors import UnsupportedOperationError
from blizzarr.stores import Listing, Value
from blizzarr.stores.listing import list_sorted_dir
from blizzarr.stores.ranges import slice_ranges
from blizzarr.transformers.partial import KeyRange, KeyStartValue, by_key, patched


class StoreWithPartialAccess:
    """The operations of the draft's abstract store interface, with fallbacks for those that a subclass does not define.

    Examples
    --------
    >>> class Shelf(StoreWithPartialAccess):
    ...     def __init__(self): self.values = {}
    ...     def get(self, key): return self.values.get(key)
    ...     def set(self, key, value): self.values[key] = bytes(value)
    ...     def list(self): return list(self.values)
    >>> shelf = Shelf()
    >>> shelf.set_partial_values([("a/b", 0, b"one"), ("a/c/d", 2, b"two")])
    >>> shelf.get_partial_values([("a/c/d", (1, 3)), ("a/e", (0, None))]), shelf.list_dir("a/")
    ([b'\\x00tw', None], Listing(keys=('a/b',), prefixes=('a/c/',)))
    >>> shelf.readable, shelf.writable, shelf.erasable, shelf.listable
    (True, True, False, True)
    """

    @property
    def readable(self) -> bool:
        """True if values can be read."""
        return self._has("get") or self._has("get_partial_values")

    @property
    def writable(self) -> bool:
        """True if values can be set."""
        return self._has("set") or self._has("set_partial_values")

    @property
    def erasable(self) -> bool:
        """True if values can be erased."""
        return self._has("erase") or self._has("erase_values")

    @property
    def listable(self) -> bool:
        """True if keys can be listed."""
        return self._has("list") or self._has("list_prefix") or self._has("list_dir")

    def get(self, key: str) -> Value | None:
        """Return the value; `None` if there is none."""
        self._need("get", "get_partial_values")
        return self.get_partial_values([(key, (0, None))])[0]

    def get_partial_values(self, key_ranges: Iterable[KeyRange]) -> builtins.list[Value | None]:
        """Return parts of values in the order of the request, `None` where the key is missing."""
        self._need("get_partial_values", "get")
        key_ranges = builtins.list(key_ranges)
        values = {key: self.get(key) for key, _ in key_ranges}
        return [
            None if (value := values[key]) is None else bytes(slice_ranges(value, [part])[0])
            for key, part in key_ranges
        ]

    def set(self, key: str, value: Value) -> None:
        """Replace the value. This fallback is not atomic, as it first erases the old value, which may be longer."""
        self._need("set", "set_partial_values")
        self.erase(key)
        self.set_partial_values([(key, 0, value)])

    def set_partial_values(self, key_start_values: Iterable[KeyStartValue]) -> None:
        """Put bytes into values; the parts of one value may not overlap. This fallback reads and sets whole values."""
        self._need("set_partial_values", "set")
        for key, parts in by_key(key_start_values).items():
            self.set(key, patched(self.get(key), parts))

    def erase(self, key: str) -> None:
        """Remove the value."""
        self._need("erase", "erase_values")
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several values."""
        self._need("erase_values", "erase")
        for key in keys:
            self.erase(key)

    def erase_prefix(self, prefix: str) -> None:
        """Remove all values whose keys begin with the prefix."""
        self.erase_values(self.list_prefix(prefix))

    def list(self) -> Iterable[str]:
        """Return all keys."""
        return self.list_prefix("") if self._has("list_prefix") else self._walk("")

    def list_prefix(self, prefix: str) -> Iterable[str]:
        """Return all keys that begin with the prefix."""
        if self._has("list"):
            return [key for key in self.list() if key.startswith(prefix)]
        return self._walk(prefix)

    def list_dir(self, prefix: str) -> Listing:
        """Return the keys and prefixes directly below the prefix; prefixes end with a slash."""
        self._need("list_dir", "list_prefix" if self._has("list_prefix") else "list")
        return list_sorted_dir(sorted(self.list_prefix(prefix)), prefix)

    def _walk(self, prefix: str) -> Iterator[str]:
        self._need("list", "list_dir")
        keys, prefixes = self.list_dir(prefix)
        yield from keys
        for below in prefixes:
            yield from self._walk(below)

    def _has(self, operation: str) -> bool:
        """Return whether the subclass defines the operation itself."""
        return getattr(type(self), operation) is not getattr(StoreWithPartialAccess, operation)

    def _need(self, operation: str, other: str) -> None:
        if not self._has(other):
            raise UnsupportedOperationError(
                f"{type(self).__name__} has neither {operation} nor {other}", store=str(self), direction=operation
            )
