"""Locks of this process for single keys, there only while somebody uses them."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable
from contextlib import AbstractContextManager


class KeyLocks:
    """A lock for each name that no other name shares, for work that may wait for a disk while it has the lock.

    Where work is short, `NamedLocks` costs less.

    >>> locks = KeyLocks()
    >>> with locks.held("a"), locks.held("a"), locks.held("b"):
    ...     len(locks)
    2
    >>> len(locks)
    0
    """

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            # A thread that held a lock when the process was forked does not exist in the child.
            os.register_at_fork(after_in_child=self._renew)

    def __len__(self) -> int:
        return len(self._entries)

    def held(self, name: Hashable) -> AbstractContextManager[None]:
        """Hold the lock of a name; the thread that holds it already does not wait for itself."""
        return _Held(self, name)

    def _renew(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}
        # Reentrant, as a signal handler may write while this thread has it.
        self._changing = threading.RLock()


class _Entry:
    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users = 0


class _Held:
    """A class, as that takes half as long as a generator."""

    __slots__ = ("_entry", "_locks", "_name")

    def __init__(self, locks: KeyLocks, name: Hashable) -> None:
        self._locks, self._name = locks, name

    def __enter__(self) -> None:
        locks = self._locks
        with locks._changing:
            entry = locks._entries.get(self._name)
            if entry is None:
                entry = locks._entries[self._name] = _Entry()
            entry.users += 1
        self._entry = entry
        try:
            entry.lock.acquire()
        except BaseException:
            self._leave()
            raise

    def __exit__(self, *_: object) -> None:
        self._entry.lock.release()
        self._leave()

    def _leave(self) -> None:
        locks, entry = self._locks, self._entry
        with locks._changing:
            entry.users -= 1
            # In a forked child there may be another entry by now.
            if not entry.users and locks._entries.get(self._name) is entry:
                del locks._entries[self._name]
