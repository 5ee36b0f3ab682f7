"""Locks of this process for single keys, there only while somebody uses them."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

__all__ = ["KeyLocks"]


class KeyLocks:
    """A lock for each name that no other name shares, for work that may wait for a disk while it has the lock.

    Where work is short, `NamedLocks` costs less.

    Examples
    --------
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

    @contextmanager
    def held(self, name: Hashable) -> Iterator[None]:
        """Hold the lock of a name; the thread that holds it already does not wait for itself."""
        with self._changing:
            entry = self._entries.setdefault(name, _Entry())
            entry.users += 1
        try:
            with entry.lock:
                yield
        finally:
            with self._changing:
                entry.users -= 1
                # In a forked child there may be another entry by now.
                if not entry.users and self._entries.get(name) is entry:
                    del self._entries[name]

    def _renew(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}
        # Reentrant, as a signal handler may write while this thread has it.
        self._changing = threading.RLock()


class _Entry:
    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users = 0
