"""Reads and writes that are begun together: in order, each with its own result, whatever becomes of the others."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_forks import forked

import blizzarr
from blizzarr import tensorstore as ts
from blizzarr.codecs import BytesBytesCodec
from blizzarr.errors import BlizzarrError, CodecError
from blizzarr.futures import POOL, has_work, set_work
from blizzarr.tensorstore import driver, gathering, in_flight, stored_array_driver


def _store(place: Path, shape: tuple[int, ...] = (64,), chunks: tuple[int, ...] = (4,), **more: Any) -> Any:
    spec = {"driver": "zarr3", "kvstore": f"file://{place}/", "metadata": {"codecs": ["bytes", "gzip"]}}
    layout = ts.ChunkLayout(chunk_shape=chunks)
    return ts.open(spec, dtype="int32", shape=shape, chunk_layout=layout, create=True, **more).result()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread of the pool comes first, and no future of another test is waited for."""
    monkeypatch.setattr(in_flight, "_latest", None)
    monkeypatch.setattr(gathering.WRITING, "seconds", 0.0)
    monkeypatch.setattr(POOL, "put", lambda future: None)


def test_later_writes_count(tmp_path: Path) -> None:
    """Whichever result is asked for first, and whoever does the work."""
    store = _store(tmp_path)
    for turn in range(40):
        futures = [store[2:9].write(100 * turn + number) for number in range(30)]
        futures[turn % 30].result()
        store[30:34].write(turn).result()
        last = store[2:9].read().result()
        assert last.tolist() == [100 * turn + 29] * 7
        assert store[30].read().result() == turn


def test_what_comes_later_sees_what_was_begun(tmp_path: Path, alone: None) -> None:
    """Assignments, arrays of NumPy, statistics and new bounds, too."""
    store, kept = _store(tmp_path), []

    def begun(value: int) -> None:
        kept.append([store[at].write(value) for at in range(8)])
        assert not store._driver.gathering.is_empty

    begun(1)
    assert np.asarray(store[:8]).tolist() == [1] * 8
    begun(2)
    store[0] = 3
    assert np.asarray(store[:8]).tolist() == [3] + [2] * 7
    begun(4)
    assert store[:8].storage_statistics(query_fully_stored=True).result().fully_stored
    begun(5)
    assert store.resize(exclusive_max=[4]).result().read().result().tolist() == [5] * 4
    assert np.asarray(ts.open(store.spec()).result()).tolist() == [5] * 4


def test_small_writes_in_memory_do_not_overtake(alone: None) -> None:
    """Large ones to the same elements, which are left to others."""
    spec = {"driver": "zarr3", "kvstore": "memory://overtaken/"}
    layout = ts.ChunkLayout(chunk_shape=[1 << 16])
    store = ts.open(spec, dtype="int32", shape=[1 << 20], chunk_layout=layout, create=True).result()
    large = store.write(1)
    small = store[5:7].write(2)
    assert not large.done()
    assert (small.result(), large.result()) == (None, None)
    assert store[4:8].read().result().tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize("is_begun", [True, False])
def test_a_copy_comes_after_what_was_begun(tmp_path: Path, alone: None, is_begun: bool) -> None:
    """In the array that is read, and in the one that is written."""
    source, target = _store(tmp_path / "a"), _store(tmp_path / "b")
    kept = [store[at].write(at + first) for store, first in ((source, 1), (target, 50)) for at in range(8)]
    if is_begun:
        target[:4].write(source[:4]).result()
    else:
        target[:4] = source[:4]
    assert np.asarray(target[:8]).tolist() == [1, 2, 3, 4, 54, 55, 56, 57]
    assert all(future.done() for future in kept)


def test_a_source_may_change_at_once(tmp_path: Path, alone: None) -> None:
    """Unless the caller says that it will not, small ones are copied."""
    store = _store(tmp_path)
    source = np.arange(4, dtype=np.int32)
    first = store[:4].write(source)
    futures = store[4:8].write(source)
    assert (futures.copy.done(), futures.commit.done()) == (True, False)
    kept = store[8:12].write(source, can_reference_source_data_indefinitely=True)
    assert (kept.copy.done(), kept.commit.done()) == (False, False)
    source += 10
    assert [done.result() for done in (first, futures, kept)] == [None] * 3
    assert store[:12].read().result().tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 10, 11, 12, 13]


def test_each_has_its_own_error(tmp_path: Path, alone: None) -> None:
    """A damaged chunk, an index outside of the array, and lengths that do not fit, are errors of one future each."""
    store = _store(tmp_path)
    store[...] = np.arange(64, dtype=np.int32)
    (tmp_path / "c" / "2").write_bytes(b"damaged")
    reads = [store[at].read() for at in range(0, 64, 4)]
    for number, future in enumerate(reads):
        if number == 2:
            with pytest.raises(CodecError, match="c/2"):
                future.result()
        else:
            assert future.result() == 4 * number
    writes = [store[12:16].write(7), store[16:20].write([1, 2, 3]), store[20:24].write(8), store[8:10].write(9)]
    with pytest.raises(BlizzarrError, match="3"):
        writes[1].result()
    with pytest.raises(CodecError, match="c/2"):
        writes[3].result()
    assert (writes[0].result(), writes[2].result()) == (None, None)
    assert store[12:24].read().result().tolist() == [7] * 4 + [16, 17, 18, 19] + [8] * 4


def test_selections_of_all_kinds(tmp_path: Path) -> None:
    """NumPy says what they are."""
    store = _store(tmp_path, (12, 10), (4, 3))
    model = np.arange(120, dtype=np.int32).reshape(12, 10)
    store[...] = model
    keys: list[Any] = [(3, 4), (slice(2, 9), 5), (slice(0, 12, 5),), ([1, 5, 1],), (slice(3, 3),), (..., ts.newaxis)]
    keys += [(np.array([[1, 2], [11, 0]]), slice(2, 4)), (slice(None), [True, False] * 5)]
    for order in ("C", "F"):
        reads = [store[key].read(order=order) for key in keys * 20]
        for future, key in zip(reads, keys * 20, strict=True):
            found = future.result()
            assert np.array_equal(found, model[key])
            assert found.flags[f"{order}_CONTIGUOUS"]
    writes = []
    for number, key in enumerate(keys * 20):
        writes.append(store[key].write(number))
        model[key] = number
    for future in reversed(writes):
        future.result()
    assert np.array_equal(store.read().result(), model)


def test_a_cancelled_write_is_not_stored(tmp_path: Path, alone: None) -> None:
    """Those before and after it are."""
    store = _store(tmp_path)
    futures = [store[at].write(at) for at in range(1, 10)]
    assert futures[4].cancel()
    assert futures[8].result() is None
    assert not futures[7].cancel()
    assert store[:10].read().result().tolist() == [0, 1, 2, 3, 4, 0, 6, 7, 8, 9]


def test_in_an_event_loop(tmp_path: Path) -> None:
    """All tasks at once, of which some time out."""
    store = _store(tmp_path)

    async def work() -> list[int]:
        await asyncio.gather(*[_awaited(store[at].write(at)) for at in range(64)])
        return [int(one) for one in await asyncio.gather(*[_awaited(store[at].read()) for at in range(64)])]

    assert asyncio.run(work()) == list(range(64))


async def _awaited(future: Any) -> Any:
    return await future


def test_callbacks_may_read_and_wait(tmp_path: Path) -> None:
    """Also for another thread, which needs the array, too."""
    store = _store(tmp_path)
    store[...] = np.arange(64, dtype=np.int32)
    found: list[int] = []

    def called(_: object) -> None:
        thread = threading.Thread(target=lambda: found.append(int(store[5].read().result())))
        thread.start()
        thread.join(30)
        found.append(int(store[6].read().result()))

    futures = [store[at].read() for at in range(8)]
    futures[3].add_done_callback(called)
    assert [int(future.result()) for future in futures] == list(range(8))
    for future in futures:
        future.result()
    while len(found) < 2:
        pass
    assert found == [5, 6]


def test_an_interrupt_ends_one_wait(tmp_path: Path, alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other reads and writes are done by whoever waits for them."""
    store = _store(tmp_path)
    futures = [store[at].write(at) for at in range(1, 10)]

    def interrupted(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(stored_array_driver, "write_parts", interrupted)
        with pytest.raises(KeyboardInterrupt):
            futures[3].result()
    assert futures[8].result() is None
    assert store[:10].read().result().tolist() == [0, 1, 2, 3, 0, 5, 6, 7, 8, 9]


@pytest.mark.parametrize("where", [(gathering.Gathering, "_settle"), (gathering, "finish")])
def test_an_interrupt_after_the_work_loses_no_result(
    tmp_path: Path, alone: None, monkeypatch: pytest.MonkeyPatch, where: tuple[Any, str]
) -> None:
    """Those that were written, or read, together have theirs, although only one of them was waited for."""
    store = _store(tmp_path)
    futures = [store[at].write(at) for at in range(1, 10)]
    original = getattr(*where)
    interrupts = [KeyboardInterrupt()]

    def interrupted(*given: Any) -> Any:
        if interrupts:
            raise interrupts.pop()
        return original(*given)

    with monkeypatch.context() as patched:
        patched.setattr(*where, interrupted)
        with suppress(KeyboardInterrupt):
            futures[3].result()
    assert not interrupts
    assert all(future.done() for future in futures)
    assert store[:10].read().result().tolist() == list(range(10))


def test_an_interrupt_before_a_thread_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is begun later has one that does it."""
    store = _store(tmp_path)
    store[...] = np.arange(64, dtype=np.int32)

    def interrupted(future: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(POOL, "put", interrupted)
        futures = [store[0].read()]
        with pytest.raises(KeyboardInterrupt):
            store[1].read()
    futures += [store[at].read() for at in range(2, 5)]
    assert futures[-1].result(timeout=20) == 4


def test_nothing_is_done_twice(tmp_path: Path, alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one who has waited for the work of another thread, which has not given the results yet."""
    store, calls = _store(tmp_path), []
    has_begun, may_end = threading.Event(), threading.Event()
    write_all, settle = stored_array_driver.StoredArrayDriver.write_all, gathering.Gathering._settle

    def slow(self: Any, writes: Any) -> Any:
        calls.append(len(writes))
        has_begun.set()
        assert may_end.wait(20)
        return write_all(self, writes)

    def late(*given: Any) -> None:
        if threading.current_thread() is first:
            second.join(20)
        settle(*given)

    monkeypatch.setattr(stored_array_driver.StoredArrayDriver, "write_all", slow)
    monkeypatch.setattr(gathering.Gathering, "_settle", late)
    kept, wanted = [store[:4].write(at) for at in range(3)], store[4:8].write(5)
    first = threading.Thread(target=kept[1].result)
    found: list[Any] = []
    second = threading.Thread(target=lambda: found.append(wanted.exception()))
    # Whoever waits for a future takes its work, and then for the lock.
    first.start()
    assert has_begun.wait(20)
    set_work(wanted.commit, partial(store._driver.gathering._finish, wanted.commit))
    second.start()
    while has_work(wanted.commit):
        pass
    may_end.set()
    first.join(20)
    assert (calls, found) == ([3], [None])


def test_much_is_done_in_parts(tmp_path: Path, alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first result does not wait for the last."""
    monkeypatch.setattr(gathering, "_MOST", 4)
    store = _store(tmp_path)
    futures = [store[at].write(at) for at in range(1, 12)]
    futures[1].result()
    assert [future.done() for future in futures] == [True] * 5 + [False] * 6
    monkeypatch.setattr(gathering, "_MOST_BYTES", 16)
    monkeypatch.setattr(gathering, "_AT_ONCE", 2)
    futures[5].result()
    assert [future.done() for future in futures] == [True] * 7 + [False] * 4
    assert store[:12].read().result().tolist() == list(range(12))


def test_small_reads_do_not_wait_for_large_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread does each of these, after what was begun before it."""
    monkeypatch.setattr(stored_array_driver, "_QUICK_BYTES", 32)
    store, is_done, read = _store(tmp_path), threading.Event(), driver.read_now

    def slow(driver: Any, form: Any, *given: Any) -> Any:
        if form.shape == (64,):
            assert is_done.wait(20)
        return read(driver, form, *given)

    monkeypatch.setattr(in_flight, "read_now", slow)
    kept = [store[at].write(at) for at in range(1, 10)]
    large = store.read()
    with ts.Batch() as batch:
        other = store.read(batch=batch)
    assert store[5].read().result() == 5
    assert (large.done(), other.done()) == (False, False)
    is_done.set()
    for future in (large, other):
        assert future.result().tolist() == [*range(10)] + [0] * 54
    assert all(future.done() for future in kept)


def test_codecs_in_python_may_read_the_array_themselves(tmp_path: Path) -> None:
    """In whatever thread the engine calls them."""
    own = threading.local()

    class Reading(BytesBytesCodec):
        name = "test.reading"

        def encode(self, decoded: bytes) -> bytes:
            return decoded[::-1]

        def decode(self, encoded: bytes, max_size: int) -> bytes:
            if not getattr(own, "is_reading", False):
                own.is_reading = True
                try:
                    found.append(int(store[5].read().result()))
                finally:
                    own.is_reading = False
            return encoded[::-1]

    blizzarr.register_codec(Reading)
    found: list[int] = []
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/", "metadata": {"codecs": ["bytes", "test.reading"]}}
    layout = ts.ChunkLayout(chunk_shape=[4000])
    store = ts.open(spec, dtype="int32", shape=[40000], chunk_layout=layout, create=True).result()
    store[...] = np.arange(40000, dtype=np.int32)
    reads = [store[at : at + 9000].read() for at in range(0, 30000, 4000)]
    assert [int(future.result(timeout=30)[0]) for future in reads] == list(range(0, 30000, 4000))
    assert set(found) == {5}


def test_a_signal_handler_may_read_during_a_write(tmp_path: Path, alone: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it begins and does not wait for is done by others."""
    store, write_parts, begun = _store(tmp_path), stored_array_driver.write_parts, []

    def handled(*given: Any) -> None:
        if not begun:
            begun.append(store[1].read())
            assert begun[0].result() == 1
            begun.extend(store[at].read() for at in range(2, 6))
        write_parts(*given)

    futures = [store[at].write(at) for at in range(1, 10)]
    monkeypatch.setattr(stored_array_driver, "write_parts", handled)
    futures[3].result()
    store._driver.catch_up()
    assert all(future.done() for future in begun)
    assert [int(future.result()) for future in begun] == [1, 2, 3, 4, 5]


def test_what_nobody_waits_for_is_stored_in_the_end(tmp_path: Path) -> None:
    """Before the process ends."""
    store = _store(tmp_path)
    script = (
        f"from blizzarr import tensorstore as ts\n"
        f"from blizzarr.futures import POOL, has_work, set_work\n"
        f"store = ts.open({store.spec().to_json()!r}).result()\n"
        f"POOL.put = lambda future: None\n"
        f"futures = [store[at].write(at) for at in range(64)]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert store.read().result().tolist() == list(range(64))


def test_arrays_that_others_open_do_not_keep_writes_from_being_stored(tmp_path: Path, alone: None) -> None:
    """At the end of the process, when other threads still run."""
    store, others = _store(tmp_path), []
    futures = [store[at].write(at) for at in range(1, 5)]
    sys.setprofile(lambda *_: others.append(gathering.Gathering()))
    try:
        gathering._store()
    finally:
        sys.setprofile(None)
    assert len(others) > 1
    assert [future.done() for future in futures] == [True] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_does_not_write_for_its_parent(tmp_path: Path, alone: None) -> None:
    """It does so where it waits; and what the child begins is not mixed with what the parent has begun."""
    store = _store(tmp_path)
    futures = [store[at].write(at) for at in range(1, 6)]
    child = forked(lambda: store[7].write(7).result())
    assert os.waitpid(child, 0)[1] == 0
    assert np.asarray(ts.open(store.spec()).result()).tolist()[:8] == [0, 1, 0, 0, 0, 0, 0, 7]
    child = forked(lambda: futures[3].result())
    assert os.waitpid(child, 0)[1] == 0
    assert np.asarray(ts.open(store.spec()).result()).tolist()[:8] == [0, 1, 0, 0, 4, 0, 0, 7]
    for future in futures:
        future.result()
    assert store[:8].read().result().tolist() == [0, 1, 2, 3, 4, 5, 0, 7]
