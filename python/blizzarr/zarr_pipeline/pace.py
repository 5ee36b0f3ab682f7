"""Where small operations are done: at once in the thread of an event loop, or in another one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter
from typing import ParamSpec, TypeVar

from zarr.core import sync as zarr_python

from blizzarr.zarr_pipeline.threads import in_thread

_QUICK = 1e-3
"""Up to how many seconds an operation may take there if nobody else wants to do one."""
_SHARED = 2e-4
"""The same if somebody does: handing it to another thread takes about half as long."""
_ALONE = 5e-3
"""The same if nobody else does in zarr-python's own event loop, in which only its arrays and groups are awaited."""
_LATELY = 8
"""About how many operations in a row must be slow to be believed: a busy machine makes single ones slow."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


_WANTED: set[object] = set()
"""The small operations that have begun, and have not ended."""
if hasattr(os, "register_at_fork"):
    # In a forked child, those of the parent would never end.
    os.register_at_fork(after_in_child=_WANTED.clear)


def _most() -> float:
    return _ALONE if asyncio.get_running_loop() is zarr_python.loop[0] else _QUICK


class Pace:
    """How long small operations of one kind take lately.

    >>> asyncio.run(Pace().run(max, 1, 2))
    2
    """

    def __init__(self) -> None:
        self._seconds = 0.0

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
            if self._seconds <= _ALONE:
                # Whatever else is waiting in the event loop gets its turn first.
                await asyncio.sleep(0)
                if self._seconds <= _SHARED or (len(_WANTED) == 1 and self._seconds <= _most()):
                    return self.timed(act, *given, **more)
            return await slowly(*given, **more)
        finally:
            _WANTED.discard(this)

    def timed(self, act: Callable[Given, Result], /, *given: Given.args, **more: Given.kwargs) -> Result:
        """Do it in this thread, and learn from how long it takes."""
        start = perf_counter()
        try:
            return act(*given, **more)
        finally:
            taken = perf_counter() - start
            self._seconds = min(taken, self._seconds + (taken - self._seconds) / _LATELY)
