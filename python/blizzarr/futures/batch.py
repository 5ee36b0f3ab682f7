"""Batches of reads."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from blizzarr.errors import FutureError
from blizzarr.futures.future import Future, pending

T = TypeVar("T")


class Batch:
    """Reads that are begun together, so that a chunk that several of them need is read and decoded once.

    They begin at `submit`, at the end of a ``with`` block, or when the batch is dropped.

    Examples
    --------
    >>> with Batch() as batch:
    ...     future = add_work(batch, lambda: 6 * 7)
    >>> future.result()
    42
    """

    def __init__(self) -> None:
        self._futures: list[Future[Any]] | None = []
        self._shared: dict[Any, Any] = {}
        """State that the reads of the batch share."""

    def submit(self) -> None:
        """Begin the reads of the batch; no more can be added."""
        futures, self._futures = self._futures, None
        for future in futures or ():
            future.force()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.submit()

    def __del__(self) -> None:
        # If `__init__` raised, there is nothing to submit.
        if getattr(self, "_futures", None) is not None:
            self.submit()


def add_work(batch: Batch, work: Callable[[], T], kind: type[Future[T]] = Future) -> Future[T]:
    """Return the future of work that begins with the batch; raise `FutureError` when the batch was submitted."""
    return add_future(batch, pending(work, kind))


def add_future(batch: Batch, future: Future[T]) -> Future[T]:
    """Return a future whose work begins with the batch, or raise `FutureError`."""
    futures = batch._futures
    if futures is None:
        raise FutureError("batch was already submitted")
    futures.append(future)
    return future


def shared_state(batch: Batch) -> dict[Any, Any]:
    return batch._shared
