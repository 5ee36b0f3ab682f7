"""Asynchronous code whose results threads wait for."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from blizzarr.stores.event_loops import result_of


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def test_many_threads_at_once() -> None:
    """Each has its own result."""
    with ThreadPoolExecutor(32) as threads:
        assert [*threads.map(lambda number: result_of(double, number), range(500))] == [*range(0, 1000, 2)]
