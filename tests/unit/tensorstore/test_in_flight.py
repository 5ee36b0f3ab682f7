"""Reads that are asked for before others are done with: what many need is decoded once, and is never too old."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import random
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tensorstore_face import ours, same

from blizzarr.caching import CacheInfo, CachePool
from blizzarr.tensorstore import driver, gathering, in_flight, stored_array_driver

_GZIP, _PLAIN = ["bytes", "gzip"], ["bytes"]
_SHARDS = [{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 8], "codecs": _GZIP}}]
_SHAPE, _CHUNK = (16, 32), (8, 16)
_numbers = count()


def _open(face: Any, place: str, codecs: list[Any] = _GZIP, **options: Any) -> Any:
    spec = {"driver": "zarr3", "kvstore": place, "metadata": {"codecs": codecs}}
    layout = face.ChunkLayout(write_chunk_shape=_CHUNK)
    return face.open(spec, dtype="int32", shape=_SHAPE, chunk_layout=layout, open=True, create=True, **options).result()


def _stored(face: Any, place: str, codecs: list[Any] = _GZIP, **options: Any) -> Any:
    store = _open(face, place, codecs, **options)
    store.write(np.arange(16 * 32, dtype=np.int32).reshape(_SHAPE)).result()
    return store


@pytest.fixture(autouse=True)
def _small_chunks_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_array_driver, "_LEAST_BYTES", 0)


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an array can be made."""
    return f"memory://in-flight{next(_numbers)}/" if request.param == "memory" else f"file://{tmp_path}/array/"


@pytest.fixture(params=["at once", "later"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether reads are done in the thread that asks for them."""
    if request.param == "later":
        monkeypatch.setattr(stored_array_driver, "_QUICK_BYTES", 0)
    return str(request.param)


class _Pools:
    """The pools that are made from here on."""

    def __init__(self) -> None:
        self.made: list[tuple[weakref.ref[CachePool], Any]] = []

    def decoded(self) -> int:
        """How many chunks were decoded for them."""
        return sum(CacheInfo(*native.info()).misses for _, native in self.made)

    def alive(self) -> int:
        """How many there still are."""
        gc.collect()
        return sum(pool() is not None for pool, _ in self.made)


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> _Pools:
    """All pools that are made for reads in flight."""
    noted = _Pools()

    class Noted(CachePool):
        __slots__ = ()

        def __init__(self, limit: int) -> None:
            super().__init__(limit)
            noted.made.append((weakref.ref(self), self.native))

    monkeypatch.setattr(in_flight, "CachePool", Noted)
    monkeypatch.setattr(in_flight, "_last", None)
    return noted


@pytest.mark.parametrize("codecs", [_GZIP, _SHARDS], ids=["chunks", "shards"])
def test_a_chunk_is_decoded_once_for_many(place: str, way: str, codecs: list[Any], pools: _Pools) -> None:
    """However many futures there are before the first is asked for its result; also when it was written just now."""
    store = _stored(ours, place, codecs)
    futures = [store[row % 8, 3:5].read() for row in range(200)]
    assert [int(future.result()[0]) for future in futures] == [row % 8 * 32 + 3 for row in range(200)]
    # Of shards the index counts, too.
    assert 1 <= pools.decoded() <= (8 if codecs is _SHARDS else 4)
    assert pools.alive() == 1
    del futures
    # A thread that did the last read drops its future a moment after that is done.
    deadline = time.monotonic() + 5
    while pools.alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert pools.alive() == 0


def test_reads_of_several_chunks_share_them(place: str, way: str, pools: _Pools) -> None:
    """Each column needs two chunks, of which there are four."""
    store = _stored(ours, place)
    futures = [store[:, column].read() for column in range(32)]
    assert [int(future.result()[1]) for future in futures] == list(range(32, 64))
    assert 4 <= pools.decoded() <= 12


@pytest.mark.parametrize(
    "view",
    [
        lambda ts, store: ts.cast(store, "float64"),
        lambda ts, store: ts.downsample(store, [1, 2], "max"),
        lambda ts, store: ts.stack([store[at] for at in range(16)]),
        lambda ts, store: store[ts.d[:].translate_to[0, 0]],
    ],
    ids=["cast", "downsample", "stack", "view"],
)
def test_views_of_views_share_chunks(view: Callable[[Any, Any], Any], way: str, pools: _Pools) -> None:
    """Whatever is above the array."""
    number = next(_numbers)

    def found(ts: Any) -> Any:
        futures = [view(ts, _stored(ts, f"memory://views{number}/"))]
        futures = [futures[0][row % 8, 3].read() for row in range(50)]
        return [future.result() for future in futures]

    same(found)
    assert 1 <= pools.decoded() <= 4


def test_parts_of_elements_share_chunks(pools: _Pools) -> None:
    """Fields of structured elements, which are read as bytes."""
    metadata = {"dtype": [["a", "<i2"], ["b", "<i4"]], "shape": [40], "chunks": [40], "compressor": {"id": "zlib"}}
    spec = {"driver": "zarr", "kvstore": f"memory://part{next(_numbers)}/", "metadata": metadata}
    store = ours.open({**spec, "field": "b"}, create=True).result()
    store.write(np.arange(40, dtype=np.int32)).result()
    futures = [store[row].read() for row in range(40)]
    assert [int(future.result()) for future in futures] == list(range(40))
    assert 1 <= pools.decoded() <= 2


def test_nothing_is_kept_where_nothing_is_shared(place: str, pools: _Pools) -> None:
    """Chunks that can be read in part, chunks that others do not need, futures that are gone, caches of the user."""
    plain = _stored(ours, place + "plain/", _PLAIN)
    futures = [plain[row, 3].read() for row in range(8)]
    packed = _stored(ours, place + "packed/")
    futures += [packed[row, column].read() for row in (1, 12) for column in (3, 20)]
    assert [int(future.result()) for future in futures[-4:]] == [35, 52, 387, 404]
    del futures
    while in_flight._last is not None and in_flight._last() is not None:
        time.sleep(0.001)  # the thread that did the last read has its future for a moment
    for row in range(8):
        assert int(packed[row, 3].read().result()) == row * 32 + 3
    context = ours.Context({"cache_pool": {"total_bytes_limit": 1 << 20}})
    cached = _stored(ours, place + "cached/", context=context)
    futures = [cached[row, 3].read() for row in range(8)]
    assert [int(future.result()) for future in futures] == [row * 32 + 3 for row in range(8)]
    assert not pools.made


def test_what_is_too_large_is_read_by_itself(pools: _Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads of more than is kept go around the pool, and all that is kept stays within its limit."""
    for module in (driver, in_flight, stored_array_driver):
        monkeypatch.setattr(module, "KEPT_BYTES", 1800)
    store = _stored(ours, f"memory://large{next(_numbers)}/")
    whole = [store.read() for _ in range(3)] + [store[:, 1].read(), store[:, 2].read()]
    assert [int(future.result().sum()) for future in whole] == [130816] * 3 + [3856, 3872]
    assert pools.decoded() == 2
    assert all(CacheInfo(*native.info()).used <= 1800 for _, native in pools.made)


def test_reads_begun_together_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, they are done in the thread that asks for them, which is quicker."""
    gathered: list[Any] = []
    add = gathering.Gathering.add

    def counted(self: gathering.Gathering, future: Any) -> None:
        gathered.append(future)
        add(self, future)

    monkeypatch.setattr(gathering.Gathering, "add", counted)
    store = _stored(ours, f"memory://together{next(_numbers)}/")
    rows = np.arange(16 * 32).reshape(_SHAPE)

    async def one_by_one() -> list[Any]:
        return [await store[row].read() for row in range(8)]

    async def together() -> list[Any]:
        return await asyncio.gather(*[read(row) for row in range(8)])

    async def read(row: int) -> Any:
        return await store[row].read()

    kept: list[Any] = []
    for row in range(8):
        kept.append(store[row].read())
        assert np.array_equal(kept[-1].result(), rows[row])
    assert np.array_equal(asyncio.run(one_by_one()), rows[:8])
    assert not gathered
    kept.clear()
    assert np.array_equal([future.result() for future in [store[row].read() for row in range(8)]], rows[:8])
    assert len(gathered) == 7
    assert np.array_equal(asyncio.run(together()), rows[:8])
    assert len(gathered) == 14
    codecs = [{"name": "bytes"}]
    plain = _stored(ours, f"memory://together{next(_numbers)}/", codecs)
    assert np.array_equal([future.result() for future in [plain[row].read() for row in range(8)]], rows[:8])
    assert len(gathered) == 21


def test_a_store_can_be_pickled_while_it_is_read(tmp_path: Path) -> None:
    """What is in flight does not come along, and a copy for less shares it."""
    for view in (lambda store: store, lambda store: ours.cast(store, "float64"), lambda store: ours.stack([store])[0]):
        store = view(_stored(ours, f"file://{tmp_path}/pickled{next(_numbers)}/"))
        futures = [store[row].read() for row in range(3)]
        again = pickle.loads(pickle.dumps(store))
        assert int(again[2, 5].read().result()) == int(futures[2].result()[5]) == 69


# Never too old


def _outside(store: Any, other: Path, path: Path) -> Callable[[Any, Any], None]:
    """Writes as another process does: nobody here is told of it."""
    shutil.copytree(path, other)
    apart = _open(ours, f"file://{other}/")

    def write(where: Any, value: Any) -> None:
        for key in ("c/0/0", "c/0/1", "c/1/0", "c/1/1"):
            if (path / key).exists():
                shutil.copy(path / key, other / key)
        apart[where].write(value).result()
        for key in ("c/0/0", "c/0/1", "c/1/0", "c/1/1"):
            if (other / key).exists():
                os.replace(other / key, path / key)

    return write


@pytest.mark.parametrize("seed", range(12))
def test_a_read_sees_what_was_written_before_it(seed: int, way: str, tmp_path: Path) -> None:
    """Any order of reads that go on and writes that have ended: by this handle, another one, a transaction, others."""
    chance = random.Random(seed)
    at = tmp_path / "array"
    store = _stored(ours, f"file://{at}/")
    handles = [store, _open(ours, f"file://{at}/")]
    outside = _outside(store, tmp_path / "other", at)
    model = np.arange(16 * 32, dtype=np.int32).reshape(_SHAPE)
    flying: list[tuple[Any, Any, Any]] = []
    for step in range(120):
        low = [chance.randrange(length) for length in _SHAPE]
        ends = [min(start + chance.choice([1, 2, 40]), length) for start, length in zip(low, _SHAPE, strict=True)]
        where = tuple(map(slice, low, ends))
        if chance.random() < 0.7:
            flying.append((chance.choice(handles)[where].read(), where, model[where].copy()))
        else:
            # Each write leaves more than there was, so that what is seen tells when it was stored.
            value = model[where] + 1000 * (step + 1)
            kind = chance.randrange(4)
            if kind == 0:
                outside(where, value)
            elif kind == 1:
                with ours.Transaction() as transaction:
                    chance.choice(handles).with_transaction(transaction)[where] = value
            else:
                chance.choice(handles)[where].write(value).result()
            model[where] = value
        while flying and chance.random() < 0.3:
            _check(flying.pop(chance.randrange(len(flying))), model)
    for one in flying:
        _check(one, model)


def _check(read: tuple[Any, Any, Any], model: Any) -> None:
    future, where, least = read
    found = future.result()
    assert (found >= least).all()
    assert (found <= model[where]).all()


def test_reads_beside_writers_in_other_threads(place: str, way: str) -> None:
    """Each read sees the last write that had ended when it was asked for."""
    store = _stored(ours, place)
    store[...] = 0
    done, stop = [0] * 16, threading.Event()

    def write(row: int) -> None:
        for number in range(1, 60):
            store[row].write(number).result()
            done[row] = number
        stop.set()

    writers = [threading.Thread(target=write, args=(row,)) for row in (2, 5)]
    for writer in writers:
        writer.start()
    while not stop.is_set():
        asked = [(row, done[row], store[row, 3:9].read()) for row in (2, 5, 2, 5, 2)]
        for row, least, future in asked:
            found = future.result()
            assert len(set(found.tolist())) == 1
            assert least <= found[0] <= done[row] + 1
    for writer in writers:
        writer.join()
    assert int(store[2, 3].read().result()) == 59


def test_threads_begin_to_share_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread asks for a read while what is shared by two is being made."""
    store = _stored(ours, f"memory://in-flight{next(_numbers)}/")
    found: list[int | None] = []

    class Interrupted(CachePool):
        __slots__ = ()

        def __init__(self, limit: int) -> None:
            super().__init__(limit)
            if not found:
                found.append(None)
                thread = threading.Thread(target=lambda: found.append(int(store[2, 3].read().result())))
                thread.start()
                thread.join()

    # Futures of another test may be alive still, and with them a pool that nothing would be made for.
    monkeypatch.setattr(in_flight, "_last", None)
    monkeypatch.setattr(in_flight, "CachePool", Interrupted)
    futures = [store[row, 3].read() for row in range(3)]
    assert ([int(future.result()) for future in futures], found) == ([3, 35, 67], [None, 67])


def test_growing_and_shrinking_between_reads(place: str, way: str) -> None:
    """Reads that were asked for before have the elements of then; those after it the shape of now."""
    store = _stored(ours, place)
    before = [store[row, 3].read() for row in range(4)]
    for future in before:
        future.result()
    larger = store.resize(exclusive_max=[20, 40]).result()
    grown = [larger[at].read() for at in ((3, 3), (19, 39), (19, 38), (15, 31), (15, 30))]
    assert [int(future.result()) for future in grown] == [99, 0, 0, 511, 510]
    larger[19, 39] = 7
    assert int(larger[19, 39].read().result()) == 7
    smaller = larger.resize(exclusive_max=[4, 4]).result()
    again = smaller.resize(exclusive_max=[20, 40]).result()
    last = [again[at].read() for at in ((3, 3), (19, 39), (19, 38), (15, 31), (3, 2))]
    assert [int(future.result()) for future in last] == [99, 0, 0, 0, 98]
    assert [int(future.result()) for future in before] == [3, 35, 67, 99]


def test_an_array_in_its_place_is_read(place: str, way: str) -> None:
    """With another codec, while reads of the former one have their futures."""
    context = ours.Context()
    store = _stored(ours, place, context=context)
    futures = [store[row, 3].read() for row in range(4)]
    assert [int(future.result()) for future in futures] == [3, 35, 67, 99]
    codecs = [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}]
    spec = {"driver": "zarr3", "kvstore": place, "metadata": {"codecs": codecs}}
    layout = ours.ChunkLayout(chunk_shape=_CHUNK)
    made = {"dtype": "int32", "shape": _SHAPE, "chunk_layout": layout, "create": True, "delete_existing": True}
    other = ours.open(spec, context=context, **made)
    other.result()[...] = 5
    again = [other.result()[row, 3].read() for row in range(4)]
    assert [int(future.result()) for future in again] == [5] * 4


def test_a_transaction_reads_what_it_has_written(place: str, way: str) -> None:
    """And reads outside of it do not, until it is committed."""
    store = _stored(ours, place)
    outside = [store[row, 3].read() for row in range(3)]
    assert [int(future.result()) for future in outside] == [3, 35, 67]
    transaction = ours.Transaction()
    inside = store.with_transaction(transaction)
    inside[1, 3] = -1
    both = [(inside[row, 3].read(), store[row, 3].read()) for row in range(3)]
    assert [(int(one.result()), int(two.result())) for one, two in both] == [(3, 3), (-1, 35), (67, 67)]
    transaction.commit_sync()
    assert [int(store[row, 3].read().result()) for row in range(3)] == [3, -1, 67]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_reads_what_is_stored_then(way: str, tmp_path: Path) -> None:
    """With futures from before, and a pool that has what was stored before."""
    store = _stored(ours, f"file://{tmp_path}/forked/")
    futures = [store[row, 3].read() for row in range(6)]
    assert [int(future.result()) for future in futures] == [row * 32 + 3 for row in range(6)]
    ours_end, others_end = os.pipe()
    child = os.fork()
    if not child:
        found = b"failed"
        try:
            os.read(ours_end, 1)
            now = [store[row, 3].read() for row in range(6)]
            found = b"".join(future.result(timeout=20).tobytes() for future in now)
        finally:
            (tmp_path / "found").write_bytes(found)
            os._exit(0)
    store[:, 3] = 77
    os.write(others_end, b"!")
    os.waitpid(child, 0)
    assert np.frombuffer((tmp_path / "found").read_bytes(), np.int32).tolist() == [77] * 6
