"""Arrays whose chunks have several lengths along an axis: the rectilinear chunk grid."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.display.region import Region
from blizzarr.display.rows import blocks
from blizzarr.errors import CodecError, ConflictError, LimitError, MetadataError, OutOfBoundsError, SpecError
from blizzarr.model.edges import Edges
from blizzarr.stores import MemoryStore, ZipStore

DATA = np.random.default_rng(0).integers(1, 1000, (60, 13)).astype("i4")
EDGES: Any = [[10, 20, 30], 5]


def grid_of(store: Any) -> Any:
    return json.loads(bytes(store["zarr.json"]))["chunk_grid"]


def test_chunks_are_stored_as_the_document_says() -> None:
    """R-1, R-9: the document of the page, and each chunk in its own length, also beyond the array."""
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA, chunks=EDGES, compressors=None)
    assert grid_of(store) == {
        "name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[10, 20, 30], 5]},
    }
    whole = np.zeros((60, 15), "<i4")
    whole[:, :13] = DATA
    for row, (start, stop) in enumerate([(0, 10), (10, 30), (30, 60)]):
        for column in range(3):
            chunk = whole[start:stop, 5 * column : 5 * column + 5]
            assert bytes(store[f"c/{row}/{column}"]) == chunk.tobytes()
    assert (array.chunks, array.shards, array.cdata_shape, array.nchunks) == (((10, 20, 30), 5), None, (3, 3), 9)
    assert array.read_chunk_sizes == array.write_chunk_sizes == ((10, 20, 30), (5, 5, 3))
    assert "chunks=((10, 20, 30), 5)>" in repr(array)
    again = blizzarr.open_array(store, mode="r")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[...], DATA)
    np.testing.assert_array_equal(again[...], DATA)
    # What `chunks` says makes the same grid.
    same = blizzarr.create_array({}, shape=DATA.shape, dtype="i4", chunks=array.chunks)
    assert same.metadata.chunk_grid == again.metadata.chunk_grid


def test_lengths_may_be_given_as_runs_arrays_and_whole_axes() -> None:
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, shape=(60, 13), dtype="i4", chunks=[[[10, 3], np.int64(30)], -1])
    assert grid_of(store)["configuration"]["chunk_shapes"] == [[[10, 3], 30], 13]
    assert array.chunks == ((10, 10, 10, 30), 13)
    assert blizzarr.create_array({}, shape=4, dtype="i4", chunks=[np.array([1, 3])]).chunks == ((1, 3),)


@pytest.mark.parametrize(
    ("chunks", "shards", "text"),
    [
        (
            [[10, 20], 5],
            None,
            "chunks[0]: expected edge lengths that sum to at least 60, the length of the axis, found 30",
        ),
        ([[10, -20, 50], [5, "a", 9]], None, "chunks[1][1]: expected an edge length or [edge length, count]"),
        ([[10, 50], 0], None, "chunks[1]: expected an integer of at least 1, or -1 for the whole axis, found 0"),
        (
            [[10, 50]],
            None,
            "expected 2 lengths or lists of lengths, one for each dimension of the shape (60, 13), found 1",
        ),
        ([[10, 50], 5], (20, 20), "shards= may have lists"),
        ((4, 5), [[10, 50], 15], "shards[0]: expected a multiple of the chunk length 4"),
    ],
)
def test_what_is_wrong_with_lengths(chunks: Any, shards: Any, text: str) -> None:
    with pytest.raises(MetadataError) as caught:
        blizzarr.create_array({}, shape=(60, 13), dtype="i4", chunks=chunks, shards=shards)
    assert text in str(caught.value)


@pytest.mark.parametrize("zarr_format", [1, 2, "n5", "v3_draft_zarr_python"])
def test_other_formats_have_no_such_grid(zarr_format: Any) -> None:
    with pytest.raises(
        MetadataError,
        match=r"chunk_grid: expected a regular grid of chunks.*found \"\(\(10, 20, 30\), 5\)\"",
    ):
        blizzarr.create_array({}, data=DATA, chunks=EDGES, zarr_format=zarr_format)


def test_every_selection() -> None:
    """What each of the ways picks and replaces is what NumPy does, across chunks of all lengths."""
    array = blizzarr.create_array({}, data=DATA, chunks=EDGES)
    model = DATA.copy()
    rows, columns = np.array([59, 3, 29, 30, 3]), np.array([12, 0, 7])
    np.testing.assert_array_equal(array[::-7, 2:11:3], model[::-7, 2:11:3])
    assert array[-1, -1] == model[-1, -1]
    np.testing.assert_array_equal(array.oindex[rows, columns], model[np.ix_(rows, columns)])
    np.testing.assert_array_equal(array.vindex[rows, rows % 13], model[rows, rows % 13])
    np.testing.assert_array_equal(array[model > 500], model[model > 500])
    np.testing.assert_array_equal(array.lazy[5:][:, ::-2][::3].read(), model[5:][:, ::-2][::3])
    np.testing.assert_array_equal(array.blocks[1, 1:], model[10:30, 5:])
    np.testing.assert_array_equal(array.blocks[-1, -1], model[30:, 10:])
    np.testing.assert_array_equal(np.array(list(array)), model)
    with pytest.raises(OutOfBoundsError, match="block 3 is out of bounds for axis 0 with 3 blocks"):
        array.blocks[3]
    array[25:35:2, 4] = model[25:35:2, 4] = -5
    array.blocks[0, 2] = model[:10, 10:] = 8
    array.vindex[rows, rows % 13] = model[rows, rows % 13] = np.arange(5)
    array.oindex[[11, 31], [0, 12]] = model[np.ix_([11, 31], [0, 12])] = [[1, 2], [3, 4]]
    array[model < 100] = model[model < 100] = 9
    np.testing.assert_array_equal(array[...], model)


def test_large_masks_follow_the_rows_of_chunks() -> None:
    data = np.arange(1 << 21).reshape(1 << 14, 128)
    array = blizzarr.create_array({}, data=data, chunks=[[5000, 1384, 10000], 100])
    mask = data % 3 == 0
    np.testing.assert_array_equal(array[mask], data[mask])
    array[mask] = data[mask] = 1
    np.testing.assert_array_equal(array[...], data)


def test_a_chunk_of_fill_values_is_erased() -> None:
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA, chunks=EDGES)
    array[10:30, :5] = 0
    array[30:60, 5:9] = 0
    assert sorted(key for key in store if key not in ("zarr.json",)) == [
        *("c/0/0", "c/0/1", "c/0/2", "c/1/1", "c/1/2", "c/2/0", "c/2/1", "c/2/2"),
    ]
    assert array.nchunks_initialized == 8


def test_growing_adds_one_chunk_and_shrinking_keeps_all() -> None:
    """As zarr-python 3.4 does: what no chunk covers becomes one more; lengths beyond the array stay for later."""
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA, chunks=EDGES)
    model = np.concatenate([DATA, DATA[:7]])
    assert array.append(DATA[:7]) == (67, 13)
    assert array.write_chunk_sizes == ((10, 20, 30, 7), (5, 5, 3))
    array.append(DATA[:, :4][:0].reshape(0, 13))
    array.resize(25, 13)
    assert grid_of(store)["configuration"]["chunk_shapes"] == [[10, 20, 30, 7], 5]
    assert (array.chunks, array.write_chunk_sizes) == (((10, 20, 30, 7), 5), ((10, 15), (5, 5, 3)))
    assert not [key for key in store if key.startswith(("c/2", "c/3"))]
    np.testing.assert_array_equal(array[...], model[:25])
    # It grows over what it has had: as fill values, in the chunks that are there.
    array.resize(70, 17)
    assert grid_of(store)["configuration"]["chunk_shapes"] == [[10, 20, 30, 7, 3], 5]
    grown = np.zeros((70, 17), "i4")
    grown[:25, :13] = model[:25]
    np.testing.assert_array_equal(array[...], grown)
    array.append(np.full((70, 2), 5, "i4"), axis=1)
    assert array.shape == (70, 19)
    np.testing.assert_array_equal(array[:, 17:], 5)
    array[...] = 3
    np.testing.assert_array_equal(blizzarr.open_array(store)[...], np.full((70, 19), 3))
    assert blizzarr.check(store).findings == []


def test_a_handle_sees_what_another_one_has_appended() -> None:
    """Its chunks are the same ones; it can be written to, and appended to, before and after it is refreshed."""
    store = MemoryStore()
    one = blizzarr.create_array(store, data=DATA, chunks=EDGES)
    other = blizzarr.open_array(store)
    one.append(DATA[:4])
    other[0] = 1
    np.testing.assert_array_equal(one[0], np.ones(13))
    assert other.append(DATA[:3]) == (67, 13)
    assert other.write_chunk_sizes[0] == (10, 20, 30, 4, 3)
    np.testing.assert_array_equal(one.refresh()[60:], np.concatenate([DATA[:4], DATA[:3]]))
    one.resize(20, 13)
    other.resize(70, 13) if other.refresh().shape == (20, 13) else None
    np.testing.assert_array_equal(one.refresh()[20:], np.zeros((50, 13)))
    blizzarr.create_array(store, data=DATA, chunks=[[10, 21, 29], 5], overwrite=True)
    with pytest.raises(ConflictError, match=r"found \(.*chunks \(\(10, 21, 29\), 5\)\): somebody has replaced"):
        other[0] = 1


@pytest.mark.parametrize("compressors", [None, "zstd"])
def test_what_an_interrupted_append_has_left_is_replaced(compressors: Any) -> None:
    """The chunk that it had added was longer: it lies where the next one gets its own."""
    store = MemoryStore()
    array = blizzarr.create_array(store, data=DATA, chunks=EDGES, compressors=compressors)
    array.append(DATA[:9])
    left = {key: store.get(key) for key in ("c/3/0", "c/3/2")}
    array.resize(60, 13)
    blizzarr.create_array(store, data=DATA, chunks=EDGES, compressors=compressors, overwrite=True)
    for key, value in left.items():
        store.set(key, value)
    array = blizzarr.open_array(store)
    assert array.append(DATA[:4]) == (64, 13)
    np.testing.assert_array_equal(array[...], np.concatenate([DATA, DATA[:4]]))
    assert array.chunks == ((10, 20, 30, 4), 5)
    for key, value in left.items():
        store.set(key.replace("3", "4", 1), value)
    array.resize(70, 13)
    np.testing.assert_array_equal(array[60:], np.concatenate([DATA[:4], np.zeros((6, 13))]))


def test_shards_of_several_lengths() -> None:
    """As zarr-python 3.4 makes them: inner chunks of one shape, of which each shard has as many as fit."""
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=DATA, chunks=(5, 4), shards=[[10, 20, 30], [4, 12]])
    assert grid_of(store)["configuration"]["chunk_shapes"] == [[10, 20, 30], [4, 12]]
    assert (array.chunks, array.shards) == ((5, 4), ((10, 20, 30), (4, 12)))
    assert array.read_chunk_sizes == ((5,) * 12, (4, 4, 4, 1))
    assert array.write_chunk_sizes == ((10, 20, 30), (4, 9))
    assert array.nchunks_initialized == 12 * 4
    np.testing.assert_array_equal(array[::-3, 1::2], DATA[::-3, 1::2])
    array[8:33, 3:6] = 7
    expected = DATA.copy()
    expected[8:33, 3:6] = 7
    np.testing.assert_array_equal(array[...], expected)
    # A shard is as long as it takes to hold whole inner chunks.
    array.append(DATA[:3])
    assert array.shards == ((10, 20, 30, 5), (4, 12))
    np.testing.assert_array_equal(array[60:], DATA[:3])
    assert blizzarr.create_array({}, shape=60, dtype="i4", shards=[[12, 48]]).chunks == (12,)


def test_objects_and_fields() -> None:
    texts = np.array([f"text {number}" for number in range(30)], object).reshape(10, 3)
    array = blizzarr.create_array({}, data=texts, chunks=[[1, 2, 7], [2, 1]], dtype="string")
    np.testing.assert_array_equal(array[...], texts)
    array.append(texts[:2])
    np.testing.assert_array_equal(array[8:], [*texts[8:], *texts[:2]])
    records = np.zeros(10, [("a", "i4"), ("b", "f8")])
    fields = blizzarr.create_array({}, data=records, chunks=[[3, 5, 2]])
    fields["a"] = np.arange(10)
    np.testing.assert_array_equal(fields["a"], np.arange(10))
    fields.resize(12)
    fields["b"] = 2.5
    np.testing.assert_array_equal(fields["b"], np.full(12, 2.5))
    np.testing.assert_array_equal(fields["a"], [*range(10), 0, 0])


def test_a_pool_does_not_mistake_chunks_of_another_grid(tmp_path: Path) -> None:
    """Another program replaces the array; the chunk at one place had another shape, that of the largest is the same."""
    pool = blizzarr.CachePool(1 << 20)
    first = blizzarr.create_array(tmp_path / "a", data=np.arange(60), chunks=[[10, 20, 30]]).cached(pool, recheck=False)
    np.testing.assert_array_equal(first[...], np.arange(60))
    assert [first[at] for at in (0, 10, 29, 30, 59)] == [0, 10, 29, 30, 59]
    assert pool.info().hits >= 5
    blizzarr.create_array(tmp_path / "b", data=np.arange(60) + 100, chunks=[[20, 10, 30]])
    for key in ("zarr.json", "c/0", "c/1", "c/2"):
        (tmp_path / "a" / key).write_bytes((tmp_path / "b" / key).read_bytes())
    second = blizzarr.open_array(tmp_path / "a").cached(pool, recheck=False)
    np.testing.assert_array_equal(second[:30], np.arange(100, 130))


def test_stores(tmp_path: Path) -> None:
    with ZipStore(tmp_path / "a.zip", mode="w") as archive:
        blizzarr.create_array(archive, data=DATA, chunks=EDGES)
    np.testing.assert_array_equal(blizzarr.open_array(tmp_path / "a.zip", mode="r")[7:42], DATA[7:42])
    array = blizzarr.create_array(tmp_path / "a.zarr", data=DATA, chunks=EDGES)
    array[8:33] = 4
    assert (
        blizzarr.open_array(tmp_path / "a.zarr")[5:40]
        == np.where(np.isin(np.arange(5, 40), range(8, 33))[:, None], 4, DATA[5:40])
    ).all()


def test_copies_keep_the_grid_or_take_another(tmp_path: Path) -> None:
    source = blizzarr.create_array(tmp_path / "a.zarr", data=DATA, chunks=EDGES, compressors="gzip")
    for options, chunks in (
        ({}, ((10, 20, 30), 5)),
        ({"compressors": "zstd"}, ((10, 20, 30), 5)),
        ({"dtype": "f8"}, ((10, 20, 30), 5)),
        ({"chunks": (7, 7)}, (7, 7)),
        ({"chunks": [[30, [10, 3]], -1]}, ((30, 10, 10, 10), 13)),
        ({"chunks": 10, "zarr_format": 2}, (10, 10)),
    ):
        with blizzarr.config.set(copy_bytes=900):
            copied = blizzarr.copy(source, {}, **options)
        assert copied.chunks == chunks
        np.testing.assert_array_equal(copied[...], DATA)
        report = blizzarr.diff(source, copied)
        assert (report.same, report.elements) == (options.get("dtype") is None, DATA.size)
    sharded = blizzarr.create_array({}, data=DATA, chunks=(5, 4), shards=[[10, 20, 30], [4, 12]])
    for options, chunks, shards in (
        ({}, (5, 4), ((10, 20, 30), (4, 12))),
        ({"chunks": (4, 3)}, (4, 3), ((12, 20, 32), (6, 12))),
        ({"chunks": [[30, 30], 13]}, ((30, 30), 13), None),
        ({"shards": None}, (5, 4), None),
    ):
        copied = blizzarr.copy(sharded, {}, **options)
        assert (copied.chunks, copied.shards) == (chunks, shards)
        np.testing.assert_array_equal(copied[...], DATA)
    named = blizzarr.create_array({}, data=DATA, chunks=EDGES, dimension_names=("y", "x"))
    assert blizzarr.copy(named, {}, chunks={"x": 6}).chunks == ((10, 20, 30), 6)
    changed = blizzarr.create_array({}, data=DATA, chunks=EDGES)
    changed[12, 3] += 1
    changed[59, 12] += 1
    report = blizzarr.diff(source, changed)
    found = report.differences[0].elements
    assert found is not None
    assert (report.same, found.different, found.chunks) == (False, 2, 2)


def test_pictures_and_tables() -> None:
    """`show` samples and `cat` divides by the largest chunks."""
    array = blizzarr.create_array({}, data=DATA, chunks=EDGES)
    assert Region.of(array).affordable(1 << 10).axes[0].indices.step > 1
    np.testing.assert_array_equal(np.concatenate(list(blocks(Region.of(array)))), DATA)
    assert blizzarr.show(array) is not None


def test_check_and_repair_know_each_chunk(tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path, data=DATA, chunks=EDGES, compressors=None)
    (tmp_path / "c/1/1").write_bytes(b"1" * 399)
    (tmp_path / "c/3").mkdir()
    (tmp_path / "c/3/0").write_bytes(b"1")
    findings = {finding.kind: finding for finding in blizzarr.check(tmp_path).findings}
    assert (findings["chunk"].chunk, findings["outside"].chunk) == ((1, 1), (3, 0))
    assert "expected 400" in findings["chunk"].message
    with pytest.raises(CodecError):
        array[12, 6]
    blizzarr.check(tmp_path, repair=True)
    assert not (tmp_path / "c/3/0").exists()
    # Of a chunk that is replaced, nothing is read, though it reaches beyond the array.
    (tmp_path / "c/1/2").write_bytes(b"1")
    array[10:30, 10:] = 6
    np.testing.assert_array_equal(array[10:30, 10:], np.full((20, 3), 6))


def test_a_million_chunks_are_no_list() -> None:
    """What is read or written is found by the runs; listing the lengths of more chunks than fit is an error."""
    many = 1 << 39
    array = blizzarr.create_array({}, shape=3 * many, dtype="i4", chunks=[[[1, many], [2, many]]])
    array[many - 1 : many + 5] = 7
    np.testing.assert_array_equal(array[many - 2 : many + 7], [0, 7, 7, 7, 7, 7, 7, 0, 0])
    assert (array.nchunks, array.nchunks_initialized, array[-1]) == (2 * many, 4, 0)
    assert "[[1, 549755813888], [2, 549755813888]]" in str(array.info)
    assert f"1 x {many}" in repr(array)
    assert len(array._repr_html_()) < 6000
    with pytest.raises(LimitError, match="at most 16,777,216 chunks along an axis to list"):
        array.chunks  # noqa: B018
    lengths = [1 + at % 7 for at in range(100_000)]
    array = blizzarr.create_array({}, shape=sum(lengths), dtype="i2", chunks=[lengths])
    array[::1001] = 5
    assert array[1001 * 3] == 5
    assert int(array[200_000:201_001].sum()) == 5


def test_very_many_lengths_take_a_few_bytes_each() -> None:
    """Uneven lengths with runs among them are stored on one line, of NumPy's numbers, too."""
    lengths = np.random.default_rng(0).integers(1, 30, 50_000)
    stores: list[dict[str, Any]] = [{}, {}]
    for store, given in zip(stores, (lengths, lengths.tolist()), strict=True):
        array = blizzarr.create_array(store, shape=int(lengths.sum()), dtype="u1", chunks=[given])
        array.append(np.ones(7, "u1"))
    assert stores[0] == stores[1]
    assert len(stores[0]["zarr.json"]) < 5 * len(lengths)
    array = blizzarr.open_array(stores[0])
    assert array.chunks == ((*lengths.tolist(), 7),)
    assert array[-9:].tolist() == [0, 0, 1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("lengths", [(9,), (9, 12, 15)])
def test_an_old_handle_resizes_by_the_grid_that_is_stored(tmp_path: Path, lengths: tuple[int, ...]) -> None:
    """Another process has made the array longer and shorter again, and left chunks outside when it was killed."""
    array = blizzarr.create_array(tmp_path, data=np.arange(1, 7), chunks=[[2, 4]])
    old = blizzarr.open_array(tmp_path)
    for length in lengths:
        array.resize(length)
    array[6:] = 7
    left_over = {path: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    array.resize(6)
    for path, value in left_over.items():
        path.write_bytes(value)
    old.resize(lengths[-1])
    assert old.chunks == ((2, 4, *(3,) * len(lengths)),)
    assert old[:].tolist() == [1, 2, 3, 4, 5, 6] + [0] * (lengths[-1] - 6)
    assert blizzarr.open_array(tmp_path)[:].tolist() == old[:].tolist()


def test_a_document_of_very_many_lengths_is_refused() -> None:
    """They would take many times the memory of the document; the rest of it is right, so it is a limit."""
    store: dict[str, Any] = {}
    blizzarr.create_array(store, shape=10, dtype="i1", chunks=[[7, 3]])
    document = json.dumps(json.loads(store["zarr.json"])).replace("[7, 3]", f"[{'1,2,' * (1 << 21)}1]")
    with pytest.raises(LimitError, match="at most 4,194,304 edge lengths or runs of them, found 4194305"):
        blizzarr.open_array({"zarr.json": document.encode()})


def test_tensorstore_has_no_such_chunks(tmp_path: Path) -> None:
    import blizzarr.tensorstore as ts

    blizzarr.create_array(tmp_path, data=DATA, chunks=EDGES)
    for more in ({}, {"metadata": {"shape": [60, 13]}}):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(tmp_path)}, **more}
        with pytest.raises(SpecError, match='received: "rectilinear"'):
            ts.open(spec).result()


def test_edges_stay_below_what_64_bits_count() -> None:
    assert Edges([(2**62, 1), (2**62 - 1, 1)]).stop == 2**63 - 1
    for runs in ([(2**62, 2)], [(2**62, 2), (1, 1)], [(2**62, 3)], [(2**62, 1), (2**61, 4), (1, 1)]):
        with pytest.raises(OverflowError, match="64 bits"):
            Edges(runs)


def test_edges_as_text() -> None:
    assert [str(Edges(runs)) for runs in ([(4, 1)], [(4, 2), (1, 1)], [(at, 1) for at in range(1, 9)])] == [
        *("(4,)", "(4 x 2, 1)", "(1, 2, 3, …, 8)"),
    ]
