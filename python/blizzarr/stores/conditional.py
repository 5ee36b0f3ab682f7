"""Changing a value only if nobody else has: for stores that do not offer it themselves."""

from __future__ import annotations

import os
import threading

from blizzarr.stores.protocol import Store, Value

__all__ = ["replace_value"]

# By key alone, since two stores may be handles of one place. Two keys may share a lock; that only costs time.
_locks = [threading.RLock() for _ in range(64)]


def _after_fork() -> None:
    global _locks
    _locks = [threading.RLock() for _ in range(64)]


if hasattr(os, "register_at_fork"):
    # A thread that held a lock when the process was forked does not exist in the child.
    os.register_at_fork(after_in_child=_after_fork)


def replace_value(store: Store, key: str, expected: Value | None, value: Value) -> bool:
    """Set the value only if it still is `expected`; excludes the threads of this process.

    Examples
    --------
    >>> from blizzarr.stores import MappingStore
    >>> store = MappingStore({"a": b"1"})
    >>> replace_value(store, "a", b"1", b"2"), replace_value(store, "a", b"1", b"3"), store.get("a")
    (True, False, b'2')
    """
    with _locks[hash(key) % len(_locks)]:
        found = store.get(key)
        if (found is None) != (expected is None) or (found is not None and bytes(found) != expected):
            return False
        store.set(key, value)
        return True
