"""Locks of this process: by name, of a fixed number, and such that refuse a thread that would wait for itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from blizzarr.errors import ConflictError
from blizzarr.fork import in_child

T = TypeVar("T")

_COUNT = 64


class SoleLock:
    """A lock for what a thread may not begin again before it has ended, such as reading a value and replacing it.

    A thread comes back in the middle of its work when a signal arrives, a finalizer runs, or a store written in Python
    is called. With a plain lock it would wait for itself; a reentrant one would let it destroy its own work.

    >>> lock = SoleLock("counting")
    >>> with lock.held("a"), lock.held("b"), lock.held("a", array="/x"):
    ...     pass
    Traceback (most recent call last):
    blizzarr.errors.ConflictError: /x: this thread is already counting, and a signal handler, finalizer or store that \
was called meanwhile does so, too; let it do so afterwards
    """

    __slots__ = ("_doing", "_purposes", "lock")

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._purposes: set[Hashable] = set()
        self.lock = threading.RLock()
        """The lock without purposes: the thread that holds it may take it again."""

    def hold(
        self, purpose: Hashable = None, *, array: str | None = None, key: str | None = None, store: object = None
    ) -> Generator[None, None, None]:
        """Return a generator that takes the lock when it begins, and releases it when it is closed.

        It can be closed at any time, also after an interruption of its beginning. For a `with` statement use `held`,
        for a call `alone`.

        The generator raises `ConflictError` when it begins, if this thread holds the lock for the same purpose.

        - `purpose`: what the lock is held for: the same thread may hold it for several purposes.
        - `array`, `key`, `store`: the place, for the error.
        """
        # In Python 3.14, an interrupt at the beginning of a `with` statement would leave the lock.
        try:
            self.lock.acquire()
            if purpose in self._purposes:
                raise ConflictError(
                    f"this thread is already {self._doing}, and a signal handler, finalizer or store that was called "
                    "meanwhile does so, too; let it do so afterwards",
                    array=array,
                    key=key,
                    store=None if store is None else str(store),
                )
            # Nothing can interrupt between a `try` and what precedes it, so no purpose is ever left behind.
            try:
                self._purposes.add(purpose)
                yield
            finally:
                self._purposes.discard(purpose)
        finally:
            try:  # noqa: SIM105  # after `suppress`, there could be an interrupt
                self.lock.release()
            except RuntimeError:
                pass  # The interrupt came while the lock was waited for.

    held = contextmanager(hold)

    def alone(
        self, work: Callable[[], T], purpose: Hashable = None, *, key: str | None = None, store: object = None
    ) -> T:
        """Hold the lock while `work` is called, and return what it returned; the parameters are those of `hold`.

        Code that other threads of the engine wait for uses this method, and not `held`: an interrupt at the beginning
        or the end of a `with` statement leaves the lock to whoever has the error, and the engine has the error until
        all its threads have ended.
        """
        holding = self.hold(purpose, key=key, store=store)
        try:
            next(holding)
            return work()
        finally:
            holding.close()


class NamedLocks:
    """A lock for each name. Two names may share a lock, which only costs time.

    Code that takes locks of two sets must always take them in the same order of the sets.

    - `doing`: the work that the locks exclude, for errors: "changing this".
    """

    def __init__(self, doing: str = "working") -> None:
        self._doing = doing
        self._renew()
        in_child(self._renew)

    def __getitem__(self, name: Hashable) -> threading.RLock:
        return self.sole(name).lock

    def sole(self, name: Hashable) -> SoleLock:
        """Return the lock of a name, to be held for a purpose."""
        return self._locks[hash(name) % _COUNT]

    def _renew(self) -> None:
        self._locks = [SoleLock(self._doing) for _ in range(_COUNT)]


class KeyLocks:
    """A lock for each name that no other name shares, for work that may wait for a disk while it has the lock.

    Where work is short, `NamedLocks` costs less.
    """

    def __init__(self) -> None:
        self._renew()
        in_child(self._renew)

    def __len__(self) -> int:
        return len(self._entries)

    @contextmanager
    def held(self, name: Hashable) -> Iterator[None]:
        """Hold the lock of a name; the thread that holds it already does not wait for itself."""
        with self._changing:
            # A signal handler that uses the name here may remove the entry, which is not counted yet: it is put back.
            entry = self._entries.get(name) or _Entry()
            entry.users += 1
            self._entries[name] = entry
        try:
            with entry.lock:
                yield
        finally:
            with self._changing:
                entry.users -= 1
                # In a forked child there may be another entry by now; after a signal handler, none.
                if not entry.users and self._entries.get(name) is entry:
                    self._entries.pop(name, None)

    def _renew(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}
        # Reentrant, as a signal handler may write while this thread has it.
        self._changing = threading.RLock()


class _Entry:
    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users = 0
