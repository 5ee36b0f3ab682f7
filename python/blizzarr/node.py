"""The base class of arrays and groups: a place in a store."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Self

from blizzarr.fork import in_child
from blizzarr.stores import Store
from blizzarr.stores.requests import abandon

_LOOKS = 10


class Node:
    """A place in a store, and a count of how often the metadata of the handle was replaced."""

    __slots__ = ("_above", "_adoptions", "_path", "_store")

    _store: Store
    _path: str
    _adoptions: int
    """The number of times that this handle has taken over metadata since it was opened."""

    _above: Any
    """The group in whose consolidated metadata this node was found; not set for others."""

    _adopting: ClassVar[threading.RLock]
    """Held while a handle takes over metadata. Reentrant, since a signal handler may use the handle at that moment."""

    @property
    def store(self) -> Store:
        """The store of the node."""
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
        """True if the node was opened for reading only."""
        return bool(getattr(self._store, "read_only", False))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            abandon(self._store)
        self.close()

    def close(self) -> None:
        """Close the store. Only zip files need this: it completes them.

        Raises
        ------
        StoreError
            If the store cannot write the rest.
        """
        close = getattr(self._store, "close", None)
        if close is not None:
            close()

    def _adopt(self, metadata: Any, since: int | None = None) -> bool:
        """Take over metadata that was just read or stored; return whether it was taken over.

        `since` is the value of `_adoptions` before the metadata was read or changed. If other metadata has been taken
        over in the meantime, which may be newer, nothing happens. None takes it over in any case.
        """
        raise NotImplementedError

    def _outdate_above(self) -> None:
        """Let the group in whose consolidated metadata this node was found read the store from now on."""
        if (above := getattr(self, "_above", None)) is not None:
            above._forget()

    def _forget(self) -> None:
        """Drop the copies of metadata that are out of date, here and in the groups above."""
        self._outdate_above()

    def _renew(self, read: Callable[[], Any]) -> Self:
        """Read the metadata and take it over; try again, a few times, if another thread took over other metadata."""
        for _ in range(_LOOKS):
            since = self._adoptions
            if self._adopt(read(), since):
                break
        return self


def copied_in(group: Node, node: Node) -> None:
    """Note that a node was found in the consolidated metadata of a group, which has to know of its changes."""
    node._above = group


def copied_as(other: Node, node: Node) -> None:
    """Note that a node was found where another one was."""
    node._above = getattr(other, "_above", None)


def _renew_lock() -> None:
    Node._adopting = threading.RLock()


_renew_lock()
in_child(_renew_lock)
