"""Locks of this process by name, of a fixed number."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable

__all__ = ["NamedLocks"]

_COUNT = 64


class NamedLocks:
    """A lock for each name. Two names may share a lock, which only costs time.

    Code that takes locks of two sets must always take them in the same order of the sets.

    Examples
    --------
    >>> locks = NamedLocks()
    >>> with locks["a"], locks["a"]:
    ...     locks["a"] is locks["a"]
    True
    """

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            # A thread that held a lock when the process was forked does not exist in the child.
            os.register_at_fork(after_in_child=self._renew)

    def __getitem__(self, name: Hashable) -> threading.RLock:
        return self._locks[hash(name) % _COUNT]

    def _renew(self) -> None:
        self._locks = [threading.RLock() for _ in range(_COUNT)]
