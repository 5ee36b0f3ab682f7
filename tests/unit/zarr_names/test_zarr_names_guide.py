"""What the user guide of zarr-python shows: how things print, and what is found where."""

from __future__ import annotations

import asyncio
import dataclasses
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import zarr
from blizzarr.zarr import installing
from blizzarr.zarr.codecs import TransposeCodec
from blizzarr.zarr.storage import StorePath, store_path


@pytest.mark.parametrize(
    ("chunks", "shards"),
    [((10, 10), (20, 20)), ((10, 50), (20, 50)), (10, (20, 20)), ((10, -1), (20, 105)), ((10, None), (20, 105))],
)
def test_shards_are_chosen_for_the_chunks_that_are_given(chunks: Any, shards: tuple[int, ...]) -> None:
    """The numbers of the first two are those of zarr-python 3.1.6."""
    with pytest.warns(zarr.errors.ZarrUserWarning, match="experimental"):
        z = zarr.create_array({}, shape=(100, 105), dtype="i4", chunks=chunks, shards="auto")
    assert z.shards == shards


@pytest.mark.parametrize(
    "options", [{"shape": (3.5,)}, {"shape": 3.5}, {"shape": (4,), "chunks": (2.0,)}, {"shape": 4, "shards": (2.0,)}]
)
def test_lengths_are_integers(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="expected integers as"):
        zarr.create_array({}, dtype="i4", **options)


@pytest.mark.parametrize("create", [zarr.create_array, zarr.create_group({}).create_array])
def test_data_are_given_or_described(create: Any) -> None:
    name: Any = {} if create is zarr.create_array else "x"
    for options, words in (
        ({"data": np.arange(3), "shape": 3}, "shape parameter was also used"),
        ({"data": np.arange(3), "dtype": "i1"}, "dtype parameter was also used"),
        ({"shape": 3}, "dtype was not specified"),
        ({"dtype": "i1"}, "shape was not specified"),
    ):
        with pytest.raises(ValueError, match=words):
            create(name, **options)
    assert zarr.array([1, 2], dtype="i1", shape=(2,)).dtype == "i1"


def test_elements_are_converted_into_memory_of_the_user() -> None:
    z = zarr.create_array({}, data=np.arange(6).reshape(2, 3))
    out = np.zeros((2, 2), "f4")
    assert z.get_basic_selection((slice(None), slice(2)), out=zarr.core.buffer.NDBuffer(out)) is out
    assert out.tolist() == [[0, 1], [3, 4]]
    with pytest.raises(ValueError, match=r"out= of shape \(1, 3\), found \(2, 2\)"):
        z.get_basic_selection(slice(1), out=out)
    with pytest.raises(TypeError, match="or an NDBuffer, as out="):
        z.get_basic_selection(out=[])


def test_metadata_print_as_in_zarr_python() -> None:
    """The texts are those of zarr-python 3.1.6."""
    root = zarr.create_group({}, attributes={"a": 1})
    z = root.create_array("x", shape=(2,), dtype="f8")
    assert repr(root.metadata) == (
        "GroupMetadata(attributes={'a': 1}, zarr_format=3, consolidated_metadata=None, node_type='group')"
    )
    assert repr(z.metadata) == (
        "ArrayV3Metadata(shape=(2,), data_type=Float64(endianness='little'), "
        "chunk_grid=RegularChunkGrid(chunk_shape=(2,)), chunk_key_encoding=DefaultChunkKeyEncoding(separator='/'), "
        "fill_value=np.float64(0.0), codecs=(BytesCodec(endian=<Endian.little: 'little'>), "
        "ZstdCodec(level=0, checksum=False)), attributes={}, dimension_names=None, zarr_format=3, node_type='array', "
        "storage_transformers=(), extra_fields={})"
    )
    old = zarr.create_group({}, zarr_format=2).create_array("x", shape=(3,), dtype="i4")
    assert repr(old.metadata) == (
        "ArrayV2Metadata(shape=(3,), chunks=(3,), dtype=Int32(endianness='little'), fill_value=np.int32(0), order='C', "
        "filters=None, dimension_separator='.', compressor=Blosc(cname='lz4', clevel=5, shuffle=SHUFFLE, blocksize=0), "
        "attributes={}, zarr_format=2)"
    )
    assert z.metadata is z.metadata
    z.attrs["b"] = 2
    assert z.metadata.attributes == {"b": 2}


def test_metadata_are_made_of_their_members() -> None:
    kind = zarr.core.metadata.ArrayV3Metadata
    made = kind(
        shape=(4,),
        data_type=zarr.dtype.Float32(),
        chunk_grid=zarr.core.chunk_grids.RegularChunkGrid((2,)),
        chunk_key_encoding={"name": "default"},
        fill_value=np.float32("nan"),
        codecs=[zarr.codecs.BytesCodec()],
        attributes={"a": 1},
        dimension_names=None,
    )
    assert (made.shape, made.chunks, made.encode_chunk_key((1,)), made.attributes) == ((4,), (2,), "c/1", {"a": 1})
    assert np.isnan(made.fill_value)
    assert dataclasses.replace(made, shape=(6,)).shape == (6,)
    assert list(made.to_buffer_dict()) == ["zarr.json"]
    old = zarr.core.metadata.ArrayV2Metadata(
        shape=(3,), dtype=zarr.dtype.Int32(), chunks=(3,), fill_value=7, order="C", compressor=None, filters=None
    )
    assert (old.dtype.to_native_dtype(), old.fill_value, sorted(old.to_buffer_dict())) == ("i4", 7, [".zarray"])


def test_scalars_are_json() -> None:
    number = zarr.dtype.Float32()
    assert (number.to_json_scalar(np.nan, zarr_format=3), zarr.dtype.Int8().to_json_scalar(42)) == ("NaN", 42)
    assert np.isnan(number.from_json_scalar("NaN", zarr_format=3))
    assert zarr.dtype.RawBytes(length=2).to_json_scalar(b"ab") == "YWI="


def test_a_dict_has_buffers() -> None:
    store: dict[str, Any] = {}
    z = zarr.create_array(store, data=np.arange(4), chunks=2, zarr_format=2, compressor=None)
    assert store["0"].to_bytes() == np.arange(2).tobytes()
    store["1"] = np.arange(7, 9).tobytes()
    assert z[:].tolist() == [0, 1, 7, 8]
    assert z.store == zarr.storage.MemoryStore(store)
    assert blizzarr.open(z.store)[:].tolist() == [0, 1, 7, 8]


def test_stores_are_shown_by_the_path_that_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = zarr.create_group("a/b.zarr")
    assert (repr(root), root.store.root) == ("<Group file://a/b.zarr>", Path("a/b.zarr"))
    with zarr.storage.ZipStore("c.zip", mode="w") as store:
        z = zarr.create_array(store, data=np.arange(2))
        assert repr(z) == "<Array zip://c.zip shape=(2,) dtype=int64>"


def test_a_store_is_moved(tmp_path: Path) -> None:
    store = zarr.storage.LocalStore(tmp_path / "a")
    z = zarr.create_array(store, data=np.arange(4))
    asyncio.run(store.move(tmp_path / "b" / "c"))
    assert (store.root, zarr.open_array(store)[:].tolist()) == (tmp_path / "b" / "c", [0, 1, 2, 3])
    with pytest.raises(blizzarr.errors.ConflictError, match="open it again"):
        z[:]
    with pytest.raises(FileExistsError, match="already exists"):
        asyncio.run(zarr.storage.LocalStore(tmp_path).move(tmp_path / "b"))
    archive = zarr.storage.ZipStore(tmp_path / "a.zip", mode="a")
    zarr.create_array(archive, data=np.arange(3))
    asyncio.run(archive.move(str(tmp_path / "d" / "b.zip")))
    assert zarr.open_array(archive)[:].tolist() == [0, 1, 2]
    assert sorted(path.name for path in tmp_path.rglob("*.zip")) == ["b.zip"]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("flushed", [False, True])
def test_a_zip_file_is_cleared(tmp_path: Path, zarr_format: Any, flushed: bool) -> None:
    """anndata clears the store of the group into which it writes."""
    with zarr.storage.ZipStore(tmp_path / "a.zip", mode="w") as store:
        root = zarr.open_group(store, mode="w", zarr_format=zarr_format, attributes={"old": 1})
        root.create_array("x", data=np.arange(3))
        if flushed:
            store.engine.flush()
        zarr.core.sync.sync(root.store.clear())
        assert [*store.engine.list()] == []
        again = zarr.open_group(store, mode="a", zarr_format=zarr_format)
        again.create_array("y", data=np.arange(4))
        again.attrs["new"] = 2
    read = zarr.open_group(zarr.storage.ZipStore(tmp_path / "a.zip"), mode="r")
    assert (dict(read.attrs), [*read], read["y"][:].tolist()) == ({"new": 2}, ["y"], [0, 1, 2, 3])
    with zarr.storage.ZipStore(tmp_path / "a.zip", mode="r") as readable, pytest.raises(ValueError, match="read-only"):
        asyncio.run(readable.clear())
    assert [*zarr.open_group(zarr.storage.ZipStore(tmp_path / "a.zip"), mode="r")] == ["y"]


def test_a_store_of_obstore_is_shown() -> None:
    memory = pytest.importorskip("obstore.store").MemoryStore()
    z = zarr.create_array(zarr.storage.ObjectStore(memory), shape=2, dtype="i1")
    assert z.store.store is memory
    assert str(z.store) == f"object_store://{memory}"


def test_members_of_one_kind() -> None:
    root = zarr.create_group({})
    z = root.create_array("a/x", shape=(5,), chunks=(2,), dtype="i1")
    assert (root.get_array("a/x"), root.get_group("a")) == (z, root["a"])
    with pytest.raises(zarr.errors.ContainsGroupError, match=r"A group exists in store .* at path 'a'"):
        root.get_array("a")
    with pytest.raises(zarr.errors.ContainsArrayError):
        root.get_group("a/x")
    with pytest.raises(zarr.errors.ArrayNotFoundError):
        root.get_array("b")
    assert (z.write_chunk_sizes, z.read_chunk_sizes) == (((2, 2, 1),), ((2, 2, 1),))


def test_settings_are_printed_where_the_user_likes() -> None:
    text = io.StringIO()
    zarr.config.pprint(stream=text, width=60)
    assert "'default_zarr_format': 3" in text.getvalue()


@pytest.mark.parametrize("open_it", [zarr.open, zarr.open_group, zarr.create_group])
def test_a_format_that_there_is_not(open_it: Any) -> None:
    with pytest.raises(zarr.errors.MetadataValidationError, match=r"Expected 2, 3, or None\. Got '3\.0'"):
        open_it({}, zarr_format="3.0")
    with pytest.warns(zarr.errors.ZarrDeprecationWarning, match="use zarr_format"):
        assert zarr.zeros(3, zarr_version=2).metadata.zarr_format == 2


def test_a_place_is_opened_by_its_mode() -> None:
    async def check() -> None:
        path = zarr.storage.StorePath
        store = zarr.storage.MemoryStore()
        zarr.create_array(store, name="a/x", shape=2, dtype="i1")
        assert (await path.open(store, "a", "r")).read_only
        with pytest.raises(FileExistsError, match="is not empty"):
            await path.open(store, "a", "w-")
        with pytest.raises(ValueError, match="Store is read-only but mode is 'w'"):
            await path.open(store.with_read_only(True), "a", "w")
        with pytest.raises(ValueError, match="Invalid mode: x"):
            await path.open(store, "a", "x")
        await path.open(store, "a/x", "w")
        assert [key async for key in store.list()] == ["a/zarr.json", "zarr.json"]

    asyncio.run(check())


def test_a_module_that_is_not_here_has_advice() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"no module named 'zarr\.experimental'.*; use blizzarr\.CachePool"):
        installing._Finder().find_spec("zarr.experimental")
    with pytest.raises(ModuleNotFoundError, match=r"has no such module$"):
        installing._Finder().find_spec("zarr.nothing")


def test_classes_have_parameters_for_annotations() -> None:
    assert (zarr.Array[Any], zarr.AsyncArray[Any]) == (zarr.Array, zarr.AsyncArray)
    records = zarr.dtype.Structured(fields=(("a", zarr.dtype.Int16()), ("b", zarr.dtype.RawBytes(length=3))))
    assert records.to_native_dtype() == np.dtype([("a", "<i2"), ("b", "V3")])
    scalar = records.cast_scalar([3, b"xyz"])
    assert scalar == records.cast_scalar(scalar.tobytes()) == records.cast_scalar((3, b"xyz"))
    assert scalar["a"] == 3


@pytest.mark.parametrize("dtype", ["|V4", np.dtype("V4")])
def test_raw_bytes_are_padded(dtype: Any) -> None:
    z = zarr.create_array({}, shape=2, dtype=dtype, fill_value=b"a")
    assert z[0].tobytes() == b"a\0\0\0"


def test_a_group_has_the_metadata_of_its_view() -> None:
    view = zarr.AsyncGroup(zarr.create_group({}))
    assert zarr.Group(view).metadata is view.metadata


def test_a_group_without_members_is_false() -> None:
    """As in zarr-python, where an array is always true."""
    root = zarr.create_group({})
    assert not root
    assert root.create_array("x", shape=0, dtype="i1") is not None
    assert root
    assert root["x"]


def test_an_order_that_is_left_out_is_a_warning() -> None:
    old = zarr.create_array({}, data=np.eye(2), order="F", zarr_format=2)
    with pytest.warns(zarr.errors.ZarrUserWarning, match="existing order='F'"):
        assert zarr.from_array({}, data=old, zarr_format=3)[:].tolist() == [[1, 0], [0, 1]]
    assert zarr.from_array({}, data=old).order == "F"


def test_options_are_for_urls() -> None:
    store = zarr.storage.MemoryStore()
    for given in (store, zarr.storage.StorePath(store, "a"), "a.zarr"):
        with pytest.raises(TypeError, match="'storage_options' was provided but unused"):
            asyncio.run(store_path.make_store_path(given, storage_options={"a": 1}))


def test_arrays_are_created_by_mode_and_required_by_type() -> None:
    store = zarr.storage.MemoryStore()
    zarr.create(3, store=store, mode="w-")
    assert zarr.create(4, store=store, mode="w").shape == (4,)
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarr.create(5, store=store, mode="a")
    with pytest.raises(ValueError, match="to create an array, found 'r'"):
        zarr.create(5, store=store, mode="r")
    root = zarr.create_group({})
    root.create_array("x", shape=2, dtype="i4")
    assert root.require_array("x", shape=2, dtype=zarr.dtype.Int32(), config={"order": "F"}).config.order == "F"


def test_options_of_a_store_are_not_saved() -> None:
    store = zarr.storage.MemoryStore()
    zarr.save(store, np.arange(2), storage_options=None)
    assert zarr.load(store).tolist() == [0, 1]
    zarr.save(store, a=np.arange(2), storage_options=None)
    assert list(zarr.load(store)) == ["a"]


def test_functions_have_their_names() -> None:
    """pytest makes identifiers of them."""
    names = ("empty", "empty_like", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like")
    assert [getattr(zarr, name).__name__ for name in names] == list(names)


def test_a_file_is_no_group(tmp_path: Path) -> None:
    """spatialdata makes a store of a file, and looks whether that can be opened."""
    (tmp_path / "a.txt").touch()
    store = zarr.storage.LocalStore(tmp_path / "a.txt")
    with pytest.raises(zarr.errors.GroupNotFoundError):
        zarr.open(store, mode="r")


def test_codecs_of_numbers() -> None:
    """Of zarr-python 3.4: the same documents, and the same elements."""
    filters = [
        zarr.codecs.ScaleOffset(offset=1000),
        zarr.codecs.CastValue(data_type=zarr.dtype.UInt8(), scalar_map={"encode": {7: 8}, "decode": [[8, 7]]}),
    ]
    z = zarr.create_array({}, data=np.array([1007, 1255], "u2"), filters=filters, fill_value=1000)
    assert z[:].tolist() == [1007, 1255]
    assert z.filters == tuple(filters)
    assert filters[0].to_dict() == {"name": "scale_offset", "configuration": {"offset": 1000, "scale": 1}}
    assert [codec.to_dict() for codec in z.metadata.codecs[:2]] == [
        {"name": "scale_offset", "configuration": {"offset": 1000, "scale": 1}},
        {
            "name": "cast_value",
            "configuration": {
                "data_type": "uint8",
                "rounding": "nearest-even",
                "scalar_map": {"encode": ((7, 8),), "decode": ((8, 7),)},
            },
        },
    ]


def test_chunks_of_several_lengths() -> None:
    """What zarr-python 3.4.2 says of rectilinear chunks and shards, also after changes of the shape."""
    data = np.arange(60 * 13).reshape(60, 13)
    with zarr.config.set({"array.rectilinear_chunks": True}):
        z = zarr.create_array({}, shape=(60, 13), dtype="i8", chunks=[[10, 20, 30], 5])
    z[:] = data
    np.testing.assert_array_equal(z.oindex[[59, 3], [0, 12]], data[np.ix_([59, 3], [0, 12])])
    assert z.read_chunk_sizes == z.write_chunk_sizes == ((10, 20, 30), (5, 5, 3))
    assert (z.shards, z.cdata_shape, z.nchunks_initialized) == (None, (3, 3), 9)
    with pytest.raises(NotImplementedError, match="read_chunk_sizes"):
        z.chunks  # noqa: B018
    assert "Chunk shape        : <variable>" in str(z.info)
    grid = z.metadata.chunk_grid
    assert grid == zarr.core.metadata.v3.RectilinearChunkGridMetadata(((10, 20, 30), 5))
    assert grid.to_dict()["configuration"] == {"kind": "inline", "chunk_shapes": ([10, 20, 30], 5)}
    s = zarr.create_array({}, shape=(60, 13), dtype="i8", chunks=(5, 5), shards=[[10, 20, 30], [5, 10]])
    s[:] = data
    assert (s.chunks, s.nchunks_initialized) == ((5, 5), 36)
    assert (s.write_chunk_sizes, s.read_chunk_sizes[1]) == (((10, 20, 30), (5, 8)), (5, 5, 3))
    with pytest.raises(NotImplementedError, match="write_chunk_sizes"):
        s.shards  # noqa: B018
    for source in (z, s):
        copied = zarr.from_array({}, data=source)
        assert copied.write_chunk_sizes == source.write_chunk_sizes
        np.testing.assert_array_equal(copied[:], data)
    assert zarr.zeros_like(z).read_chunk_sizes == z.read_chunk_sizes
    z.append(np.ones((5, 13), int))
    assert (z.write_chunk_sizes[0], z.blocks[3].shape) == ((10, 20, 30, 5), (5, 13))
    z.resize((12, 13))
    assert z.write_chunk_sizes[0] == (10, 2)
    z.resize((70, 13))
    assert z.write_chunk_sizes[0] == (10, 20, 30, 5, 5)
    assert not z[12:].any()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_none_asks_for_no_codecs_and_no_shards(zarr_format: int) -> None:
    """Only what is left out, or "keep", is as in the other array."""
    filters: Any = [{"id": "delta", "dtype": "<i4"}] if zarr_format == 2 else [TransposeCodec(order=(1, 0))]
    shards = None if zarr_format == 2 else (4, 4)
    source = zarr.create_array(
        {}, shape=(4, 4), dtype="i4", chunks=(2, 2), shards=shards, filters=filters, zarr_format=zarr_format
    )
    source[:] = np.arange(16).reshape(4, 4)
    plain = zarr.from_array({}, data=source, shards=None, filters=None, compressors=None)
    assert (plain.shards, plain.filters, plain.compressors, plain.chunks) == (None, (), (), (2, 2))
    assert plain[:].tolist() == source[:].tolist()
    assert zarr.from_array({}, data=source, chunks=(4, 4), shards=None).chunks == (4, 4)
    like = zarr.zeros_like(source, compressors=None)
    assert (like.shards, like.filters, like.compressors) == (shards, source.filters, ())


def test_directories_are_no_values(tmp_path: Path) -> None:
    store = zarr.storage.LocalStore(tmp_path)
    zarr.create_group(store).create_array("a", shape=2, dtype="i1")

    async def look(key: str) -> tuple[bool, object]:
        return await store.exists(key), await StorePath(store, key).get()

    for key in ("a", "zarr.json/x", "b/c"):
        assert asyncio.run(look(key)) == (False, None)
    (tmp_path / "c").symlink_to("c")
    with pytest.raises(OSError, match="symbolic links"):
        asyncio.run(look("c"))
