"""xarray's engine: datasets are those that xarray's own engine for Zarr opens, and only what is needed is read."""

from __future__ import annotations

import asyncio
import pickle
import sys
import tomllib
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import blizzarr
from blizzarr.codecs.numcodecs import library
from blizzarr.errors import MetadataError, NodeNotFoundError, NodeTypeError, StoreError
from blizzarr.stores import MemoryStore
from blizzarr.xarray import BlizzarrBackendEntrypoint as Engine


def weather() -> xr.Dataset:
    """Data of many kinds: times, text, packed numbers, missing values, coordinates of two dimensions."""
    times = pd.date_range("2000", periods=6)
    data = {
        "t": (("time", "y", "x"), np.arange(72.0).reshape(6, 3, 4), {"units": "K"}),
        "text": ("y", np.array(["a", "bb", "c"])),
        "packed": (("y", "x"), np.arange(12).reshape(3, 4) * 0.5),
        "missing": ("x", np.array([1, np.nan, 3, 4], "float32")),
        "yes": ("x", np.array([True, False] * 2)),
        "complex": ("x", np.arange(4) + 1j),
        "bytes": ("x", np.array([b"a", b"bc", b"d", b"e"])),
        "single": ((), 3.5),
    }
    coords = {"time": times, "lat": (("y", "x"), np.ones((3, 4))), "x": np.arange(4)}
    return xr.Dataset(data, coords=coords, attrs={"title": "weather", "runs": [1, 2]})


ENCODING = {
    "t": {"chunks": (2, 3, 2), "_FillValue": -1},
    "packed": {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -99},
    "missing": {"_FillValue": 1e20},
}


def stored(path: Path, zarr_format: int) -> Path:
    pytest.importorskip("zarr")
    with warnings.catch_warnings():
        # Of types that the specification of v3 does not have.
        warnings.simplefilter("ignore")
        weather().to_zarr(path, zarr_format=zarr_format, encoding=ENCODING, consolidated=False)
    return path


def comparable(encoding: dict[str, Any]) -> dict[str, Any]:
    """An encoding with codecs as JSON, and NaN as text."""

    def plain(value: Any) -> Any:
        if isinstance(value, tuple) and not all(isinstance(item, int) for item in value):
            return tuple(map(plain, value))
        if hasattr(value, "to_dict"):
            value = value.to_dict()
        if isinstance(value, dict) and value.get("configuration") == {}:
            value = {"name": value["name"]}
        return "NaN" if isinstance(value, float | complex | np.generic) and value != value else value

    return {name: plain(value) for name, value in encoding.items()}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"mask_and_scale": False}, {"decode_times": False}, {"decode_cf": False}, {"drop_variables": ["t", "lat"]}],
    ids=str,
)
def test_equal_to_the_engine_for_zarr(tmp_path: Path, zarr_format: int, options: dict[str, Any]) -> None:
    """Elements, attributes, data types and encodings are those of xarray's own engine."""
    path = stored(tmp_path / "a.zarr", zarr_format)
    expected = xr.open_dataset(path, engine="zarr", consolidated=False, **options)
    found = xr.open_dataset(path, engine=Engine, **options)
    xr.testing.assert_identical(found, expected)
    for name, variable in expected.variables.items():
        assert found[name].dtype == variable.dtype
        assert comparable(found[name].encoding) == comparable(variable.encoding), name


def test_vlen_text(tmp_path: Path) -> None:
    """Text of variable length has NumPy's type for it, as in xarray's own engine."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    group.create_array("s", data=np.array(["a", "bb"], object), dtype="string", dimension_names=["x"])
    found = xr.open_dataset(tmp_path / "a.zarr", engine=Engine).s
    assert found.dtype.kind == "T"
    assert found.values.tolist() == ["a", "bb"]
    assert found[1].item() == "bb"
    assert found.encoding["serializer"] == {"name": "vlen-utf8"}


@pytest.mark.parametrize("values", [["a", "bcd"], [b"a", b"bcd"]], ids=["text", "bytes"])
def test_a_lone_element_keeps_the_length_of_its_type(values: list[Any]) -> None:
    group = blizzarr.create_group({})
    group.create_array("s", data=np.array(values), dimension_names=["x"])
    found = xr.open_dataset(group, engine=Engine).s
    expected = np.array(values)
    assert (found[0].values.dtype, found[0].item()) == (expected.dtype, expected[0])


def test_a_lone_element_that_is_a_list_stays_one_element() -> None:
    group = blizzarr.create_group({}, zarr_format=2)
    lists = group.create_array(
        "s", shape=2, dtype=object, filters=[{"id": "json2"}], attributes={"_ARRAY_DIMENSIONS": ["x"]}
    )
    lists[1] = [1, "a"]
    found = xr.open_dataset(group, engine=Engine).s[1].load()
    assert (found.shape, found.values.shape, found.item()) == ((), (), [1, "a"])


POINTS = xr.DataArray([0, 2, 1], dims="p")
OTHERS = xr.DataArray([3, 1, 0], dims="p")
FAR = xr.DataArray([[0], [5]], dims=("q", "r"))


@pytest.mark.parametrize(
    "steps",
    [
        [{"x": 1, "time": slice(None, None, -2)}],
        [{"x": [3, 1], "y": [0, 2]}],
        [{"x": OTHERS, "y": POINTS}],
        [{"x": OTHERS, "time": POINTS}],
        [{"time": FAR, "x": OTHERS}],
        [{"time": FAR, "y": [2, 0]}],
        [{"x": OTHERS, "y": 0}, {"p": slice(1, None)}],
        [{"time": slice(1, 5)}, {"x": [2, 0]}, {"time": [0, 3]}],
        [{"y": []}],
        [{"y": slice(0, 0, -1)}],
        [{"x": [3, 1], "time": slice(4, 0, -3), "y": 0}],
        [{"time": slice(None, None, -1)}, {"x": OTHERS, "y": POINTS}],
    ],
    ids=lambda steps: " ".join("+".join(map(str, step)) for step in steps),
)
def test_every_kind_of_indexing(tmp_path: Path, steps: list[dict[str, Any]]) -> None:
    """Slices, outer products and points give what they give in memory, also one after the other."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    data = np.arange(72).reshape(6, 3, 4)
    group.create_array("t", data=data, chunks=(2, 3, 2), dimension_names=["time", "y", "x"])
    expected = xr.DataArray(data, dims=["time", "y", "x"])
    found = xr.open_dataset(tmp_path / "a.zarr", engine=Engine).t
    for step in steps:
        expected, found = expected.isel(step), found.isel(step)
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.dims == expected.dims


def test_only_what_is_needed_is_read() -> None:
    """Opening reads no chunk, and points read only the chunks that they are in."""
    read = set()

    class Values(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            read.add(key)
            return super().__getitem__(key)

        def get(self, key: str, default: Any = None) -> Any:
            return self[key] if key in self else default  # noqa: SIM401

    store = Values()
    blizzarr.create_group(store).create_array(
        "t", data=np.arange(64).reshape(8, 8), chunks=(2, 2), dimension_names=["y", "x"]
    )
    dataset = xr.open_dataset(store, engine=Engine)
    read.clear()
    points = dataset.t.isel(y=xr.DataArray([0, 1, 7], dims="p"), x=xr.DataArray([0, 1, 7], dims="p"))
    assert not read
    assert points.values.tolist() == [0, 9, 63]
    assert {key for key in read if "/c/" in key} == {"t/c/0/0", "t/c/3/3"}


def test_asynchronous_loading(tmp_path: Path) -> None:
    """`load_async` reads, too."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    group.create_array("t", data=np.arange(6), dimension_names=["x"])
    dataset = xr.open_dataset(tmp_path / "a.zarr", engine=Engine)
    assert asyncio.run(dataset.isel(x=[4, 0]).load_async()).t.values.tolist() == [4, 0]


def test_dask_chunks_follow_shards(tmp_path: Path) -> None:
    """``chunks={}`` makes a Dask chunk of each stored chunk or shard."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    group.create_array("plain", shape=(6, 4), chunks=(3, 3), dtype="int8", dimension_names=["y", "x"])
    group.create_array("sharded", shape=(6, 4), chunks=(1, 2), shards=(3, 4), dtype="int8", dimension_names=["y", "x"])
    dataset = xr.open_dataset(tmp_path / "a.zarr", engine=Engine, chunks={})
    assert dataset.plain.chunks == ((3, 3), (3, 1))
    assert dataset.sharded.chunks == ((3, 3), (4,))
    assert dataset.sharded.encoding["chunks"] == (1, 2)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_is_masked(tmp_path: Path, zarr_format: int) -> None:
    """The fill value is masked in v2 unless told otherwise, and in v3 only if told so."""
    group = blizzarr.create_group(tmp_path / "a.zarr", zarr_format=zarr_format)
    group.create_array("t", data=[1.0, -9.0], fill_value=-9, dimension_names=["x"])

    def masked(**options: Any) -> bool:
        return bool(xr.open_dataset(tmp_path / "a.zarr", engine=Engine, **options).t.isnull()[1])

    assert masked() == (zarr_format == 2)
    assert masked(use_zarr_fill_value_as_mask=True)
    assert not masked(use_zarr_fill_value_as_mask=False)


@pytest.mark.parametrize("zarr_format", [2, 3, "v3_draft_zarr_python", "n5"])
def test_every_format_with_groups(tmp_path: Path, zarr_format: Any) -> None:
    """Formats that xarray's own engine does not know open, too."""
    group = blizzarr.create_group(tmp_path / "a.zarr", zarr_format=zarr_format)
    group.create_array("t", data=np.arange(6.0), chunks=4, dimension_names=["x"], attributes={"units": "m"})
    found = xr.open_dataset(tmp_path / "a.zarr", engine=Engine, zarr_format=zarr_format)
    assert found.t.units == "m"
    assert found.t.dims == ("x",)
    assert found.t.values[1:].tolist() == [1, 2, 3, 4, 5]


def test_an_array_is_a_dataset_of_one_variable(tmp_path: Path) -> None:
    """v1 has no groups: an array of it, like any other array, opens by itself."""
    blizzarr.create_array(
        tmp_path / "old.zarr", data=np.arange(6), zarr_format=1, attributes={"_ARRAY_DIMENSIONS": ["x"], "units": "m"}
    )
    found = xr.open_dataarray(tmp_path / "old.zarr", engine=Engine, mask_and_scale=False)
    assert (found.name, found.dims, found.units, found.values.tolist()) == ("array", ("x",), "m", [0, 1, 2, 3, 4, 5])
    blizzarr.create_array(tmp_path / "bare.zarr", data=np.arange(6).reshape(2, 3))
    bare = xr.open_dataarray(tmp_path / "bare.zarr", engine=Engine)
    assert (bare.dims, bare.values.tolist()) == (("dim_0", "dim_1"), [[0, 1, 2], [3, 4, 5]])


def test_attributes_of_netcdf_c_are_hidden(tmp_path: Path) -> None:
    """What NCZarr says of storage is no attribute of the data, and its names of dimensions count."""
    group = blizzarr.create_group(tmp_path / "a.zarr", zarr_format=2, attributes={"_NCProperties": "1", "title": "t"})
    group.create_array("t", data=[1], attributes={"_nczarr_attr": {}, "_ARRAY_DIMENSIONS": ["x"], "units": "m"})
    found = xr.open_dataset(tmp_path / "a.zarr", engine=Engine)
    assert found.attrs == {"title": "t"}
    assert found.t.attrs == {"units": "m"}


def test_arrays_without_names(tmp_path: Path) -> None:
    """Dimensions must have names; an array without them can be left out."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    group.create_array("bare", data=[1, 2])
    group.create_array("named", data=[1, 2], dimension_names=["x"])
    with pytest.raises(KeyError, match="required for xarray to determine variable dimensions; name it in drop_vari"):
        xr.open_dataset(tmp_path / "a.zarr", engine=Engine)
    assert list(xr.open_dataset(tmp_path / "a.zarr", engine=Engine, drop_variables="bare")) == ["named"]


def test_consolidated(tmp_path: Path) -> None:
    """The consolidated metadata at the root count for groups below; they can be demanded, or not used."""
    path = tmp_path / "a.zarr"
    group = blizzarr.create_group(path)
    group.create_array("g/t", data=[1, 2], dimension_names=["x"])
    with pytest.raises(MetadataError, match="consolidated"):
        xr.open_dataset(path, engine=Engine, consolidated=True)
    blizzarr.consolidate_metadata(path)
    document = path / "g/t/zarr.json"
    document.write_text(document.read_text().replace('"x"', '"changed"'))
    for target in (path, blizzarr.open_group(path, mode="r")):
        for consolidated, name in [(None, "x"), (True, "x"), (False, "changed")]:
            found = xr.open_dataset(target, engine=Engine, group="/g", consolidated=consolidated)
            assert found.t.dims == (name,)


def test_missing(tmp_path: Path) -> None:
    """What is not there is a `FileNotFoundError`; a group that is an array is a `NodeTypeError`."""
    with pytest.raises(FileNotFoundError):
        xr.open_dataset(tmp_path / "a.zarr", engine=Engine)
    group = blizzarr.create_group(tmp_path / "a.zarr")
    array = group.create_array("t", data=[1], dimension_names=["x"])
    with pytest.raises(NodeNotFoundError):
        xr.open_dataset(tmp_path / "a.zarr", engine=Engine, group="b")
    with pytest.raises(NodeTypeError, match="expected a group that has 'b', found an array"):
        xr.open_dataset(array, engine=Engine, group="b")
    with pytest.raises(NodeTypeError, match="expected a group, found an array"):
        xr.open_datatree(array, engine=Engine)


def test_trees(tmp_path: Path) -> None:
    """Trees, and groups as a dictionary, have the names that xarray's own engine gives them."""
    path = tmp_path / "a.zarr"
    group = blizzarr.create_group(path, attributes={"level": 0})
    group.create_array("a/b/t", data=[1, 2], dimension_names=["x"])
    group.create_array("a/u", data=[3], dimension_names=["y"])
    tree = xr.open_datatree(path, engine=Engine)
    assert tree.groups == ("/", "/a", "/a/b")
    assert tree.attrs == {"level": 0}
    assert tree["a/b/t"].values.tolist() == [1, 2]
    assert list(xr.open_groups(path, engine=Engine)) == ["/", "/a", "/a/b"]
    assert list(xr.open_groups(path, engine=Engine, group="/a")) == [".", "b"]
    below = xr.open_datatree(path, engine=Engine, group="a", chunks={})
    assert below["b/t"].chunks == ((2,),)
    assert below["u"].values.tolist() == [3]


def test_zip_files_are_closed(tmp_path: Path) -> None:
    """Closing a dataset closes the zip file that was opened for it, but not a group that was given."""
    with blizzarr.create_group(tmp_path / "a.zarr.zip") as group:
        group.create_array("g/t", data=[1, 2], dimension_names=["x"])
    for opened in (
        xr.open_dataset(tmp_path / "a.zarr.zip", engine=Engine, group="g"),
        xr.open_datatree(tmp_path / "a.zarr.zip", engine=Engine)["g"],
    ):
        assert opened.t.values.tolist() == [1, 2]
    with blizzarr.open_group(tmp_path / "a.zarr.zip", mode="r") as group:
        with xr.open_dataset(group["g"], engine=Engine):
            pass
        assert group["g/t"][1] == 2
    dataset = xr.open_dataset(tmp_path / "a.zarr.zip", engine=Engine, group="g")
    dataset.close()
    with pytest.raises(StoreError, match="the zip file has been closed"):
        dataset.t.load()


def test_several_files_and_pickles(tmp_path: Path) -> None:
    """Several stores make one dataset, which survives a pickle without reading."""
    for part in range(3):
        group = blizzarr.create_group(tmp_path / f"{part}.zarr")
        group.create_array("t", data=np.arange(4) + 4 * part, chunks=2, dimension_names=["x"])
    paths = [tmp_path / f"{part}.zarr" for part in range(3)]
    dataset = xr.open_mfdataset(paths, engine=Engine, combine="nested", concat_dim="x")
    assert dataset.t.chunks == ((2,) * 6,)
    again = pickle.loads(pickle.dumps(dataset))
    assert again.t.sum().compute().item() == 66
    lazy = pickle.loads(pickle.dumps(xr.open_dataset(paths[0], engine=Engine)))
    blizzarr.open(paths[0])["t"][1] = 9
    assert lazy.t.values.tolist() == [0, 9, 2, 3]


def test_storage_options(tmp_path: Path) -> None:
    """With options, fsspec opens the URL; local paths ignore them, as in fsspec; stores have their own."""
    import fsspec

    from blizzarr.stores import FsspecStore

    store = FsspecStore(fsspec.filesystem("memory"), "h4/options.zarr")
    blizzarr.create_group(store).create_array("t", data=[7], dimension_names=["x"])
    found = xr.open_dataset("memory://h4/options.zarr", engine=Engine, storage_options={"skip_instance_cache": True})
    assert found.t.values.tolist() == [7]
    blizzarr.create_group(tmp_path / "a.zarr").create_array("t", data=[8], dimension_names=["x"])
    local = xr.open_dataset(tmp_path / "a.zarr", engine=Engine, storage_options={"anon": True})
    assert local.t.values.tolist() == [8]
    with pytest.raises(ValueError, match="expected a URL with storage_options, found MemoryStore"):
        xr.open_dataset(MemoryStore(), engine=Engine, storage_options={"anon": True})


def test_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unasked, the engine opens what is its own, and no name that another engine opens."""
    guess = Engine().guess_can_open
    group = blizzarr.create_group({})
    assert guess(group)
    assert guess("a.n5/")
    assert guess(Path("a.zarr.zip"))
    assert not guess("a.nc")
    assert not guess(b"CDF")
    assert not guess({})
    monkeypatch.setattr("blizzarr.xarray.engine.find_spec", lambda name: object())
    assert not guess("a.zarr")
    monkeypatch.setattr("blizzarr.xarray.engine.find_spec", lambda name: None)
    assert guess("a.zarr/")


def test_entry_point() -> None:
    """The package says where xarray finds the engine."""
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    [(name, place)] = project["entry-points"]["xarray.backends"].items()
    assert name == "blizzarr"
    assert EntryPoint(name, place, "xarray.backends").load() is Engine
    assert Engine.open_dataset_parameters == xr.backends.plugins.detect_parameters(Engine.open_dataset)


def test_without_xarray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without xarray, the error names the extra."""
    for name in [name for name in sys.modules if name.startswith("blizzarr.xarray")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"pip install 'blizzarr\[xarray\]'"):
        import blizzarr.xarray  # noqa: F401


def test_chunks_of_several_lengths() -> None:
    """As with xarray's own engine and zarr-python 3.4: lengths as they are, and preferred by Dask."""
    store, data = MemoryStore(), np.arange(60 * 13).reshape(60, 13)
    group = blizzarr.create_group(store)
    group.create_array("a", data=data, chunks=[[10, 20, 30], 5], dimension_names=("y", "x"))
    group.create_array("b", data=data, chunks=(5, 4), shards=[[10, 20, 30], [4, 12]], dimension_names=("y", "x"))
    found = xr.open_dataset(store, engine="blizzarr", chunks={})
    assert found.a.chunks == ((10, 20, 30), (5, 5, 3))
    assert found.b.chunks == ((10, 20, 30), (4, 9))
    assert (found.a.encoding["chunks"], found.a.encoding["shards"]) == (((10, 20, 30), 5), None)
    assert (found.b.encoding["chunks"], found.b.encoding["shards"]) == ((5, 4), ((10, 20, 30), (4, 9)))
    np.testing.assert_array_equal(found.a[::-7, 2:].values, data[::-7, 2:])
    np.testing.assert_array_equal(found.b.values, data)


def test_codecs_without_numcodecs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package, encodings have the objects of v2 documents, which xarray can write again."""
    monkeypatch.setattr(library, "import_module", lambda name: (_ for _ in ()).throw(ImportError("not installed")))
    config = {"id": "zlib", "level": 7}
    blizzarr.create_group(tmp_path, zarr_format=2).create_array(
        "a", data=np.arange(1.0, 5), compressors=config, dimension_names=["x"]
    )
    library._make.cache_clear()
    read = xr.open_dataset(tmp_path, engine="blizzarr", consolidated=False)
    assert read["a"].encoding["compressors"] == (config,)
    np.testing.assert_array_equal(read["a"], np.arange(1.0, 5))


def test_dimensions_whose_names_are_numbers_are_read_in_v2(tmp_path: Path) -> None:
    ds = xr.Dataset({"v": ((1, "x"), np.arange(6).reshape(2, 3))}, coords={"x": [7, 8, 9]})
    blizzarr.xarray.to_zarr(ds, tmp_path / "a.zarr", zarr_format=2)
    opened = xr.open_dataset(tmp_path / "a.zarr", engine="blizzarr")
    assert opened.v.dims == (1, "x")
    xr.testing.assert_identical(opened.load(), ds)
    blizzarr.xarray.to_zarr(ds, tmp_path / "a.zarr", append_dim=1)
    appended = xr.open_dataset(tmp_path / "a.zarr", engine="blizzarr")
    assert (appended.v.dims, appended.v.values.tolist()) == ((1, "x"), [[0, 1, 2], [3, 4, 5]] * 2)
