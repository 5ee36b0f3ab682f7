"""Stores that are far away: many requests are made at once, never more than may be, however small the chunks."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.caching import CachedStore
from blizzarr.config import config
from blizzarr.errors import StoreError
from blizzarr.stores import BaseStore, ForeignStore, MemoryStore, Store, StoreWrapper, read_only
from blizzarr.stores.ranges import slice_ranges
from blizzarr.stores.requests import delete_many, duplicate_many, set_many

LATENCY = 0.02
SHARDED = {"shape": (64, 64), "dtype": "uint8", "chunks": (2, 2), "shards": (32, 32), "compressors": "zstd"}


class Distant(BaseStore):
    """Every request takes a while, and it is counted how many there are at the same time."""

    remote = True

    def __init__(self, latency: float = LATENCY) -> None:
        self.values: dict[str, bytes] = {}
        self.latency = latency
        self.now = self.most = self.requests = 0
        self.refused: Callable[[str, str], bool] = lambda method, key: False
        self._lock = threading.Lock()

    @contextmanager
    def request(self, method: str, key: str) -> Iterator[None]:
        with self._lock:
            self.now += 1
            self.requests += 1
            self.most = max(self.most, self.now)
        try:
            time.sleep(self.latency)
            if self.refused(method, key):
                raise ConnectionResetError(f"no answer about {key}")
            yield
        finally:
            with self._lock:
                self.now -= 1

    @contextmanager
    def counted(self) -> Iterator[Callable[[], int]]:
        """Give how many requests there were at the same time."""
        self.most = 0
        yield lambda: self.most

    def get(self, key: str) -> Any:
        with self.request("get", key):
            return self.values.get(key)

    def get_ranges(self, key: str, ranges: Sequence[Any]) -> Any:
        with self.request("get_ranges", key):
            value = self.values.get(key)
            return None if value is None else slice_ranges(value, ranges)

    def set(self, key: str, value: Any) -> None:
        with self.request("set", key):
            self.values[key] = bytes(value)

    def delete(self, key: str) -> None:
        with self.request("delete", key):
            self.values.pop(key, None)

    def list(self, prefix: str = "") -> Any:
        with self.request("list", prefix):
            return sorted(key for key in self.values if key.startswith(prefix))

    def size(self, key: str) -> int | None:
        with self.request("size", key):
            return len(self.values[key]) if key in self.values else None


@pytest.fixture(params=[0, 1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """Threads say nothing of requests."""
    with config.set(threads=request.param):
        yield request.param


def filled(store: Any, **layout: Any) -> tuple[blizzarr.Array, np.ndarray[Any, Any]]:
    z = blizzarr.create_array(store, name="a", **(layout or {"shape": 640, "dtype": "int16", "chunks": 10}))
    values = np.random.default_rng(1).integers(1, 100, z.shape).astype(z.dtype)
    z[...] = values
    return z, values


def test_small_chunks_are_written_read_and_erased_many_at_once(threads: int) -> None:
    store = Distant()
    with store.counted() as most:
        z, values = filled(store)
        assert 4 <= most() <= config.requests_at_once
    with store.counted() as most:
        np.testing.assert_array_equal(z[...], values)
        assert 4 <= most() <= config.requests_at_once
    with store.counted() as most:
        z[3:-3] = 7
        assert 4 <= most() <= config.requests_at_once
    with store.counted() as most:
        z[...] = 0
        assert 4 <= most() <= config.requests_at_once
    assert [key for key in store.values if "/c/" in key] == []


@pytest.mark.parametrize("count", [1, 3, 64])
def test_there_are_never_more_requests_than_may_be(count: int) -> None:
    store = Distant(0.005)
    with config.set(concurrent_requests=count, threads=1):
        z, values = filled(store)
        np.testing.assert_array_equal(z[...], values)
        assert min(count, 8) <= store.most <= count
        sharded, values = filled(store, **SHARDED, overwrite=True)
        np.testing.assert_array_equal(sharded[...], values)
        assert not blizzarr.check(sharded).findings
        assert min(count, 8) <= store.most <= count


def test_a_store_that_is_near_is_asked_by_threads_only() -> None:
    store = Distant(0.002)
    store.remote = False
    with config.set(threads=2):
        z, _ = filled(store)
        z[...]
    assert store.most <= 2


def test_shards_are_read_and_checked_many_at_once(threads: int) -> None:
    store = Distant()
    z, values = filled(store, shape=(64, 64), dtype="uint8", chunks=(4, 4), shards=(8, 8))
    with store.counted() as most:
        np.testing.assert_array_equal(z[1:, ::3], values[1:, ::3])
        assert 4 <= most() <= config.requests_at_once
    for fast in (False, True):
        with store.counted() as most:
            assert not blizzarr.check(z, fast=fast).findings
            assert 4 <= most() <= config.requests_at_once


def test_a_single_shard_is_read_in_several_requests_if_it_is_large() -> None:
    """Of a small one, all that is wanted comes with one request, after the index if not all of it is wanted."""
    store = Distant()
    z, values = filled(store, shape=(1 << 25,), dtype="uint8", chunks=(1 << 20,), shards=(1 << 25,), compressors=None)
    with store.counted() as most:
        np.testing.assert_array_equal(z[...], values)
        assert 4 <= most() <= config.requests_at_once
    z, values = filled(store, shape=(1 << 10,), dtype="uint8", chunks=(16,), shards=(1 << 10,), overwrite=True)
    z = blizzarr.open_array(store, path="a")
    for wanted, requests in ((slice(None), 1), (slice(17, None), 2)):
        before = store.requests
        with store.counted() as most:
            np.testing.assert_array_equal(z[wanted], values[wanted])
            assert (most(), store.requests - before) == (1, requests)


def test_requests_within_several_shards_share_what_may_be() -> None:
    store = Distant()
    layout = {"shape": (4 << 23,), "dtype": "uint8", "chunks": (1 << 20,), "shards": (1 << 23,), "compressors": None}
    with config.set(concurrent_requests=12, threads=1):
        z, values = filled(store, **layout)
        with store.counted() as most:
            np.testing.assert_array_equal(z[...], values)
            assert 6 <= most() <= 12


def test_with_a_pool_as_without() -> None:
    store = Distant()
    _, values = filled(store)
    z = blizzarr.open_array(CachedStore(store, blizzarr.CachePool(1 << 20), recheck=False), path="a")
    with store.counted() as most:
        np.testing.assert_array_equal(z[...], values)
        assert 4 <= most() <= config.requests_at_once
    before = store.requests
    np.testing.assert_array_equal(z[...], values)
    assert store.requests == before


def test_a_failure_is_raised_with_its_chunk_and_ends_the_rest() -> None:
    store = Distant(0.002)
    z = blizzarr.create_array(store, name="a", shape=6400, dtype="int16", chunks=10)
    store.refused = lambda method, key: key.endswith("/c/77")
    for work in (lambda: z[...], lambda: z.__setitem__(slice(None), 1)):
        before = store.requests
        with pytest.raises(StoreError, match="no answer") as caught:
            work()
        assert caught.value.key == "a/c/77"
        assert isinstance(caught.value.__cause__, ConnectionResetError)
        assert store.requests - before < 640


def _keys(count: int) -> list[str]:
    return [f"d/{number}" for number in range(count)]


def every_loop(store: Store) -> dict[str, Callable[[], Any]]:
    keys = _keys(48)
    return {
        "get_many": lambda: store.get_many(keys),  # type: ignore[attr-defined]
        "set_many": lambda: set_many(store, [(key, b"2") for key in keys]),
        "duplicate_many": lambda: duplicate_many(store, [(key, "e" + key) for key in keys]),
        "delete_many": lambda: delete_many(store, keys[:24]),
        "delete_prefix": lambda: store.delete_prefix("d"),  # type: ignore[attr-defined]
    }


def views(store: Distant) -> list[Any]:
    class Plain:
        """No more than the methods."""

        remote = True
        get, get_ranges, set, delete, list = store.get, store.get_ranges, store.set, store.delete, store.list

    return [store, ForeignStore(Plain()), StoreWrapper(store), StoreWrapper(ForeignStore(Plain()))]


@pytest.mark.parametrize("number", range(4))
def test_loops_over_keys_make_requests_at_once(number: int) -> None:
    store = Distant()
    view = views(store)[number]
    assert view.remote is True
    assert read_only(view).remote is True  # type: ignore[attr-defined]
    store.values = dict.fromkeys(_keys(48), b"1")
    for name, loop in every_loop(view).items():
        with store.counted() as most:
            found = loop()
            assert 4 <= most() <= config.requests_at_once, name
        if name == "get_many":
            assert found == [b"1"] * 48
    assert sorted(store.values) == sorted("e" + key for key in _keys(48))
    with config.set(concurrent_requests=3), store.counted() as most:
        view.get_many(_keys(48))
        assert most() == 3


def test_members_of_a_group_are_opened_and_removed_many_at_once() -> None:
    store = Distant(0)
    group = blizzarr.create_group(store)
    for number in range(24):
        group.create_array(f"m{number}", data=np.arange(4), chunks=2)
    store.latency = LATENCY
    with store.counted() as most:
        assert len(dict(group.arrays())) == 24
        assert 4 <= most() <= config.requests_at_once
    z = blizzarr.create_array(store, name="big", data=np.arange(100), chunks=2)
    with store.counted() as most:
        z.resize(10)
        # The groups above are asked for beside that.
        assert 4 <= most() <= config.requests_at_once + 1
    with store.counted() as most:
        copied = blizzarr.copy(z, MemoryStore())
        np.testing.assert_array_equal(copied[...], np.arange(10))
        assert most() <= config.requests_at_once


def test_the_first_failure_of_a_loop_over_keys_is_raised() -> None:
    store = Distant(0.001)
    store.values = dict.fromkeys(_keys(2000), b"1")
    store.refused = lambda method, key: key == "d/20"
    with pytest.raises(ConnectionResetError, match="d/20"):
        store.get_many(_keys(2000))
    assert store.requests < 2000


def test_only_true_means_remote() -> None:
    """An object of another library may have a method of that name."""

    class Repository:
        def remote(self) -> str:
            return "origin"

        def get(self, key: str) -> None:
            return None

    assert ForeignStore(Repository()).remote is False
    assert StoreWrapper(MemoryStore()).remote is False


def test_the_setting_is_checked() -> None:
    for wrong in (-1, 1.5, True, "many"):
        with pytest.raises(ValueError, match="expected concurrent_requests to be an integer of at least 0"):
            config.concurrent_requests = wrong  # type: ignore[assignment]
    assert config.concurrent_requests == 0
    assert config.requests_at_once == 32


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_makes_requests_of_its_own() -> None:
    """The threads that made the parent's are not there."""
    store = Distant(0.005)
    z, values = filled(store)
    store.get_many(_keys(10))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            store.most = 0
            same = bool((z[...] == values).all()) and store.get_many(_keys(10)) == [None] * 10
            code = 0 if same and store.most >= 8 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
