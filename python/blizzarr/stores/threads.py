"""Threads that wait for stores; the system may provide fewer than are asked for, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import local
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

from blizzarr import _native
from blizzarr.errors import StoreError

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Threads", "check_wanted"]

T = TypeVar("T")
R = TypeVar("R")

_TICK: Final = 0.1
"""Seconds after which a thread that waits for others looks whether it is to go on."""

_work: Any = local()
"""`pool` is that for which a thread works."""


def check_wanted(*, is_write: bool) -> None:
    """Raise an error if what this thread works for has failed, or, if it writes, was interrupted.

    The error is for the thread alone: the caller of the operation gets what made it fail.

    Raises
    ------
    StoreError
        If it has.
    """
    pool: Threads | None = getattr(_work, "pool", None)
    if _native.is_given_up(is_write) or (pool is not None and pool.is_given_up(is_write)):
        raise StoreError("given up, as another part of the operation has failed or was interrupted")


class Threads:
    """A pool of threads that runs work in the calling thread if no thread can be started.

    The system may be out of threads, or the interpreter may be shutting down.

    Examples
    --------
    >>> with Threads(2) as pool:
    ...     list(pool.map(str.upper, "ab"))
    ['A', 'B']
    """

    def __init__(self, count: int) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._pool = ThreadPoolExecutor(count)
        self._above: Threads | None = getattr(_work, "pool", None)
        self._failure: type[BaseException] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._failure = kind
        self._pool.shutdown()

    def is_given_up(self, by_interrupt: bool) -> bool:
        """Return whether the work is in vain: some of it has failed, or the caller was interrupted, or only the latter.

        Examples
        --------
        >>> Threads(1).is_given_up(False)
        False
        """
        mine = self._failure is not None and not (by_interrupt and issubclass(self._failure, Exception))
        return mine or (self._above is not None and self._above.is_given_up(by_interrupt))

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Return the results in the order of the items; all of them are submitted before the first is waited for."""
        tasks = [_Task(work, item, self) for item in items]
        alone = False
        for task in tasks:
            try:
                self._pool.submit(task)
            except RuntimeError:
                # Too many threads, no memory for another one, or the interpreter is shutting down. This task may have
                # been queued all the same.
                alone = True
                break
        return _results(tasks, alone=alone)


class _Task(Generic[R]):
    """Work that is done once, by the first thread that calls it."""

    def __init__(self, work: Callable[[T], R], item: T, pool: Threads) -> None:
        from concurrent.futures import Future

        self._pool = pool
        self._left: list[tuple[Callable[[Any], R], Any]] = [(work, item)]
        self._future: Future[R] = Future()

    def __call__(self) -> None:
        try:
            work, item = self._left.pop()
        except IndexError:
            return
        above, _work.pool = getattr(_work, "pool", None), self._pool
        try:
            self._future.set_result(work(item))
        except BaseException as error:
            self._future.set_exception(error)
        finally:
            _work.pool = above

    def result(self) -> R:
        while True:
            try:
                return self._future.result(_TICK)
            except TimeoutError:
                if self._future.done():
                    raise
                # What this thread works for may have failed elsewhere.
                check_wanted(is_write=False)

    def give_up(self) -> None:
        self._left.clear()


def _results(tasks: list[_Task[R]], *, alone: bool) -> Iterator[R]:
    try:
        for task in tasks:
            if alone:
                task()
            yield task.result()
    finally:
        # Tasks that have not begun when one of them failed are dropped.
        for task in tasks:
            task.give_up()
