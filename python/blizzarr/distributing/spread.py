"""Giving pieces of work out, and giving those out again whose worker is lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from itertools import islice
from threading import Lock
from typing import Any, Final, Generic, TypeAlias, TypeVar

from blizzarr.distributing.workers import Advance, Work, Workers, is_lost
from blizzarr.errors import WorkerLostError

T = TypeVar("T")
R = TypeVar("R")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how much is done, and how much there is in all."""

_TIMES: Final = 4
"""The number of times that a piece is given out, as by Dask: a piece that kills each of its workers ends the work."""


def check_progress(progress: object) -> None:
    """Raise `TypeError` at once for what could not be called later, like True."""
    if progress is not None and not callable(progress):
        raise TypeError(f"expected progress= to be a function, called as progress(done, total), found {progress!r}")


class Tally:
    """Adds up what is done, and reports each sum once: now, and whenever it is called with what was done since.

    Any thread may call it; sums are reported by one thread at a time.

    >>> tally = Tally(print, 10)
    0 10
    >>> tally(3); tally(0)
    3 10
    """

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._done, self._total = progress, 0, total
        self._lock = Lock()
        if progress is not None:
            progress(0, total)

    def __call__(self, more: int) -> None:
        with self._lock:
            self._done += more
            if more and self._progress is not None:
                self._progress(self._done, self._total)


def batches(items: Sequence[T], most: int, workers: Workers | None = None) -> Iterator[Sequence[T]]:
    """Yield up to `most` items at a time, or fewer if otherwise some workers would get none."""
    count = most if workers is None else max(1, min(most, -(-len(items) // workers.ahead)))
    yield from (items[start : start + count] for start in range(0, len(items), count))


def spread(workers: Workers | None, work: Work[T, R], pieces: Iterable[T], advance: Advance) -> Iterator[R]:
    """Yield the results of work on each piece, in the order of the pieces.

    Only as many pieces are made as are given out at a time, see `Workers.ahead`. Without workers, each is done here,
    when its result is asked for.

    - `workers`: the workers; None does the work in this thread.
    - `work`: a function that is called with a piece, and with a function to which it reports its progress. It is
      pickled for other processes. A piece may be done again, even while a first attempt is still going on.
    - `advance`: a function that is called in this thread with the progress: at once without workers, else before each
      result.

    Raise `WorkerLostError` if workers are lost again and again with the same piece. Raise `UnsupportedOperationError`
    if the work cannot be pickled, and has to be.
    """
    if workers is None:
        for piece in pieces:
            yield work(piece, advance)
        return
    send = workers.sender(work)
    left = iter(pieces)
    waiting: deque[_Sent[T, R]] = deque()
    while True:
        for piece in islice(left, workers.ahead - len(waiting)):
            waiting.append(_Sent(piece, send, workers))
        if not waiting:
            return
        first = waiting[0]
        if first.is_lost():
            if first.broke():
                workers.renew()
            for sent in waiting:
                if sent.generation != workers.generation or sent.future.done():
                    sent.again_if_lost()
            continue
        waiting.popleft()
        result, came = first.future.result()
        advance(came)
        yield result


class _Sent(Generic[T, R]):
    """A piece that was given out."""

    def __init__(self, piece: T, send: Callable[[T], Future[tuple[R, int]]], workers: Workers) -> None:
        self._piece, self._send, self._workers = piece, send, workers
        self._times = 0
        self._give()

    def _give(self) -> None:
        self._times += 1
        self.future = self._send(self._piece)
        self.generation = self._workers.generation

    def is_lost(self) -> bool:
        """Wait for the result, and return whether there is none, as the worker was lost."""
        self._workers.wait(self.future)
        return is_lost(_outcome(self.future))

    def broke(self) -> bool:
        """Return whether the executor that has it now is broken."""
        return self.generation == self._workers.generation and isinstance(_outcome(self.future), BrokenExecutor)

    def again_if_lost(self) -> None:
        """Give the piece out again if its worker was lost."""
        error = _outcome(self.future)
        if not is_lost(error):
            return
        if self._times >= _TIMES:
            raise WorkerLostError(
                f"workers were lost {self._times} times in a row while they worked on the same part; they may lack "
                "memory for it: make parts smaller (config.copy_bytes, or --memory of copy), or give each worker more; "
                "or the program that made the processes lacks 'if __name__ == \"__main__\":' around what it does, so "
                "that each of them does it again when it starts"
            ) from error
        self._give()


def _outcome(future: Future[Any]) -> BaseException | None:
    """Wait for a future, and return its error; None if it has a result."""
    try:
        return future.exception()
    except CancelledError as error:
        return error
