"""Futures do what TensorStore's do: each case is run with both."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
import threading
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import blizzarr.tensorstore as ours
from blizzarr.errors import ConflictError
from blizzarr.futures import pending, run, submit
from blizzarr.futures.pool import POOL

theirs = pytest.importorskip("tensorstore")
pytestmark = pytest.mark.parametrize("ts", [ours, theirs], ids=["ours", "theirs"])


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the class and text of what it raises."""
    try:
        return call()
    except BaseException as error:
        return type(error).__name__, str(error)


def test_result_comes_once(ts: Any) -> None:
    """The first result counts; a future that has one cannot be cancelled."""
    promise, future = ts.Promise.new()
    assert not future.done()
    promise.set_result(1)
    promise.set_result(2)
    promise.set_exception(KeyError(3))
    assert future.result() == 1
    assert future.done()
    assert not future.cancel()
    assert future.exception() is None


def test_failure_is_raised(ts: Any) -> None:
    """The error itself, again each time."""
    error = KeyError("a")
    promise, future = ts.Promise.new()
    promise.set_exception(error)
    for _ in range(2):
        with pytest.raises(KeyError) as caught:
            future.result()
        assert caught.value is error
    assert future.exception() is error


def test_dropped_promise_fails(ts: Any) -> None:
    """Nobody waits for what cannot come any more."""
    promise, future = ts.Promise.new()
    del promise
    error = future.exception(timeout=60)
    assert isinstance(error, ValueError)
    assert "UNKNOWN" in str(error)
    assert not future.cancelled()


def test_cancelling(ts: Any) -> None:
    """A cancelled future fails with CancelledError, whatever its promise says later."""
    promise, future = ts.Promise.new()
    assert future.cancel()
    promise.set_result(3)
    assert future.cancelled()
    assert future.done()
    assert outcome(future.result)[0] == outcome(future.exception)[0] == "CancelledError"
    assert not future.cancel()


def test_waiting_ends(ts: Any) -> None:
    """After a timeout, at a deadline, or whichever is first."""
    promise, future = ts.Promise.new()
    begun = time.time()
    for limit in ({"timeout": 0.01}, {"timeout": -1}, {"deadline": begun}, {"timeout": 99, "deadline": begun + 0.02}):
        assert outcome(lambda limit=limit: future.result(**limit))[0] == "TimeoutError"
        assert outcome(lambda limit=limit: future.exception(**limit))[0] == "TimeoutError"
    assert outcome(lambda: future.result(timeout="1"))[0] == "TypeError"
    promise.set_result(5)
    assert future.result(0, 0) == 5


def test_callbacks(ts: Any) -> None:
    """Called once each, with the future, and at once when it is done; as often forgotten as added."""
    promise, future = ts.Promise.new()
    found: list[Any] = []
    other = found.append
    for _ in range(3):
        future.add_done_callback(other)
    assert future.remove_done_callback(other) == 3
    assert future.remove_done_callback(other) == 0
    future.add_done_callback(other)
    promise.set_result(5)
    assert found == [future]
    future.add_done_callback(found.append)
    assert found == [future, future]


def test_callbacks_that_fail(ts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever gives the result and the other callbacks are not concerned; a hook is told. At once it is the caller."""
    told: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    promise, future = ts.Promise.new()
    found: list[Any] = []

    def wrong(future: Any) -> None:
        raise KeyError("wrong")

    for callback in (wrong, found.append, wrong, found.append):
        future.add_done_callback(callback)
    promise.set_result(5)
    assert found == [future, future]
    assert [each.exc_type for each in told] == [KeyError] * 2
    with pytest.raises(KeyError):
        future.add_done_callback(wrong)


def test_writes(ts: Any) -> None:
    """Both of their futures; what cannot be converted is an error at once, what does not fit one of the futures."""
    spec = {"driver": "zarr3", "kvstore": "memory://"}
    store = ts.open(spec, dtype="int32", shape=[4, 6], create=True).result()
    futures = store.write(7)
    assert (futures.result(), futures.copy.result(), futures.commit.result(), futures.done()) == (
        None,
        None,
        None,
        True,
    )
    assert (futures.cancelled(), futures.cancel(), futures.exception()) == (False, False, None)
    found: list[Any] = []
    futures.add_done_callback(found.append)
    assert isinstance(found[0], ts.Future)
    assert outcome(lambda: store.write("abc"))[1] == "invalid literal for int() with base 10: 'abc'"
    assert outcome(lambda: store.write([2**40]))[0] == "OverflowError"
    wrong = store.write([[1, 2]] * 2)
    for each in (wrong, wrong.copy, wrong.commit):
        assert str(each.exception()) == (
            "Error aligning dimensions: source dimension 0 [0, 2) mismatch with target dimension 0 [0, 4), "
            "source dimension 1 [0, 2) mismatch with target dimension 1 [0, 6)"
        )
    if ts is theirs:
        # What nobody waits for it stores some time, or never.
        return
    store.write(9)
    for _ in range(100):
        if int(store[0, 0].read().result()) == 9:
            break
        time.sleep(0.02)
    assert store.read().result().tolist() == [[9] * 6] * 4


def test_future_of_a_value(ts: Any) -> None:
    """A value is its own result, and a future stays itself."""
    future = ts.Future(3)
    assert future.done()
    assert ts.Future(future) is future
    assert ts.Future[int] == types.GenericAlias(ts.Future, (int,))


def test_awaiting(ts: Any) -> None:
    """Results, errors and cancellation reach who awaits, from other threads too; cancelling the task cancels it."""

    async def run() -> list[Any]:
        found = []
        promise, future = ts.Promise.new()
        threading.Timer(0.02, promise.set_result, [7]).start()
        found.append(await future)
        promise, future = ts.Promise.new()
        promise.set_exception(KeyError(1))
        with pytest.raises(KeyError):
            await future
        _kept, future = ts.Promise.new()
        threading.Timer(0.02, future.cancel).start()
        with pytest.raises(asyncio.CancelledError):
            await future
        _kept, future = ts.Promise.new()
        task = asyncio.ensure_future(future)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0.02)
        found.append(future.cancelled())
        return found

    assert asyncio.run(run()) == [7, True]


def test_many_tasks(ts: Any) -> None:
    """One that is cancelled cancels it for all; each thread may have its own loop, and what asyncio combines works."""
    store = ts.array([1, 2, 3])

    async def cancel_one() -> Any:
        promise, future = ts.Promise.new()

        async def wait() -> Any:
            return await future

        tasks = [asyncio.ensure_future(wait()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.sleep(0.02)
        promise.set_result(3)
        return future.cancelled(), [task.cancelled() for task in tasks]

    async def combine() -> Any:
        _, late = ts.Promise.new()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(late, 0.01)
        both = await asyncio.gather(store[0].read(), store[1:].read())
        return late.cancelled(), [found.tolist() for found in both], await store[2].write(5)

    assert asyncio.run(cancel_one()) == (True, [True] * 3)
    store[2] = 5
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(lambda _: asyncio.run(combine()), range(3))) == [(True, [1, [2, 5]], None)] * 3


def test_coroutines(ts: Any) -> None:
    """A coroutine is run in the loop of this thread, stopped when its future is cancelled or dropped."""
    stopped = []

    async def number() -> int:
        return 42

    async def long() -> None:
        try:
            await asyncio.sleep(9)
        except asyncio.CancelledError:
            stopped.append(1)
            raise

    async def run() -> Any:
        found = await ts.Future(number())
        future = ts.Future(long())
        await asyncio.sleep(0.01)
        future.cancel()
        future = ts.Future(long())
        await asyncio.sleep(0.01)
        del future
        await asyncio.sleep(0.01)
        return found

    assert asyncio.run(run()) == 42
    assert stopped == [1, 1]
    coroutine = number()
    with pytest.raises(ValueError, match="no event loop specified"):
        ts.Future(coroutine)
    coroutine.close()


def test_made_only_as_meant(ts: Any) -> None:
    """Promises and futures of writes are made by what needs them, and none of them can be pickled."""
    for wrong in (ts.Promise, ts.WriteFutures):
        assert outcome(wrong)[0] == "TypeError"
    for each in ts.Promise.new():
        assert outcome(lambda each=each: pickle.dumps(each))[0] == "TypeError"


class TestPool:
    """The threads behind our futures."""

    def test_work_that_waits_for_work(self, ts: Any) -> None:
        """However deep: it cannot stand still because all threads wait."""
        if ts is theirs:
            pytest.skip("about our threads")

        def nested(depth: int) -> int:
            return 0 if not depth else 1 + submit(lambda: nested(depth - 1)).result(timeout=60)

        assert [future.result() for future in [submit(lambda: nested(30)) for _ in range(8)]] == [30] * 8

    def test_work_that_waits_for_requests_keeps_no_other_waiting(self, ts: Any) -> None:
        """As where many arrays far away are opened, or read, at once."""
        if ts is theirs:
            pytest.skip("about our threads")
        together = threading.Barrier(POOL._limit + 4)

        def request() -> int:
            with POOL.far_away():
                return together.wait(60)

        assert (
            len({future.result() for future in [submit(request) for _ in range(together.parties)]}) == POOL._limit + 4
        )
        assert POOL._far == 0

    def test_cancelled_work_is_not_begun(self, ts: Any) -> None:
        """What nobody wants any more is left."""
        if ts is theirs:
            pytest.skip("about our threads")
        done: list[int] = []
        future = pending(lambda: done.append(1))
        future.cancel()
        assert not run(future)
        assert done == []

    def test_threads_that_end_are_replaced(self, ts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """A callback that ends its thread with SystemExit takes nothing from the pool."""
        if ts is theirs:
            pytest.skip("about our threads")
        monkeypatch.setattr(threading, "excepthook", lambda args: None)
        for _ in range(2 * POOL._limit):
            gate = threading.Event()
            future = submit(gate.wait)
            future.add_done_callback(lambda _: sys.exit())
            gate.set()
            assert future.result(timeout=60)
        assert submit(lambda: 7).result(timeout=60) == 7

    def test_forks(self, ts: Any) -> None:
        """A child does what has not begun; what the parent had begun fails there, and goes on here."""
        if ts is theirs:
            pytest.skip("TensorStore ends the child")
        gate = threading.Event()
        begun = threading.Event()
        running = submit(lambda: (begun.set(), gate.wait(120))[1])
        begun.wait(60)
        waiting = pending(lambda: 5)
        child = os.fork()
        if not child:
            good = (
                isinstance(running.exception(timeout=60), ConflictError)
                and waiting.result() == 5
                and submit(lambda: 6).result(timeout=60) == 6
            )
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0) == (child, 0)
        gate.set()
        assert running.result(timeout=60) is True
