"""What is written with xarray into arrays that are there, is read again, or is an error."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr
from test_xarray_writing import counted, opened

import blizzarr
import blizzarr.xarray
from blizzarr.dask import from_zarr, to_zarr
from blizzarr.stores.obstore_stores import ObstoreMemory
from blizzarr.stores.protocol import Value
from support.stepped import Died


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("option", [{"append_dim": "x"}, {"region": {"x": slice(0, 1)}}])
@pytest.mark.parametrize(
    ("before", "after", "encoding", "message"),
    [
        (
            np.array(["2000-01-01"], "M8[ns]"),
            np.array(["2000-01-02T06"], "M8[ns]"),
            {},
            "these values need 'hours since",
        ),
        (
            np.array([1], "i8"),
            np.array(["2000-01-02"], "M8[ns]"),
            {},
            "is stored without units of time, and these values",
        ),
        (
            np.array([1], "m8[D]").astype("m8[ns]"),
            np.array([25], "m8[h]").astype("m8[ns]"),
            {"units": "days", "dtype": "i8"},
            "is stored in 'days', and these values need 'hours'",
        ),
        (np.array([b"a"], object), np.array([b"abc"], object), {}, r"stored as \|S1, and these values need \|S3"),
        (np.array([b"ab"], object), np.array([b"abc"], object), {}, r"stored as \|S2, and these values need \|S3"),
        (
            np.array(["ab"], object),
            np.array(["abc"], object),
            {"dtype": "U2"},
            "stored as <U2, and these values need <U3",
        ),
        (np.array([1], "i4"), np.array([2**40]), {}, "stored as int32, which cannot hold np.int64"),
        (np.array([1], "u1"), np.array([-1]), {}, "stored as uint8, which cannot hold np.int64"),
        (np.array([1]), np.array([np.nan]), {}, "stored as int64, which cannot hold np.float64"),
        (np.array([1], "f4"), np.array([-np.inf, 1e300]), {}, "stored as float32, which cannot hold np.float64"),
    ],
)
def test_values_that_an_array_that_is_there_cannot_hold(
    tmp_path: Path, zarr_format: int, option: Any, before: Any, after: Any, encoding: Any, message: str
) -> None:
    """Times were read as other times, texts had lost their end, and integers had wrapped around."""
    old, new = xr.Dataset({"v": ("x", before)}), xr.Dataset({"v": ("x", after)})
    old.blizzarr.to_zarr(tmp_path / "a.zarr", zarr_format=zarr_format, encoding={"v": encoding} if encoding else None)
    stored = opened(tmp_path / "a.zarr").load()
    with warnings.catch_warnings(action="ignore"), pytest.raises(ValueError, match=message):
        new.blizzarr.to_zarr(tmp_path / "a.zarr", **option)
    xr.testing.assert_identical(opened(tmp_path / "a.zarr"), stored)


@pytest.mark.parametrize("units", ["", 1])
def test_times_for_an_array_of_no_time(tmp_path: Path, units: Any) -> None:
    xr.Dataset({"v": ("x", [1], {"units": units})}).blizzarr.to_zarr(tmp_path / "a.zarr")
    times = xr.Dataset({"v": ("x", np.array(["2000-01-02"], "M8[ns]"))})
    with pytest.raises(ValueError, match=f"is stored in {units!r}, and these values need 'days since"):
        times.blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")


def test_values_that_an_array_that_is_there_rounds(tmp_path: Path) -> None:
    """Missing values have a fill value, other units are converted, and numbers are rounded as their encoding says."""
    encoding = {
        "v": {"dtype": "i2", "_FillValue": -1},
        "t": {"units": "Hours since 2000-1-1", "dtype": "i4"},
        "b": {"dtype": "S2", "_FillValue": b"-"},
    }
    times = np.array(["2000-01-01", "2000-01-02T06"], "M8[ns]")
    data = xr.Dataset({"v": ("x", [1.25, np.nan]), "t": ("x", times), "b": ("x", np.array([b"a", np.nan], object))})
    data.blizzarr.to_zarr(tmp_path / "a.zarr", zarr_format=2, encoding=encoding)
    data.blizzarr.to_zarr(tmp_path / "a.zarr", append_dim="x")
    both = opened(tmp_path / "a.zarr")
    np.testing.assert_array_equal(both.v, [1, np.nan] * 2)
    np.testing.assert_array_equal(both.t, np.tile(times, 2))
    assert both.b.isnull().values.tolist() == [False, True] * 2


def test_an_append_to_objects_that_is_killed_at_any_write_and_repeated() -> None:
    """The coordinate has its new elements or its old length."""
    obstore = pytest.importorskip("obstore.store")

    class Dying(ObstoreMemory):
        left = 1000

        def set_if_version(self, key: str, value: Value, version: str | None) -> bool:
            self.left -= 1
            if self.left < 0:
                raise Died
            return super().set_if_version(key, value, version)

    lengths = []
    for writes in range(30):
        store = Dying(obstore.MemoryStore())
        counted(5).blizzarr.to_zarr(store, encoding={"x": {"chunks": (4,)}})
        store.left = writes
        with suppress(Died):
            counted(6, 5).blizzarr.to_zarr(store, append_dim="x")
        store.left = 1000
        with warnings.catch_warnings(action="ignore"):
            found = opened(store)
            lengths.append(found.sizes["x"])
            xr.testing.assert_identical(found, counted(lengths[-1]))
            if lengths[-1] == 5:
                counted(6, 5).blizzarr.to_zarr(store, append_dim="x")
        xr.testing.assert_identical(opened(store), counted(11))
    assert set(lengths) == {5, 11}


def read_by(way: str, path: Path) -> Any:
    """Return the elements of a stored variable as an array of Dask, made in another way than by this engine."""
    if way == "from_zarr":
        return from_zarr(path, "v")
    if way == "from_array":
        return da.from_array(blizzarr.open_array(path, path="v", mode="r"), 2) + 1
    if way == "a view":
        return da.from_array(blizzarr.open_array(path, path="v", mode="r").lazy[::-1], 2)
    if way == "zarr-python":
        return da.from_array(pytest.importorskip("zarr").open_array(path, path="v", mode="r"))
    if way == "a wrapper":
        storage = pytest.importorskip("zarr.storage")
        wrapper = type("Wrapper", (storage.WrapperStore,), {})
        return xr.open_zarr(wrapper(storage.LocalStore(path)), consolidated=False).v.data
    pytest.importorskip("zarr")
    return xr.open_dataset(path, engine="zarr", consolidated=False, chunks={}).v.data


@pytest.mark.parametrize("way", ["from_zarr", "from_array", "another engine", "a view", "zarr-python", "a wrapper"])
def test_what_is_read_in_other_ways_is_not_removed(tmp_path: Path, way: str) -> None:
    """It was removed before it was read: the new array had the fill value everywhere, without an error."""
    path = tmp_path / "x.zarr"
    blizzarr.create_array(path, name="v", data=np.arange(1, 7), chunks=2, dimension_names=("x",))
    (tmp_path / "link").symlink_to(path)
    for source in (path, tmp_path / "link"):
        data = read_by(way, source)
        with pytest.raises(ValueError, match="which would be removed before it is copied"):
            xr.Dataset({"v": ("x", data)}).blizzarr.to_zarr(path, mode="w")
        with pytest.raises(ValueError, match="which would be removed before it is copied"):
            to_zarr(data, path, "v", overwrite=True)
    assert blizzarr.open_array(path, path="v", mode="r")[...].tolist() == [1, 2, 3, 4, 5, 6]
    other = tmp_path / "other.zarr"
    for _ in range(2):
        xr.Dataset({"v": ("x", data)}).blizzarr.to_zarr(other, mode="w")
    assert blizzarr.open_array(other, path="v", mode="r")[...].tolist() == data.compute().tolist()


def test_an_append_of_nothing_warns_of_nothing() -> None:
    """A job that appends what is new may find nothing; no append was interrupted then."""
    store: dict[str, Any] = {}
    data = xr.Dataset({"t": ("time", [1.0, 2.0])}, coords={"time": [10, 20]})
    data.blizzarr.to_zarr(store)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.isel(time=slice(0)).blizzarr.to_zarr(store, append_dim="time")
    assert xr.open_dataset(store, engine="blizzarr").identical(data)


def test_an_append_says_which_variables_it_leaves_behind() -> None:
    """xarray writes it without a word, and then nobody can open the dataset."""
    store: dict[str, Any] = {}
    coordinates = {"time": [0, 1]}
    data = xr.Dataset({"t": ("time", [1, 2]), "p": ("time", [3, 4]), "fixed": ("x", [5])}, coords=coordinates)
    data.blizzarr.to_zarr(store)
    more = data.assign_coords(time=[2, 3])
    with pytest.warns(UserWarning, match=r"nothing is appended to 'p': .* have 4 elements.* without 'time' itself"):
        more[["t"]].blizzarr.to_zarr(store, append_dim="time")
    more[["p"]].drop_vars("time").blizzarr.to_zarr(store, append_dim="time")
    whole = xr.open_dataset(store, engine="blizzarr")
    assert (whole.time.values.tolist(), whole.p.values.tolist()) == ([0, 1, 2, 3], [3, 4, 3, 4])


def test_xarray_is_handed_variables_whenever_it_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own test of regions expects the data among them: here twice, as a trial comes first."""
    store: dict[str, Any] = {}
    data = xr.Dataset({"v": (("x", "y"), np.arange(6).reshape(2, 3))}, coords={"x": [0, 1], "y": [5, 6, 7]})
    data.blizzarr.to_zarr(store)
    handed = []
    theirs = xr.backends.ZarrStore.set_variables

    def watched(self: Any, variables: Any, *arguments: Any, **options: Any) -> None:
        handed.append(list(variables))
        theirs(self, variables, *arguments, **options)

    monkeypatch.setattr(xr.backends.ZarrStore, "set_variables", watched)
    (data.isel(x=[1], y=slice(1, 3)) + 10).blizzarr.to_zarr(store, region="auto", mode="r+")
    assert handed == [["v"], ["v"]]
    assert xr.open_dataset(store, engine="blizzarr").v.values.tolist() == [[0, 1, 2], [3, 14, 15]]
