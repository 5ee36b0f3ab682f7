"""The threads in which the pipeline does what takes too long for the thread of zarr-python's event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from blizzarr.futures.to_the_end import wait_to_the_end

_MOST = 64
"""The most threads: each may be waiting for a lock of another process."""

Result = TypeVar("Result")

_executor: tuple[int, ThreadPoolExecutor] | None = None
"""The process that has these threads, and the threads."""


def begin(act: Callable[[], Result]) -> Future[Result]:
    """Do something in another thread.

    The threads are not those of the event loop, which are many and take turns: who does one thing after the other gets
    the same thread each time, with its memory, that of the codecs among it, still in the processor's caches.

    >>> begin(lambda: 1 + 1).result()
    2
    """
    global _executor
    if _executor is None or _executor[0] != os.getpid():
        _executor = os.getpid(), ThreadPoolExecutor(_MOST, "blizzarr-zarr")
    return _executor[1].submit(act)


async def in_thread(act: Callable[..., Result], *given: Any) -> Result:
    """Do something in another thread, and wait for it.

    >>> asyncio.run(in_thread(max, 1, 2))
    2
    """
    return await asyncio.wrap_future(begin(lambda: act(*given)))


async def outcome(work: Future[Result]) -> Result:
    """Return the result of what another thread does.

    Whoever is cancelled waits for the end of work that has begun: a write goes on, and would undo what is written next.

    >>> asyncio.run(outcome(begin(lambda: 1 + 1)))
    2
    """
    try:
        return await asyncio.wrap_future(work)
    except asyncio.CancelledError:
        if not work.cancel():
            await wait_to_the_end(asyncio.wrap_future(work))
        raise
