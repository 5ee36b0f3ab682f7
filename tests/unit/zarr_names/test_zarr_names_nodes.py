"""Arrays and groups of `blizzarr.zarr`, where zarr-python differs from blizzarr."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest

import blizzarr
from blizzarr import zarr
from blizzarr.formats.consolidated import Consolidated
from blizzarr.zarr.codecs import BloscCodec, BytesCodec, GzipCodec, ShardingCodec, ZstdCodec


@pytest.fixture
def cube() -> zarr.Array:
    return zarr.create_array({}, data=np.arange(24).reshape(2, 3, 4), chunks=(1, 3, 2))


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ((1, 2, 3), ()),
        ((0, slice(None), [1, 3]), (3, 2)),
        (([0, 1], [1, 2], [3, 0]), (2,)),
        ((np.array([True, False]), np.array([True, False, True])), (1, 2, 4)),
        ((slice(None), [0, 2]), (2, 2, 4)),
        (..., (2, 3, 4)),
        ((..., [1, 1]), (2, 3, 2)),
    ],
)
def test_selections_are_those_of_zarr_python(cube: zarr.Array, key: Any, shape: tuple[int, ...]) -> None:
    """A single element is an array without axes; lists with slices select orthogonally."""
    found = cube[key]
    assert isinstance(found, np.ndarray)
    assert found.shape == shape
    assert found.tolist() == cube.engine.oindex[key].tolist() if shape != (2,) else found.tolist() == [7, 20]


def test_writing_selects_as_reading_does(cube: zarr.Array) -> None:
    cube[0, :, [1, 3]] = np.array([[1, 2], [3, 4], [5, 6]])
    assert cube[0, :, [1, 3]].tolist() == [[1, 2], [3, 4], [5, 6]]


def test_an_array_without_axes_reads_as_a_scalar() -> None:
    z = zarr.create_array({}, shape=(), dtype="i4", fill_value=3)
    assert z[()] == 3
    assert [type(z[key]) for key in ((), ...)] == [np.int32, np.int32]
    assert type(z.get_basic_selection(...)) is np.int32
    text = zarr.create_array({}, shape=(), dtype=str, fill_value="ab")
    assert [type(text[key]) for key in ((), ...)] == [str, str]
    assert text[...] == "ab"


@pytest.mark.parametrize(
    ("zarr_format", "given", "stored"),
    [(2, {}, 0), (2, {"fill_value": None}, None), (3, {}, 0), (3, {"fill_value": None}, 0)],
)
def test_no_fill_value_is_null_in_v2_alone(zarr_format: int, given: Any, stored: Any) -> None:
    root = zarr.group({}, zarr_format=zarr_format)
    for z in (root.create("a", shape=3, dtype="f4", **given), root.create_array("b", shape=3, dtype="f4", **given)):
        assert z.metadata.to_dict()["fill_value"] == stored
        assert z.fill_value == stored


def test_text_is_string_dtype() -> None:
    z = zarr.create_array({}, data=np.array(["a", "bc"], dtype="T"))
    assert (z.dtype.kind, z[:].dtype.kind, z[:].tolist(), z[1].dtype.kind) == ("T", "T", ["a", "bc"], "T")
    z[0] = "long"
    z.append(np.array(["d"], dtype="T"))
    assert z[:].tolist() == ["long", "bc", "d"]


def test_metadata_of_v3() -> None:
    z = zarr.create_array(
        {}, shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype=">i2", dimension_names=["y", "x"], attributes={"a": 1}
    )
    found = z.metadata
    assert (found.zarr_format, found.node_type, found.shape, found.dimension_names) == (3, "array", (8, 8), ("y", "x"))
    assert (found.chunk_grid.chunk_shape, found.chunks, found.shards) == ((4, 4), (2, 2), (4, 4))
    # As zarr-python shows it once the array is opened again.
    assert repr(found.data_type) == "Int16(endianness='little')"
    assert (found.chunk_key_encoding.separator, found.encode_chunk_key((1, 0))) == ("/", "c/1/0")
    (sharding,) = found.codecs
    assert isinstance(sharding, ShardingCodec)
    assert sharding.codecs == (BytesCodec(endian="little"), ZstdCodec())
    assert found.to_dict()["attributes"] == {"a": 1}
    assert type(found).from_dict(found.to_dict()) == found


def test_metadata_of_v2() -> None:
    z = zarr.group({}, zarr_format=2).create_array(
        "x", shape=(4, 6), chunks=(2, 3), dtype="i2", order="F", filters=[numcodecs.Delta("<i2")], compressor=None
    )
    found = z.metadata
    assert (found.zarr_format, found.chunks, found.order, found.dimension_separator) == (2, (2, 3), "F", ".")
    assert (found.filters, found.compressor, z.compressors) == ((numcodecs.Delta("<i2"),), None, ())
    assert z.filters == (numcodecs.Delta("<i2"),)
    assert not hasattr(found, "dimension_names")
    with pytest.raises(ValueError, match="dimension names"):
        zarr.create_array({}, shape=2, dtype="i1", zarr_format=2, dimension_names=["x"])


def test_codecs_have_the_defaults_of_zarr_python() -> None:
    assert GzipCodec().to_dict() == {"name": "gzip", "configuration": {"level": 5}}
    z = zarr.create_array({}, shape=4, dtype="f8", compressors=BloscCodec())
    assert z.compressors[0].to_dict()["configuration"] == {
        "typesize": 8,
        "cname": "zstd",
        "clevel": 5,
        "shuffle": "shuffle",
        "blocksize": 0,
    }
    again = zarr.create_array({}, shape=4, dtype="f8", compressors=z.compressors, serializer=z.serializer)
    assert again.compressors == z.compressors
    assert zarr.zeros(2, zarr_format=2).compressor == numcodecs.Zstd(level=0)


def test_order_in_v3_is_that_in_memory() -> None:
    z = zarr.create_array({}, data=np.arange(6).reshape(2, 3), config={"order": "F"})
    assert z[...].flags.f_contiguous
    assert [codec.to_dict()["name"] for codec in z.metadata.codecs] == ["bytes", "zstd"]


def test_configuration_stores_empty_chunks() -> None:
    store: dict[str, bytes] = {}
    z = zarr.create_array(store, shape=4, chunks=2, dtype="i1", config={"write_empty_chunks": True})
    z[:2] = 0
    assert z.config.write_empty_chunks
    assert sorted(store) == ["c/0", "zarr.json"]
    with zarr.config.set({"array.write_empty_chunks": 1}):
        zarr.open_array(store)[2:] = 0
    assert sorted(store) == ["c/0", "c/1", "zarr.json"]
    assert pickle.loads(pickle.dumps(zarr.array([1]))).config == zarr.array([1]).config


def test_groups_are_created_by_default_and_are_mappings() -> None:
    store: dict[str, bytes] = {}
    root = zarr.open_group(store)
    root.create_group("a").create_array("x", shape=2, dtype="i1")
    assert sorted(root) == ["a"]
    assert [name for name, _ in root.members(max_depth=None)] == ["a", "a/x"]
    assert isinstance(root["/a/x/"], zarr.Array)
    del root["nothing"]
    assert root.get("nothing", 7) == 7
    assert root.info._zarr_format == 3
    assert repr(root.info).splitlines()[2] == "Zarr format : 3"
    assert isinstance(zarr.open(store, path="a/x"), zarr.Array)


def test_consolidated_metadata() -> None:
    store: dict[str, bytes] = {}
    zarr.open_group(store).create_array("a/x", shape=2, dtype="i1")
    with pytest.warns(zarr.errors.ZarrUserWarning, match="not part in the Zarr format 3"):
        zarr.consolidate_metadata(store)
    found = zarr.open_consolidated(store).metadata.consolidated_metadata
    assert list(found.flattened_metadata) == ["a", "a/x"]
    assert type(found).from_dict(found.to_dict()) == found
    with pytest.raises(TypeError, match="expected an object as metadata"):
        type(found).from_dict({"metadata": []})
    assert found.metadata["a"].consolidated_metadata.metadata["x"].shape == (2,)


def test_consolidated_metadata_of_many_groups_are_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    store: dict[str, bytes] = {}
    for path in ("a/x", "b/c/x", "d/x"):
        zarr.open_group(store).create_array(path, shape=2, dtype="i1")
    with pytest.warns(zarr.errors.ZarrUserWarning, match="not part in the Zarr format 3"):
        zarr.consolidate_metadata(store)
    calls: list[object] = []
    monkeypatch.setattr(Consolidated, "__iter__", lambda self: iter([calls.append(self), *self.documents][1:]))
    found = zarr.open_consolidated(store).metadata.consolidated_metadata
    assert len(calls) == 1
    assert [*found.metadata, *found.metadata["b"].consolidated_metadata.flattened_metadata] == [*"abd", "c", "c/x"]


def test_a_hierarchy_is_created_from_metadata() -> None:
    model = zarr.create_array({}, shape=3, dtype="i2").metadata
    store: dict[str, bytes] = {}
    nodes = dict(zarr.create_hierarchy(store=store, nodes={"a": zarr.core.group.GroupMetadata(), "a/x": model}))
    assert list(nodes) == ["", "a", "a/x"]
    below = zarr.open_group(store).create_hierarchy({"b/c": zarr.core.group.GroupMetadata()})
    assert [(name, node.path) for name, node in below] == [("b", "b"), ("b/c", "b/c")]
    assert zarr.open_array(store, path="a/x").metadata == model


def test_names_that_xarray_gives_are_allowed() -> None:
    root = zarr.create_group({})
    assert root.create_array("__xarray_dataarray_variable__", shape=1, dtype="i1").shape == (1,)
    with pytest.raises(blizzarr.errors.PathError):
        blizzarr.create_array({}, name="__x", shape=1, dtype="i1")


def test_chunks_of_dask_are_those_of_a_regular_grid() -> None:
    """The first along each axis counts, as in zarr-python: nobody has asked for chunks of several lengths."""
    dask_array = pytest.importorskip("dask.array").ones((10, 10), chunks=(5, 4))
    for made in (zarr.array(dask_array), zarr.zeros_like(dask_array)):
        assert made.metadata.chunk_grid.to_dict()["configuration"] == {"chunk_shape": (5, 4)}
        assert made.shape == (10, 10)


def test_lengths_may_be_numbers_of_numpy() -> None:
    """As in zarr-python, wherever a shape is a number."""
    assert zarr.create(np.int64(10), chunks=(5,)).chunks == (5,)
    root = zarr.create_group({})
    made = root.create_array("x", shape=np.int64(3), dtype="int16")
    assert root.require_array("x", shape=np.int64(3), dtype="int16").path == made.path
    assert "" in root


def test_likes_take_what_is_left_open_from_the_other() -> None:
    z = zarr.create_array({}, shape=(4, 4), chunks=(2, 2), dtype="i2", fill_value=5, compressors=GzipCodec())
    other = zarr.full_like(z)
    assert (other.chunks, other.dtype, other.fill_value, other.compressors) == ((2, 2), "i2", 5, z.compressors)
    copied = zarr.from_array({}, data=zarr.array([1, 2]), chunks=1)
    assert (copied.chunks, copied[:].tolist()) == ((1,), [1, 2])


def test_a_group_is_created_again_after_its_store_was_cleared() -> None:
    """This is how anndata replaces what is at the root."""
    root = zarr.open_group({}, mode="w", zarr_format=2)
    root.create_array("x", shape=1, dtype="i1")
    zarr.core.sync.sync(root.store.clear())
    root.require_group("/").attrs["a"] = 1
    again = zarr.open_group(root.store, mode="r")
    assert (dict(again.attrs), list(again), again.metadata.zarr_format) == ({"a": 1}, [], 2)


def test_attributes_may_be_nan() -> None:
    """As in zarr-python, although JSON has no such number."""
    group = zarr.create_group({}, attributes={"a": np.nan})
    array = group.create_array("x", shape=3, dtype="i1", attributes={"b": [np.inf]})
    array.attrs["c"] = {"d": np.nan}
    array.attrs.update(e=-np.inf)
    again = group["x"].attrs.asdict()
    assert np.isnan([group.attrs["a"], again["c"]["d"]]).all()
    assert (again["b"], again["e"]) == ([np.inf], -np.inf)
    array.attrs.put({"f": np.inf})
    assert group["x"].attrs.asdict() == {"f": np.inf}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_are_changed_in_place(zarr_format: int) -> None:
    """ome-zarr-py adds the colours of labels so, and stores attribute by attribute."""
    attributes = {"axes": ["y"], "label": {"version": "0.4"}, "n": 1}
    group = zarr.open_group({}, zarr_format=zarr_format, attributes=attributes)
    group.attrs["label"].update(colors=[np.nan])
    group.attrs["axes"].append("x")
    changed = {"axes": ["y", "x"], "label": {"version": "0.4", "colors": [np.nan]}, "n": 1}
    assert group.attrs.asdict() == dict(group.attrs) == changed
    again = zarr.open_group(group.store)
    assert again.attrs["label"] == {"version": "0.4"}
    again.attrs["label"] = {"version": "0.5"}  # another writer
    for name, value in group.attrs.items():
        group.attrs[name] = value
    group.attrs["axes"].append("z")
    del group.attrs["n"]
    stored = zarr.open_group(group.store).attrs.asdict()
    assert (list(stored["label"]), stored["axes"], len(stored)) == (["version", "colors"], ["y", "x", "z"], 2)
    group.attrs["axes"].clear()
    group.attrs.put({"axes": ["t"]})
    assert group.attrs["axes"] == zarr.open_group(group.store).attrs["axes"] == ["t"]


def test_values_that_were_set_as_attributes_are_changed_in_place() -> None:
    axes, label, scale = ["y"], {"version": 1}, [1]
    group = zarr.create_group({})
    group.attrs["axes"] = axes
    group.attrs.update(label=label, shape=(2, [3]))
    axes.append("x")
    label["colors"] = [axes]
    assert group.attrs["axes"] is axes
    group.attrs["n"] = np.int8(1)
    stored = {"axes": ["y", "x"], "label": {"version": 1, "colors": [["y", "x"]]}, "shape": [2, [3]], "n": 1}
    assert group.attrs.asdict() == zarr.open_group(group.store).attrs.asdict() == stored
    group.attrs.put({"scale": scale})
    scale.append(2)
    group.update_attributes({"n": 2})
    assert zarr.open_group(group.store).attrs.asdict() == {"scale": [1, 2], "n": 2}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_attributes_of_metadata_are_a_copy(zarr_format: int) -> None:
    root = zarr.open_group({}, zarr_format=zarr_format, attributes={"a": [1]})
    array = root.create_array("x", shape=2, dtype="i1", attributes={"a": [1]})
    for node in (root, array):
        meta = node.metadata
        assert meta.to_dict()["attributes"] == {"a": [1]}
        meta.attributes["a"].append(2)
        meta.attributes["b"] = 3
        assert node.attrs.asdict() == {"a": [1]}
        assert meta.to_dict()["attributes"] == {"a": [1, 2], "b": 3}
        made = dict(zarr.create_hierarchy(store={}, nodes={"n": meta}))
        assert made["n"].attrs.asdict() == {"a": [1, 2], "b": 3}


def test_trees_are_those_of_zarr_python(monkeypatch: pytest.MonkeyPatch) -> None:
    root = zarr.create_group({})
    root.create_array("a<b/x", shape=2, dtype="f8")
    root.create_group("c")
    assert repr(root.tree()) == "/\n├── a<b\n│   └── x (2,) float64\n└── c\n"
    assert repr(root.tree(level=0, max_nodes=1)).splitlines() == [
        "Truncated at max_nodes=1, some nodes and their children may be missing",
        "/",
        "└── a<b",
    ]
    assert "<b>a&lt;b</b>" in root.tree()._repr_mimebundle_()["text/html"]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "├── \x1b[1ma<b\x1b[0m\n" in repr(root.tree())
    with pytest.warns(zarr.errors.ZarrDeprecationWarning, match=r"Use Group\.tree"):
        assert "├── a<b\n" in repr(zarr.tree(root, plain=True))
    with pytest.raises(NotImplementedError, match="leave it out"):
        root.tree(expand=True)


@pytest.mark.parametrize("own", [False, True])
def test_an_array_stores_empty_chunks_by_its_own_configuration(own: bool) -> None:
    store: dict[str, bytes] = {}
    z = zarr.create_array(store, shape=4, chunks=2, dtype="i1", config={"write_empty_chunks": own})
    copied = pickle.loads(pickle.dumps(z.config))
    with zarr.config.set({"array.write_empty_chunks": not own}):
        z[:] = 0
        assert [key for key in store if key != "zarr.json"] == (["c/0", "c/1"] if own else [])
        z.engine.cached(blizzarr.CachePool(1000))[:2] = 0
        z.append([0, 0])
        assert sorted(store) == ([*("c/0", "c/1", "c/2")] if own else []) + ["zarr.json"]
        assert zarr.open_array(store).config.write_empty_chunks is not own
    assert copied.write_empty_chunks is own


def test_the_order_given_by_itself_is_that_of_v2_alone() -> None:
    config = {"order": "F"}
    z = zarr.ones((2, 3), order="C", config=config, zarr_format=2)
    assert (z.order, z.metadata.order, z[...].flags.c_contiguous) == ("C", "C", True)
    with pytest.warns(zarr.errors.ZarrRuntimeWarning, match="has no effect for Zarr format 3"):
        assert zarr.ones((2, 3), order="F", zarr_format=3).order == "C"


def test_the_order_of_config_is_that_in_memory_alone() -> None:
    """As zarr-python 3.4 does: what v2 stores is ``order=``, or the setting, but for functions of zarr-python 2."""
    made = {"shape": (2, 3), "dtype": "i2", "config": {"order": "F"}}
    group = zarr.create_group({}, zarr_format=2)
    for z in (zarr.create_array({}, zarr_format=2, **made), group.create_array("x", **made)):
        assert (z.order, z.metadata.order, z.config.order, z[...].flags.c_contiguous) == ("C", "C", "F", True)
    for z in (zarr.create(store={}, zarr_format=2, **made), group.full(name="y", fill_value=0, **made)):
        assert (z.order, z.metadata.order, z.config.order, z[...].flags.f_contiguous) == ("F", "F", "F", True)
    with zarr.config.set({"array.order": "F"}):
        assert zarr.create_array({}, shape=(2, 3), dtype="i2", zarr_format=2).metadata.order == "F"
        assert group["x"][...].flags.c_contiguous


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_likes_in_a_group_have_its_format(zarr_format: int) -> None:
    other = zarr.create_array({}, data=np.arange(4), chunks=2, zarr_format=5 - zarr_format)
    made = zarr.create_group({}, zarr_format=zarr_format).full_like(name="x", data=other, fill_value=7)
    assert (made.metadata.zarr_format, made.chunks, made[:].tolist()) == (zarr_format, (2,), [7] * 4)


@pytest.mark.parametrize(
    ("shape", "dtype", "chunks", "shards"),
    [
        ((1000, 1000), "u1", (500, 500), (500, 500)),
        ((10000, 10000), "f8", (313, 625), (626, 626)),
        ((300, 512, 512), "u2", (38, 128, 128), (38, 64, 128)),
        ((0, 5), "f4", (1, 5), (1, 5)),
        ((), "f4", (), ()),
        ((123457, 789), "i2", (7717, 99), (15434, 100)),
    ],
)
def test_chunks_are_chosen_as_in_zarr_python(shape: Any, dtype: str, chunks: Any, shards: Any) -> None:
    """The numbers are those of zarr-python 3.1.6."""
    assert zarr.create_array({}, shape=shape, dtype=dtype).chunks == chunks
    assert zarr.create(shape, dtype=dtype).chunks == chunks
    assert zarr.create_group({}).create_array("x", shape=shape, dtype=dtype).chunks == chunks
    with pytest.warns(zarr.errors.ZarrUserWarning, match="experimental"):
        assert zarr.create_array({}, shape=shape, dtype=dtype, shards="auto").shards == shards


def test_shards_are_as_large_as_the_setting() -> None:
    with zarr.config.set({"array.target_shard_size_bytes": 2**22}), pytest.warns(zarr.errors.ZarrUserWarning):
        z = zarr.create_array({}, shape=(4096, 4096), dtype="u1", chunks="auto", shards="auto")
    assert (z.chunks, z.shards) == ((512, 1024), (1024, 2048))


def test_arrays_that_are_required_may_be_cast() -> None:
    root = zarr.create_group({})
    root.require_array("x", shape=3, dtype="i4")
    assert root.require_array("x", shape=(3,)).dtype == "i4"
    for options, words in (
        ({"shape": 3, "dtype": "i2"}, r"Incompatible dtype \(int32 vs int16\)"),
        ({"shape": 3, "exact": True}, r"Incompatible dtype \(int32 vs float64\)"),
        ({"shape": 4, "dtype": "i4"}, r"Incompatible shape \(\(3,\) vs \(4,\)\)"),
    ):
        with pytest.raises(TypeError, match=words):
            root.require_array("x", **options)


def test_deprecated_methods_warn_and_have_the_defaults_of_v2() -> None:
    root = zarr.create_group({}, zarr_format=2)
    with pytest.warns(zarr.errors.ZarrDeprecationWarning, match=r"Use Group\.create_array"):
        z = root.create_dataset("x", data=np.arange(3))
    assert (z.compressor, z[:].tolist()) == (numcodecs.Blosc(), [0, 1, 2])
    assert root.create_array("y", shape=2, dtype="i1").compressor == numcodecs.Blosc()
    assert root.require_array("r", shape=2, dtype="i1").compressor == numcodecs.Blosc()
    assert root.create_array("n", shape=2, dtype="i1", compressors=None).compressor is None
    assert root.zeros(name="z", shape=2).compressor == numcodecs.Zstd(level=0)
    root["s"] = np.arange(3)
    assert root["s"].compressor == numcodecs.Zstd(level=0)
    with pytest.warns(zarr.errors.ZarrDeprecationWarning, match=r"Use Group\.create_array"):
        assert root.array("l", data=[1, 2, 3])[:].tolist() == [1, 2, 3]
    with pytest.warns(zarr.errors.ZarrDeprecationWarning, match=r"Use Group\.require_array"):
        assert root.require_dataset("x", shape=3, dtype="i8") == z


def test_no_dimension_names_are_none() -> None:
    assert zarr.create_array({}, shape=(2, 3), dtype="i1", dimension_names=[]).metadata.dimension_names is None


def test_only_metadata_have_names_of_dimensions() -> None:
    """ome-zarr-py's tests compare the names if arrays have them, which those of zarr-python have not."""
    z = zarr.create_array({}, shape=2, dtype="i1", dimension_names=["x"])
    assert (hasattr(z, "dimension_names"), z.metadata.dimension_names) == (False, ("x",))
    assert zarr.zeros_like(z).metadata.dimension_names == ("x",)


def test_data_types_are_shown_as_in_zarr_python() -> None:
    records = zarr.dtype.parse_dtype(np.dtype([("a", ">i4"), ("b", "U2")]))
    fields = "('a', Int32(endianness='big')), ('b', FixedLengthUTF32(length=2, endianness='little'))"
    assert repr(records) == f"Structured(fields=({fields}))"
    assert records.to_json(2)["name"] == [["a", ">i4"], ["b", "<U2"]]
    assert repr(zarr.dtype.DateTime64(unit="s")) == "DateTime64(endianness='little', scale_factor=1, unit='s')"
    assert zarr.dtype.VariableLengthUTF8().to_json(2) == {"name": "|O", "object_codec_id": "vlen-utf8"}


def test_the_registry_has_every_data_type_of_zarr_python() -> None:
    theirs = pytest.importorskip("zarr.core.dtype", reason="zarr-python 3.1 is not installed").data_type_registry
    ours = zarr.dtype.data_type_registry
    other = [name for name, kind in theirs.contents.items() if ours.get(name) is not getattr(zarr.dtype, kind.__name__)]
    assert other == []
    assert ours.get("structured") is ours.get("struct") is zarr.dtype.Structured
    # Whoever makes tests of them, as zarr-python does, has two of one name otherwise.
    assert len(set(ours.contents.values())) == len(ours.contents)


def test_a_member_is_deleted_with_files_of_other_programs(tmp_path: Path) -> None:
    """spatialdata keeps Parquet files in groups."""
    root = zarr.open_group(tmp_path / "a.zarr")
    root.create_group("points").create_array("x", data=np.arange(3))
    table = tmp_path / "a.zarr" / "points" / "points.parquet" / "part.0.parquet"
    table.parent.mkdir()
    table.write_bytes(b"parquet")
    del root["points"]
    assert (list(root), table.exists()) == ([], False)
    assert not blizzarr.config.keep_foreign_files


def test_what_is_no_text_becomes_one() -> None:
    """As in zarr-python, for the NaN of pandas."""
    z = zarr.create_array({}, shape=2, dtype=str)
    z[:] = np.array(["a", np.nan], dtype=object)
    assert z[:].tolist() == ["a", "nan"]


@pytest.mark.parametrize("chunks", [(10,), (10, None), (10, -1), [10]])
def test_axes_without_a_length_of_chunks_are_whole(chunks: Any) -> None:
    assert zarr.create((100, 20), chunks=chunks, store={}).chunks == (10, 20)
    assert zarr.zeros((100, 20), chunks=chunks, zarr_format=2).chunks == (10, 20)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_update_attributes_stores_nan(zarr_format: int) -> None:
    root = zarr.create_group({}, zarr_format=zarr_format)
    array = root.create_array("a", shape=3, dtype="i4")
    for node in (root, array):
        assert node.update_attributes({"missing": float("nan"), "limit": float("inf")}) is node
        assert np.isnan(node.attrs["missing"])
        assert node.attrs["limit"] == np.inf


@pytest.mark.parametrize("dtype", ["int4", "bfloat16", "complex_float16"])
def test_data_types_that_zarr_python_lacks(dtype: str) -> None:
    store: dict[str, bytes] = {}
    blizzarr.create_array(store, shape=3, dtype=dtype, serializer="packbits")
    array = zarr.open_array(store)
    assert array.metadata.dtype.to_json(3) == dtype
    assert dtype in str(array.info_complete())
    assert zarr.zeros_like(array).metadata.dtype.to_json(3) == dtype
