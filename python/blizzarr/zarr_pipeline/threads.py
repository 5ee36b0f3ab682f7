"""Where the pipeline does its work: at once in the thread of zarr-python's event loop, or in threads of its own.

Small operations that were quick lately are done at once, as handing them to another thread takes longer.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from zarr.core import sync as zarr_python

from blizzarr import futures
from blizzarr.futures.pool import QUICK
from blizzarr.futures.to_the_end import wait_to_the_end

_MOST = 64
"""The most threads: each may be waiting for a lock of another process."""

Given = ParamSpec("Given")
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


_SHARED: Final = 2e-4
"""The most seconds of a small operation while others wait: handing one to another thread takes about half as long."""
_ALONE: Final = 5e-3
"""The most seconds if it is alone in zarr-python's own event loop, in which only arrays and groups are awaited."""

_WANTED: set[object] = set()
"""The small operations that have begun, and have not ended."""
if hasattr(os, "register_at_fork"):
    # In a forked child, those of the parent would never end.
    os.register_at_fork(after_in_child=_WANTED.clear)


class Pace(futures.Pace):
    """A running estimate of how long one kind of small operations takes, and where it is done accordingly.

    >>> asyncio.run(Pace().run(max, 1, 2))
    2
    """

    __slots__ = ()

    async def run(self, act: Callable[Given, Result], *given: Given.args, **more: Given.kwargs) -> Result:
        """Do it at once if such operations were quick lately, else in another thread."""
        return await self.run_or(partial(in_thread, self.timed, act), act, *given, **more)

    async def run_or(
        self,
        slowly: Callable[Given, Awaitable[Result]],
        act: Callable[Given, Result],
        *given: Given.args,
        **more: Given.kwargs,
    ) -> Result:
        """Do it at once if such operations were quick lately, else `slowly`."""
        this = object()
        _WANTED.add(this)
        try:
            if self.seconds <= _ALONE:
                # Whatever else is waiting in the event loop gets its turn first.
                await asyncio.sleep(0)
                most = _ALONE if asyncio.get_running_loop() is zarr_python.loop[0] else QUICK
                if self.seconds <= _SHARED or (len(_WANTED) == 1 and self.seconds <= most):
                    return self.timed(act, *given, **more)
            return await slowly(*given, **more)
        finally:
            _WANTED.discard(this)
