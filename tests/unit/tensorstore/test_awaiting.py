"""Who awaits what is done already lets the event loop run, as in TensorStore."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from tensorstore_face import ours, theirs

pytestmark = pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])


def _awaited(library: Any) -> list[Callable[[], Awaitable[Any]]]:
    store = library.array(np.arange(4))
    promise, failed = library.Promise.new()
    promise.set_exception(ValueError("no"))
    future = library.Future(3)

    async def fail() -> None:
        with pytest.raises(ValueError, match="no"):
            await failed

    return [lambda: future, lambda: store[0].read(), lambda: store[0].write(5), lambda: store.resolve(), fail]


def test_other_tasks_run(library: Any) -> None:
    async def run() -> None:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0)

        heart = asyncio.ensure_future(beat())
        for call in _awaited(library):
            before = beats
            for _ in range(20):
                await call()
            assert beats >= before + 20
        heart.cancel()

    asyncio.run(run())


def test_cancelling_one_that_awaits_what_is_done(library: Any) -> None:
    async def run() -> None:
        for call in _awaited(library):

            async def wait(call: Callable[[], Awaitable[Any]] = call) -> None:
                await call()

            task = asyncio.ensure_future(wait())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        future = library.Future(3)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await future
        # What is done remains so.
        assert (future.cancelled(), future.result(), await future) == (False, 3, 3)
        if library is theirs:
            # TensorStore calls a loop back from its threads although nobody awaits anymore: a closed loop raises
            # there, and pytest counts that error for the test which follows.
            await asyncio.sleep(0.2)

    asyncio.run(run())
