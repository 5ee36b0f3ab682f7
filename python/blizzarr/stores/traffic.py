"""Sums of what this process has read from object stores and written to them, as the engine has them for directories."""

from __future__ import annotations

import os
from collections import Counter
from threading import Lock
from typing import Final

from blizzarr import _native


class Traffic:
    """Sums of requests and bytes, by kind of store and by what was done.

    >>> traffic = Traffic()
    >>> traffic.add("s3", "read", 100)
    >>> traffic.add("s3", "read", 20)
    >>> traffic.sums()
    {('s3', 'read'): 2, ('s3', 'bytes_read'): 120}
    """

    def __init__(self) -> None:
        self._sums: Counter[tuple[str, str]] = Counter()
        self.after_fork()

    def after_fork(self) -> None:
        """Forget the threads, of which one may have had the lock."""
        self._lock = Lock()

    def add(self, kind: str, what: str, size: int | None = None, count: int = 1) -> None:
        """Add requests, and the bytes that they read or wrote."""
        with self._lock:
            self._sums[kind, what] += count
            if size is not None:
                self._sums[kind, f"bytes_{'written' if what == 'write' else 'read'}"] += size

    def sums(self) -> dict[tuple[str, str], int]:
        """Return all sums."""
        with self._lock:
            sums = self._sums.copy()
        for kind, what, more in _native.object_traffic() if self is TRAFFIC else ():
            sums[kind, what] += more
        return dict(sums)


TRAFFIC: Final = Traffic()
os.register_at_fork(after_in_child=TRAFFIC.after_fork)
