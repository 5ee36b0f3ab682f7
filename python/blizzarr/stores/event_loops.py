"""Asynchronous code of others, whose results any thread can wait for.

It runs in an event loop of ours: the callers may be in loops of their own, that of zarr-python for one. If it calls
this library itself and so waits in that loop, what it waits for runs in another one.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from _thread import allocate_lock
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import CancelledError
from inspect import CO_COROUTINE
from typing import Any, Final, Generic, TypeVar

from blizzarr.config import config
from blizzarr.fork import in_child
from blizzarr.stores.failures import mark_as_of_signal
from blizzarr.stores.threads import check_wanted

T = TypeVar("T")
R = TypeVar("R")

_TICK: Final = 0.1
"""Seconds after which a waiting thread looks whether it is to go on."""
_SHORT: Final = 0.001
"""Seconds after which it looks for the first time, where a loop has been found waiting in this library before."""
_GRACE: Final = 0.15
"""Seconds that a write has to end after Ctrl-C: one that is cancelled may be carried out all the same."""


class _Loop:
    """An event loop in a thread, which ends with the process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.has_waited = False
        """True if code in this loop has ever called this library, and so kept others waiting."""
        self._thread = threading.Thread(target=self.loop.run_forever, name="blizzarr_loop", daemon=True)
        self._thread.start()

    def is_here(self) -> bool:
        """Return whether this is its thread."""
        return self._thread.ident == threading.get_ident()

    def waits(self) -> bool:
        """Return whether its thread waits in this library, and not for the loop."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        while frame is not None and not frame.f_globals.get("__name__", "").startswith("blizzarr."):
            frame = frame.f_back
        # The loop itself calls these, and goes on.
        ends = _Call.begin.__code__, _Call._cancel.__code__
        return frame is not None and not frame.f_code.co_flags & CO_COROUTINE and frame.f_code not in ends


class _Call(Generic[R]):
    """A call of an asynchronous function, with less between the threads than a future of asyncio has."""

    def __init__(self, loop: _Loop, work: Callable[..., Coroutine[Any, Any, R]], arguments: tuple[Any, ...]) -> None:
        self._loop, self._work, self._arguments = loop, work, arguments
        self._claim = allocate_lock()
        self.pending = allocate_lock()
        """It is free once there is an outcome."""
        self.pending.acquire()
        self._outcome: list[R] = []
        self._error: BaseException | None = None

    def claim(self) -> bool:
        """Return whether nobody had begun with the call, or given it up; nobody does after this."""
        return self._claim.acquire(blocking=False)

    def begin(self) -> None:
        """Begin with the call, in the loop's thread, unless it was given up."""
        if self.claim():
            self._task = self._loop.loop.create_task(self._run())

    async def _run(self) -> None:
        try:
            self._outcome.append(await self._work(*self._arguments))
        except asyncio.CancelledError:
            # That of asyncio is none that `except Exception` catches.
            self._error = CancelledError()
        except BaseException as error:
            self._error = error
        finally:
            self.pending.release()

    def give_up(self) -> None:
        """Cancel the call, if it has begun; otherwise it does not begin."""
        if not self.claim():
            self._loop.loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        self._task.cancel()

    def result(self) -> R:
        """Return the result, or raise the error, once there is either."""
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # it has this frame in its traceback
        return self._outcome.pop()


class _Loops:
    """The loops of this process: one, unless it waits."""

    def __init__(self) -> None:
        self._renew()
        in_child(self._renew)

    def __getitem__(self, number: int) -> _Loop:
        with self._changing:
            while number >= len(self._made):
                self._made.append(_Loop())
            return self._made[number]

    def _renew(self) -> None:
        self._changing = allocate_lock()
        self._made: list[_Loop] = []


_loops = _Loops()


def result_of(work: Callable[..., Coroutine[Any, Any, R]], *arguments: Any, is_write: bool = False) -> R:
    """Return what an asynchronous function returns, and raise what it raises.

    Raise `StoreError` if what the thread works for has failed meanwhile.
    """
    number = 0
    while (answer := _answer_in(_loops[number], work, arguments, is_write)) is None:
        number += 1
    return answer.result()


async def all_of(work: Callable[[T], Coroutine[Any, Any, R]], items: Iterable[T]) -> list[R]:
    """Return the results for all items, in their order, with up to `config.concurrent_requests` at once.

    After the first failure, the others are cancelled and waited for.
    """
    items = list(items)
    if len(items) == 1:
        return [await work(items[0])]
    limit = asyncio.Semaphore(config.requests_at_once)

    async def one(item: T) -> R:
        async with limit:
            return await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _answer_in(
    loop: _Loop, work: Callable[..., Coroutine[Any, Any, R]], arguments: tuple[Any, ...], is_write: bool
) -> _Call[R] | None:
    """Return the answer, once it has come; None if the loop has not begun with the work, as it waits itself."""
    call = _Call(loop, work, arguments)
    try:
        loop.loop.call_soon_threadsafe(call.begin)
        # In its own thread, the loop cannot begin.
        tick = 0.0 if loop.is_here() else _SHORT if loop.has_waited else _TICK
        while not _interruptibly(call.pending, tick):
            check_wanted(is_write=is_write)
            if loop.waits() and call.claim():
                loop.has_waited = True
                return None
            tick = _TICK
    except BaseException:
        if is_write:
            call.pending.acquire(timeout=_GRACE)
        call.give_up()
        raise
    return call


def _interruptibly(lock: Any, seconds: float) -> bool:
    try:
        return bool(lock.acquire(timeout=seconds))
    except BaseException as raised:
        # Nothing raises here but the handler of a signal.
        mark_as_of_signal(raised)
        raise
