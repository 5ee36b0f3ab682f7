"""Conditional changes for stores without them: a value is changed only if it is still the expected one."""

from __future__ import annotations

from collections.abc import Callable

from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.protocol import Replaced, Store, Value

# By key alone, since two stores may be handles of one place.
_locks = NamedLocks("changing this value")


def replace_value(store: Store, key: str, expected: Value | None, value: Value) -> bool:
    """Set the value only if it is still `expected`; return whether it was set. Excludes the threads of this process.

    Stores that name versions are asked to replace this one only, which excludes everybody.

    Raise `ConflictError` if this thread is changing the value conditionally already, and a signal handler or the store
    came back here.
    """
    find, replace = (getattr(store, method, None) for method in ("get_with_version", "set_if_version"))

    def change() -> bool:
        if callable(find) and callable(replace):
            current, version = find(key) or (None, None)
            return _equal(current, expected) and bool(replace(key, value, version))
        if not _equal(store.get(key), expected):
            return False
        store.set(key, value)
        return True

    return _alone(store, key, change)


def discard_value(store: Store, key: str, expected: Value) -> bool:
    """Delete the value only if it is still `expected`; return whether it was. Excludes the threads of this process.

    Raise `ConflictError` if this thread is changing the value conditionally already, and a signal handler or the store
    came back here.
    """

    def change() -> bool:
        if not _equal(store.get(key), expected):
            return False
        store.delete(key)
        return True

    return _alone(store, key, change)


def try_replace(store: Store, key: str, expected: Value | None, value: Value) -> Replaced:
    """Call the `replace` of a store, or `replace_value` if it has none."""
    replace = getattr(store, "replace", None)
    replaced = replace_value(store, key, expected, value) if replace is None else replace(key, expected, value)
    return None if replaced is None else bool(replaced)


def try_discard(store: Store, key: str, expected: Value) -> bool:
    """Call the `discard` of a store, or `discard_value` if it has none."""
    discard = getattr(store, "discard", None)
    return discard_value(store, key, expected) if discard is None else bool(discard(key, expected))


def _alone(store: Store, key: str, change: Callable[[], bool]) -> bool:
    from blizzarr.stores.place import place_of

    return _locks.sole(key).alone(change, (place_of(store), key), key=key, store=store)


def _equal(current: Value | None, expected: Value | None) -> bool:
    return expected is None if current is None else expected is not None and bytes(current) == bytes(expected)
