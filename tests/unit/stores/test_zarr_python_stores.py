"""Stores of zarr-python, and derived from those, that are called as they are."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ReadOnlyError, StoreError, UnsupportedOperationError
from blizzarr.stores import Store
from blizzarr.stores.event_loops import result_of
from blizzarr.stores.impossible_keys import is_impossible
from blizzarr.stores.zarr_python_store import foreign_store
from blizzarr.testing.stores import StoreContract

zarr = pytest.importorskip("zarr", "3.0", reason="zarr-python 3 is not installed")
storage: Any = pytest.importorskip("zarr.storage")
sync: Any = pytest.importorskip("zarr.core.sync").sync
LatencyStore: Any = pytest.importorskip("zarr.testing.store").LatencyStore
Buffer: Any = pytest.importorskip("zarr.core.buffer.cpu").Buffer


class TestMemory(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return foreign_store(storage.MemoryStore())


class TestDirectory(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return foreign_store(storage.LocalStore(tmp_path / "root"))


@pytest.mark.thorough  # this store examines the stack at each call, which takes a second beside thousands of tests
class TestLogging(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return foreign_store(storage.LoggingStore(storage.MemoryStore(), log_level="WARNING"))


class TestLatency(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return foreign_store(LatencyStore(storage.MemoryStore(), get_latency=0.0001, set_latency=0.0001))


class TestFiles(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return foreign_store(storage.FsspecStore.from_url(f"memory://{tmp_path}/root"))


class Slow(storage.MemoryStore):  # type: ignore[misc]
    """Counts how many requests wait at once."""

    now = most = cancelled = 0
    seconds = 0.01

    async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.now -= 1
        return await super().get(key, *arguments, **options)


class Broken(storage.MemoryStore):  # type: ignore[misc]
    """Fails for chunks."""

    async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
        if "/c/" in key:
            raise ConnectionError("the cable was cut")
        return await super().get(key, *arguments, **options)


def test_everything_works_through_a_wrapper(tmp_path: Path) -> None:
    theirs = storage.LoggingStore(storage.MemoryStore(), log_level="WARNING")
    group = blizzarr.create_group(theirs, attributes={"title": "sea"})
    array = group.create_array("deep/temperature", shape=(6, 4), chunks=(2, 2), dtype="f4", fill_value=-1)
    array[1:5] = np.arange(16).reshape(4, 4)
    expected = np.full((6, 4), -1.0)
    expected[1:5] = np.arange(16).reshape(4, 4)
    assert np.array_equal(zarr.open_group(theirs, mode="r")["deep/temperature"][:], expected)
    assert "temperature" in str(group.tree())
    assert blizzarr.check(theirs).ok
    blizzarr.copy(theirs, tmp_path / "copy.zarr")
    assert np.array_equal(blizzarr.open_array(tmp_path / "copy.zarr", path="deep/temperature")[:], expected)
    blizzarr.copy(tmp_path / "copy.zarr", storage.StorePath(theirs, "second"))
    assert np.array_equal(blizzarr.open(storage.StorePath(theirs, "second"), path="deep/temperature")[:], expected)
    del group["deep"]["temperature"]
    assert [*group["deep"].keys()] == []
    assert theirs.counter["set"] > 10


def test_a_store_that_can_only_be_read() -> None:
    theirs = Broken(read_only=True)
    with pytest.raises(ReadOnlyError):
        blizzarr.create_array(theirs, shape=(2,), dtype="i4")


def test_a_failure_is_an_error_and_no_fill_value() -> None:
    memory = storage.MemoryStore()
    blizzarr.create_array(memory, name="a", shape=(4,), chunks=(2,), dtype="i4", fill_value=7)
    assert blizzarr.open_array(storage.LoggingStore(memory, log_level="WARNING"), path="a")[:].tolist() == [7, 7, 7, 7]
    array = blizzarr.open_array(Broken(memory._store_dict), path="a")
    with pytest.raises(StoreError, match=r"a/c/0 .*ConnectionError|the cable was cut") as raised:
        array[:]
    assert isinstance(raised.value.__cause__, ConnectionError)


def test_more_bytes_than_were_asked_for() -> None:
    class NoRanges(storage.MemoryStore):  # type: ignore[misc]
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            found = await super().get(key, prototype)
            return found if key == "whole" else found[:-1]

        async def getsize(self, key: str) -> int:
            return len(self._store_dict[key])

    store = foreign_store(NoRanges())
    store.set("whole", b"0123456789")
    for range_, part in {(0, None): b"0123456789", (3, 2): b"34", (3, None): b"3456789", (-3, 2): b"78"}.items():
        assert [bytes(value) for value in store.get_ranges("whole", [range_])] == [part]
    store.set("other", b"0123456789")
    with pytest.raises(StoreError, match="expected at most 2 bytes"):
        store.get_ranges("other", [(3, 2)])


def test_a_directory_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    """Their own listings leave it out: a copy had nothing of its chunks, and a check found nothing wrong."""

    class Failing(storage.LocalStore):  # type: ignore[misc]
        async def list_dir(self, prefix: str) -> Any:
            if prefix.rstrip("/").endswith("c"):
                raise PermissionError(13, "Permission denied")
            async for name in super().list_dir(prefix):
                yield name

        async def list_prefix(self, prefix: str) -> Any:
            async for name in super().list_prefix(prefix):
                if "c/" not in name:
                    yield name

    blizzarr.create_array(tmp_path, name="a", data=[1, 2, 3], chunks=1)
    store = foreign_store(Failing(tmp_path))
    for use in (blizzarr.check, lambda store: blizzarr.copy(store, {})):
        with pytest.raises(StoreError, match="Permission denied"):
            use(store)
    assert foreign_store(storage.LocalStore(tmp_path)).list("a/") == ["a/c/0", "a/c/1", "a/c/2", "a/zarr.json"]


def test_many_requests_at_once() -> None:
    theirs = Slow()
    array = blizzarr.create_array(theirs, shape=(64,), chunks=(1,), dtype="i4")
    array[:] = np.arange(64)
    theirs.most = 0
    assert array[:].tolist() == [*range(64)]
    assert 16 < theirs.most <= 32
    theirs.most = 0
    with blizzarr.config.set(concurrent_requests=4, threads=4):
        array[:]
    assert theirs.most == 4


def test_parts_of_a_chunk_from_many_threads() -> None:
    theirs = Slow()
    theirs.seconds = 0.001
    blizzarr.create_array(theirs, shape=(32,), dtype="i4")

    def write(number: int) -> None:
        blizzarr.open_array(theirs)[number] = number

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(32)))
    assert blizzarr.open_array(theirs)[:].tolist() == [*range(32)]


def test_a_caller_within_an_event_loop() -> None:
    theirs = Slow()
    blizzarr.create_array(theirs, shape=(8,), chunks=(1,), dtype="i4")[:] = np.arange(8)

    async def read() -> list[int]:
        return list(blizzarr.open_array(theirs)[:].tolist())

    assert asyncio.run(read()) == [*range(8)]
    # In the thread that zarr-python calls stores in, and in our own.
    assert sync(read()) == [*range(8)]

    async def nested() -> list[int]:
        return result_of(read)

    assert sync(nested()) == [*range(8)]


def test_a_store_that_calls_this_library_is_not_slow() -> None:
    inner = blizzarr.create_array(Slow(), shape=(16,), chunks=(1,), dtype="i4", fill_value=7)
    inner.store.target.store.seconds = 0

    class Nested(storage.MemoryStore):  # type: ignore[misc]
        async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
            # One request in the loop's own thread, many in threads of the engine.
            assert inner[3] == 7
            assert inner[:].sum() == 7 * 16
            return await super().get(key, *arguments, **options)

    array = blizzarr.create_array(Nested(), shape=(8,), chunks=(1,), dtype="i4", fill_value=5)
    array[0]
    begin = time.monotonic()
    assert array[:].tolist() == [5] * 8
    assert time.monotonic() - begin < 10


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
def test_ctrl_c_while_it_waits() -> None:
    theirs = Slow()
    array = blizzarr.create_array(theirs, shape=(8,), chunks=(1,), dtype="i4")
    theirs.seconds = 60
    begin = time.monotonic()
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)

    def interrupt() -> None:
        while not theirs.now:
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGALRM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            array[:]
    finally:
        thread.join()
        signal.signal(signal.SIGALRM, previous)
    assert time.monotonic() - begin < 30
    deadline = time.monotonic() + 30
    begun = theirs.cancelled + theirs.now
    while theirs.cancelled < begun and time.monotonic() < deadline:
        time.sleep(0.01)
    assert theirs.cancelled == begun > 0
    theirs.seconds = 0
    assert array[:].tolist() == [0] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_a_forked_child_and_the_end_of_the_interpreter() -> None:
    script = """
import os, blizzarr, zarr
store = zarr.storage.LoggingStore(zarr.storage.MemoryStore(), log_level="WARNING")
array = blizzarr.create_array(store, shape=(4,), chunks=(1,), dtype="i4", fill_value=3)
array[:2] = 5
child = os.fork()
total = int(array[:].sum())
if child:
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print("ended with", status)
print(total)
"""
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60)
    assert (found.stdout, found.stderr, found.returncode) == ("16\nended with 0\n16\n", "", 0)


def test_nodes_of_zarr_python_are_refused_with_advice() -> None:
    group = zarr.create_group(storage.MemoryStore(), path="g")
    with pytest.raises(TypeError, match=r"found a group; open it with blizzarr\.open\(group\.store, path='g'\)"):
        blizzarr.open(group)

    class Session:
        store = storage.MemoryStore()

    with pytest.raises(TypeError, match=r"found Session; pass its attribute `store`"):
        blizzarr.open(Session())


def test_ranges_beyond_the_end_where_those_are_errors() -> None:
    class Strict(storage.MemoryStore):  # type: ignore[misc]
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            found = await super().get(key, prototype)
            end = getattr(byte_range, "end", getattr(byte_range, "suffix", getattr(byte_range, "offset", -1) + 1))
            if found is not None and end > len(found):
                raise ValueError("416 Range Not Satisfiable")
            return await super().get(key, prototype, byte_range)

    store = foreign_store(Strict())
    store.set("a", b"0123456789")
    store.set("empty", b"")
    ranges: list[tuple[int, int | None]] = [(8, 5), (10, 1), (20, None), (-99, None), (3, 2)]
    parts = store.get_ranges("a", ranges)
    assert parts is not None
    assert [bytes(part) for part in parts] == [b"89", b"", b"", b"0123456789", b"34"]
    assert store.get_ranges("empty", [(0, 1), (-4, None)]) == [b"", b""]
    assert store.list_dir("").keys == ("a", "empty")


def test_an_error_for_a_key_is_never_a_missing_chunk() -> None:
    refused = type("IcechunkError", (Exception,), {"__module__": "icechunk"})("invalid zarr key format `...`")
    for key in ("a/c/0/1", "a/c.0", "c", "a/0.0", "0"):
        assert not is_impossible(key, refused, None)
    for key in ("meta/root.group.json", "a/attributes.json", "a/.zarray"):
        assert is_impossible(key, refused, None)
        assert not is_impossible(key, ConnectionError("invalid zarr key format"), None)
        assert not is_impossible(key, ValueError("closed"), storage.MemoryStore())


@pytest.mark.filterwarnings("ignore:Duplicate name")  # zipfile itself says so
def test_a_zip_file_that_zarr_python_writes(tmp_path: Path) -> None:
    with storage.ZipStore(tmp_path / "a.zip", mode="w") as theirs:
        array = blizzarr.create_group(theirs).create_array("x", shape=(4, 4), chunks=(2, 2), dtype="i4", fill_value=-1)
        array[:] = np.arange(16).reshape(4, 4)
        array[0, 0] = 100
        array.attrs["units"] = "m"
        # The directory of the file has both values of what was written twice.
        report = blizzarr.check(theirs)
        assert (report.ok, report.chunks, len(report.findings)) == (True, 4, 0)
        with pytest.raises(UnsupportedOperationError, match="cannot delete"):
            del blizzarr.open_group(theirs)["x"]
        with pytest.raises(StoreError, match="a zip file that is being written cannot be pickled"):
            pickle.dumps(array)
    expected = np.arange(16).reshape(4, 4)
    expected[0, 0] = 100
    assert np.array_equal(zarr.open_group(storage.ZipStore(tmp_path / "a.zip"), mode="r")["x"][:], expected)
    with storage.ZipStore(tmp_path / "a.zip", mode="a") as theirs:
        blizzarr.open_array(theirs, path="x")[3] = 0
        blizzarr.copy(np.arange(3), theirs, path="y")
    assert blizzarr.open(tmp_path / "a.zip")["x"][3].tolist() == [0] * 4
    assert blizzarr.open(tmp_path / "a.zip")["y"][:].tolist() == [0, 1, 2]


class Tiff(storage.MemoryStore):  # type: ignore[misc]
    """A store that has what that of tifffile has: no ranges, and a KeyError for what is no chunk of its image."""

    __module__ = "tifffile.zarr"

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        if byte_range is not None:
            raise NotImplementedError(f"{byte_range=!r} not supported")
        if key not in self._store_dict and not key.endswith((".zarray", ".zgroup", ".zmetadata", "zarr.json")):
            raise KeyError(key)
        return await super().get(key, prototype)


@pytest.mark.parametrize("compressor", [None, "zstd"])
def test_stores_of_tifffile(compressor: str | None) -> None:
    values: dict[str, Any] = {}
    data = np.arange(64, dtype="u2").reshape(8, 8)
    blizzarr.create_array(values, data=data, chunks=(4, 4), compressors=compressor, zarr_format=2)
    store = Tiff({key: Buffer.from_bytes(bytes(value)) for key, value in values.items()})
    for opened in (blizzarr.open(store, mode="r"), blizzarr.open_array(store, mode="r")):
        assert np.array_equal(opened[:], data)
        assert np.array_equal(opened[2:6, ::3], data[2:6, ::3])
        assert opened.nchunks_initialized == 4
    assert [bytes(part) for part in foreign_store(store).get_ranges("0.0", [(0, 2), (-2, 2)]) or []] == [
        bytes(values["0.0"])[:2],
        bytes(values["0.0"])[-2:],
    ]
    del store._store_dict["1.1"]
    with pytest.raises(StoreError, match=r"KeyError: '1\.1'"):
        opened[:]


class Replaced(storage.MemoryStore):
    """A shard is replaced after so many requests for it; those for the index at its end are answered first."""

    requests = 0
    later: Any = None

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        if key == "c/0" and type(byte_range).__name__ != "SuffixByteRequest":
            await asyncio.sleep(0.005)
        part = await super().get(key, prototype, byte_range)
        self.requests -= key == "c/0"
        if self.requests == 0:
            self._store_dict["c/0"] = self.later
        return part


@pytest.mark.parametrize("requests", [1, 2, 3, 4])
def test_the_index_of_a_shard_and_its_inner_chunks_are_of_one_version(requests: int) -> None:
    """What is where an inner chunk was before is another one, which decodes as well."""
    store = Replaced()
    z = blizzarr.create_array(store, shape=800, chunks=100, shards=800, dtype="u1", compressors=None)
    values = np.repeat(np.arange(8, dtype="u1"), 100)
    z[...] = values  # without the first inner chunk, which is fill
    store.later = store._store_dict["c/0"]
    z[...] = values + 100
    store.requests = requests
    np.testing.assert_array_equal(z[300:400], 103 if requests == 4 else 3)
    np.testing.assert_array_equal(z[300:400], 3)
