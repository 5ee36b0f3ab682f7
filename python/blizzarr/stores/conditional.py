"""Changing a value only if nobody else has: for stores that do not offer it themselves."""

from __future__ import annotations

from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.protocol import Store, Value

__all__ = ["replace_value"]

# By key alone, since two stores may be handles of one place.
_locks = NamedLocks()


def replace_value(store: Store, key: str, expected: Value | None, value: Value) -> bool:
    """Set the value only if it still is `expected`; excludes the threads of this process.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore
    >>> store = MappingStore({"a": b"1"})
    >>> replace_value(store, "a", b"1", b"2"), replace_value(store, "a", b"1", b"3"), store.get("a")
    (True, False, b'2')
    """
    with _locks[key]:
        found = store.get(key)
        if (found is None) != (expected is None) or (found is not None and bytes(found) != expected):
            return False
        store.set(key, value)
        return True
