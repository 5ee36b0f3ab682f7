"""Stores that name versions: parts that several write are all kept, and what is read is of one version."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.caching import CachedStore
from blizzarr.config import config
from blizzarr.errors import ConflictError, ReadOnlyError, StoreError
from blizzarr.stores import BaseStore, ForeignStore, StoreWrapper, read_only
from blizzarr.stores.ranges import slice_ranges

LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (64,)},
    "raw": {"chunks": (64,), "compressors": None},
    "shards": {"chunks": (4,), "shards": (64,)},
    "raw shards": {"chunks": (4,), "shards": (64,), "compressors": None},
}
KEY = "a/c/0"


class Bucket:
    """What all handles of a place have in common."""

    def __init__(self) -> None:
        self.values: dict[str, tuple[bytes, str]] = {}
        self.lock = threading.Lock()
        self.writes = 0


class Versioned(BaseStore):
    """A handle of a bucket, as another process would have it: nothing but versions tells one what others do."""

    remote = True

    def __init__(self, bucket: Bucket | None = None) -> None:
        self.bucket = bucket or Bucket()
        self.calls: list[str] = []
        self.looks: list[str] = []
        """The requests for documents."""
        self.after: Callable[[str, str], None] = lambda method, key: None

    def _found(self, method: str, key: str) -> tuple[bytes, str] | None:
        (self.looks if key.endswith("zarr.json") else self.calls).append(method)
        with self.bucket.lock:
            found = self.bucket.values.get(key)
        self.after(method, key)
        return found

    def get(self, key: str) -> Any:
        found = self._found("get", key)
        return None if found is None else found[0]

    def get_ranges(self, key: str, ranges: Sequence[Any]) -> Any:
        found = self._found("get_ranges", key)
        return None if found is None else slice_ranges(found[0], ranges)

    def get_with_version(self, key: str) -> tuple[bytes, str] | None:
        return self._found("get_with_version", key)

    def get_ranges_of_version(self, key: str, ranges: Sequence[Any], version: str | None) -> Any:
        found = self._found("get_ranges_of_version", key)
        if found is None:
            return None
        if version not in (None, found[1]):
            raise ConflictError("it is of another version", key=key)
        return slice_ranges(found[0], ranges), found[1]

    def version(self, key: str) -> str | None:
        found = self._found("version", key)
        return None if found is None else found[1]

    def size(self, key: str) -> int | None:
        found = self._found("size", key)
        return None if found is None else len(found[0])

    def _put(self, key: str, value: Any) -> None:
        self.bucket.writes += 1
        self.bucket.values[key] = bytes(value), f"v{self.bucket.writes}"

    def set(self, key: str, value: Any) -> None:
        self.calls.append("set")
        with self.bucket.lock:
            self._put(key, value)

    def set_if_version(self, key: str, value: Any, version: str | None) -> bool:
        self.calls.append("set_if_version")
        with self.bucket.lock:
            if self.bucket.values.get(key, (b"", None))[1] != version:
                return False
            self._put(key, value)
            return True

    def delete(self, key: str) -> None:
        self.calls.append("delete")
        with self.bucket.lock:
            self.bucket.values.pop(key, None)

    def list(self, prefix: str = "") -> Any:
        return sorted(key for key in self.bucket.values if key.startswith(prefix))


def made(store: Any, layout: str = "chunks", *, fill: int | None = None) -> blizzarr.Array:
    z = blizzarr.create_array(store, name="a", shape=64, dtype="int32", **LAYOUTS[layout])
    if fill is not None:
        z[...] = fill
    return z


def another(store: Versioned) -> blizzarr.Array:
    """The array of another process."""
    return blizzarr.open_array(Versioned(store.bucket), path="a", mode="r+")


@pytest.fixture(params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_each_write_asks_once_for_the_version_of_the_document(layout: str) -> None:
    store = Versioned()
    z = made(store, layout, fill=1)
    z[0] = 2
    store.looks.clear()
    z[0] = 3
    assert store.looks == ["version"]
    z[3:9] = 4
    z[...] = 5
    assert store.looks == ["version"] * 3
    another(store).attrs["a"] = 1
    z[0] = 6
    assert store.looks.count("version") == 4
    store.looks.clear()
    assert z[:2].tolist() == [6, 5]
    assert store.looks == []


def test_a_read_of_nothing_looks_for_the_document(layout: str) -> None:
    store = Versioned()
    z = made(store, layout, fill=1)
    blizzarr.create_array(Versioned(store.bucket), name="a", shape=2, chunks=2, dtype="int8", overwrite=True)
    with pytest.raises(ConflictError, match="somebody has replaced the array"):
        z[10]
    with pytest.raises(ConflictError, match="somebody has replaced the array"):
        z[10] = 3
    assert z.refresh()[:].tolist() == [0, 0]


@pytest.mark.parametrize("before", [None, 7])
@pytest.mark.parametrize("times", [0, 1, 15])
def test_what_others_write_between_reading_and_writing_is_kept(layout: str, before: int | None, times: int) -> None:
    store = Versioned()
    z = made(store, layout, fill=before)
    other = another(store)
    left = list(range(times))

    def interfere(method: str, key: str) -> None:
        if method == "get_with_version" and key == KEY and left:
            number = left.pop()
            other[20 + number] = 100 + number

    store.after = interfere
    store.calls.clear()
    z[3:5] = 50
    expected = np.full(64, before or 0)
    expected[20 : 20 + times] = np.arange(times) + 100
    expected[3:5] = 50
    np.testing.assert_array_equal(other[...], expected)
    assert store.calls == ["get_with_version", "set_if_version"] * (times + 1)


def test_parts_of_all_writers_are_kept(layout: str) -> None:
    """Handles of their own exclude nobody: as if each were in another process."""
    bucket = Bucket()
    made(Versioned(bucket), layout)
    handles, parts = 4, 8
    ready = threading.Barrier(handles)
    failures: list[BaseException] = []

    def write(number: int) -> None:
        try:
            z = blizzarr.open_array(Versioned(bucket), path="a", mode="r+")
            ready.wait()
            for part in range(parts):
                at = number * 2 * parts + 2 * part
                z[at : at + 2] = at + 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(handles)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    at = np.arange(64) // 2 * 2 + 1
    np.testing.assert_array_equal(blizzarr.open_array(Versioned(bucket), path="a")[...], at)


def test_nothing_but_fill_values_is_not_deleted(layout: str) -> None:
    """Others might have stored something meanwhile, and there is no conditional deletion."""
    store = Versioned()
    z = made(store, layout)
    store.calls.clear()
    z[3:5] = 0
    assert store.calls == ["get_with_version"]
    assert KEY not in store.bucket.values
    other = another(store)
    z[3:5] = 1
    left = [1]

    def interfere(method: str, key: str) -> None:
        if method == "get_with_version" and left:
            left.pop()
            other[40] = 9

    store.after = interfere
    z[3:5] = 0
    assert (z[40], int(z[...].sum())) == (9, 9)
    store.calls.clear()
    z[40] = 0
    assert store.calls == ["get_with_version", "set_if_version"]
    assert KEY in store.bucket.values
    assert not z[...].any()
    assert not blizzarr.check(z).findings


def test_whole_chunks_are_simply_replaced(layout: str) -> None:
    store = Versioned()
    z = made(store, layout)
    store.calls.clear()
    z[...] = 5
    assert store.calls == ["set"]
    z[...] = 0
    assert KEY not in store.bucket.values


def test_damage_is_replaced_where_all_is_and_stays_otherwise() -> None:
    store = Versioned()
    z = blizzarr.create_array(store, name="a", shape=50, dtype="int32", chunks=64)
    store.bucket.values[KEY] = b"damaged", "v0"
    with pytest.raises(blizzarr.errors.CodecError):
        z[3] = 1
    assert store.bucket.values[KEY] == (b"damaged", "v0")
    z[...] = 3
    assert (z[...] == 3).all()


def test_documents_are_replaced_only_if_they_are_of_the_version_that_was_read() -> None:
    """Two appends at the same time, by handles that know nothing of each other, in stores without `replace`."""
    mine = Versioned()
    array = blizzarr.create_array(mine, name="a", data=np.arange(4), chunks=4)
    other = blizzarr.open_array(Versioned(mine.bucket), path="a")
    begun: list[int] = []

    def interfere(method: str, key: str) -> None:
        # After the last look at the document before it is replaced.
        if key == "a/zarr.json" and method in ("get", "get_with_version"):
            begun.append(1)
            if len(begun) == 2:
                other.append(np.full(4, 7))

    mine.after = interfere
    array.append(np.full(4, 8))
    assert blizzarr.open_array(mine, path="a")[:].tolist() == [0, 1, 2, 3, 7, 7, 7, 7, 8, 8, 8, 8]


def test_one_method_alone_is_not_enough() -> None:
    class Half(Versioned):
        set_if_version = None  # type: ignore[assignment]

    store = Half()
    z = made(store, fill=2)
    z[3] = 1
    assert "get_with_version" not in store.calls
    assert (z[3], z[4]) == (1, 2)


def test_errors_name_the_chunk() -> None:
    class Broken(Versioned):
        def set_if_version(self, key: str, value: Any, version: str | None) -> bool:
            if key == KEY:
                raise ConnectionResetError("gone")
            return super().set_if_version(key, value, version)

    z = made(ForeignStore(Broken()))
    with pytest.raises(StoreError, match="gone") as caught:
        z[3] = 1
    assert caught.value.key == KEY


def test_who_never_gets_through_can_be_interrupted(request: pytest.FixtureRequest) -> None:
    # A shell has what it starts in the background ignore the signal.
    request.addfinalizer(
        partial(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
    )

    class Busy(Versioned):
        def set_if_version(self, key: str, value: Any, version: str | None) -> bool:
            if key != KEY:
                return super().set_if_version(key, value, version)
            self.calls.append("set_if_version")
            # More than once: an interrupt that comes while Python cleans up is lost.
            if self.calls.count("set_if_version") % 40 == 20:
                threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
            return False

    store = Busy()
    z = made(store)
    store.calls.clear()
    with pytest.raises(KeyboardInterrupt):
        z[3] = 1


def test_wrappers_pass_it_on() -> None:
    store = Versioned()
    z = made(store, "shards", fill=7)
    names = ("get_with_version", "get_ranges_of_version", "set_if_version")
    pool = blizzarr.CachePool(1 << 20)
    for view in (ForeignStore(store), CachedStore(store, pool), CachedStore(ForeignStore(store), pool)):
        store.calls.clear()
        shown = blizzarr.open_array(view, path="a", mode="r+")
        shown[3] = shown[3] + 1
        assert {"get_with_version", "get_ranges_of_version", "set_if_version"} <= set(store.calls)
        assert z[3] == shown[3]
    seen = read_only(store)
    assert seen.get_with_version(KEY) == store.bucket.values[KEY]  # type: ignore[attr-defined]
    with pytest.raises(ReadOnlyError):
        seen.set_if_version(KEY, b"", None)  # type: ignore[attr-defined]
    with pytest.raises(ReadOnlyError):
        ForeignStore(store, read_only=True).set_if_version(KEY, b"", None)
    # What stores other bytes, or under other keys, must say by itself what that means.
    for name in names:
        assert not hasattr(StoreWrapper(store), name)
        assert not hasattr(ForeignStore(BaseStoreWithout()), name)
        assert not hasattr(CachedStore(ForeignStore(BaseStoreWithout()), pool), name)


class BaseStoreWithout:
    def get(self, key: str) -> None:
        return None


def replacing(store: Versioned, times: int, *, values: Callable[[], int]) -> None:
    """Have others replace the shard after each of its first requests."""
    other = another(store)
    left = [None] * times

    def interfere(method: str, key: str) -> None:
        if key == KEY and left and method in ("get_ranges_of_version", "get_ranges", "size"):
            left.pop()
            other[...] = values()

    store.after = interfere


def counting() -> Callable[[], int]:
    numbers: Iterator[int] = iter(range(100, 10_000))
    return lambda: next(numbers)


@pytest.mark.parametrize("kind", ["shards", "raw shards"])
@pytest.mark.parametrize("times", [1, 3, 20])
@pytest.mark.parametrize("pool", [False, True])
def test_a_shard_is_read_of_one_version(kind: str, times: int, pool: bool) -> None:
    """Raw inner chunks are as long in all versions, so that the index does not tell them apart."""
    store = Versioned()
    z = made(store, kind, fill=7)
    if pool:
        z = blizzarr.open_array(CachedStore(store, blizzarr.CachePool(1 << 20)), path="a")
    replacing(store, times, values=counting())
    found = z[1:30]
    assert len(set(found.tolist())) == 1
    assert found[0] >= 100
    assert "get_ranges" not in store.calls


@pytest.mark.parametrize("kind", ["shards", "raw shards"])
@pytest.mark.parametrize("recheck", [False, True])
@pytest.mark.parametrize("looks", [0, 1, 2])
def test_what_a_pool_keeps_is_not_combined_with_another_version(kind: str, recheck: bool, looks: int) -> None:
    """It is replaced after so many looks at its version, which find that it is the same."""
    store = Versioned()
    made(store, kind, fill=7)
    z = blizzarr.open_array(CachedStore(store, blizzarr.CachePool(1 << 20), recheck=recheck), path="a")
    assert z[1] == 7
    # Another process: nobody in this one is told.
    value = Versioned()
    made(value, kind, fill=8)
    left = [None] * looks

    def replace(method: str, key: str) -> None:
        if method == "version" and left:
            left.pop()
        if not left:
            store.bucket.values[KEY] = value.bucket.values[KEY][0], "other"

    store.after = replace
    replace("", "")
    found = set(z[...].tolist())
    assert found == {8} or (found == {7} and left)


def test_several_requests_for_one_shard_are_of_one_version() -> None:
    layout = {"shape": 1 << 22, "dtype": "int32", "chunks": 1 << 18, "shards": 1 << 22, "compressors": None}

    def of(store: Versioned, value: int) -> blizzarr.Array:
        z = blizzarr.create_array(store, name="a", **layout)
        z[...] = value
        return z

    store = Versioned()
    z = of(store, 7)
    images = []
    for value in range(5):
        other = Versioned()
        of(other, 100 + value)
        images.append(other.bucket.values[KEY][0])

    def interfere(method: str, key: str) -> None:
        if key == KEY and method in ("get_ranges", "get_ranges_of_version") and images:
            with store.bucket.lock:
                store._put(key, images.pop())

    store.after = interfere
    with config.set(concurrent_requests=4):
        found = z[...]
    assert len(np.unique(found)) == 1


def test_who_is_replaced_for_ever_is_told_so() -> None:
    for pool in (False, True):
        store = Versioned()
        z = made(store, "shards", fill=7)
        if pool:
            z = blizzarr.open_array(CachedStore(store, blizzarr.CachePool(1 << 20)), path="a")
        replacing(store, 100_000, values=counting())
        with pytest.raises(ConflictError) as caught:
            z[:30]
        assert caught.value.key == KEY


def test_a_shard_that_is_deleted_meanwhile_reads_as_the_fill_value() -> None:
    store = Versioned()
    z = made(store, "shards", fill=7)
    other = another(store)

    def interfere(method: str, key: str) -> None:
        if key == KEY and method == "get_ranges_of_version":
            other[...] = 0

    store.after = interfere
    assert not z[:30].any()


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("kind", ["shards", "raw shards"])
def test_a_check_is_of_one_version(kind: str, fast: bool) -> None:
    store = Versioned()
    z = made(store, kind)
    z[:4] = 7
    lengths = iter([64, 4, 32, 8] * 50)
    other = another(store)
    left = [None] * 6

    def interfere(method: str, key: str) -> None:
        if key == KEY and left and method in ("get_ranges", "get_ranges_of_version", "size", "get"):
            left.pop()
            other[...] = 0
            other[: next(lengths)] = 5

    store.after = interfere
    assert not blizzarr.check(z, fast=fast).findings
