"""Threads that wait for stores; the system may provide fewer than are asked for, or none."""

from __future__ import annotations

from _thread import allocate_lock, start_new_thread
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import SimpleQueue
from threading import local
from typing import Any, Final, Generic, Self, TypeVar

from blizzarr import _native
from blizzarr.errors import StoreError

T = TypeVar("T")
R = TypeVar("R")

_TICK: Final = 0.1
"""Seconds after which a thread that waits for others looks whether it is to go on."""

_work: Any = local()
"""`pool` is that for which a thread works."""


def check_wanted(*, is_write: bool) -> None:
    """Raise an error if what this thread works for has failed, or, if it writes, was interrupted.

    The error is for the thread alone: the caller of the operation gets what made it fail.

    Raise `StoreError` if it has.
    """
    pool: Threads | None = getattr(_work, "pool", None)
    if _native.is_given_up(is_write) or (pool is not None and pool.is_given_up(is_write)):
        raise StoreError("given up, as another part of the operation has failed or was interrupted")


def threads_here() -> int:
    """Return how many threads may do what this one does: as many as its pool has, and the pools around that."""
    pool: Threads | None = getattr(_work, "pool", None)
    return 1 if pool is None else pool._at_once


class Threads:
    """A pool of threads that runs work in the calling thread if no thread can be started.

    The system may be out of threads, or the interpreter may be shutting down. Nobody waits until a thread has begun, as
    `threading.Thread.start` does: one that finds no memory then ends without a word to anyone.

    >>> with Threads(2) as pool:
    ...     list(pool.map(str.upper, "ab"))
    ['A', 'B']
    """

    def __init__(self, count: int) -> None:
        self._left = count
        """The number of threads that may still be started."""
        self._started = 0
        self.alone = False
        """True if the calling thread works, as no other does."""
        self._queue: SimpleQueue[_Task[Any] | None] = SimpleQueue()
        self._lock = allocate_lock()
        self._closed = False
        self._running: set[_Task[Any]] = set()
        self._above: Threads | None = getattr(_work, "pool", None)
        self._at_once: int = count * threads_here()
        self._failure: type[BaseException] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._failure = kind
        with self._lock:
            self._closed = True
            running = [*self._running]
        try:
            for task in running:
                while not task.wait():
                    pass
        finally:
            for _thread in range(self._started):
                self._queue.put(None)

    def is_given_up(self, by_interrupt: bool) -> bool:
        """Return whether the work is in vain: some of it failed, or the caller was interrupted, or only the latter."""
        mine = self._failure is not None and not (by_interrupt and issubclass(self._failure, Exception))
        return mine or (self._above is not None and self._above.is_given_up(by_interrupt))

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Return the results in the order of the items; all of them are submitted before the first is waited for."""
        tasks = [_Task(work, item, self) for item in items]
        for task in tasks:
            self._queue.put(task)
        self._start(len(tasks))
        self.alone = self.alone or not self._started
        return self._results(tasks)

    def _results(self, tasks: Sequence[_Task[R]]) -> Iterator[R]:
        try:
            for task in tasks:
                if self.alone:
                    task()
                yield task.result()
        finally:
            # Those that have not begun when one of them failed.
            self._drop(tasks)

    def _drop(self, tasks: Iterable[_Task[Any]]) -> None:
        with self._lock:
            for task in tasks:
                if task.claim is None:
                    task.claim = self

    def _start(self, wanted: int) -> None:
        """Start up to so many threads, as far as the limit and the system allow it."""
        for _ in range(min(wanted, self._left)):
            try:
                start_new_thread(self._serve, ())
            except (RuntimeError, MemoryError):
                return
            self._left -= 1
            self._started += 1

    def _serve(self) -> None:
        while (task := self._queue.get()) is not None:
            task()
            del task  # which has the result

    def claim(self, task: _Task[Any], claim: object) -> bool:
        """Return whether a task is to be done by whom this claim is of: nobody else does it, and somebody waits."""
        with self._lock:
            if self._closed or task.claim is not None:
                return False
            # In this order: whoever is interrupted in between gets to `finished` with its own task.
            task.claim = claim
            self._running.add(task)
            return True

    def finished(self, task: _Task[Any]) -> None:
        """Forget a task that was claimed, and is done."""
        with self._lock:
            self._running.discard(task)


class _Task(Generic[R]):
    """Work that is done once, by the first thread that claims it."""

    def __init__(self, work: Callable[[T], R], item: T, pool: Threads) -> None:
        self._pool = pool
        self._work: Callable[[Any], R] = work
        self._item = item
        self.claim: object = None
        # After it is claimed, nothing is allocated without which others would not learn that it is done.
        self._outcome: list[R] = []
        self._error: BaseException | None = None
        self._is_done = False
        self._waiting = allocate_lock()
        self._waiting.acquire()

    def __call__(self) -> None:
        """Do the work, unless another thread does, or the pool is closed."""
        mine = object()
        try:
            if not self._pool.claim(self, mine):
                return
            above, _work.pool = getattr(_work, "pool", None), self._pool
            try:
                self._outcome.append(self._work(self._item))
            finally:
                _work.pool = above
        except BaseException as error:
            self._error = error
        finally:
            if self.claim is mine:
                self._is_done = True
                self._waiting.release()
                self._pool.finished(self)

    def wait(self) -> bool:
        """Return whether it is done, which is waited for for a moment."""
        # Ctrl-C between the two calls leaves the lock as it is; who waits once more sees that the task is done.
        if not self._is_done and self._waiting.acquire(timeout=_TICK):
            self._waiting.release()
        return self._is_done

    def result(self) -> R:
        """Return the result of the work, once it is done; all tasks before it must be done."""
        while not self.wait():
            # What this thread works for may have failed elsewhere.
            check_wanted(is_write=False)
            # The tasks before it are done, so that no thread is busy: if none has taken this one, they are gone.
            if self.claim is None:
                self._pool.alone = True
                self()
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # it has this frame in its traceback
        return self._outcome.pop()
