"""Stores of arrays on disk: what TensorStore reads of what we wrote, and the reverse, through random views."""

from __future__ import annotations

import copy
import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensorstore_face import NUMBERS, ours, outcome, same, theirs, values_of

DRIVERS = ("zarr3", "zarr")
LAYOUTS: list[dict[str, Any]] = [
    {"chunk_shape": [4, 3]},
    {"read_chunk_shape": [2, 3], "write_chunk_shape": [8, 6]},
    {"chunk_shape": [5, 5], "inner_order": [1, 0]},
    {"chunk_shape": [100, 100]},
]
SHAPE = (13, 17)


def _made(ts: Any, place: Any, driver: str, layout: dict[str, Any], **more: Any) -> Any:
    spec = {"driver": driver, "kvstore": {"driver": "file", "path": f"{place}/"}}
    given = {"dtype": "int32", "shape": list(SHAPE), "chunk_layout": ts.ChunkLayout(**layout), "create": True, **more}
    return ts.open(spec, **given).result()


def _opened(ts: Any, place: Any, driver: str) -> Any:
    return ts.open({"driver": driver, "kvstore": {"driver": "file", "path": f"{place}/"}}).result()


def _view(ts: Any, store: Any, rng: np.random.Generator) -> Any:
    """A random view of any kind."""
    kind = rng.integers(0, 7)
    a, b = sorted(int(at) for at in rng.integers(0, SHAPE[0] + 1, 2))
    c, d = sorted(int(at) for at in rng.integers(0, SHAPE[1] + 1, 2))
    rows = [int(at) for at in rng.permutation(SHAPE[0])[:4]]
    columns = [int(at) for at in rng.permutation(SHAPE[1])[:4]]
    if kind == 0:
        return store[a:b, c:d]
    if kind == 1:
        return store[a : b : int(rng.integers(1, 4)), int(rng.integers(0, SHAPE[1]))]
    if kind == 2:
        return store.oindex[rows, columns]
    if kind == 3:
        return store.vindex[rows, columns]
    if kind == 4:
        return store.T[c:d].translate_by[7, -3]
    if kind == 5:
        return store[ts.d[0][ts.newaxis]][:, rows[0], c:d]
    return store[ts.d[0, 1].diagonal][:9]


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("writer", ["ours", "theirs"])
def test_each_reads_what_the_other_wrote(writer: str, driver: str, layout: int, tmp_path: Path) -> None:
    """Written through twenty random views by one, read through twenty by both."""
    if driver == "zarr" and "read_chunk_shape" in LAYOUTS[layout]:
        pytest.skip("there are no shards in this format")
    face = {"ours": ours, "theirs": theirs}[writer]
    store = _made(face, tmp_path, driver, LAYOUTS[layout])
    rng = np.random.default_rng(layout)
    expected = np.zeros(SHAPE, np.int32)
    positions = face.array(np.arange(expected.size).reshape(SHAPE))
    for _ in range(20):
        state = rng.bit_generator.state
        view = _view(face, store, rng)
        rng.bit_generator.state = state
        where = _view(face, positions, rng).read().result()
        elements = rng.integers(-99, 99, view.shape).astype(np.int32)
        view.write(elements).result()
        expected.ravel()[where.ravel()] = elements.ravel()
    for ts in (ours, theirs):
        again = _opened(ts, tmp_path, driver)
        np.testing.assert_array_equal(again.read().result(), expected)
        reading = np.random.default_rng(99)
        for _ in range(20):
            state = reading.bit_generator.state
            found = _view(ts, again, reading)
            reading.bit_generator.state = state
            where = _view(ts, ts.array(np.arange(expected.size).reshape(SHAPE)), reading).read().result()
            order = "F" if found.rank == 2 else "C"
            got = found.read(order=order).result()
            np.testing.assert_array_equal(got, expected.ravel()[where])
            assert got.flags.f_contiguous if order == "F" else got.flags.c_contiguous
    mine, other = _opened(ours, tmp_path, driver), _opened(theirs, tmp_path, driver)
    for fact in ("schema", "domain", "dtype", "chunk_layout", "codec", "fill_value", "dimension_units", "mode", "rank"):
        assert repr(getattr(mine, fact)) == repr(getattr(other, fact))
    assert mine.spec().to_json() == other.spec().to_json()
    assert mine.spec(minimal_spec=True).to_json() == other.spec(minimal_spec=True).to_json()
    assert mine.url == other.url
    assert repr(mine) == repr(other)


@pytest.mark.parametrize("dtype", [name for name in NUMBERS if not name.startswith("float") or name[5] not in "48"])
def test_data_types(dtype: str, tmp_path: Path) -> None:
    """All that the format has, written by each and read by the other."""
    elements = values_of(dtype, np.random.default_rng(3), SHAPE)

    def written(ts: Any) -> Any:
        place = tmp_path / ts.__name__
        made = outcome(lambda: _made(ts, place, "zarr3", LAYOUTS[0], dtype=dtype))
        if isinstance(made, tuple):
            return made[:2]
        _opened(ts, place, "zarr3").write(elements).result()
        return True

    assert written(ours) == written(theirs)
    for place in tmp_path.iterdir():
        if (place / "zarr.json").exists():
            same(lambda ts, place=place: _opened(ts, place, "zarr3").read().result())
            same(lambda ts, place=place: _opened(ts, place, "zarr3").schema)


RESIZES: list[dict[str, Any]] = [
    {"exclusive_max": (5, None)},
    {"exclusive_max": (5,)},
    {"exclusive_max": (20, 3)},
    {"inclusive_min": (1, None)},
    {"inclusive_min": (0, None)},
    {"exclusive_max": (3, 18), "expand_only": True},
    {"exclusive_max": (3, 18), "shrink_only": True},
    {"exclusive_max": (3, 5), "shrink_only": True},
    {"exclusive_max": (30, 50), "expand_only": True},
    {"exclusive_max": (-1, 8)},
    {"exclusive_max": (0, 8)},
    {},
]


@pytest.mark.parametrize("given", RESIZES)
@pytest.mark.parametrize(
    "view",
    [
        lambda s, ts: s,
        lambda s, ts: s[2:4],
        lambda s, ts: s[2:],
        lambda s, ts: s.translate_by[3],
        lambda s, ts: s.T,
        lambda s, ts: s[::2],
        lambda s, ts: s[ts.newaxis, 1],
        lambda s, ts: s[ts.d[0, 1].diagonal][ts.newaxis],
        lambda s, ts: s.oindex[[0, 1]],
        lambda s, ts: s[ts.d[0][::-1]],
        lambda s, ts: s.resolve(fix_resizable_bounds=True).result(),
    ],
)
def test_resizing(given: dict[str, Any], view: Any) -> None:
    """Through any view, and what everybody sees afterwards."""

    def resized(ts: Any, tied: bool) -> Any:
        store = ts.open(
            {"driver": "zarr3", "kvstore": "memory://"}, dtype="int8", shape=SHAPE, create=True, fill_value=7
        ).result()
        store.write(1).result()
        viewed = view(store, ts)
        found = outcome(lambda: viewed.resize(**given, resize_tied_bounds=tied).result().domain)
        if isinstance(found, tuple):
            found = found[:2]
        return found, store.resolve().result().domain, store.read().result().shape, store.read().result().max(initial=0)

    assert repr(resized(ours, False)) == repr(resized(theirs, False))
    if given.get("exclusive_max") != (-1, 8):
        assert repr(resized(ours, True)) == repr(resized(theirs, True))


def test_resized_by_others() -> None:
    """Bounds that a view leaves open are those that are there; the others are errors."""

    def seen(ts: Any) -> Any:
        store = ts.open({"driver": "zarr3", "kvstore": "memory://"}, dtype="int8", shape=[4, 6], create=True).result()
        part = store[0:4, 0:6]
        store.resize(exclusive_max=[2, 2]).result()
        return [
            store.read().result().shape,
            store[:].read().result().shape,
            outcome(lambda: store[3].read().result())[:2],
            outcome(lambda: part.read().result())[:2],
            outcome(lambda: store.write(np.ones((4, 6), np.int8)).result()),
            outcome(lambda: part.write(1).result())[:2],
            store.domain,
            store.resolve().result().domain,
        ]

    assert repr(seen(ours)) == repr(seen(theirs))


def test_metadata_alone() -> None:
    """With resize_metadata_only what was cut off is there again."""

    def seen(ts: Any) -> Any:
        store = ts.open(
            {"driver": "zarr3", "kvstore": "memory://"},
            dtype="int8",
            shape=[8],
            create=True,
            chunk_layout=ts.ChunkLayout(chunk_shape=[2]),
        ).result()
        store.write(np.arange(8, dtype=np.int8)).result()
        store = store.resize(exclusive_max=[2], resize_metadata_only=True).result()
        return store.resize(exclusive_max=[8], resize_metadata_only=True).result().read().result().tolist()

    assert seen(ours) == seen(theirs) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_assumed_metadata() -> None:
    """Nothing is read or written but chunks, and nothing can be resized (K-12)."""

    def seen(ts: Any) -> Any:
        store = ts.open(
            {"driver": "zarr3", "kvstore": "memory://"}, dtype="int8", shape=[8], open=True, assume_metadata=True
        ).result()
        empty = store.kvstore.list().result()
        store[3] = 5
        resized = outcome(lambda: store.resize(exclusive_max=[2]).result())
        return empty, store.kvstore.list().result(), store.read().result().tolist(), resized

    assert repr(seen(ours)) == repr(seen(theirs))


@pytest.mark.parametrize(
    "view",
    [
        lambda s: s,
        lambda s: s[0],
        lambda s: s[4:8, 3:9],
        lambda s: s[12],
        lambda s: s.oindex[[0, 12], [0, 16]],
        lambda s: s.vindex[[0, 12], [0, 16]],
        lambda s: s[3:3],
        lambda s: s[::4, ::3],
        lambda s: s[::-9, ::-2],
    ],
)
def test_storage_statistics(view: Any) -> None:
    """What is stored of any view, by whole chunks."""

    def seen(ts: Any) -> Any:
        store = ts.open(
            {"driver": "zarr3", "kvstore": "memory://"},
            dtype="int8",
            shape=SHAPE,
            create=True,
            chunk_layout=ts.ChunkLayout(chunk_shape=[4, 3]),
        ).result()
        found = []
        for row in (None, 0, 5):
            if row is not None:
                store[row : row + 4] = 1
            for asked in (
                {},
                {"query_not_stored": True},
                {"query_fully_stored": True},
                {"query_not_stored": True, "query_fully_stored": True},
            ):
                found += [view(store).storage_statistics(**asked).result()]
        return found

    same(seen)


def test_chunks_that_are_not_stored_take_no_memory_where_they_are_counted() -> None:
    spec = {"driver": "zarr3", "kvstore": "memory://", "metadata": {"shape": [10**5] * 2, "data_type": "int8"}}
    layout = ours.ChunkLayout(chunk_shape=[1, 1])
    store = ours.open(spec, create=True, chunk_layout=layout).result()
    store[99_999, 99_999] = 1
    tracemalloc.start()
    try:
        found = store.storage_statistics(query_not_stored=True, query_fully_stored=True).result()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (found.not_stored, found.fully_stored) == (False, False)
    assert peak < 1 << 20


@pytest.mark.parametrize("driver", DRIVERS)
def test_fill_values_are_not_stored(driver: str) -> None:
    """A chunk that equals the fill value is removed, unless it is to be stored all the same (K-63)."""

    def seen(ts: Any, keep: bool) -> Any:
        store = ts.open(
            {"driver": driver, "kvstore": "memory://", "store_data_equal_to_fill_value": keep},
            dtype="int8",
            shape=[8],
            create=True,
            fill_value=3,
            chunk_layout=ts.ChunkLayout(chunk_shape=[4]),
        ).result()
        store.write(5).result()
        before = sorted(store.kvstore.list().result())
        store[:4] = 3
        return before, sorted(store.kvstore.list().result()), store.read().result().tolist()

    same(lambda ts: seen(ts, False))
    same(lambda ts: seen(ts, True))


def test_missing_chunks() -> None:
    """They are errors where they are said not to be missing."""

    def seen(ts: Any) -> Any:
        spec = {"driver": "zarr3", "kvstore": "memory://", "fill_missing_data_reads": False}
        store = ts.open(
            spec, dtype="int8", shape=[8], create=True, chunk_layout=ts.ChunkLayout(chunk_shape=[4])
        ).result()
        store[:4] = 3
        whole = outcome(lambda: store.read().result())
        return store[:4].read().result().tolist(), whole[0]

    assert seen(ours) == seen(theirs)


VALUES: list[Any] = [
    1.5, [1.5, 2, 3], np.float64(1.5), np.float32([1, 2, 3]), np.int64([1, 2, 3]), 2**40, [2**40] * 3, "5", None, True,
    np.array(True), 1j, np.array(["1"] * 3), b"1", object(), [None] * 3, np.array([1, 2, 3], object), 300.0,
    float("nan"), [[1, 2, 3]], [[1], [2]], np.array(7), np.array(2.5), np.int8(3), np.float64(3.0), [1, 2], [[[1]]],
    np.ones((1, 2, 3), np.int32), np.ones((2, 1), np.int8), (), [],
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_what_can_be_written(number: int) -> None:
    """What is converted, repeated, or refused, and how."""
    value = VALUES[number]

    def written(ts: Any) -> Any:
        store = ts.array(np.zeros((2, 3), np.int32))
        store.write(value).result()
        return store.read().result()

    mine, other = outcome(lambda: written(ours)), outcome(lambda: written(theirs))
    assert mine == other if other[0] != "error" else mine[:2] == other[:2]


def test_alignment() -> None:
    """Dimensions of stores are matched by labels, else from the last one on."""

    def aligned(ts: Any) -> Any:
        target = ts.array(np.zeros((2, 3), np.int32)).label["x", "y"]
        found = []
        for source in (
            ts.array(np.arange(6, dtype=np.int32).reshape(3, 2)).label["y", "x"],
            ts.array(np.arange(3, dtype=np.int32)).label["x"],
            ts.array(np.arange(3, dtype=np.int32)).label["y"],
            ts.array(np.arange(2, dtype=np.int32)).label["x"],
            ts.array(np.arange(3, dtype=np.int32).reshape(1, 3)).label["z", "y"],
            ts.array(np.arange(6, dtype=np.int32).reshape(2, 3)).label["z", "y"],
            ts.array(np.arange(6, dtype=np.int32).reshape(1, 2, 3)),
            ts.array(np.ones((2, 2, 3), np.int32)),
            ts.array(np.arange(6, dtype=np.int32).reshape(2, 3)).translate_by[7, -2],
            ts.array(np.arange(3, dtype=np.int32).reshape(3, 1)).label["y", ""],
        ):
            found.append(outcome(lambda source=source: target.write(source).result()))
            found.append(target.read().result().tolist())
        return found

    assert aligned(ours) == aligned(theirs)


def test_copies_between_any_stores(tmp_path: Path) -> None:
    """From one format into another, of another layout and data type, through views."""
    source = _made(ours, tmp_path / "a", "zarr3", LAYOUTS[1])
    elements = np.arange(np.prod(SHAPE), dtype=np.int32).reshape(SHAPE)
    source.write(elements).result()
    target = _made(ours, tmp_path / "b", "zarr", LAYOUTS[0], dtype="float64")
    futures = target.T[::-1, 2:8].write(source.T[:, 2:8]) if False else target[2:8].write(source[3:9])
    futures.copy.result()
    futures.result()
    np.testing.assert_array_equal(_opened(theirs, tmp_path / "b", "zarr")[2:8].read().result(), elements[3:9])
    back = _made(ours, tmp_path / "c", "zarr3", LAYOUTS[2])
    assert outcome(lambda: back.write(target).result())[:2] == ("error", "ValueError")
    back.write(ours.cast(target, "int32")).result()
    np.testing.assert_array_equal(_opened(theirs, tmp_path / "c", "zarr3")[2:8].read().result(), elements[3:9])


def test_large_copies_go_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole chunks of the target, as much as may be in memory."""
    from blizzarr.config import config
    from blizzarr.tensorstore.conversion import pieces
    from blizzarr.views import domain_of, form_of

    monkeypatch.setattr(type(config), "copy_bytes", 4096, raising=False)
    target = ours.open(
        {"driver": "zarr3", "kvstore": "memory://"},
        dtype="int32",
        shape=[100, 90],
        create=True,
        chunk_layout=ours.ChunkLayout(chunk_shape=[16, 32]),
    ).result()
    boxes = [domain_of(piece) for piece in pieces(form_of(target[5:]), 4, target.chunk_layout)]
    assert sum(box.size for box in boxes) == 95 * 90
    assert max(box.size for box in boxes) * 4 <= 4096
    assert all(at in (5, *range(0, 100, 16)) for box in boxes for at in box.inclusive_min[:1])
    target.write(ours.array(np.arange(9000, dtype=np.int32).reshape(100, 90))).result()
    np.testing.assert_array_equal(target.read().result().ravel(), np.arange(9000))


def test_pickled_stores(tmp_path: Path) -> None:
    """Opened again where they are; copies are themselves."""
    store = _made(ours, tmp_path, "zarr3", LAYOUTS[0])[2:5].label["x", ""]
    store.write(4).result()
    again = pickle.loads(pickle.dumps(store))
    assert again.domain == store.domain
    assert again.read().result().tolist() == store.read().result().tolist()
    assert copy.copy(store) is store
    with pytest.raises(TypeError):
        ours.TensorStore()


def test_modes() -> None:
    """Opened for reading or writing alone."""
    for mode in ({"read": True}, {"write": True}, {"read": True, "write": True}, {}):

        def seen(ts: Any, mode: Any = mode) -> Any:
            store = ts.open(
                {"driver": "zarr3", "kvstore": "memory://"}, dtype="int8", shape=[2], create=True, **mode
            ).result()
            return (
                store.mode,
                store.readable,
                store.writable,
                store[0].mode,
                outcome(lambda: store.read().result()),
                outcome(lambda: store.write(1).result()),
                outcome(lambda: store.resize(exclusive_max=[3]).result().mode),
                outcome(lambda: ts.cast(store, "int16").mode),
            )

        same(seen)


def test_batches() -> None:
    """Reads begin when their batch is submitted."""
    for ts in (ours, theirs):
        store = ts.array(np.arange(5))
        with ts.Batch() as batch:
            futures = [store[at].read(batch=batch) for at in range(5)]
        assert [int(future.result()) for future in futures] == [0, 1, 2, 3, 4]
        same(lambda ts: ts.Batch().submit())
    same(lambda ts: _used_twice(ts))


def test_batches_decode_once() -> None:
    """What several reads of a batch need is decoded once; a batch that is dropped begins."""
    layout = ours.ChunkLayout(chunk_shape=[10])
    store = ours.open(
        {"driver": "zarr3", "kvstore": "memory://", "metadata": {"codecs": ["gzip"]}},
        dtype="int32",
        shape=[20],
        chunk_layout=layout,
        create=True,
    ).result()
    store.write(np.arange(20, dtype=np.int32)).result()
    batch = ours.Batch()
    futures = [store[at].read(batch=batch) for at in range(20)]
    shared = batch._shared
    assert not any(future.done() for future in futures)
    del batch
    assert [int(future.result(timeout=60)) for future in futures] == list(range(20))
    info = shared["pool"].info()
    assert info.hits + info.misses >= 20
    assert info.misses <= 2 + 8


def _used_twice(ts: Any) -> Any:
    batch = ts.Batch()
    batch.submit()
    batch.submit()


def test_a_spec_belongs_to_who_asked_for_it() -> None:
    """Changing it does not change the next one, which follows the stored shape, and is of the view that is asked."""

    def said(ts: Any) -> list[Any]:
        spec = {"driver": "zarr3", "kvstore": "memory://"}
        store = ts.open(spec, dtype="int8", shape=[4, 6], create=True).result()
        first = store.spec()
        first.update(open=False, create=True, recheck_cached_data="open")
        first.open_mode.open = True
        store.spec().to_json()["metadata"]["shape"][0] = 99
        found = [store.spec().to_json(), store[1, 2:].spec().to_json(), store.spec(minimal_spec=True).to_json()]
        larger = store.resize(exclusive_max=[5, 6]).result()
        return [first.to_json(), *found, larger.spec().to_json(), larger.spec(minimal_spec=True).to_json()]

    same(lambda ts: repr(said(ts)))
