"""Any mutable mapping as a store: a dict, a shelf, a store of zarr-python 2."""

from __future__ import annotations

import builtins
from collections.abc import MutableMapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

from blizzarr.fork import ForkedLock
from blizzarr.stores.base import ForeignNames
from blizzarr.stores.failures import changes, failures
from blizzarr.stores.keys import check_key, check_prefix, keys_and_others
from blizzarr.stores.memory import COPIED
from blizzarr.stores.protocol import Value

_ONE_AT_A_TIME: Final = {("shelve", "Shelf"), ("dbm.dumb", "_Database"), ("zarr.storage", "SQLiteStore")}
"""Modules and names of classes that lose values, or end the process, when threads call them at the same time."""

_turn: Final = ForkedLock()


class MappingStore(ForeignNames):
    """The items of a mapping from keys to bytes.

    A `KeyError` of the mapping means that the value is missing; any other exception becomes a `StoreError`. Keys that a
    store may not have are ignored. The mapping must allow calls from several threads at the same time, as a dict does;
    a shelf, a `dbm.dumb` and an `SQLiteStore` of zarr-python 2 get one call at a time. The database that a shelf has by
    default since Python 3.13 refuses other threads than its own: read ``dict(shelf)``, or make the shelf on `dbm.gnu`.

    Pickling includes the mapping: a dict is copied, and the unpickled store is read-only.

    Parameters
    ----------
    mapping
        The mapping. If it is not mutable, the store is read-only.
    read_only
        Refuse `set` and `delete`.

    Examples
    --------
    >>> values = {}
    >>> store = MappingStore(values)
    >>> store.set("a/b", b"value")
    >>> values
    {'a/b': b'value'}
    """

    only_readable: str | None
    """The reason why the store can never be written to; None if it can."""

    def __init__(self, mapping: MutableMapping[str, Any], *, read_only: bool = False) -> None:
        self.mapping = mapping
        self.only_readable = None if hasattr(type(mapping), "__setitem__") else "the mapping cannot be changed"
        self.read_only = read_only or self.only_readable is not None
        self.near = type(mapping) is dict
        # Subclasses may return others than bytes.
        self.in_memory = self.near and type(self) is MappingStore
        classes = {(kind.__module__, kind.__name__) for kind in type(mapping).__mro__}
        self._has_turns = not classes.isdisjoint(_ONE_AT_A_TIME)

    def __reduce__(self) -> tuple[object, ...]:
        # Values that are written to a copy of a dict, in another process, would be lost.
        copied = type(self.mapping) is dict
        return type(self), (self.mapping,), {"read_only": self.read_only or copied, "copied": copied}

    def __setstate__(self, state: dict[str, bool]) -> None:
        self.read_only = state["read_only"]
        self.only_readable = COPIED if state["copied"] else self.only_readable

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MappingStore):
            return False
        return (type(self), id(self.mapping), self.read_only) == (type(other), id(other.mapping), other.read_only)

    def __hash__(self) -> int:
        return hash((type(self), id(self.mapping)))

    def __repr__(self) -> str:
        return f"<MappingStore over {type(self.mapping).__name__} at {id(self.mapping):#x}>"

    def get(self, key: str) -> Value | None:
        check_key(key)
        with failures("read", key, self), self._called():
            try:
                value = self.mapping[key]
            except KeyError:
                return None
            return self._taken(value)

    def set(self, key: str, value: Value) -> None:
        self._check_writable(check_key(key))
        with changes("write", key, self), self._called():
            self.mapping[key] = self._put(bytes(value))

    def _called(self) -> AbstractContextManager[object]:
        """Return the context in which the mapping is called."""
        return _turn.lock if self._has_turns else nullcontext()

    def _taken(self, value: Any) -> Value:
        """Return the bytes of what the mapping has; others than bytes may be overwritten after the next call."""
        return value if isinstance(value, bytes) else memoryview(value).tobytes()

    def _put(self, value: bytes) -> Any:
        """Return what the mapping is to have for these bytes."""
        return value

    def delete(self, key: str) -> bool:
        self._check_writable(check_key(key))
        with changes("delete", key, self), self._called():
            try:
                del self.mapping[key]
            except KeyError:
                if key in self.mapping:
                    # A ChainMap, for example, deletes nothing that is below its first mapping.
                    raise
                return False
        return True

    def list_all(self, prefix: str = "") -> tuple[builtins.list[str], builtins.list[str]]:
        prefix = check_prefix(prefix)
        with failures("list", prefix, self), self._called():
            # Copying the keys of a dict is atomic for other threads; iterating over it is not.
            names = builtins.list(self.mapping)
        # The prefix is compared first, at once for texts: a mapping may have very many keys.
        texts = (name if type(name) is str else _text(name) for name in names)
        return keys_and_others({name for name in texts if str(name).startswith(prefix)})


def _text(name: object) -> object:
    """Return a name as text where it is bytes: databases have those, also for names that were set as text."""
    return name.decode(errors="surrogateescape") if isinstance(name, bytes) else name
