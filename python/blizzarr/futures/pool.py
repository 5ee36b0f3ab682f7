"""The threads that do the work of futures.

There are few, as the engine has threads of its own for the elements. A thread that waits for another future does not
count, so that work that waits for other work cannot deadlock; and waiting for work that has not begun does that work in
the waiting thread.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any, Final, ParamSpec, TypeVar

from blizzarr.errors import ConflictError
from blizzarr.futures.future import Future, drop, fail, failed, finish, pending, resolved, run

T = TypeVar("T")
Given = ParamSpec("Given")

_FAR: Final = 28
"""The most threads that may wait for stores far away beside those that work."""
LOST: Final = "this work was started before a fork and is lost in the child; start it again"
_PATIENCE: Final = 1.0
"""Seconds after which a thread that has not begun is taken for one that never will."""


class Pool:
    """Threads that are started when there is work; a child forgets them after a fork."""

    def __init__(self) -> None:
        self._limit = max(4, os.cpu_count() or 1)
        self._reset()

    def _reset(self) -> None:
        # Reentrant, as the garbage collector may submit a batch while this thread has it.
        self._lock = threading.RLock()
        self._queue: SimpleQueue[Future[Any]] = SimpleQueue()
        self._free = 0
        self._active = 0
        self._far = 0
        self._starting: list[float] = []
        """When the threads were started that are active, and have not begun yet."""
        self._mine = threading.local()
        self._running: dict[int, Future[Any]] = {}

    def put(self, future: Future[Any]) -> None:
        """Queue the work of a future for one of the threads."""
        self._queue.put(future)
        self._grow()

    def _grow(self) -> None:
        """Start another thread, if more work is queued than threads are idle, and the limit allows it."""
        with self._lock:
            now = time.monotonic()
            while self._starting and now - self._starting[0] > _PATIENCE:
                del self._starting[0]
                self._active -= 1
            if self._free >= self._queue.qsize() or self._active >= self._limit:
                return
            self._starting.append(now)
            self._active += 1
        # Python does not wait for them when it ends, as what they wait for may never come; and nobody waits until they
        # have begun, which one that finds no memory never does.
        try:
            start_new_thread(self._work, ())
        except (RuntimeError, MemoryError):
            # The system cannot start another thread.
            with self._lock:
                self._starting.pop()
                self._active -= 1
                others = self._active
            if not others:
                # There is no other thread that would.
                with contextlib.suppress(Empty):
                    while True:
                        run(self._queue.get_nowait())

    def _work(self) -> None:
        self._mine.worker = True
        with self._lock:
            if self._starting:
                del self._starting[0]
            else:  # it was no longer expected
                self._active += 1
        me = threading.get_ident()
        while True:
            with self._lock:
                self._free += 1
            try:
                future = self._queue.get()
            finally:
                with self._lock:
                    self._free -= 1
            self._running[me] = future
            try:
                run(future)
            except BaseException:
                # A callback has ended this thread with SystemExit, or there is a bug in this library, which
                # `sys.unraisablehook` reports. Another thread takes the place of this one.
                with self._lock:
                    self._active -= 1
                raise
            finally:
                self._running.pop(me, None)
            del future
            with self._lock:
                if self._active > self._limit:
                    # There were more because some were waiting.
                    self._active -= 1
                    return

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """A context in which a thread of the pool waits, and another one may work in its place."""
        if not getattr(self._mine, "worker", False):
            yield
            return
        with self._lock:
            self._active -= 1
        self._grow()
        try:
            yield
        finally:
            with self._lock:
                self._active += 1

    @contextlib.contextmanager
    def far_away(self) -> Iterator[None]:
        """Make requests that take long in the context, in a thread of the pool; some others may work meanwhile.

        It decorates functions, too, like any context of `contextlib`.
        """
        with self._lock:
            is_one = self._far < _FAR
            self._far += is_one
        try:
            with self.waiting() if is_one else contextlib.nullcontext():
                yield
        finally:
            with self._lock:
                self._far -= is_one

    def after_fork(self) -> None:
        """Forget the threads, which a child does not have; work that has not begun is done by whoever waits for it."""
        running = list(self._running.values())
        self._reset()
        for future in running:
            fail(future, ConflictError(LOST))


POOL = Pool()
os.register_at_fork(after_in_child=POOL.after_fork)


def submit(work: Callable[[], T], into: list[Future[Any]] | None = None, kind: type[Future[T]] = Future) -> Future[T]:
    """Return the future of work that one of the pool's threads does; it is appended to `into` before that can begin."""
    future = pending(work, kind)
    if into is not None:
        into.append(future)
    POOL.put(future)
    return future


def do_all(tasks: Sequence[Callable[[], object]], at_once: bool) -> None:
    """Do all tasks, in this thread if `at_once` and else in the pool, and wait for them.

    >>> done = []
    >>> do_all([lambda: done.append(1), lambda: done.append(2)], at_once=True)
    >>> done
    [1, 2]
    """
    if at_once or len(tasks) == 1:
        for task in tasks:
            task()
        return
    with nothing_left() as futures:
        for task in tasks:
            submit(task, futures)
        for future in futures:
            future.result()


@contextlib.contextmanager
def nothing_left() -> Iterator[list[Future[Any]]]:
    """Yield a list for futures that the block waits for; after an error or interrupt, none of their work goes on.

    Work that nobody has begun is dropped, and the rest is waited for: a late write would undo what is written next.

    >>> with nothing_left() as futures:
    ...     submit(lambda: 6 * 7, futures).result()
    42
    """
    futures: list[Future[Any]] = []
    try:
        yield futures
    except BaseException:
        for future in [future for future in futures if not drop(future) and not future.cancelled()]:
            future.exception()
        raise


QUICK: Final = 1e-3
"""The most seconds that a caller is kept waiting: on a busy machine, handing over to another thread takes longer."""
_LATELY: Final = 8
"""About as many measurements in a row must be slow to count: on a busy machine, single ones are."""


def at_once(work: Callable[..., T], *given: Any) -> Future[T]:
    """Return the future of work that is done here and now."""
    try:
        return resolved(work(*given))
    except Exception as error:
        return failed(error)


class Pace:
    """A running estimate of how long one kind of work takes, which differs by storage: page cache, disk, network."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def submit(self, work: Callable[[], T], kind: type[Future[T]] = Future) -> Future[T]:
        """Return the future of work of this kind: done, or left to another thread where it is slow."""
        if self.seconds >= QUICK:
            return submit(partial(self.timed, work), kind=kind)
        future = pending(None, kind)
        try:
            finish(future, self.timed(work))
        except Exception as error:
            fail(future, error)
        return future

    def timed(self, work: Callable[Given, T], /, *given: Given.args, **more: Given.kwargs) -> T:
        """Do work of this kind in this thread, and learn from how long it takes."""
        start = perf_counter()
        try:
            return work(*given, **more)
        finally:
            taken = perf_counter() - start
            self.seconds = min(taken, self.seconds + (taken - self.seconds) / _LATELY)
