"""Waiting in an event loop for the end of a change, which goes on when whoever waits for the change is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any


async def wait_to_the_end(work: asyncio.Future[Any], drop: Callable[[], object] = bool) -> None:
    """Wait until a future is done, however often the wait is cancelled, and raise `asyncio.CancelledError` only then.

    A change that has begun goes on, and would undo what is written next. Each cancellation calls `drop`, which may drop
    work that nobody has begun.

    >>> async def wait() -> bool:
    ...     work = asyncio.get_running_loop().create_future()
    ...     waiting = asyncio.ensure_future(wait_to_the_end(work))
    ...     for _ in range(2):
    ...         await asyncio.sleep(0)
    ...         waiting.cancel()
    ...     work.set_result(None)
    ...     await asyncio.wait([waiting])
    ...     return waiting.cancelled()
    >>> asyncio.run(wait())
    True
    """
    # If nobody is there any more to see its error, the loop should not report it.
    work.add_done_callback(lambda done: done.cancelled() or done.exception())
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
            drop()
    if cancelled is not None:
        raise cancelled
