"""Cancelling a write, or who awaits one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ts
from blizzarr.futures import ChangeFuture, submit, write_futures


def the_write(writing: Any) -> Awaitable[None]:
    return writing


def its_commit(writing: Any) -> Awaitable[None]:
    return writing.commit


@pytest.mark.parametrize("awaited", [the_write, its_commit])
def test_who_is_cancelled_waits_for_a_write_that_has_begun(awaited: Callable[[Any], Awaitable[None]]) -> None:
    """It would undo what is written after it."""
    begun, go_on = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert go_on.wait(60)

    async def cancelled() -> tuple[bool, bool]:
        future = submit(work, kind=ChangeFuture)
        writing = write_futures(future, future)

        async def wait() -> None:
            await awaited(writing)

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


def test_a_write_that_has_begun_cannot_be_cancelled() -> None:
    """It goes on, reads its source, and would undo what is written after it; one that has not begun is dropped."""
    begun, go_on = threading.Event(), threading.Event()
    stored: list[int] = []

    def write(domain: ts.IndexDomain, chunk: Any, _: Any) -> None:
        if chunk[0] == 1:
            begun.set()
            assert go_on.wait(60)
        stored.append(int(chunk[0]))

    store = ts.virtual_chunked(write_function=write, dtype=ts.int64, shape=[2])
    first = store.write([1, 1])
    assert begun.wait(60)
    assert (first.cancel(), first.commit.cancel(), first.copy.cancel()) == (False,) * 3
    assert (first.done(), first.copy.done(), first.cancelled()) == (False,) * 3
    go_on.set()
    first.result()
    batch = ts.Batch()
    second = store.write(ts.array(np.array([2, 2])), batch=batch)
    assert (second.cancel(), second.cancel(), second.cancelled()) == (True, False, True)
    batch.submit()
    with pytest.raises(asyncio.CancelledError):
        second.result()
    store.write([3, 3]).result()
    assert stored == [1, 3]


def test_other_changes_have_such_futures(tmp_path: Path) -> None:
    """A resize, and what is put into or deleted from a key-value store; what only reads has none."""
    place = {"driver": "file", "path": f"{tmp_path}/"}
    store = ts.open({"driver": "zarr3", "kvstore": place}, create=True, dtype=ts.int8, shape=[4]).result()
    values = ts.KvStore.open(place).result()
    changes: list[Any] = [
        store.resize(exclusive_max=[2]),
        values.write("a", b"1"),
        values.delete_range(ts.KvStore.KeyRange(b"b", b"c")),
    ]
    assert [type(change) for change in changes] == [ChangeFuture] * 3
    for change in changes:
        change.result()
    assert values["a"] == b"1"
    assert ts.open({"driver": "zarr3", "kvstore": place}).result().shape == (2,)
    reads: list[Any] = [values.read("a"), values.list()]
    assert [type(read) for read in reads] == [ts.Future] * 2
