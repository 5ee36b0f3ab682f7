"""Small writes that would wait for each other are done together."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.zarr_pipeline.gathered import Gathered
from blizzarr.zarr_pipeline.threads import begin, outcome

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")


class Handle:
    """What the engine would do; the first write goes on when it is told to."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.begun = threading.Event()
        self.calls: list[list[int]] = []

    def write(self, source: Any, axes: Any, write_empty: bool = False) -> None:
        self.calls.append([int(source)])
        self.begun.set()
        assert self.go_on.wait(60)
        if source < 0:
            raise ValueError(f"no {source}")

    def write_parts(self, parts: Any, write_empty: bool = False) -> None:
        self.calls.append([int(source) for source, _ in parts])
        if any(source < 0 for source, _ in parts):
            raise ValueError("one of them")


async def outcomes(handle: Handle, numbers: list[int], cancelled: int = -1) -> list[Any]:
    gathered = Gathered(lambda act: act())

    def begin(number: int) -> asyncio.Task[bool]:
        return asyncio.create_task(gathered.write(handle, np.array(number), (), False))

    tasks = [begin(numbers[0])]
    await asyncio.to_thread(handle.begun.wait, 60)
    tasks += map(begin, numbers[1:])
    await asyncio.sleep(0)
    if cancelled >= 0:
        tasks[cancelled].cancel()
        await asyncio.sleep(0)
    handle.go_on.set()
    return await asyncio.gather(*tasks, return_exceptions=True)


def test_what_comes_meanwhile_is_written_together() -> None:
    handle = Handle()
    assert asyncio.run(outcomes(handle, [1, 2, 3, 4])) == [True] * 4
    assert handle.calls == [[1], [2, 3, 4]]


def test_each_write_has_its_own_error() -> None:
    handle = Handle()
    first, second, third = asyncio.run(outcomes(handle, [1, -2, 3]))
    assert (first, third) == (True, True)
    assert isinstance(second, ValueError)
    assert str(second) == "no -2"
    assert handle.calls == [[1], [-2, 3], [-2], [3]]


def test_what_is_cancelled_before_it_begins_is_not_written() -> None:
    handle = Handle()
    first, second, third = asyncio.run(outcomes(handle, [1, 2, 3], cancelled=1))
    assert (first, third) == (True, True)
    assert isinstance(second, asyncio.CancelledError)
    assert handle.calls == [[1], [3]]


@pytest.mark.parametrize("number", [1, -1])
@pytest.mark.parametrize("is_gathered", [True, False])
def test_who_is_cancelled_waits_for_a_write_that_has_begun(is_gathered: bool, number: int) -> None:
    """It would undo what is written after it; nobody asks for its error."""
    handle = Handle()

    async def cancelled() -> bool:
        complaints: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        if is_gathered:
            write = Gathered(lambda act: act()).write(handle, np.array(number), (), False)
        else:
            write = outcome(begin(lambda: handle.write(np.array(number), ())))
        task = asyncio.create_task(write)
        await asyncio.to_thread(handle.begun.wait, 60)
        await asyncio.sleep(0)  # From Python 3.14 on, a thread that is quick enough lets no task run.
        for _ in range(2):
            task.cancel()
            await asyncio.wait([task], timeout=0.1)
            assert not task.done()
        handle.go_on.set()
        await asyncio.wait([task], timeout=60)
        gc.collect()
        assert not complaints
        return task.cancelled()

    assert asyncio.run(cancelled())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_begins_anew() -> None:
    gathered, handle = Gathered(lambda act: act()), Handle()
    handle.go_on.set()

    async def write() -> None:
        await asyncio.wait_for(gathered.write(handle, np.array(1), (), False), 30)

    asyncio.run(write())
    # As if another thread of the parent were writing at that moment.
    gathered._is_busy = True
    pid = os.fork()
    if not pid:
        try:
            asyncio.run(write())
            os._exit(len(handle.calls))
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2


@pytest.mark.parametrize("layout", [{"chunks": (32, 64)}, {"chunks": (8, 16), "shards": (32, 64)}], ids=str)
def test_threads_that_write_parts_of_one_value_lose_nothing(layout: dict[str, Any], tmp_path: Path) -> None:
    zstd = zarr.codecs.ZstdCodec(level=3)
    array = zarr.create_array(tmp_path, shape=(32, 64), dtype="i8", compressors=zstd, **layout)
    pipeline = array._async_array.codec_pipeline
    # So slow that nothing is done at once.
    pipeline._writes.seconds = 1.0
    values = np.random.default_rng(0).integers(0, 99, array.shape)

    def write(number: int) -> None:
        for row in range(number, 32, 8):
            array[row] = values[row]

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(array[:], values)
