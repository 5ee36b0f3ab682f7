"""What arrays and groups have in common: a place in a store."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, ClassVar, Self

from blizzarr.stores import Store

__all__ = ["Node"]

_LOOKS = 10


class Node:
    """Where a node is, and when its metadata were replaced."""

    __slots__ = ("_adoptions", "_path", "_store")

    _store: Store
    _path: str
    _adoptions: int
    """How many times this handle has taken over metadata that were read or stored after it was opened."""

    _adopting: ClassVar[threading.RLock]
    """Held while a handle takes over metadata. Reentrant, since a signal handler may use the handle at that moment."""

    @property
    def store(self) -> Store:
        """The store that the node is in."""
        return self._store

    @property
    def path(self) -> str:
        """The path of the node in its store, like ``a/b``; empty for the root."""
        return self._path

    @property
    def name(self) -> str:
        """The path with a slash in front, like ``/a/b``."""
        return "/" + self._path

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self._path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """Whether the node was opened for reading only."""
        return bool(getattr(self._store, "read_only", False))

    def _adopt(self, metadata: Any, since: int | None = None) -> bool:
        """Take over metadata that were just read or stored.

        With `since`, the value of `_adoptions` before they were read or changed, only if no others have been taken over
        in the meantime: those may be newer. Return whether they were taken over.
        """
        raise NotImplementedError

    def _renew(self, read: Callable[[], Any]) -> Self:
        """Read the metadata again and take them over; over again if another thread was faster, a few times."""
        for _ in range(_LOOKS):
            since = self._adoptions
            if self._adopt(read(), since):
                break
        return self


def _renew_lock() -> None:
    Node._adopting = threading.RLock()


_renew_lock()
if hasattr(os, "register_at_fork"):
    # A thread that held the lock when the process was forked does not exist in the child.
    os.register_at_fork(after_in_child=_renew_lock)
