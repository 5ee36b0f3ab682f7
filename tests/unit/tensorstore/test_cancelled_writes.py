"""Who awaits a write, and is cancelled."""

from __future__ import annotations

import asyncio
import threading

from blizzarr.futures import submit, write_futures


def test_who_is_cancelled_waits_for_a_write_that_has_begun() -> None:
    """It would undo what is written after it."""
    begun, go_on = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert go_on.wait(60)

    async def cancelled() -> tuple[bool, bool]:
        future = submit(work)
        writing = write_futures(future, future)

        async def wait() -> None:
            await writing

        task = asyncio.create_task(wait())
        await asyncio.to_thread(begun.wait, 60)
        for _ in range(2):
            task.cancel()
            await asyncio.wait([task], timeout=0.1)
            assert not task.done()
        go_on.set()
        await asyncio.wait([task], timeout=60)
        return task.cancelled(), writing.cancelled()

    assert asyncio.run(cancelled()) == (True, False)
