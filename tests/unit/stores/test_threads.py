"""Threads that cannot be started, that end before they begin, and work that fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Never

import numpy as np
import pytest

import blizzarr
from blizzarr.futures import pool as futures_pool
from blizzarr.futures.future import pending
from blizzarr.futures.pool import Pool
from blizzarr.stores import threads
from blizzarr.stores.threads import Threads


def refuse(*_: object) -> Never:
    raise RuntimeError("can't start new thread")


def find_no_memory(*_: object) -> Never:
    raise MemoryError


def die_at_once(*_: object) -> int:
    """What happens to a thread that finds no memory before it has begun: whoever started it is not told."""
    return 1


FAULTS = pytest.mark.parametrize("start", [refuse, find_no_memory, die_at_once])


@FAULTS
def test_the_calling_thread_does_the_work(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "start_new_thread", start)
    began = time.monotonic()
    with Threads(4) as pool:
        for _ in range(3):
            found = list(pool.map(lambda item: (item, threading.get_ident()), range(100)))
            assert found == [(item, threading.get_ident()) for item in range(100)]
        with pytest.raises(KeyError, match="5"):
            list(pool.map(lambda item: {}[item], range(5, 10)))
    assert time.monotonic() - began < 3


@FAULTS
def test_a_copy_needs_no_thread(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "start_new_thread", start)
    source = blizzarr.create_array({}, data=np.arange(1000), chunks=10)
    assert blizzarr.copy(source, {})[...].tolist() == list(range(1000))


def test_some_threads_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three, one is refused, one dies, and one works."""
    ways = iter((die_at_once, threads.start_new_thread, refuse, refuse))
    monkeypatch.setattr(threads, "start_new_thread", lambda *given: next(ways)(*given))
    with Threads(3) as pool:
        assert list(pool.map(str, range(1000))) == [str(item) for item in range(1000)]


def test_work_is_done_at_once_in_as_many_threads_as_allowed() -> None:
    together = threading.Barrier(4, timeout=20)
    lock = threading.Lock()
    most = now = 0

    def work(item: int) -> int:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        together.wait()
        with lock:
            now -= 1
        return item

    with Threads(4) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))
        assert list(pool.map(work, range(8))) == list(range(8))
    assert most == 4


def test_a_failure_drops_what_has_not_begun_and_waits_for_what_has() -> None:
    begun: list[int] = []
    ended: list[int] = []
    both = threading.Barrier(2, timeout=20)

    def work(item: int) -> None:
        begun.append(item)
        if item < 2:
            both.wait()
        if item == 0:
            raise KeyError(item)
        time.sleep(0.3)
        ended.append(item)

    with pytest.raises(KeyError), Threads(2) as pool:
        list(pool.map(work, range(100)))
    assert sorted(begun)[:2] == [0, 1]
    assert len(begun) < 10
    assert sorted(ended) == sorted(begun)[1:]
    time.sleep(0.2)
    assert sorted(ended) == sorted(begun)[1:]


@FAULTS
def test_futures_are_completed_without_threads(start: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    started = futures_pool.start_new_thread
    monkeypatch.setattr(futures_pool, "start_new_thread", start)
    monkeypatch.setattr(futures_pool, "_PATIENCE", 0.05)
    pool = Pool()
    for number in range(2 * pool._limit):
        future = pending(lambda number=number: number)  # type: ignore[misc]
        pool.put(future)
        assert future.result() == number
    # Those that never began take no place for good.
    monkeypatch.setattr(futures_pool, "start_new_thread", started)
    time.sleep(0.1)
    done = threading.Event()
    last = pending(lambda: 5)
    last.add_done_callback(lambda _: done.set())
    pool.put(last)
    assert done.wait(20)


def test_an_interrupt_right_after_waiting_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signals are handled when the call that waited has returned, while the thread is about to end its task."""
    interrupted, left = threading.Event(), threading.Event()

    class Lock:
        def __init__(self) -> None:
            self._lock = threading.Lock()
            self.release = self._lock.release

        def __enter__(self) -> None:
            self._lock.acquire()

        def __exit__(self, *_: object) -> None:
            self.release()

        def acquire(self, timeout: float = -1) -> bool:
            got = self._lock.acquire(timeout=timeout)
            if got and timeout > 0 and not interrupted.is_set():
                interrupted.set()
                raise KeyboardInterrupt
            return got

    def finish_late(pool: Threads, task: Any, finished: Callable[..., None] = Threads.finished) -> None:
        interrupted.wait(10)
        time.sleep(0.1)
        finished(pool, task)

    def interrupt() -> None:
        with pytest.raises(KeyboardInterrupt), Threads(1) as pool:
            list(pool.map(time.sleep, [0.05]))
        left.set()

    monkeypatch.setattr(threads, "allocate_lock", Lock)
    monkeypatch.setattr(Threads, "finished", finish_late)
    threading.Thread(target=interrupt, daemon=True).start()
    assert left.wait(5)
