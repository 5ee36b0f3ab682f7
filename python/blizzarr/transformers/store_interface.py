"""The abstract store interface of the draft of December 2022, and adapters between it and our stores.

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
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

from blizzarr.errors import PathError, UnsupportedOperationError
from blizzarr.stores import ByteRange, Listing, Store, Value
from blizzarr.stores import keys as store_keys
from blizzarr.stores.conditional import revise_value
from blizzarr.stores.failures import failures
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.keys import list_sorted_dir
from blizzarr.stores.ranges import slice_ranges

KeyRange: TypeAlias = tuple[str, ByteRange]
"""A key and a part of its value: ``("a/b", (start, length or None))``."""
KeyStartValue: TypeAlias = tuple[str, int, Value]
"""A key, an offset in its value, and the bytes to put there."""


def get_partial_values(store: Any, key_ranges: Iterable[KeyRange]) -> list[Value | None]:
    """Return parts of values in the order of the request, `None` where the key is missing; one call per key.

    The parts of one value are of one version of it. A store with its own `get_partial_values` is called once.
    """
    key_ranges = list(key_ranges)
    at_once = getattr(store, "get_partial_values", None)
    if at_once is not None:
        return list(at_once(key_ranges))
    values: list[Value | None] = [None] * len(key_ranges)
    numbers: dict[str, list[int]] = {}
    for number, (key, _) in enumerate(key_ranges):
        numbers.setdefault(key, []).append(number)
    for key, wanted in numbers.items():
        parts = store.get_ranges(key, [key_ranges[number][1] for number in wanted])
        for number, part in zip(wanted, parts or (), strict=parts is not None):
            values[number] = part
    return values


def set_partial_values(store: Any, key_start_values: Iterable[KeyStartValue]) -> None:
    """Put bytes into values, each of which is replaced once; values that are too short are padded with zeros.

    Concurrent changes of the same value are kept if the store has `replace`. A store with its own `set_partial_values`
    is called once.

    Raise `ValueError` if two of the parts overlap, or an offset is negative; nothing is changed.
    """
    parts = by_key(key_start_values)
    at_once = getattr(store, "set_partial_values", None)
    if at_once is not None:
        at_once([(key, start, value) for key, several in parts.items() for start, value in several])
        return
    for key, several in parts.items():
        revise_value(store, key, partial(patched, parts=several))


def by_key(key_start_values: Iterable[KeyStartValue]) -> dict[str, list[tuple[int, Value]]]:
    """Return the parts by key, sorted by offset."""
    parts: dict[str, list[tuple[int, Value]]] = {}
    for key, start, value in key_start_values:
        if start < 0:
            raise ValueError(f"expected bytes to set at 0 or later in {key}, found {start}")
        parts.setdefault(key, []).append((start, value))
    for key, several in parts.items():
        several.sort(key=lambda part: part[0])
        for (start, value), (following, _) in pairwise(several):
            end = start + memoryview(value).nbytes
            if following < end:
                raise ValueError(
                    f"expected ranges of {key} that do not overlap, found [{start}, {end}) and one from {following} on"
                )
    return parts


def patched(value: Value | None, parts: Sequence[tuple[int, Value]]) -> bytes:
    """Return a value with some bytes replaced, padded with zeros where it is too short."""
    changed = bytearray(b"" if value is None else value)
    for start, part in parts:
        view = memoryview(part).cast("B")
        if start > len(changed):
            changed.extend(bytes(start - len(changed)))
        changed[start : start + len(view)] = view
    return bytes(changed)


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


_KEY = re.compile(r"[A-Za-z0-9/.\-_]*[A-Za-z0-9.\-_]")
_PREFIX = re.compile(r"[A-Za-z0-9/.\-_]*/")


class StoreInterface(StoreWithPartialAccess):
    """A store of ours with the operations and key rules of the draft's abstract store interface.

    Parameters
    ----------
    store
        Any store, including one that a storage transformer has made.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> store = StoreInterface(MemoryStore())
    >>> store.set("a/b", b"0123456789")
    >>> store.set_partial_values([("a/b", 2, b"xx"), ("a/b", 8, b"yy")])
    >>> store.get_partial_values([("a/b", (0, 4)), ("a/c", (0, None)), ("a/b", (6, None))])
    [b'01xx', None, b'67yy']
    >>> store.list_prefix("a")
    Traceback (most recent call last):
    ...
    blizzarr.errors.PathError: key a: expected a prefix of A-Z, a-z, 0-9, '/', '.', '-' and '_' with a slash at its end
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def __str__(self) -> str:
        return str(self.store)

    def __repr__(self) -> str:
        return f"StoreInterface({self.store!r})"

    @property
    def writable(self) -> bool:
        return not getattr(self.store, "read_only", False)

    @property
    def erasable(self) -> bool:
        """True if values can be erased, which is not so in zip files."""
        return self.writable and bool(getattr(self.store, "supports_delete", True))

    @property
    def listable(self) -> bool:
        return bool(getattr(self.store, "supports_list", True))

    def get(self, key: str) -> Value | None:
        return self.store.get(_check_key(key))

    def get_partial_values(self, key_ranges: Iterable[KeyRange]) -> builtins.list[Value | None]:
        return get_partial_values(self.store, [(_check_key(key), part) for key, part in key_ranges])

    def set(self, key: str, value: Value) -> None:
        self.store.set(_check_key(key), value)

    def set_partial_values(self, key_start_values: Iterable[KeyStartValue]) -> None:
        set_partial_values(self.store, [(_check_key(key), start, value) for key, start, value in key_start_values])

    def erase(self, key: str) -> None:
        self._check_erasable(_check_key(key))
        self.store.delete(key)

    def erase_values(self, keys: Iterable[str]) -> None:
        checked = [_check_key(key) for key in keys]
        for key in checked[:1]:
            self._check_erasable(key)
        at_once = getattr(self.store, "erase_values", None)
        if at_once is not None:
            at_once(checked)
        else:
            for key in checked:
                self.store.delete(key)

    def erase_prefix(self, prefix: str) -> None:
        self._check_erasable(prefix := _check_prefix(prefix))
        (getattr(self.store, "delete_prefix", None) or super().erase_prefix)(prefix)

    def list(self) -> builtins.list[str]:
        return sorted(self.store.list())

    def list_prefix(self, prefix: str) -> builtins.list[str]:
        return sorted(self.store.list(_check_prefix(prefix)))

    def list_dir(self, prefix: str) -> Listing:
        return self.store.list_dir(_check_prefix(prefix))

    def _check_erasable(self, key: str) -> None:
        if not getattr(self.store, "supports_delete", True):
            raise UnsupportedOperationError(
                "this kind of store cannot delete", key=key, store=str(self), direction="erase"
            )


class _AsStore:
    """The methods of a store, by those of the draft's interface."""

    def __init__(self, target: StoreWithPartialAccess) -> None:
        self.partial = target
        self.read_only = not target.writable
        self.supports_delete = target.erasable
        self.supports_list = target.listable
        self.get, self.list_dir, self.delete_prefix = target.get, target.list_dir, target.erase_prefix

    def __repr__(self) -> str:
        return repr(self.partial)

    def get_partial_values(self, key_ranges: Sequence[KeyRange]) -> builtins.list[Value | None]:
        if all(start >= 0 for _, (start, _) in key_ranges):
            return builtins.list(self.partial.get_partial_values(key_ranges))
        # The draft has no ranges that are counted from the end.
        values = {key: self.get(key) for key, _ in key_ranges}
        return [None if (value := values[key]) is None else slice_ranges(value, [part])[0] for key, part in key_ranges]

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        # The extra range tells whether there is a value if `ranges` is empty.
        values = self.get_partial_values([(key, part) for part in (*ranges, (0, 0))])
        parts: Any = values[:-1]
        return None if None in values else parts

    def set(self, key: str, value: Value) -> None:
        self.partial.set(key, bytes(value))

    def delete(self, key: str) -> None:
        if self.get(key) is not None or not self.supports_delete:
            self.partial.erase(key)

    def list(self, prefix: str) -> Iterable[str]:
        return self.partial.list_prefix(prefix) if prefix else self.partial.list()


class PartialAccessStore(ForeignStore):
    """A store around one that implements the draft's interface, so that it can hold arrays.

    The `set` of `target` must be atomic, and all its methods must be thread-safe.

    Examples
    --------
    >>> import blizzarr
    >>> class Shelf(StoreWithPartialAccess):
    ...     def __init__(self): self.values = {}
    ...     def get(self, key): return self.values.get(key)
    ...     def set(self, key, value): self.values[key] = bytes(value)
    ...     def erase(self, key): self.values.pop(key, None)
    ...     def list(self): return list(self.values)
    >>> store = PartialAccessStore(Shelf())
    >>> blizzarr.create_array(store, data=[1, 2, 3])[1:]
    array([2, 3])
    """

    def __init__(self, target: StoreWithPartialAccess) -> None:
        super().__init__(_AsStore(target))

    def __repr__(self) -> str:
        return f"PartialAccessStore({self.target!r})"

    def get_partial_values(self, key_ranges: Iterable[KeyRange]) -> builtins.list[Value | None]:
        """Return parts of several values, in one request."""
        key_ranges = builtins.list(key_ranges)
        store_keys.check_keys(key for key, _ in key_ranges)
        with failures("read", ", ".join(key for key, _ in key_ranges[:3]), self):
            parts: builtins.list[Value | None] = self.target.get_partial_values(key_ranges)
            return parts


def _check_key(key: str) -> str:
    """Return the key, or raise `PathError` if the draft does not allow it."""
    if _KEY.fullmatch(key) is None:
        raise PathError(
            "expected a key of A-Z, a-z, 0-9, '/', '.', '-' and '_' without a slash at its end", key=key or None
        )
    return store_keys.check_key(key)


def _check_prefix(prefix: str) -> str:
    """Return the prefix, or raise `PathError` if the draft does not allow it; ``/`` and an empty one mean all keys."""
    if prefix in ("", "/"):
        return ""
    if _PREFIX.fullmatch(prefix) is None:
        raise PathError("expected a prefix of A-Z, a-z, 0-9, '/', '.', '-' and '_' with a slash at its end", key=prefix)
    return store_keys.check_prefix(prefix)
