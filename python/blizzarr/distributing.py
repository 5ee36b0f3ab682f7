"""Long work, cut into pieces that the workers of an executor do, on this machine or on others.

`spread` gives the pieces out, a bounded number at a time, and yields their results in order. A piece whose worker is
lost is given out again, so each piece must be such that it can be repeated.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import wait as wait_for
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, fields
from functools import lru_cache, partial
from itertools import islice
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeAlias, TypeVar
from uuid import uuid4

from blizzarr import _native
from blizzarr.config import config
from blizzarr.durability import Durability, as_durable_as_here, durable
from blizzarr.errors import UnsupportedOperationError, WorkerLostError
from blizzarr.lazy_imports import is_instance
from blizzarr.problems import warn
from blizzarr.stores import Store
from blizzarr.stores.impossible_keys import innermost, is_of
from blizzarr.stores.place import is_in_memory

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

T = TypeVar("T")
R = TypeVar("R")
Advance: TypeAlias = Callable[[int], object]
"""Called with how much was done since the last call."""
Work: TypeAlias = Callable[[T, Advance], R]
"""A function that works on a piece, and calls `Advance`."""

_LEAST: Final = 64
_EACH: Final = 4
"""The number of pieces that are given out at a time: at least, and for each worker."""
_PATIENCE: Final = 10.0
"""Seconds without a result after which a cluster is asked whether it has workers at all."""


class Workers:
    """An executor as `spread` uses it; `executor` may also be a Dask client.

    A `ProcessPoolExecutor` of which a process has died does nothing any more; a new one like it takes its place until
    `close`. Other executors replace lost workers themselves.

    Raise `TypeError` if it is neither.
    """

    def __init__(self, executor: Any) -> None:
        if not isinstance(executor, Executor):
            # A client remembers the results of what it takes for pure functions, and would not repeat a piece.
            client = getattr(executor, "get_executor", None)
            if client is None:
                raise TypeError(
                    "expected an executor like those of concurrent.futures, or a client of Dask, "
                    f"found {type(executor).__name__}"
                )
            executor = client(pure=False)
        self._executor: Executor = executor
        self._own: ProcessPoolExecutor | None = None
        self._sent: set[Future[Any]] = set()
        self.in_threads = is_instance(executor, "concurrent.futures.thread:ThreadPoolExecutor")
        """True if the workers are threads of this process."""
        self._client: Any = getattr(executor, "_client", None)
        """The client of a cluster of Dask that has not been found without workers yet."""
        self.count = _count(executor, self._client)
        """About how many pieces are worked on at a time."""
        self.ahead = max(_LEAST, _EACH * self.count)
        """The number of pieces that are given out at a time."""
        self.generation = 0
        """The number of executors that have been used up."""

    def sender(self, work: Work[T, R]) -> Callable[[T], Future[tuple[R, int]]]:
        """Return a function that gives a piece out, for its result and the sum of its calls of `Advance`.

        Raise `UnsupportedOperationError` if the work cannot be pickled, as other processes need it.
        """
        if self.in_threads:
            return partial(self._submit, as_durable_as_here(summed), work)
        return partial(self._submit, _elsewhere, uuid4().hex, pickled(work), Settings.here())

    def _submit(self, function: Callable[..., R], *arguments: Any) -> Future[R]:
        try:
            future = self._executor.submit(function, *arguments)
        except BrokenExecutor as error:
            if not is_lost(error):
                raise
            self.renew()
            future = self._executor.submit(function, *arguments)
        self._sent.add(future)
        future.add_done_callback(self._sent.discard)
        return future

    def wait(self, future: Future[Any]) -> None:
        """Wait until a piece is done, and warn once if nothing comes as the cluster has no workers."""
        while self._client is not None and wait_for([future], _PATIENCE).not_done:
            # If the scheduler cannot be reached now, the client knows what to do.
            with suppress(OSError):
                if not self._client.nthreads():
                    warn(
                        f"the Dask cluster at {self._client.scheduler.address} has no workers, and the work waits for "
                        "some; Dask's setting distributed.scheduler.no-workers-timeout makes that an error"
                    )
                    self._client = None
        wait_for([future])

    def renew(self) -> None:
        """Take a new executor in place of one that has lost a process, and cannot work any more.

        Raise `WorkerLostError` if it is of a kind that cannot be made anew here.
        """
        from concurrent.futures import ProcessPoolExecutor

        if type(self._executor) is not ProcessPoolExecutor:
            raise WorkerLostError(
                f"a worker was lost, after which a {type(self._executor).__name__} does nothing any more; "
                "repeat the call with a new one"
            )
        old: Any = self._executor
        self._close_own()
        # The standard library has no other way to ask how it was made.
        made = old._max_workers, old._mp_context, old._initializer, old._initargs
        self._executor = self._own = ProcessPoolExecutor(*made, max_tasks_per_child=old._max_tasks_per_child)
        self.generation += 1

    def close(self) -> None:
        """Take back what no worker has begun, and wait for what one has."""
        futures = self._sent.copy()
        wait_for([future for future in futures if not future.cancel()])
        self._close_own()

    def _close_own(self) -> None:
        if self._own is not None:
            self._own.shutdown(cancel_futures=True)
            self._own = None


@contextmanager
def workers_of(executor: Any, *stores: Store) -> Iterator[Workers | None]:
    """A context with the workers of an executor or Dask client, which can open these stores; None of None.

    At its end, after an error or Ctrl-C too, nothing is left of what was given out.

    Raise `TypeError` if it is neither. Raise `UnsupportedOperationError` if the workers are other processes, and a
    store is in the memory of this one, or cannot be pickled.
    """
    if executor is None:
        yield None
        return
    workers = Workers(executor)
    for store in () if workers.in_threads else stores:
        pickled(store, store)
    try:
        yield workers
    finally:
        workers.close()


def pickled(
    what: Store | Work[Any, Any],
    store: Store | None = None,
    advice: str = "leave out executor=, or use a ThreadPoolExecutor",
    dumps: Callable[[Any], bytes] = pickle.dumps,
) -> bytes:
    """Return a store, or work with stores, as workers in other processes need it.

    Raise `UnsupportedOperationError`, with the advice, if it cannot be pickled, or the store is in memory that other
    processes cannot reach.
    """
    if store is not None and is_in_memory(store):
        theirs = innermost(getattr(getattr(store, "target", None), "store", None))
        if is_of(theirs, "icechunk"):
            advice = "give each task a fork of the icechunk session, and merge the forks: see docs/icechunk.md"
        raise UnsupportedOperationError(
            "expected a directory or URL, which workers in other processes can open, found a store in the memory of "
            f"this process; {advice}",
            store=str(store),
        )
    try:
        return dumps(what)
    except Exception as error:
        raise UnsupportedOperationError(
            f"expected data that workers in other processes can open, found some that cannot be pickled: {error}; "
            f"{advice}",
            store=None if store is None else str(store),
        ) from error


def is_lost(error: BaseException | None) -> bool:
    """Return whether this error says that a worker was lost, and not that its work failed."""
    places = "concurrent.futures.process:BrokenProcessPool", "distributed:KilledWorker"
    return isinstance(error, CancelledError) or any(is_instance(error, place) for place in places)


def summed(work: Work[T, R], piece: T) -> tuple[R, int]:
    """Return the result of work on a piece, and the sum of the counts that it has reported."""
    counts: list[int] = []
    result = work(piece, counts.append)
    return result, sum(counts)


def _elsewhere(call: str, pickled: bytes, settings: Settings, piece: T) -> tuple[Any, int]:
    """Work on a piece in another process."""
    with settings.applied():
        return summed(_unpickled(call, pickled), piece)


@lru_cache(8)
def _unpickled(call: str, pickled: bytes) -> Work[Any, Any]:
    """Return the work, which most pieces have in common: so a worker opens an array once.

    Another call opens it anew: there may be another zip file under the same path by then.
    """
    work: Work[Any, Any] = pickle.loads(pickled)
    return work


def _count(executor: Any, client: Any) -> int:
    if client is not None:
        return sum(client.nthreads().values()) or 1
    return getattr(executor, "_max_workers", None) or os.cpu_count() or 1


_TOKEN = uuid4().hex
"""Together with its number, it tells a process from all others; processes of other machines may have its number."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a process, and the durability that one of its threads has chosen."""

    process: tuple[str, int]
    values: tuple[tuple[str, Any], ...]
    durability: Durability | None

    @classmethod
    def here(cls) -> Self:
        """Return those of this process and this thread."""
        values = tuple((field.name, getattr(config, field.name)) for field in fields(config))
        chosen: Any = _native.durability_choice()[0]
        return cls((_TOKEN, os.getpid()), values, chosen)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """A context in which they count here.

        Without a number of threads on either side, another process uses one: there is usually one for each core.
        """
        here = (_TOKEN, os.getpid()) == self.process
        settings: AbstractContextManager[object] = nullcontext() if here else _SHARED.of(self)
        # At its end what the piece has written is safe: the process that gave it out cannot see to that.
        choice = nullcontext() if self.durability is None else durable(self.durability)
        with settings, choice:
            yield


class _Shared:
    """The settings of this process, lent to the pieces of another one; pieces of a third one wait."""

    def __init__(self) -> None:
        self._turn = Condition()
        self._active: Settings | None = None
        self._users = 0
        self._before: dict[str, Any] = {}

    @contextmanager
    def of(self, wanted: Settings) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: self._active in (None, wanted))
            if self._active is None:
                values = dict(wanted.values)
                values["threads"] = values["threads"] or config.threads or 1
                self._before = {name: getattr(config, name) for name in values}
                config.set(values)
                self._active = wanted
            self._users += 1
        try:
            yield
        finally:
            with self._turn:
                self._users -= 1
                if not self._users:
                    config.set(self._before)
                    self._active = None
                    self._turn.notify_all()


_SHARED = _Shared()


# Giving pieces of work out, and giving those out again whose worker is lost.

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
