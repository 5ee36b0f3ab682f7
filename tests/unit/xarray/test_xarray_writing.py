"""Writing with xarray: what is written, into what is there or not, is what xarray's own engine writes and reads."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import dask
import fsspec
import numpy as np
import pytest
import xarray as xr
from test_xarray_reading import ENCODING, weather

import blizzarr
from blizzarr.errors import MetadataError, NodeExistsError, NodeNotFoundError, UnsupportedOperationError
from blizzarr.stores import FsspecStore, MemoryStore
from blizzarr.xarray import BlizzarrBackendEntrypoint as Engine
from blizzarr.xarray import to_zarr
from blizzarr.xarray.group_store import GroupStore
from blizzarr.xarray.writing import ZarrGroup
from support.far_stores import TwoAtOnce


def opened(target: Any, **options: Any) -> xr.Dataset:
    return xr.open_dataset(target, engine=Engine, **options)


def counted(length: int = 8, start: int = 0) -> xr.Dataset:
    values = np.arange(start, start + length)
    return xr.Dataset({"t": ("x", values)}, coords={"x": values})


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_xarray_reads_what_is_written(tmp_path: Path, zarr_format: int) -> None:
    """xarray's own engine finds the data, and what `to_zarr` of xarray itself would have written."""
    pytest.importorskip("zarr")
    dataset = weather()
    options: dict[str, Any] = {"encoding": ENCODING, "zarr_format": zarr_format, "consolidated": False}
    to_zarr(dataset, tmp_path / "ours.zarr", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset.to_zarr(tmp_path / "theirs.zarr", **options)
        found = xr.open_dataset(tmp_path / "ours.zarr", engine="zarr", consolidated=False)
        expected = xr.open_dataset(tmp_path / "theirs.zarr", engine="zarr", consolidated=False)
        xr.testing.assert_identical(found, expected)
    for name, variable in expected.variables.items():
        assert found[name].dtype == variable.dtype
        if "_FillValue" in variable.encoding:
            np.testing.assert_equal(found[name].encoding["_FillValue"], variable.encoding["_FillValue"])
    assert found.t.encoding["chunks"] == (2, 3, 2)
    xr.testing.assert_identical(opened(tmp_path / "ours.zarr"), dataset)


def test_modes(tmp_path: Path) -> None:
    """New data do not replace others unless told so; variables can be added, and replaced where they are."""
    path = tmp_path / "a.zarr"
    assert repr(counted().blizzarr.to_zarr(path)) == f"<GroupStore of <Group / in {path}>>"
    with pytest.raises(NodeExistsError):
        counted().blizzarr.to_zarr(path)
    with pytest.raises(ValueError, match="non-pre-existing variables"):
        xr.Dataset({"u": 1.5}).blizzarr.to_zarr(path, mode="r+")
    xr.Dataset({"u": 1.5}, attrs={"n": 1}).blizzarr.to_zarr(path, mode="a")
    assert set(opened(path).variables) == {"t", "u", "x"}
    assert opened(path).attrs == {"n": 1}
    with pytest.raises(ValueError, match="already exists, but encoding was provided"):
        counted().blizzarr.to_zarr(path, mode="a", encoding={"t": {"chunks": (3,)}})
    with pytest.raises(KeyError, match='expected names of variables, found "tt"; did you mean "t"'):
        counted().blizzarr.to_zarr(path, mode="w", encoding={"tt": {"chunks": (3,)}})
    counted(3).blizzarr.to_zarr(path, mode="w")
    xr.testing.assert_identical(opened(path), counted(3))
    with pytest.raises(NodeNotFoundError):
        counted().blizzarr.to_zarr(tmp_path / "b.zarr", mode="r+")


def test_appending(tmp_path: Path) -> None:
    """Appending makes variables longer, on any chunk, and leaves the others."""
    path = tmp_path / "a.zarr"
    fixed = counted(3).assign(fixed=("y", [1.0, 2.0]))
    fixed.blizzarr.to_zarr(path, encoding={"t": {"chunks": (2,)}})
    counted(5, 3).chunk(x=2).blizzarr.to_zarr(path, append_dim="x")
    assert opened(path).t.values.tolist() == list(range(8))
    assert opened(path).fixed.values.tolist() == [1, 2]
    with pytest.raises(ValueError, match="append_dim='z' does not match"):
        counted().blizzarr.to_zarr(path, append_dim="z")
    counted(1, 8).assign(fixed=("y", [7.0, 8.0])).blizzarr.to_zarr(path, mode="a-", append_dim="x")
    assert opened(path).fixed.values.tolist() == [1, 2]
    assert opened(path).sizes["x"] == 9


def test_a_dataset_does_not_replace_what_it_is_read_from(tmp_path: Path) -> None:
    """What is to be read would be removed first, and read as the fill value."""
    path = tmp_path / "a.zarr"
    dataset = counted().assign(s=("x", np.arange(8.0), {}, {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -1}))
    to_zarr(dataset, path, group="b")
    for lazy in (opened(path, group="b"), opened(path, group="b", chunks={}) + 1, opened(path, group="b")[["s"]]):
        for group in (None, "b"):
            with pytest.raises(ValueError, match="which would be removed before it is copied"):
                to_zarr(lazy, path, mode="w", group=group)
    xr.testing.assert_equal(opened(path, group="b"), dataset)
    to_zarr(opened(path, group="b"), path, mode="w", group="c")
    to_zarr(opened(path, group="c").load(), path, mode="w", group="b")
    xr.testing.assert_equal(opened(path, group="b"), dataset)


@pytest.mark.parametrize("region", [{"x": slice(3, 6)}, {"x": "auto"}, "auto"], ids=str)
def test_regions(tmp_path: Path, region: Any) -> None:
    """A region is written where its coordinates or the slices say."""
    path = tmp_path / "a.zarr"
    counted().blizzarr.to_zarr(path, encoding={"t": {"chunks": (2,)}})
    part = counted(3, 3)
    part["t"] = -part.t
    part.chunk(x=1).blizzarr.to_zarr(path, region=region)
    assert opened(path).t.values.tolist() == [0, 1, 2, -3, -4, -5, 6, 7]


@pytest.mark.parametrize("shards", [None, (6,)])
def test_unaligned_chunks_are_safe(tmp_path: Path, shards: tuple[int] | None) -> None:
    """Dask's chunks need not match where all parts are kept; where they may be lost, xarray's check stays."""
    dataset = counted(100).chunk(x=7)
    encoding = {"t": {"chunks": (3,), "shards": shards}}
    for target in (tmp_path / "a.zarr", MemoryStore()):
        to_zarr(dataset, target, encoding=encoding)
        xr.testing.assert_identical(opened(target), counted(100))
    elsewhere = FsspecStore(fsspec.filesystem("memory"), f"xarray/{shards}.zarr")
    with pytest.raises(ValueError, match="would overlap multiple Dask chunks"):
        to_zarr(dataset, elsewhere, encoding=encoding, mode="w")
    for options in ({"safe_chunks": False}, {"align_chunks": True}):
        to_zarr(dataset, elsewhere, encoding=encoding, mode="w", **options)
        xr.testing.assert_identical(opened(elsewhere), counted(100))


def test_later(tmp_path: Path) -> None:
    """With compute=False everything but the elements of Dask is there, also in a zip file."""
    for name in ("a.zarr", "a.zarr.zip"):
        pending = to_zarr(counted().chunk(x=3), tmp_path / name, compute=False)
        pending.compute()
        xr.testing.assert_identical(opened(tmp_path / name), counted())


def test_processes_cannot_write_to_this_memory() -> None:
    """This is found out before what is there is removed."""
    target: dict[str, Any] = {}
    to_zarr(counted(), target)
    before = dict(target)
    with dask.config.set(scheduler="processes"):
        for mode in ("w", "r+"):
            with pytest.raises(UnsupportedOperationError, match="found a store in the memory of this process"):
                to_zarr(counted().chunk(x=3), target, mode=mode)
        assert target == before
        to_zarr(counted(5), target, mode="w")
    assert opened(target).sizes == {"x": 5}


def test_consolidated(tmp_path: Path) -> None:
    """The metadata of the root are consolidated unless told otherwise."""
    for consolidated in (None, True, False):
        path = tmp_path / f"{consolidated}.zarr"
        to_zarr(counted(), path, group="a/b", consolidated=consolidated)
        found = blizzarr.open_group(path).metadata.consolidated
        assert (found is not None) == (consolidated is not False)
        assert opened(path, group="a/b").sizes == {"x": 8}

    class Without(dict[str, Any]):
        supports_consolidated_metadata = False

    target = Without()
    to_zarr(counted(), target, consolidated=True)
    assert blizzarr.open_group(target).metadata.consolidated is None
    assert opened(target, consolidated=True).sizes == {"x": 8}


def test_empty_chunks(tmp_path: Path) -> None:
    """Chunks of nothing but the fill value are stored if asked for, also by Dask's workers and when appending."""
    zeros = xr.Dataset({"t": ("x", np.zeros(4, int))}).chunk(x=2)
    for empty, expected in ((None, 0), (False, 0), (True, 2)):
        path = tmp_path / f"{empty}.zarr"
        zeros.blizzarr.to_zarr(path, write_empty_chunks=empty)
        assert blizzarr.open(path)["t"].nchunks_initialized == expected
        zeros.blizzarr.to_zarr(path, write_empty_chunks=empty, append_dim="x")
        assert blizzarr.open(path)["t"].nchunks_initialized == 2 * expected
    zeros.blizzarr.to_zarr(tmp_path / "e.zarr", encoding={"t": {"write_empty_chunks": True}})
    assert blizzarr.open(tmp_path / "e.zarr")["t"].nchunks_initialized == 2
    with pytest.raises(ValueError, match='Differing "write_empty_chunks" values'):
        zeros.blizzarr.to_zarr(
            tmp_path / "f.zarr", encoding={"t": {"write_empty_chunks": True}}, write_empty_chunks=False
        )


@pytest.mark.parametrize("formats", [(2, 3), (3, 2), (3, "n5"), ("v3_draft_zarr_python", 3)], ids=str)
def test_other_formats(tmp_path: Path, formats: tuple[Any, Any]) -> None:
    """What was opened from one format can be written to another one: codecs of its encoding are translated."""
    for place, zarr_format in zip("ab", formats, strict=True):
        dataset = counted() if place == "a" else opened(tmp_path / "a.zarr", use_zarr_fill_value_as_mask=False)
        dataset.blizzarr.to_zarr(tmp_path / f"{place}.zarr", zarr_format=zarr_format, consolidated=False)
    found = opened(tmp_path / "b.zarr", use_zarr_fill_value_as_mask=False)
    xr.testing.assert_identical(found, counted())
    assert blizzarr.open_group(tmp_path / "b.zarr").metadata.format in (f"v{formats[1]}", formats[1])


@pytest.mark.parametrize(
    "values",
    [np.array(["Zürich", "Bern"], object), np.array(["Zürich", "Bern"]), np.array([b"ab", b"c"])],
    ids=["objects", "text of fixed length", "bytes"],
)
@pytest.mark.parametrize("wanted", [2, 3])
@pytest.mark.parametrize("source", [2, 3])
def test_text_between_formats(tmp_path: Path, source: int, wanted: int, values: Any) -> None:
    """Text has any length as before, although xarray fixes it in v2, and leaves the codec in the encoding."""
    pytest.importorskip("zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xr.Dataset({"n": ("x", values)}).to_zarr(tmp_path / "a.zarr", zarr_format=source, consolidated=False)
        kind = blizzarr.open(tmp_path / "a.zarr")["n"].metadata.dtype
        for engine in (Engine, "zarr"):
            lazy = xr.open_dataset(tmp_path / "a.zarr", engine=engine, consolidated=False)
            for dataset in (lazy, lazy.copy().load()):
                to_zarr(dataset, tmp_path / "b.zarr", mode="w", zarr_format=wanted, consolidated=False)
                assert blizzarr.open(tmp_path / "b.zarr")["n"].metadata.dtype == kind
                for reader in (Engine, "zarr"):
                    found = xr.open_dataset(tmp_path / "b.zarr", engine=reader, consolidated=False)
                    assert found.n.values.tolist() == values.tolist()


@pytest.mark.parametrize("formats", [(2, 2), (2, 3), (3, 2), (3, 3)])
@pytest.mark.parametrize(("dtype", "values"), [("string", ["Zürich", "Bern"]), ("bytes", [b"ab", b"c"])])
def test_codecs_for_any_length(tmp_path: Path, formats: tuple[int, int], dtype: str, values: list[Any]) -> None:
    """What an encoding stores with any length stays so, although xarray gives it a fixed one."""
    group = blizzarr.create_group(tmp_path / "a.zarr", zarr_format=formats[0])
    group.create_array("n", data=values, dtype=dtype, fill_value=None, dimension_names=["x"])
    dataset = opened(tmp_path / "a.zarr", use_zarr_fill_value_as_mask=False)
    to_zarr(dataset, tmp_path / "b.zarr", zarr_format=formats[1])
    assert blizzarr.open(tmp_path / "b.zarr")["n"].metadata.dtype.name == dtype
    assert opened(tmp_path / "b.zarr").n.values.tolist() == values


def test_errors_about_encodings_name_the_variable(tmp_path: Path) -> None:
    """Among the many variables of a dataset, the error says which one."""
    for group, place in ((None, "/t"), ("a/b", "/a/b/t")):
        with pytest.raises(MetadataError, match=f"^the metadata of {place} does not conform: .*vlen-utf8") as caught:
            to_zarr(counted(), tmp_path / "a.zarr", group=group, mode="w", encoding={"t": {"filters": ["vlen-utf8"]}})
        assert caught.value.array == place


@pytest.mark.parametrize("zarr_format", ["n5", "v3_draft"])
def test_formats_without_consolidated_metadata(tmp_path: Path, zarr_format: str) -> None:
    """They are written without it, unless it is asked for."""
    counted().chunk(x=3).blizzarr.to_zarr(tmp_path / "a.zarr", zarr_format=zarr_format)
    counted(2, 8).blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    assert opened(tmp_path / "a.zarr").t.values.tolist() == list(range(10))
    with pytest.raises(MetadataError, match="no consolidated metadata"):
        counted().blizzarr.to_zarr(tmp_path / "b.zarr", zarr_format=zarr_format, consolidated=True)


def test_trees(tmp_path: Path) -> None:
    """A tree is written with one consolidation, and reads as it was."""
    tree = xr.DataTree.from_dict({"/": counted(2), "/a": counted(2).rename(t="u"), "/a/b": xr.Dataset(attrs={"n": 1})})
    tree.blizzarr.to_zarr(tmp_path / "a.zarr", encoding={"/a": {"u": {"chunks": (1,)}}})
    found = xr.open_datatree(tmp_path / "a.zarr", engine=Engine)
    xr.testing.assert_identical(found, tree)
    assert found["a/u"].encoding["chunks"] == (1,)
    assert set(blizzarr.open_group(tmp_path / "a.zarr").metadata.consolidated or ()) == {
        "a", "a/b", "a/u", "t", "x"
    }  # fmt: skip
    with pytest.raises(ValueError, match="unexpected encoding group name"):
        to_zarr(tree, tmp_path / "b.zarr", encoding={"/c": {}})
    with pytest.raises(NotImplementedError, match="expected no append_dim with a tree"):
        to_zarr(tree, tmp_path / "b.zarr", append_dim="x")


def test_data_arrays_and_groups(tmp_path: Path) -> None:
    """Data arrays with and without a name are written as xarray does, also into a group that is open."""
    group = blizzarr.create_group(tmp_path / "a.zarr")
    for name, place in ((None, "a"), ("t", "b"), ("x", "c"), ("t/u", "d")):
        array = xr.DataArray([1, 2], {"x": [5, 6]}, name=name)
        array.blizzarr.to_zarr(group, "a", place)
        xr.testing.assert_identical(xr.open_dataarray(tmp_path / "a.zarr", engine=Engine, group=place), array)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    """What JSON cannot express and encodings that do not exist are errors."""
    with pytest.raises(TypeError, match=r"Invalid attribute in Dataset.attrs\. .*bad"):
        to_zarr(xr.Dataset(attrs={"bad": object()}), tmp_path / "a.zarr")
    with pytest.raises(TypeError, match=r"Invalid attribute in Dataset.attrs\. .*bad"):
        to_zarr(xr.Dataset({"t": ("x", [1], {"bad": object()})}), tmp_path / "v.zarr")
    with pytest.raises(ValueError, match="unexpected encoding parameters"):
        to_zarr(counted(), tmp_path / "b.zarr", encoding={"t": {"zlib": True}})
    with pytest.raises(ValueError, match="append_dim unless mode='a'"):
        to_zarr(counted(), tmp_path / "c.zarr", mode="w", append_dim="x")
    with pytest.raises(TypeError, match="must be either a string or None"):
        to_zarr(xr.Dataset({3: 1}), tmp_path / "d.zarr")
    pairs = xr.Dataset(coords={"a": ("x", [1, 2]), "b": ("x", [3, 4])}).set_index(x=["a", "b"])
    with pytest.raises(NotImplementedError, match="MultiIndex"):
        to_zarr(pairs, tmp_path / "f.zarr")


@pytest.mark.parametrize("options", [{}, {"align_chunks": True}], ids=["as they are", "aligned"])
def test_chunks_of_dask_without_elements(tmp_path: Path, options: dict[str, Any]) -> None:
    """What has no elements is written as xarray writes it: not by chunk, so no chunk can be wrong."""
    dates = np.zeros((7, 0), "M8[s]")
    empty = xr.Dataset({"t": (("y", "x"), dates, {}, {"units": "days since 2000-01-01"})}).chunk(y=(2, 3, 2))
    to_zarr(empty, tmp_path / "e.zarr", **options)
    found = opened(tmp_path / "e.zarr")
    assert (found.sizes, found.t.dtype.kind) == ({"y": 7, "x": 0}, "M")
    assert found.t.encoding["units"] == "days since 2000-01-01"
    assert empty.t.chunks == ((2, 3, 2), (0,))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_that_are_nan_are_stored_as_zarr_python_stores_them(tmp_path: Path, zarr_format: int) -> None:
    """As the missing value of variables that come from netCDF often is."""
    pytest.importorskip("zarr")
    dataset = xr.Dataset({"t": ("x", [1.0, np.nan])}, attrs={"valid_max": float("inf")})
    dataset.t.encoding.update(missing_value=np.nan, _FillValue=np.nan)
    to_zarr(dataset, tmp_path / "ours.zarr", zarr_format=zarr_format, consolidated=False)
    dataset.to_zarr(tmp_path / "theirs.zarr", zarr_format=zarr_format, consolidated=False)
    for path in ("ours.zarr", "theirs.zarr"):
        for engine in (Engine, "zarr"):
            found = xr.open_dataset(tmp_path / path, engine=engine, consolidated=False)
            xr.testing.assert_identical(found, dataset)
            assert np.isnan(found.t.encoding["missing_value"])
    blizzarr.open_group(tmp_path / "ours.zarr")["t"].attrs["units"] = "K"
    assert np.isnan(opened(tmp_path / "ours.zarr").t.encoding["missing_value"])


@pytest.mark.parametrize("mode", ["w", "w-", "a"])
def test_a_dataset_is_written_as_a_whole_or_not_at_all(tmp_path: Path, mode: Any) -> None:
    """Whatever a later variable is refused for, nothing is created, replaced or grown before."""
    good = {"a": ("x", [1, 2, 3])}
    bad: list[tuple[Any, dict[str, Any]]] = [
        (("x", np.array([1, "a", None], object)), {}),
        (("x", [1, 2, 3], {"units": object()}), {}),
        (("x", [1, 2, 3]), {"compressors": ["nope"]}),
        (("x", [1, 2, 3]), {"nope": 1}),
    ]
    old = blizzarr.create_array(tmp_path / "old.zarr", name="here", data=[5])
    for variable, encoding in bad:
        for target in ("new.zarr", *(["old.zarr"] if mode == "w" else [])):
            dataset = xr.Dataset({**good, "b": variable})
            with pytest.raises((TypeError, ValueError)):
                dataset.blizzarr.to_zarr(tmp_path / target, mode=mode, encoding={"b": encoding} if encoding else None)
    tree = xr.DataTree.from_dict({"/": xr.Dataset(good), "/below": xr.Dataset({"b": bad[0][0]})})
    with pytest.raises(ValueError, match="mixed native types"):
        tree.blizzarr.to_zarr(tmp_path / "new.zarr", mode=mode)
    assert not (tmp_path / "new.zarr").exists()
    assert old[:].tolist() == [5]


def test_nothing_grows_before_all_can_be_written(tmp_path: Path) -> None:
    dataset = xr.Dataset({"a": ("x", [1, 2, 3]), "b": ("x", [1.5, 2.5, 3.5])}, attrs={"title": "old"})
    dataset.blizzarr.to_zarr(tmp_path / "a.zarr")
    more = dataset.assign(b=("x", ["p", "q", "r"]), c=("y", np.array([1, "a", None], object))).assign_attrs(title="new")
    with pytest.raises(ValueError, match=r"Mismatched dtypes|mixed native types"):
        more.blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    with pytest.raises(ValueError, match="mixed native types"):
        more.drop_vars("b").blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    assert xr.open_dataset(tmp_path / "a.zarr", engine="blizzarr").identical(dataset)
    dataset.blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    assert blizzarr.open(tmp_path / "a.zarr")["a"][:].tolist() == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize("chunks", [None, 3])
@pytest.mark.parametrize("written", [0, 1, 2])
def test_an_append_that_dies_can_be_read_and_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunks: int | None, written: int
) -> None:
    """Whatever has grown by then: the coordinate grows last, and who reads or appends goes by it."""

    def data(length: int, start: int = 0) -> xr.Dataset:
        return counted(length, start).assign(u=("x", np.arange(start, start + length) / 4))

    data(10).blizzarr.to_zarr(tmp_path / "a.zarr", encoding={"t": {"chunks": (4,)}})
    more = data(7, 10) if chunks is None else data(7, 10).chunk(x=chunks)
    grown: list[str] = []
    resize = blizzarr.Array.resize

    def dying(array: blizzarr.Array, shape: Any, *more: int) -> None:
        if str(array.store) == str(tmp_path / "a.zarr"):
            if len(grown) == written:
                raise KeyboardInterrupt
            grown.append(array.path)
        resize(array, shape, *more)

    def dying_at_the_end(*given: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patching:
        patching.setattr(blizzarr.Array, "resize", dying)
        patching.setattr("blizzarr.xarray.group_store.append", dying_at_the_end)
        with pytest.raises(KeyboardInterrupt):
            more.blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    assert len(grown) == written
    assert blizzarr.open(tmp_path / "a.zarr")["x"].shape == (10,)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        xr.testing.assert_identical(opened(tmp_path / "a.zarr"), data(10))
        xr.testing.assert_identical(opened(tmp_path / "a.zarr", chunks={}).compute(), data(10))
        assert len(told) == 2 * written
        assert all("is longer than the coordinates of 'x'" in str(one.message) for one in told)
        del told[:]
        if written:
            # Another end than the one before: what is there may be somebody's.
            with pytest.raises(ValueError, match=r"17 elements along 'x', and its coordinate has 10: .* Repeat that"):
                more.isel(x=slice(5)).blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
        more.blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
        assert len(told) == written
        assert all("its coordinate has 10: an append was interrupted" in str(one.message) for one in told)
        del told[:]
        xr.testing.assert_identical(opened(tmp_path / "a.zarr"), data(17))
        assert not told
    assert {array.shape for _, array in blizzarr.open_group(tmp_path / "a.zarr").arrays()} == {(17,)}


def test_no_append_removes_what_was_appended_without_the_coordinate(tmp_path: Path) -> None:
    """Elements without a place on the coordinate are refused: the next append would take them for what a kill left."""
    counted(3).blizzarr.to_zarr(tmp_path / "a.zarr")
    with pytest.raises(ValueError, match="/t has 3 elements along 'x', and its coordinate has 3: 2 more would have"):
        counted(2, 3).drop_vars("x").blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    counted(2, 3).blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    xr.testing.assert_identical(opened(tmp_path / "a.zarr"), counted(5))


def test_an_append_beside_a_variable_with_the_name_of_the_dimension(tmp_path: Path) -> None:
    """Along another dimension it is no coordinate: it does not grow, and does not say where others end."""
    dataset = xr.Dataset({"x": ("station", [7.0, 8.0]), "a": ("x", [1, 2, 3, 4, 5])})
    dataset.blizzarr.to_zarr(tmp_path / "a.zarr")
    dataset.blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    stored = {name: array[:].tolist() for name, array in blizzarr.open_group(tmp_path / "a.zarr").arrays()}
    assert stored == {"x": [7, 8], "a": [1, 2, 3, 4, 5] * 2}


def test_xarrays_own_way_into_a_store_appends_all_of_a_dataset(tmp_path: Path) -> None:
    counted(3).blizzarr.to_zarr(tmp_path / "a.zarr")
    group = ZarrGroup(blizzarr.open_group(tmp_path / "a.zarr"))
    counted(2, 3).dump_to_store(GroupStore(group, mode="a", append_dim="x"))
    xr.testing.assert_identical(opened(tmp_path / "a.zarr"), counted(5))


def test_append_of_a_variable_that_is_not_there(tmp_path: Path) -> None:
    """A misspelled name left a dataset that nobody could open, as its variables had two lengths."""
    counted().blizzarr.to_zarr(tmp_path / "a.zarr")
    with pytest.raises(ValueError, match=r"found \['typo'\], which would have no elements for the 8 that are stored"):
        counted(2, 8).rename(t="typo").blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "a.zarr", engine="blizzarr"), counted())


def test_append_where_a_variable_is_shorter_than_the_coordinate(tmp_path: Path) -> None:
    """What is appended to both would be apart: nothing is written until the shorter one has caught up."""

    def data(start: int) -> xr.Dataset:
        return counted(4, start).assign(u=("x", np.arange(start, start + 4) / 4))

    data(0).blizzarr.to_zarr(tmp_path / "a.zarr")
    with pytest.warns(UserWarning, match="nothing is appended to 'u'"):
        data(4)[["t"]].blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    with pytest.raises(ValueError, match="/u has 4 elements along 'x', and its coordinate has 8"):
        data(8).blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    data(4)[["u"]].drop_vars("x").blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    data(8).blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    whole = counted(12, 0).assign(u=("x", np.arange(12) / 4))
    xr.testing.assert_identical(opened(tmp_path / "a.zarr"), whole)


def test_small_arrays_far_away_grow_and_are_written_at_the_same_time() -> None:
    """Each takes some requests, one after the other. The coordinate that grows is still the last."""
    store = TwoAtOnce()
    data = xr.Dataset({name: ("t", [1.0, 2.0]) for name in "ab"})
    to_zarr(data, store)
    xr.testing.assert_identical(xr.open_dataset(store, engine="blizzarr").load(), data)
    to_zarr(data, store, append_dim="t")
    xr.testing.assert_identical(xr.open_dataset(store, engine="blizzarr").load(), xr.concat([data, data], "t"))


def test_a_dataset_is_no_array() -> None:
    """The text says what stores it."""
    for store in (blizzarr.save, lambda target, data: blizzarr.create_array(target, data=data)):
        with pytest.raises(TypeError, match=r"found a dataset of xarray, which blizzarr\.xarray\.to_zarr stores"):
            store({}, xr.Dataset({"a": 1}))
