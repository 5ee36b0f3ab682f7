"""The store around an object of another library, or of the user, that has the methods of a store."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from blizzarr.errors import StoreError, UnsupportedOperationError
from blizzarr.lazy_imports import is_instance
from blizzarr.stores.base import ForeignNames
from blizzarr.stores.conditional import try_replace
from blizzarr.stores.credentials import without_secrets
from blizzarr.stores.failures import changes, failures
from blizzarr.stores.keys import check_key, check_keys, check_prefix, is_key, keys_and_others
from blizzarr.stores.protocol import ByteRange, Listing, Replaced, Value
from blizzarr.stores.requests import is_remote

_PASSED_ON: Final = ("size", "version", "get_with_version", "get_ranges_of_version", "set_if_version")
"""Methods that the store has if the object has them."""
_METHODS: Final = (
    *("get", "get_many", "get_ranges", "get_up_to", "set", "replace", "discard", "delete", "delete_prefix"),
    *("list", "list_dir", "flush", "close", *_PASSED_ON),
)
_SHOWN: Final = 120
"""Characters of an object that are shown at most: some show all that is in them."""


class ForeignStore(ForeignNames):
    """Wraps an object with the methods of a store: checks keys, adds the place to errors, and supplies missing methods.

    Only `get` is required. Without `set`, the store is read-only. Without `delete`, deleting is an
    `UnsupportedOperationError`. Without `list`, so is listing, but nodes whose path is known can be opened.

    Any exception of the object becomes a `StoreError` that names the key and has the exception as its cause.

    Parameters
    ----------
    target
        The object; see `Store` for its methods.
    read_only
        Refuse `set` and `delete`.

    Raises
    ------
    TypeError
        If `target` has no method `get`, or an asynchronous one, or is a group of another library.

    Examples
    --------
    >>> class Letters:
    ...     def get(self, key): return key.encode() if key.isalpha() else None
    >>> store = ForeignStore(Letters())
    >>> store.get("abc"), store.get("a1"), store.read_only
    (b'abc', None, True)
    """

    def __init__(self, target: Any, *, read_only: bool = False) -> None:
        kind = type(target).__name__
        if not callable(getattr(target, "get", None)):
            is_data = hasattr(target, "__array__")
            rest = "whose elements create_array(path, data=...) stores" if is_data else "which has no get"
            expected = "expected a path, a URL, a mapping, or an object with the methods of a store"
            raise TypeError(f"{expected}, found {kind}, {rest}")
        if callable(getattr(target, "create_array", None)):
            # zarr-python's groups have get, but for members.
            raise TypeError(f"expected a store, found {kind}, which is a group; pass the path or mapping that holds it")
        waiting = [name for name in _METHODS if inspect.iscoroutinefunction(getattr(target, name, None))]
        if waiting:
            # What they return is done only by who awaits it: a value that is set so would be lost.
            raise TypeError(
                f"{kind} is asynchronous ({', '.join(waiting)}); pass the path or mapping that it stands for, "
                "or an object whose get, set, delete and list return values"
            )
        self.target = target
        self.only_readable = _why_only_readable(target)
        """The reason why the store can never be written to; None if it can."""
        self.read_only = read_only or self.only_readable is not None
        self.supports_delete = self._has("delete") and bool(getattr(target, "supports_delete", True))
        self.supports_list = self._has("list") and bool(getattr(target, "supports_list", True))
        self.remote = is_remote(target)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ForeignStore):
            return NotImplemented
        return (self.identity, self.read_only) == (other.identity, other.read_only)

    def __hash__(self) -> int:
        return hash((ForeignStore, self.identity))

    def __repr__(self) -> str:
        shown = without_secrets(repr(self.target))
        return f"<ForeignStore over {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '...'}>"

    @property
    def identity(self) -> int:
        """A number that all stores of one object share."""
        is_memory = is_instance(self.target, "blizzarr.stores.obstore_stores:ObstoreMemory")
        return id(self.target.memory if is_memory else self.target)

    def get(self, key: str) -> Value | None:
        check_key(key)
        with failures("read", key, self):
            try:
                return _taken(self.target.get(key))
            except KeyError as error:
                if error.args != (key,):
                    raise
                reason = f"{type(error).__name__}: {error}; where there is no value, `get` must return None"
                raise StoreError(reason, key=key, store=str(self), direction="read") from error

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        """Return the values under many keys, None for each that is missing; another number of values is an error."""
        if not self._has("get_many"):
            return super().get_many(keys)
        check_keys(keys)
        with failures("read", ", ".join(keys[:3]), self):
            values = builtins.list(map(_taken, self.target.get_many(keys)))
        if len(values) != len(keys):
            reason = f"expected {len(keys)} values from get_many, found {len(values)}"
            raise StoreError(reason, key=", ".join(keys[:3]), store=str(self), direction="read")
        return values

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        if not self._has("get_ranges"):
            return super().get_ranges(key, ranges)
        check_key(key)
        with failures("read", key, self):
            parts = self.target.get_ranges(key, ranges)
            return None if parts is None else builtins.list(parts)

    def set(self, key: str, value: Value) -> None:
        self._check_writable(check_key(key))
        with changes("write", key, self):
            self.target.set(key, value)

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        """Set the value only if it is still `expected`; excludes whom the object underneath excludes."""
        if not self._has("replace"):
            return super().replace(key, expected, value)
        self._check_writable(check_key(key))
        with changes("write", key, self):
            return try_replace(self.target, key, expected, value)

    def discard(self, key: str, expected: Value) -> bool:
        if not self._has("discard"):
            return super().discard(key, expected)
        self._check_writable(check_key(key))
        with changes("delete", key, self):
            return bool(self.target.discard(key, expected))

    def delete(self, key: str) -> object:
        self._check_writable(check_key(key))
        if not self._has("delete"):
            raise self._lacks("delete", key)
        with changes("delete", key, self):
            deleted: object = self.target.delete(key)
            return deleted

    def delete_prefix(self, prefix: str) -> None:
        prefix = check_prefix(prefix)
        if not self._has("delete_prefix"):
            super().delete_prefix(prefix)
            return
        self._check_writable(prefix)
        with changes("delete", prefix, self, is_prefix=True):
            self.target.delete_prefix(prefix)

    def list_all(self, prefix: str = "") -> tuple[builtins.list[str], builtins.list[str]]:
        prefix = check_prefix(prefix)
        if not self._has("list"):
            raise self._lacks("list", prefix or None)
        with failures("list", prefix, self):
            return keys_and_others(name for name in map(_text, self.target.list(prefix)) if name.startswith(prefix))

    @property
    def has_list_dir(self) -> bool:
        """True if the object has a `list_dir` of its own; otherwise each listing goes through all keys."""
        return self._has("list_dir")

    def list_dir(self, prefix: str = "") -> Listing:
        prefix = check_prefix(prefix)
        if not self.has_list_dir:
            return super().list_dir(prefix)
        with failures("list", prefix, self):
            keys, prefixes = self.target.list_dir(prefix)
            usable = sorted(filter(is_key, map(_text, keys)))
            return Listing(tuple(usable), tuple(sorted(name for name in prefixes if is_key(name.removesuffix("/")))))

    def flush(self) -> None:
        """Flush the object, if it has a method for it."""
        if self._has("flush"):
            with failures("flush", "", self):
                self.target.flush()

    def close(self) -> None:
        """Close the object, if it has a method for it."""
        if self._has("close"):
            with failures("close", "", self):
                self.target.close()

    def __getattr__(self, name: str) -> Any:
        # There may be an attribute of such a name about something else: the version of a library, perhaps.
        method = getattr(self.target, name, None) if name in _PASSED_ON else None
        if not callable(method):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return partial(self._passed_on, method, name == "set_if_version")

    def _passed_on(self, method: Callable[..., Any], is_write: bool, key: str, *arguments: Any) -> Any:
        """Call a method of the object that reads a value, its size or version, or replaces it."""
        check_key(key)
        if not is_write:
            with failures("read", key, self):
                return method(key, *arguments)
        self._check_writable(key)
        with changes("write", key, self):
            return bool(method(key, *arguments))

    def _has(self, method: str) -> bool:
        return callable(getattr(self.target, method, None))

    def _lacks(self, method: str, key: str | None) -> UnsupportedOperationError:
        kind = type(self.target).__name__
        return UnsupportedOperationError(f"{kind} has no method {method!r}", key=key, store=str(self), direction=method)


def _taken(value: Any) -> Value | None:
    """Return the bytes of what an object returns for a value, and None where there is none."""
    return value if value is None or isinstance(value, bytes) else memoryview(value).cast("B")


def _text(name: object) -> str:
    """Return a name; one in bytes, say, would be no key of a store, and its value would be missing in silence."""
    if not isinstance(name, str):
        raise TypeError(f"expected a listing of keys as text, found {name!r}")
    return name


def _why_only_readable(target: Any) -> str | None:
    if not callable(getattr(target, "set", None)):
        return "the object that is the store has no method set"
    if not getattr(target, "read_only", False):
        return None
    own: str | None = getattr(target, "only_readable", None)
    return own or "the object that is the store says itself that it is read-only; pass one that can be written to"
