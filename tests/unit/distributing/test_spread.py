"""Pieces of work given out, a bounded number at a time, and again where a worker is lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event, get_ident
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import _native, distributing
from blizzarr.config import config
from blizzarr.distributing import Settings, Workers, spread, workers_of
from blizzarr.errors import ConflictError, UnsupportedOperationError, WorkerLostError
from blizzarr.stores import LocalStore, MemoryStore, ZipStore
from support.processes import processes

DATA = np.arange(60, dtype="int32").reshape(12, 5)
Told = Callable[[int], object]


def square(number: int, told: Told) -> int:
    """Tell twice."""
    told(number)
    told(1)
    return number * number


class Losing(Executor):
    """Does the work when it is submitted, but loses what the first `times` submissions of some pieces would give."""

    def __init__(self, lost: Collection[Any], times: int, error: type[Exception] = CancelledError) -> None:
        self.lost, self.times, self.error = lost, times, error
        self.submitted: list[Any] = []

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Work, or lose it."""
        piece = arguments[-1]
        future: Future[Any] = Future()
        if piece in self.lost and self.submitted.count(piece) < self.times:
            future.set_exception(self.error())
        else:
            future.set_result(function(*arguments, **named))
        self.submitted.append(piece)
        return future


def test_results_come_in_order_and_progress_with_them() -> None:
    told: list[int] = []
    with ThreadPoolExecutor(3) as pool, workers_of(pool) as workers:
        found = []
        for result in spread(workers, square, range(100), told.append):
            found.append(result)
            assert len(told) == len(found)
    assert found == [number * number for number in range(100)]
    assert told == [number + 1 for number in range(100)]


def test_few_pieces_are_made_ahead() -> None:
    """A million pieces are never in memory together."""
    made = 0

    def pieces() -> Iterator[int]:
        nonlocal made
        for number in range(1_000_000):
            made += 1
            yield number

    with ThreadPoolExecutor(2) as pool, workers_of(pool) as workers:
        assert workers is not None
        for count, _ in enumerate(spread(workers, square, pieces(), lambda _: None), 1):
            assert made <= count + workers.ahead
            if count == 500:
                break
    assert made < 1000


def test_what_is_lost_is_given_out_again() -> None:
    """Each piece that is lost, and no other, a few times."""
    executor = Losing({3, 7}, 3)
    found = list(spread(Workers(executor), square, range(10), lambda _: None))
    assert found == [number * number for number in range(10)]
    assert {piece: executor.submitted.count(piece) for piece in range(10)} == dict.fromkeys(range(10), 1) | {3: 4, 7: 4}


def test_a_piece_that_kills_each_worker_ends_the_work() -> None:
    executor = Losing({3}, 100)
    with pytest.raises(WorkerLostError, match="lost 4 times in a row") as caught:
        list(spread(Workers(executor), square, range(10), lambda _: None))
    assert "lack memory" in str(caught.value)
    assert "lacks 'if __name__ == \"__main__\":'" in str(caught.value)
    assert executor.submitted.count(3) == 4


def die(number: int, told: Told) -> int:
    """End the process, for one of the numbers."""
    if number == 5:
        os._exit(1)
    return number


def test_a_process_that_always_dies() -> None:
    """The pool is made anew a few times."""
    with processes(1) as pool, workers_of(pool) as workers:
        with pytest.raises(WorkerLostError, match=r"config\.copy_bytes"):
            list(spread(workers, die, range(10), lambda _: None))
        assert workers is not None
        assert workers.generation >= 3


def test_errors_of_the_work_are_raised_once() -> None:
    executor = Losing(set(), 0)
    with pytest.raises(TypeError):
        list(spread(Workers(executor), square, [1, None, 2], lambda _: None))  # type: ignore[list-item]


def test_what_has_not_begun_is_taken_back() -> None:
    """After Ctrl-C in the middle, what has begun ends before the call does, and nothing else begins."""
    begun, go = [], Event()

    def work(number: int, told: Told) -> int:
        begun.append(number)
        if number:
            go.wait(10)
            time.sleep(0.05)
        begun.append(-number)
        return number

    def interrupted() -> None:
        with workers_of(pool) as workers:
            for _ in spread(workers, work, range(50), lambda _: None):
                go.set()
                raise KeyboardInterrupt

    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        ended = list(begun)
        assert sum(ended) == 0
        assert len(ended) <= 12
    assert begun == ended


def test_executors_and_clients_only() -> None:
    with pytest.raises(TypeError, match=r"expected an executor .* found int"):
        blizzarr.check({}, executor=4)


def test_memory_is_not_shared(tmp_path: Path) -> None:
    """The error comes before anything is stored, or removed."""
    executor = Losing(set(), 0)
    memory = blizzarr.create_array(MemoryStore(), data=DATA)
    stored = blizzarr.create_array(tmp_path / "a", data=DATA)
    for call in (
        lambda: blizzarr.copy(memory, tmp_path / "a", overwrite=True, executor=executor),
        lambda: blizzarr.copy(stored, {}, executor=executor),
        lambda: blizzarr.check(memory, executor=executor),
        lambda: blizzarr.diff(stored, memory, executor=executor),
        lambda: blizzarr.upgrade(blizzarr.create_array({}, data=DATA, zarr_format=2).store, executor=executor),
    ):
        with pytest.raises(UnsupportedOperationError, match="in the memory of this process; leave out executor="):
            call()
    np.testing.assert_array_equal(stored[:], DATA)
    with ThreadPoolExecutor(2) as pool:
        assert blizzarr.diff(blizzarr.copy(memory, {}, chunks=5, executor=pool), memory, executor=pool).same


def test_a_zip_file_has_one_writer(tmp_path: Path) -> None:
    stored = blizzarr.create_array(tmp_path / "a", data=DATA)
    with (
        ZipStore(tmp_path / "a.zip", mode="w") as target,
        pytest.raises(UnsupportedOperationError, match="cannot be pickled"),
    ):
        blizzarr.copy(stored, target, executor=Losing(set(), 0))


def test_numpy_arrays_are_copied_here(tmp_path: Path) -> None:
    executor = Losing(set(), 0)
    np.testing.assert_array_equal(blizzarr.copy(DATA, tmp_path / "a", chunks=5, executor=executor)[:], DATA)
    assert not executor.submitted


def seen(_: int, told: Told) -> tuple[int, bool, tuple[str | None, bool]]:
    """What counts in this process."""
    return config.threads, config.write_empty_chunks, _native.durability_choice()


def elsewhere(settings: Settings, own: int) -> Any:
    """What counts for a piece of another process, where so many threads are set, and then what is left."""
    with config.set(threads=own):
        with settings.applied():
            found = seen(0, print)
        return found, (config.threads, config.write_empty_chunks)


@pytest.mark.parametrize(("here", "there", "used"), [(0, 0, 1), (3, 0, 3), (0, 2, 2), (3, 2, 3)])
def test_settings_of_this_process_count_for_pieces(here: int, there: int, used: int) -> None:
    with config.set(threads=here, write_empty_chunks=True), blizzarr.durable("full"):
        settings = Settings.here()
    other = Settings(("another", 1), settings.values, settings.durability)
    assert elsewhere(other, there) == ((used, True, ("full", True)), (there, False))


def test_threads_of_this_process_have_its_settings() -> None:
    with (
        ThreadPoolExecutor(1) as pool,
        config.set(threads=3, write_empty_chunks=True),
        blizzarr.durable("ordered"),
        workers_of(pool) as workers,
    ):
        assert list(spread(workers, seen, [0], lambda _: None)) == [(3, True, ("ordered", False))]


def where(_: int, told: Told) -> int:
    """Say which thread works."""
    return get_ident()


def test_without_an_executor_the_work_is_done_here() -> None:
    assert list(spread(None, where, range(3), lambda _: None)) == [get_ident()] * 3


def stop(at: int, done: int, total: int) -> None:
    """Interrupt a copy once so much is done."""
    if done >= at:
        raise KeyboardInterrupt


@pytest.mark.parametrize("chunks", [(1, 5), (3, 5)])
def test_an_interrupted_copy_goes_on_with_and_without_workers(tmp_path: Path, chunks: tuple[int, int]) -> None:
    source = blizzarr.create_array(tmp_path / "a", data=DATA, chunks=(1, 5))
    options: dict[str, Any] = {"chunks": chunks}
    with config.set(copy_bytes=60), ThreadPoolExecutor(3) as pool:
        with pytest.raises(KeyboardInterrupt):
            blizzarr.copy(source, tmp_path / "b", **options, executor=pool, progress=partial(stop, 60))
        with pytest.raises(KeyboardInterrupt):
            blizzarr.copy(source, tmp_path / "b", **options, resume=True, progress=partial(stop, 120))
        told: list[int] = []
        copied = blizzarr.copy(
            source, tmp_path / "b", **options, resume=True, executor=pool, progress=lambda done, _: told.append(done)
        )
    np.testing.assert_array_equal(copied[:], DATA)
    assert told[0] == 0
    assert told[1] >= 120
    assert LocalStore(tmp_path / "b").get("blizzarr-copy.json") is None


def test_what_is_lost_of_the_source_is_told_here(tmp_path: Path) -> None:
    source = blizzarr.create_array(tmp_path / "a", data=DATA, chunks=(3, 5))
    (tmp_path / "a" / "c" / "2" / "0").write_bytes(b"damaged")
    lost: list[Any] = []
    with ThreadPoolExecutor(3) as pool:
        copied = blizzarr.copy(source, tmp_path / "b", chunks=(6, 5), executor=pool, skip_damaged=lost.append)
    assert [error.key for error in lost] == ["c/2/0"]
    expected = DATA.copy()
    expected[6:9] = 0
    np.testing.assert_array_equal(copied[:], expected)


def test_a_replaced_source_is_noticed(tmp_path: Path) -> None:
    """Another array takes its place while workers copy it."""
    source = blizzarr.create_array(tmp_path / "a", data=DATA, chunks=(1, 5))

    def replace(done: int, total: int) -> None:
        if done:
            blizzarr.create_array(tmp_path / "a", data=DATA, chunks=(2, 5), overwrite=True)

    with config.set(copy_bytes=20), ThreadPoolExecutor(1) as pool, pytest.raises(ConflictError):
        blizzarr.copy(source, tmp_path / "b", chunks=(1, 1), executor=pool, progress=replace)


def test_each_call_opens_what_is_stored_by_then(tmp_path: Path) -> None:
    """Workers keep what they have opened for the pieces of one call, and not for the next call."""
    paths = tmp_path / "a.zip", tmp_path / "b.zip"
    found = []
    for values in (7, 7), (8, 7):
        for path, value in zip(paths, values, strict=True):
            with ZipStore(path, mode="w") as store:
                blizzarr.create_array(store, shape=4, chunks=2, dtype="int32")[:] = value
        found.append(blizzarr.diff(*paths, executor=Losing((), 0)).same)
    assert found == [True, False]


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The work waits for workers, as they may be on their way; but it says so, once."""

    class Idle(ThreadPoolExecutor):
        _client = SimpleNamespace(nthreads=dict, scheduler=SimpleNamespace(address="tcp://here:8786"))

        def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Any:
            return super().submit(lambda: (time.sleep(0.2), function(*arguments))[1])

    monkeypatch.setattr(distributing, "_PATIENCE", 0.05)
    with Idle(1) as pool, pytest.warns(UserWarning, match="^the Dask cluster at tcp://here:8786 has no") as warned:
        assert list(spread(Workers(pool), lambda number, told: number, range(3), lambda count: None)) == [0, 1, 2]
    assert len(warned) == 1
