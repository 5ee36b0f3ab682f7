"""Forks wait for imports of other threads, and locks that are free in a forked child.

A forked child would wait forever for a module that another thread was importing at the time of the fork, as that thread
does not exist in the child. So a fork waits, up to `_PATIENCE` seconds, until no other thread imports a module of this
package.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib import _bootstrap
from threading import RLock, get_ident
from typing import Final

_PATIENCE: Final = 5.0
"""The longest wait in seconds: an import may itself wait for the thread that forks."""


def _others_import() -> bool:
    """Return whether another thread imports a module of this package."""
    # CPython has no public interface for this; where it has no such table, forks do not wait.
    locks = dict(getattr(_bootstrap, "_module_locks", {}))
    own = __name__.partition(".")[0]
    own_locks = (ref() for name, ref in locks.items() if name.partition(".")[0] == own)
    return any(getattr(lock, "owner", None) not in (None, get_ident()) for lock in own_locks)


def _wait_for_imports() -> None:
    deadline = time.monotonic() + _PATIENCE
    while _others_import() and time.monotonic() < deadline:
        time.sleep(0.001)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports)


def in_child(renew: Callable[[], object]) -> None:
    """Have a function called in each forked child, where no other thread exists to release what it had."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


class ForkedLock:
    """A reentrant lock that is free in a forked child, where the thread that had it does not exist."""

    def __init__(self) -> None:
        self._renew()
        in_child(self._renew)

    def _renew(self) -> None:
        self.lock = RLock()
