"""Asynchronous code of others, whose results any thread can wait for.

It runs in an event loop of ours: the callers may be in loops of their own, that of zarr-python for one. If it calls
this library itself and so waits in that loop, what it waits for runs in another one.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from _thread import allocate_lock
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from inspect import CO_COROUTINE
from typing import Any, Final, TypeVar

from blizzarr.config import config
from blizzarr.stores.failures import mark_as_of_signal
from blizzarr.stores.threads import check_wanted

__all__ = ["all_of", "result_of"]

T = TypeVar("T")
R = TypeVar("R")

_TICK: Final = 0.1
"""Seconds after which a waiting thread looks whether it is to go on."""
_GRACE: Final = 0.15
"""Seconds that a write has to end after Ctrl-C: one that is cancelled may be carried out all the same."""


class _Loop:
    """An event loop in a thread, which ends with the process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="blizzarr_loop", daemon=True)
        self._thread.start()

    def waits(self) -> bool:
        """Return whether its thread waits in this library, and not for the loop."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        while frame is not None and not frame.f_globals.get("__name__", "").startswith("blizzarr."):
            frame = frame.f_back
        return frame is not None and not frame.f_code.co_flags & CO_COROUTINE


class _Loops:
    """The loops of this process: one, unless it waits."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            # Their threads do not exist in a forked child.
            os.register_at_fork(after_in_child=self._renew)

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

    Raises
    ------
    StoreError
        If what the thread works for has failed meanwhile.

    Examples
    --------
    >>> async def double(number):
    ...     return 2 * number
    >>> result_of(double, 21)
    42
    """
    number = 0
    while (answer := _answer_in(_loops[number], work, arguments, is_write)) is None:
        number += 1
    return answer.result()


async def all_of(work: Callable[[T], Coroutine[Any, Any, R]], items: Iterable[T]) -> list[R]:
    """Return the results for all items, in their order, with up to `config.concurrent_requests` at once.

    After the first failure, the others are cancelled and waited for.

    Examples
    --------
    >>> async def double(number):
    ...     return 2 * number
    >>> result_of(all_of, double, [1, 2])
    [2, 4]
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
) -> Future[R] | None:
    """Return the answer, once it has come; None if the loop has not begun with the work, as it waits itself."""
    came, claim = allocate_lock(), allocate_lock()
    came.acquire()

    async def begin() -> R:
        if not claim.acquire(blocking=False):
            raise asyncio.CancelledError
        return await work(*arguments)

    answer = asyncio.run_coroutine_threadsafe(begin(), loop.loop)
    answer.add_done_callback(lambda _: came.release())
    try:
        while not _interruptibly(came, _TICK):
            check_wanted(is_write=is_write)
            if not claim.locked() and loop.waits() and claim.acquire(blocking=False):
                return None
    except BaseException:
        if is_write:
            came.acquire(timeout=_GRACE)
        answer.cancel()
        raise
    return answer


def _interruptibly(lock: Any, seconds: float) -> bool:
    try:
        return bool(lock.acquire(timeout=seconds))
    except BaseException as raised:
        # Nothing raises here but the handler of a signal.
        mark_as_of_signal(raised)
        raise
