"""Adapters between our stores and the draft's abstract store interface, in both directions."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Sequence
from typing import Any

from blizzarr.errors import PathError, UnsupportedOperationError
from blizzarr.stores import ByteRange, Listing, Store, Value
from blizzarr.stores import keys as store_keys
from blizzarr.stores.failures import failures
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.ranges import slice_ranges
from blizzarr.transformers.interface import StoreWithPartialAccess
from blizzarr.transformers.partial import KeyRange, KeyStartValue, get_partial_values, set_partial_values

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
        """True if values can be set through this handle of the store."""
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
        at_once = getattr(self.store, "delete_prefix", None)
        if at_once is not None:
            at_once(prefix)
        else:
            self.erase_values(self.list_prefix(prefix))

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
        """Parts of several values, in one request."""
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
