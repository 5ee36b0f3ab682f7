"""zarr-python reads and writes with the engine what it would have read and written itself."""

from __future__ import annotations

import asyncio
import io
import logging
import pickle
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numcodecs import Delta

from blizzarr.errors import ChunkError, StoreError

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")
storage: Any = pytest.importorskip("zarr.storage")
codecs: Any = pytest.importorskip("zarr.codecs")

DATA = np.arange(60 * 50, dtype="int32").reshape(60, 50)
LAYOUTS: list[dict[str, Any]] = [
    {"chunks": (10, 7)},
    {"chunks": (5, 10), "shards": (20, 20)},
    {"chunks": (10, 7), "zarr_format": 2},
    {"chunks": (10, 7), "zarr_format": 2, "order": "F"},
    {"chunks": (10, 50), "filters": [zarr.codecs.TransposeCodec(order=(1, 0))], "compressors": None},
    {"chunks": (7, 9), "chunk_key_encoding": {"name": "v2", "separator": "/"}},
]
Plain = Callable[..., Any]


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return storage.LocalStore(tmp_path / "a.zarr") if request.param == "local" else storage.MemoryStore()


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", [None, "group/array"])
def test_both_ways(layout: dict[str, Any], name: str | None, store: Any, plain: Plain, engine: list[str]) -> None:
    """What one pipeline writes, the other one reads."""
    array = zarr.create_array(store, name=name, shape=DATA.shape, dtype=DATA.dtype, fill_value=-1, **layout)
    array[:] = DATA
    array[3:33, ::7] = 5
    expected = DATA.copy()
    expected[3:33, ::7] = 5
    other = plain(store, path=name, mode="r+")
    np.testing.assert_array_equal(other[:], expected)
    other[11:13, 4] = [8, 9]
    expected[11:13, 4] = [8, 9]
    np.testing.assert_array_equal(array[:], expected)
    assert set(engine) == {"engine"}


@pytest.mark.parametrize("layout", LAYOUTS[:3], ids=str)
def test_every_kind_of_selection(layout: dict[str, Any], store: Any, engine: list[str]) -> None:
    array = zarr.create_array(store, data=DATA, **layout)
    rows, columns = np.array([3, 3, 59, 0]), np.array([49, 0, 7, 7])
    mask = DATA % 7 == 0
    np.testing.assert_array_equal(array[13:44:9, 5], DATA[13:44:9, 5])
    np.testing.assert_array_equal(array[::13, ::11], DATA[::13, ::11])
    assert array[59, 49] == DATA[59, 49]
    np.testing.assert_array_equal(array.oindex[rows, 5:20], DATA[rows, 5:20])
    np.testing.assert_array_equal(array.oindex[rows, columns], DATA[np.ix_(rows, columns)])
    np.testing.assert_array_equal(array.oindex[4, columns], DATA[4, columns])
    np.testing.assert_array_equal(array.oindex[mask[:, 0], ::3], DATA[mask[:, 0], ::3])
    np.testing.assert_array_equal(array.vindex[rows, columns], DATA[rows, columns])
    np.testing.assert_array_equal(
        array.vindex[[rows, rows], [columns, columns]], DATA[[rows, rows], [columns, columns]]
    )
    np.testing.assert_array_equal(array.vindex[mask], DATA[mask])
    size = array.shards or array.chunks
    np.testing.assert_array_equal(array.blocks[1, 0:2], DATA[size[0] : 2 * size[0], : 2 * size[1]])
    np.testing.assert_array_equal(array[rows, columns], DATA[rows, columns])
    assert set(engine) == {"engine"}


@pytest.mark.parametrize("layout", LAYOUTS[:3], ids=str)
def test_every_kind_of_assignment(layout: dict[str, Any], store: Any, engine: list[str]) -> None:
    array, expected = zarr.create_array(store, data=DATA, **layout), DATA.copy()
    rows, columns = np.array([3, 59, 0]), np.array([49, 0, 7])
    array[2:9, ::5] = expected[2:9, ::5] = -1
    array[7] = expected[7] = -2 * np.arange(50)
    array.oindex[rows, columns] = expected[np.ix_(rows, columns)] = -np.arange(9).reshape(3, 3)
    array.oindex[rows, 8] = expected[rows, 8] = [1, 2, 3]
    array.vindex[rows, columns] = expected[rows, columns] = [4, 5, 6]
    array.vindex[expected % 13 == 0] = -9
    expected[expected % 13 == 0] = -9
    array.blocks[0, 1] = -7
    size = array.shards or array.chunks
    expected[: size[0], size[1] : 2 * size[1]] = -7
    np.testing.assert_array_equal(array[:], expected)
    assert set(engine) == {"engine"}


def test_a_longer_array_keeps_its_pipeline(store: Any, plain: Plain) -> None:
    array = zarr.create_array(store, data=DATA, chunks=(16, 16))
    array.append(DATA[:5])
    array.resize((70, 60))
    array[64:, 48:] = 3
    other = plain(store, mode="r")
    expected = np.zeros((70, 60), "int32")
    expected[:65, :50] = np.concatenate([DATA, DATA[:5]])
    expected[64:, 48:] = 3
    np.testing.assert_array_equal(other[:], expected)


def test_arrays_that_differ_in_a_bit_are_not_taken_for_each_other(tmp_path: Path, engine: list[str]) -> None:
    """The metadata of an array that is opened again is known already."""
    from blizzarr.zarr_pipeline.bound import _TRANSLATED

    made = []
    for number, fill in enumerate((0.0, -0.0, 0.0)):
        made.append(zarr.create_array(tmp_path / str(number), shape=(4,), dtype="f8", fill_value=fill))
        assert np.signbit(made[-1][:]).tolist() == [number == 1] * 4
    known = len(_TRANSLATED)
    assert zarr.open_array(tmp_path / "1")[0] == 0
    assert (len(_TRANSLATED), set(engine)) == (known, {"engine"})


def test_chunks_of_fill_are_stored_if_asked(store: Any) -> None:
    array = zarr.create_array(store, shape=(8,), chunks=(4,), dtype="i4", fill_value=7)
    array[:] = 7
    assert array.nchunks_initialized == 0
    kept = array.with_config({"write_empty_chunks": True}) if hasattr(array, "with_config") else None
    if kept is not None:
        kept[:] = 7
        assert array.nchunks_initialized == 2
    array[:] = 7
    assert array.nchunks_initialized == 0


@pytest.mark.parametrize("kind", ["zip", "object", "fsspec"])
def test_other_stores(kind: str, tmp_path: Path, engine: list[str]) -> None:
    """Stores whose place is known are read by the engine."""
    path = tmp_path / "a.zarr"
    zarr.create_array(storage.LocalStore(path), data=DATA, chunks=(5, 10), shards=(20, 20))
    del engine[:]
    if kind == "zip":
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for file in path.rglob("*"):
                if file.is_file():
                    archive.write(file, file.relative_to(path).as_posix())
        store = storage.ZipStore(tmp_path / "a.zip", mode="r")
    elif kind == "object":
        from obstore.store import MemoryStore

        store = storage.ObjectStore(MemoryStore())
        zarr.create_array(store, data=DATA, chunks=(5, 10), shards=(20, 20))
    else:
        store = storage.FsspecStore.from_url(f"file://{path}")
    np.testing.assert_array_equal(zarr.open_array(store, mode="r")[3:44, ::7], DATA[3:44, ::7])
    assert set(engine) == {"engine"}


class Counting(storage.LocalStore):  # type: ignore[misc]
    """A user's store, which must be called."""

    count = 0

    async def get(self, *given: Any, **more: Any) -> Any:
        type(self).count += 1
        return await super().get(*given, **more)


def test_a_store_of_a_user_is_called(tmp_path: Path, engine: list[str], caplog: pytest.LogCaptureFixture) -> None:
    zarr.create_array(storage.LocalStore(tmp_path), data=DATA, chunks=(10, 50))
    array = zarr.open_array(Counting(tmp_path), mode="r")
    Counting.count = 0
    del engine[:]
    with caplog.at_level(logging.DEBUG, logger="blizzarr"):
        np.testing.assert_array_equal(array[:], DATA)
        np.testing.assert_array_equal(array[:], DATA)
    assert (Counting.count, engine) == (12, ["usual", "usual"])
    assert [record.message for record in caplog.records if record.name.startswith("blizzarr")] == [
        f"zarr-python's own pipeline takes {array.store_path}: the place of a Counting is not known"
    ]


@pytest.mark.parametrize(
    "given",
    [{"dtype": "M8[s]", "shape": (3,), "chunks": (2,), "zarr_format": 2, "fill_value": None}],
    ids=["no fill value"],
)
@pytest.mark.filterwarnings("ignore:The data type")
def test_what_is_read_otherwise_is_left_to_zarr_python(given: dict[str, Any], store: Any, plain: Plain) -> None:
    array = zarr.create_array(store, **given)
    other = plain(store, mode="r")
    np.testing.assert_array_equal(array[...], other[...])
    array[...] = np.asarray(array[...])
    np.testing.assert_array_equal(array[...], other[...])


RECORD: Any = np.dtype([("a", ">i4"), ("b", ">f8")])


@pytest.mark.parametrize(
    ("dtype", "given"),
    [
        (">i4", {}),
        (">i4", {"shards": (4, 6)}),
        (">f8", {"serializer": codecs.BytesCodec(endian="big"), "fill_value": np.nan}),
        (">i4", {"zarr_format": 2, "order": "F", "filters": [Delta(">i4")]}),
        (">f8", {"zarr_format": 2, "fill_value": 2.5}),
        (">M8[s]", {"zarr_format": 2}),
        (">U3", {"zarr_format": 2}),
        (RECORD, {"zarr_format": 2}),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:The data type")
def test_other_byte_orders(dtype: Any, given: dict[str, Any], store: Any, plain: Plain, engine: list[str]) -> None:
    """Elements whose byte order is not the machine's are converted, so that their writers are merged, too."""
    array = zarr.create_array(store, shape=(6, 6), chunks=(2, 3), dtype=dtype, **given)
    expected = array[:]
    values: Any = np.arange(36).reshape(6, 6)
    values = np.rec.fromarrays([values, values / 2], RECORD) if dtype is RECORD else values.astype(dtype)
    for rows in (slice(0, 1), slice(2, 5)):
        array[rows] = expected[rows] = values[rows]
    array[1, 1:3] = expected[1, 1:3] = values[0, 0]
    array.vindex[[1, 1], [4, 5]] = values[2, :2]
    expected[1, 4:] = values[2, :2]
    assert array[:].dtype == array.dtype
    np.testing.assert_array_equal(array[:], expected)
    np.testing.assert_array_equal(array.oindex[[4, 1], ::2], expected[[4, 1], ::2])
    assert set(engine) == {"engine"}
    np.testing.assert_array_equal(plain(store, mode="r")[:], expected)


@pytest.mark.parametrize(("dtype", "given"), [("i4", ">i4"), ("f8", ">f8"), ("M8[s]", ">M8[s]"), ("U3", ">U3")])
@pytest.mark.filterwarnings("ignore:The data type")
def test_elements_of_another_byte_order(dtype: str, given: str, store: Any, engine: list[str]) -> None:
    """zarr-python hands them on as they are, because the names of the data types are the same."""
    array = zarr.create_array(store, shape=(6,), chunks=(2,), dtype=dtype)
    values = np.arange(6).astype(given)
    array[1:] = values[1:]
    array.oindex[[0]] = values[:1]
    assert array[:].tolist() == values.tolist()
    assert set(engine) == {"engine"}


def test_a_zip_file_without_a_path(engine: list[str]) -> None:
    """zarr-python 3.4 also takes file objects."""
    memory = io.BytesIO()
    try:
        array = zarr.create_array(storage.ZipStore(memory, mode="w"), data=DATA, chunks=(10, 50))
    except (TypeError, AssertionError):
        pytest.skip("this release of zarr-python takes paths only")
    array.store.close()
    np.testing.assert_array_equal(zarr.open_array(storage.ZipStore(memory, mode="r"), mode="r")[:], DATA)
    assert set(engine) == {"usual"}


def test_a_codec_of_a_user_is_called(store: Any, engine: list[str]) -> None:
    class Mine(zarr.codecs.GzipCodec):  # type: ignore[misc]
        pass

    array = zarr.create_array(store, shape=(4,), chunks=(2,), dtype="i4", compressors=Mine(level=1))
    array[:] = [1, 2, 3, 4]
    assert array[:].tolist() == [1, 2, 3, 4]
    assert set(engine) == {"usual"}


def test_structs(store: Any, plain: Plain) -> None:
    values = np.array([(1, 2.5), (3, 4.5), (5, 6.5)], dtype=[("a", "<i4"), ("b", "<f8")])
    array = zarr.create_array(store, shape=(3,), chunks=(2,), dtype=values.dtype, zarr_format=2)
    array[:] = values
    other = plain(store, mode="r")
    np.testing.assert_array_equal(array[:], values)
    np.testing.assert_array_equal(other[:], values)


def test_damage_names_its_place(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path / "a.zarr", name="x", data=DATA, chunks=(10, 50))
    (tmp_path / "a.zarr/x/c/2/0").write_bytes(b"garbage")
    with pytest.raises(ChunkError, match=r"zstd") as caught:
        array[:]
    assert (caught.value.array, caught.value.key, caught.value.chunk) == ("/x", "x/c/2/0", (2, 0))
    # Callers catch what zarr-python's codecs raise.
    assert isinstance(caught.value, ValueError)
    assert array[0, 0] == 0


def test_a_read_only_store_is_refused_as_ever(tmp_path: Path) -> None:
    zarr.create_array(tmp_path, data=DATA)
    array = zarr.open_array(storage.LocalStore(tmp_path, read_only=True), mode="r")
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1


def test_a_failing_store(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, data=DATA, chunks=(10, 50))
    (tmp_path / "c/1/0").unlink()
    (tmp_path / "c/1/0").symlink_to("0")
    with pytest.raises(StoreError) as caught:
        array[:]
    assert isinstance(caught.value, OSError)


def test_a_store_that_was_moved(tmp_path: Path) -> None:
    store = storage.LocalStore(tmp_path / "a")
    array = zarr.create_array(store, data=DATA, chunks=(10, 50))
    assert array[0, 1] == 1
    zarr.core.sync.sync(store.move(tmp_path / "b"))
    array[0, 1] = 9
    assert (array[0, 1], (tmp_path / "a").exists()) == (9, False)


def test_a_relative_path_is_one_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        arrays.append(zarr.create_array("a.zarr", data=np.array([len(arrays)]), chunks=(1,)))
        arrays[-1][0] += 5
    # As zarr-python's own pipeline and its metadata have it.
    assert arrays[0][0] == 6
    monkeypatch.chdir(tmp_path / "one")
    assert [array[0] for array in arrays] == [5, 5]


def test_a_zip_file_that_was_replaced(tmp_path: Path, plain: Plain) -> None:
    for number, name in enumerate("ab"):
        with storage.ZipStore(tmp_path / name, mode="w") as target:
            zarr.create_array(target, data=np.array([number]), chunks=(1,))
    arrays = [opened(storage.ZipStore(tmp_path / "a"), mode="r") for opened in (zarr.open_array, plain)]
    (tmp_path / "b").rename(tmp_path / "a")
    assert [array[0] for array in arrays] == [0, 0]


def test_an_array_without_a_document_is_written_as_ever(tmp_path: Path) -> None:
    array = zarr.create_array(tmp_path, name="x", data=DATA, chunks=(10, 50))
    (tmp_path / "x/zarr.json").unlink()
    array[0, 1] = 9
    assert array[0, :3].tolist() == [0, 9, 2]


@pytest.mark.parametrize("sharded", [False, True])
def test_eight_processes_lose_nothing(sharded: bool, tmp_path: Path) -> None:
    """All write elements of one chunk, or of one shard, through zarr-python at the same time."""
    script = Path(__file__).parents[2] / "support" / "zarr_writers.py"
    command = [sys.executable, str(script), str(tmp_path / "a"), "blizzarr.ZarrPipeline", "8", "8", str(sharded)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


def test_writers_of_an_object_store_lose_nothing() -> None:
    from obstore.store import MemoryStore

    store = storage.ObjectStore(MemoryStore())
    zarr.create_array(store, shape=(64,), chunks=(64,), dtype="i4", fill_value=0)

    def write(number: int) -> None:
        array = zarr.open_array(store, mode="r+")
        for place in range(number, 64, 4):
            array[place] = number + 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(zarr.open_array(store, mode="r")[:], np.arange(64) % 4 + 1)


def test_pickled(tmp_path: Path, engine: list[str]) -> None:
    array = zarr.create_array(storage.LocalStore(tmp_path), data=DATA, chunks=(10, 50))
    copy = pickle.loads(pickle.dumps(array))
    np.testing.assert_array_equal(copy[:], DATA)
    assert copy == array
    assert set(engine) == {"engine"}


def test_awaited_in_an_event_loop(tmp_path: Path) -> None:
    async def both() -> list[Any]:
        array = await zarr.api.asynchronous.create_array(store=tmp_path / "a.zarr", data=DATA, chunks=(10, 50))
        await array.setitem((slice(0, 2), 3), 7)
        return [*await asyncio.gather(array.getitem((0, 3)), array.getitem((1, slice(2, 5))))]

    one, some = asyncio.run(both())
    assert (int(one), some.tolist()) == (7, [52, 7, 54])


def test_reads_that_are_awaited_together_take_turns(tmp_path: Path) -> None:
    """A read that takes no time does not end before the others have begun."""
    events: list[str] = []

    async def one(array: Any, number: int) -> None:
        events.append("begun")
        await array.getitem((number, 0))
        events.append("done")

    async def several() -> None:
        array = await zarr.api.asynchronous.create_array(store=tmp_path / "a.zarr", data=DATA, chunks=(10, 50))
        await array.getitem((0, 0))
        await asyncio.gather(*(one(array, number) for number in range(3)))

    asyncio.run(several())
    assert events == ["begun"] * 3 + ["done"] * 3


def test_a_slow_read_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read that waits does so outside of the thread of the event loop."""
    from blizzarr.zarr_pipeline import pipeline

    zarr.create_array(tmp_path / "slow", data=DATA, chunks=(5, 50))
    zarr.create_array(tmp_path / "fast", data=DATA, chunks=(10, 50))
    slow, fast = zarr.open_array(tmp_path / "slow"), zarr.open_array(tmp_path / "fast")
    begun, may_end = threading.Event(), threading.Event()
    read = pipeline.read

    def waiting(binding: Any, *given: Any) -> Any:
        if binding is slow._async_array.codec_pipeline._bound.binding:
            begun.set()
            assert may_end.wait(60)
        return read(binding, *given)

    monkeypatch.setattr(pipeline, "read", waiting)
    thread = threading.Thread(target=slow.__getitem__, args=(slice(None),))
    thread.start()
    assert begun.wait(60)
    assert fast[59, 49] == DATA[59, 49]
    may_end.set()
    thread.join()


def test_many_chunks_of_a_shard_hold_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from blizzarr.zarr_pipeline import pipeline

    threads: list[threading.Thread] = []
    read = pipeline.read

    def watched(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return read(*given)

    monkeypatch.setattr(pipeline, "read", watched)
    monkeypatch.setattr("blizzarr.zarr_pipeline.threads.QUICK", 60.0)

    async def read_all() -> list[bool]:
        data = np.arange(4000)
        array = await zarr.api.asynchronous.create_array(store=tmp_path / "a", data=data, chunks=(10,), shards=(4000,))
        for key in (slice(5, 25), slice(0, None, 100)):
            np.testing.assert_array_equal(await array.getitem(key), data[key])
        return [thread is threading.current_thread() for thread in threads]

    assert asyncio.run(read_all()) == [True, False]


def test_settings_switch_it_on_and_off(tmp_path: Path) -> None:
    import blizzarr

    assert zarr.registry.get_pipeline_class() is blizzarr.ZarrPipeline
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}):
        assert zarr.registry.get_pipeline_class() is not blizzarr.ZarrPipeline
    assert "ZarrPipeline" in dir(blizzarr)


def test_import_is_enough() -> None:
    """The module sets it, and blizzarr alone does not import zarr-python."""
    script = (
        "import sys, blizzarr; assert 'zarr' not in sys.modules; import blizzarr.for_zarr, zarr; "
        "assert zarr.registry.get_pipeline_class() is blizzarr.ZarrPipeline; "
        "assert zarr.registry.get_ndbuffer_class() is blizzarr.for_zarr.NDBuffer; print('done')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"


@pytest.mark.parametrize("name", ["blizzarr.for_zarr", "blizzarr.zarr_pipeline"])
def test_without_zarr_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install, and what does without."""
    for loaded in [loaded for loaded in sys.modules if loaded.startswith(("blizzarr.for_zarr", "blizzarr.zarr_pipe"))]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(ImportError, match=r"pip install 'zarr>=3\.1'; programs without it can import blizzarr\.zarr,"):
        import_module(name)


def test_entry_point() -> None:
    """zarr-python finds the pipeline by its name, without an import."""
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["zarr.codec_pipeline"] == {"blizzarr": "blizzarr:ZarrPipeline"}
