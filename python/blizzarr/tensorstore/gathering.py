"""Reads and writes of one array that are begun before anybody asks for their results: many are done in one call.

Whoever comes first, a thread of the pool or one that waits for a result, does what has gathered until then, in the
order in which it was begun: so of two writes to the same elements, the later one counts.
"""

from __future__ import annotations

import atexit
import os
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from threading import RLock
from typing import Any, Final, TypeVar

from blizzarr.errors import ConflictError
from blizzarr.fork import in_child
from blizzarr.futures import LOST, POOL, ChangeFuture, Future, Pace, fail, finish, has_work, pending, set_work

T = TypeVar("T")

_MOST: Final = 256
_MOST_BYTES: Final = 1 << 24
_AT_ONCE: Final = os.cpu_count() or 1
"""How much is done in one call, so that the first result does not wait for all; but something for each processor."""

WRITING: Final = Pace()
"""A running estimate of how long changing a few files on this machine takes."""


class Gathered(Future[T]):
    """The future of a read or write that may be done together with others."""

    __slots__ = ("begun_in", "driver", "gathering", "outcome", "request", "size")

    gathering: Gathering
    driver: Any
    """The driver, which has `read_all` and `write_all`."""
    request: Any
    """The view that is read or written, and what belongs to it, as the driver takes it."""
    size: int
    """About as many bytes as it moves."""
    begun_in: int
    """The process that has begun it, or 0."""
    outcome: tuple[Any] | None
    """The result, or the error, once the work is done; whoever has done it, or waits, gives it to the future."""

    def force(self) -> None:
        # What a parent has begun, a forked child begins if somebody waits for it there.
        if self.begun_in != os.getpid():
            self.begun_in = os.getpid()
            self.gathering.add(self)


class GatheredWrite(Gathered[None], ChangeFuture[None]):
    """That of a write, which cannot be cancelled once it is under way."""

    __slots__ = ()


class Gathering:
    """The reads and writes of a driver that were begun, and are not done."""

    def __init__(self) -> None:
        self._begin()
        _ALL[self] = None

    def _begin(self) -> None:
        self._lock = RLock()
        self._waiting: deque[Gathered[Any]] = deque()
        self._is_awaited = False
        """True if a thread of the pool is going to look."""

    @property
    def is_empty(self) -> bool:
        """True if nothing is to be done."""
        return not self._waiting

    def future_of(self, kind: type[Gathered[T]], driver: Any, request: Any, size: int) -> Gathered[T]:
        """Return the future of a read or write, which `force` begins."""
        future: Any = pending(None, kind)
        future.gathering, future.driver, future.request, future.size = self, driver, request, size
        future.begun_in, future.outcome = 0, None
        set_work(future, partial(self._finish, future))
        return future

    def add(self, future: Gathered[Any]) -> None:
        """Begin a read or write that was made here."""
        self._waiting.append(future)
        self._call_for_help()

    def _call_for_help(self) -> None:
        if not self._is_awaited:
            self._is_awaited = True
            try:
                POOL.put(pending(self.empty))
            except BaseException:
                # An interrupt: whoever begins something later calls again.
                self._is_awaited = False
                raise

    def catch_up(self) -> None:
        """Do what was begun until now, and not what others begin meanwhile."""
        for future in tuple(self._waiting):
            while not future.done():
                self._do_some(future)

    def empty(self) -> None:
        """Do everything that was begun."""
        self._is_awaited = False
        while self._waiting:
            self._do_some()

    def _finish(self, future: Gathered[T]) -> T:
        """Do everything up to a future, and return its result: the work of that future."""
        while not future.done():
            self._do_some(future)
        return future.result()

    def _do_some(self, wanted: Gathered[Any] | None = None) -> None:
        """Do what has waited longest, or else what is wanted, as far as one call may do it."""
        part: list[Gathered[Any]] = []
        try:
            with self._lock:
                part = self._first()
                if not part and wanted is not None:
                    part = [wanted]
                for future in part:
                    # From here on it cannot be cancelled.
                    set_work(future, None)
                _work([future for future in part if not future.done() and future.outcome is None])
                self._forget_done()
        finally:
            # Without the lock, as there may be callbacks.
            try:
                self._settle(part)
            except BaseException:
                # An interrupt before that has begun.
                self._settle(part)
                raise

    def _settle(self, part: Sequence[Gathered[Any]]) -> None:
        """Give futures their results, or errors; what is done stays as it is."""
        try:
            for future in part:
                if future.outcome is None:
                    # An interrupt, which becomes the error of the future that this thread waits for.
                    if not future.done():
                        set_work(future, partial(self._finish, future))
                        self._call_for_help()
                elif isinstance(future.outcome[0], Exception):
                    fail(future, future.outcome[0])
                else:
                    finish(future, future.outcome[0])
        except BaseException:
            # An interrupt, or a callback that ends the thread: others wait for the rest, and for what was interrupted.
            self._settle(part)
            raise

    def _first(self) -> list[Gathered[Any]]:
        """Return reads that waited longest, or writes, of one driver."""
        self._forget_done()
        part: list[Gathered[Any]] = []
        size = 0
        # Others may append meanwhile.
        for number in range(min(len(self._waiting), _MOST)):
            future = self._waiting[number]
            size += future.size
            is_other = number and (type(future) is not type(part[0]) or future.driver is not part[0].driver)
            if is_other or (number >= _AT_ONCE and size > _MOST_BYTES):
                break
            part.append(future)
        return part

    def _forget_done(self) -> None:
        while self._waiting and (self._waiting[0].outcome is not None or self._waiting[0].done()):
            self._waiting.popleft()

    def is_writing(self) -> bool:
        """Return whether a write was begun that is not done."""
        return any(isinstance(future, GatheredWrite) for future in tuple(self._waiting))

    def renew(self) -> None:
        """Leave to the parent, in a forked child, what was begun; what is not under way is done if somebody waits."""
        waiting = self._waiting
        self._begin()
        for future in waiting:
            if not has_work(future):
                fail(future, ConflictError(LOST))


def _work(futures: Sequence[Gathered[Any]]) -> None:
    """Do the work of futures: each then has its outcome."""
    if not futures:
        return
    first, requests = futures[0], [future.request for future in futures]
    try:
        if not isinstance(first, GatheredWrite):
            done: Sequence[Any] = first.driver.read_all(requests)
        elif len(requests) == 1:
            done = WRITING.timed(first.driver.write_all, requests)
        else:
            done = first.driver.write_all(requests)
    except Exception as error:
        done = [error] * len(futures)
    for future, result in zip(futures, done, strict=True):
        future.outcome = (result,)
        future.request = future.driver = None


def result_or_error(work: Callable[..., T], *given: Any) -> T | Exception:
    """Return the result of work, or the error that it raises."""
    try:
        return work(*given)
    except Exception as error:
        return error


_ALL: Final[weakref.WeakKeyDictionary[Gathering, None]] = weakref.WeakKeyDictionary()


def _alive() -> list[Gathering]:
    """Return all there are; other threads may make more meanwhile, with which an iteration would fail."""
    return [gathering for ref in _ALL.keyrefs() if (gathering := ref()) is not None]


@atexit.register
def _store() -> None:
    """Store what was written, but not waited for."""
    for gathering in _alive():
        if gathering.is_writing():
            gathering.empty()


@in_child
def _renew() -> None:
    for gathering in _alive():
        gathering.renew()
