"""Asynchronous code whose results threads wait for."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from blizzarr.stores import event_loops
from blizzarr.stores.event_loops import result_of


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def test_many_threads_at_once() -> None:
    """Each has its own result, whichever of them has woken the loop."""
    with ThreadPoolExecutor(32) as threads:
        assert [*threads.map(lambda number: result_of(double, number), range(500))] == [*range(0, 1000, 2)]


def test_a_thread_that_was_interrupted_before_it_woke_the_loop() -> None:
    loop = event_loops._loops[0]
    loop._is_woken = True
    assert result_of(double, 21) == 42
    assert not loop._is_woken
