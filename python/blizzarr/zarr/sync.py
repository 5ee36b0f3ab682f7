"""Coroutines for those who wait, and functions for those who await: an event loop in a thread, and threads."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final, TypeVar

__all__ = ["SyncError", "collect_aiterator", "in_thread", "sync"]

T = TypeVar("T")


class SyncError(Exception):
    """A coroutine cannot be waited for here."""


class _Loop:
    """The event loop, made when it is first needed; a forked child makes its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = 0

    def get(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                self._loop, self._process = asyncio.new_event_loop(), os.getpid()
                threading.Thread(target=self._loop.run_forever, name="blizzarr.zarr", daemon=True).start()
            return self._loop


_LOOP: Final = _Loop()


def sync(coroutine: Coroutine[Any, Any, T], loop: Any = None, timeout: float | None = None) -> T:
    """Run a coroutine in the event loop of this module, and return its result.

    Raises
    ------
    SyncError
        If it is called from a coroutine in that loop, which would wait for itself.
    """
    found = _LOOP.get() if loop is None else loop
    try:
        running: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is found:
        coroutine.close()
        raise SyncError("sync() was called from a coroutine of the loop that it waits for; await the coroutine instead")
    return asyncio.run_coroutine_threadsafe(coroutine, found).result(timeout)


async def in_thread(function: Callable[..., T], *args: Any, **named: Any) -> T:
    """Run a function that may take long in a thread, and wait for it without holding up the event loop."""
    return await asyncio.to_thread(function, *args, **named)


async def _collected(iterator: AsyncIterator[T]) -> tuple[T, ...]:
    return tuple([item async for item in iterator])


collect_aiterator = _collected
