"""Coroutines for those who wait, and functions for those who await."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

from blizzarr.futures.to_the_end import wait_to_the_end
from blizzarr.stores.event_loops import result_of

T = TypeVar("T")


class SyncError(Exception):
    """A coroutine cannot be waited for here; zarr-python raises it, and this package does not."""


def sync(coro: Coroutine[Any, Any, T], loop: Any = None, timeout: float | None = None) -> T:
    """Run a coroutine in an event loop of its own thread, and return its result.

    Examples
    --------
    >>> async def double(number):
    ...     return 2 * number
    >>> sync(double(21))
    42
    """

    async def wait() -> T:
        return await asyncio.wait_for(coro, timeout)

    return result_of(wait)


class SyncMixin:
    """Derive from it to have `sync` as a method."""

    def _sync(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return sync(coroutine)

    def _sync_iter(self, async_iterator: AsyncIterator[T]) -> list[T]:
        return list(sync(collect_aiterator(async_iterator)))


async def in_thread(function: Callable[..., T], *args: Any, **named: Any) -> T:
    """Run a function that may take long in a thread, and wait for it without holding up the event loop.

    Raise `RuntimeError` if it raises `StopIteration`, which no future takes: nobody would be told.
    """

    def call() -> T:
        try:
            return function(*args, **named)
        except StopIteration as error:
            raise RuntimeError(f"{function!r} raised StopIteration") from error

    return await asyncio.to_thread(call)


async def in_thread_to_the_end(function: Callable[..., T], *args: Any, **named: Any) -> T:
    """Run a function that changes something in a thread; whoever is cancelled, however often, waits for its end.

    Raise `RuntimeError` as `in_thread` does.
    """
    running = asyncio.ensure_future(in_thread(function, *args, **named))
    await wait_to_the_end(running)
    return running.result()


async def collect_aiterator(data: AsyncIterator[T]) -> tuple[T, ...]:
    """Return all items of an asynchronous iterator."""
    return tuple([item async for item in data])
