"""Threads that wait for stores; the system may provide fewer than are asked for, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Threads"]

T = TypeVar("T")
R = TypeVar("R")


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def map(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Return the results in the order of the items; all of them are submitted before the first is waited for."""
        tasks = [_Task(work, item) for item in items]
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

    def __init__(self, work: Callable[[T], R], item: T) -> None:
        from concurrent.futures import Future

        self._left: list[tuple[Callable[[Any], R], Any]] = [(work, item)]
        self._future: Future[R] = Future()

    def __call__(self) -> None:
        try:
            work, item = self._left.pop()
        except IndexError:
            return
        try:
            self._future.set_result(work(item))
        except BaseException as error:
            self._future.set_exception(error)

    def result(self) -> R:
        return self._future.result()

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
