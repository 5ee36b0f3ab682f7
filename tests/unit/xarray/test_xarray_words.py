"""Errors of the functions for xarray and Dask name their own keywords."""

from __future__ import annotations

import re
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import blizzarr.xarray
from blizzarr.dask import from_zarr, to_zarr
from blizzarr.errors import NodeNotFoundError, NodeTypeError

DATA = xr.Dataset({"t": ("x", [1, 2])})


def stored() -> dict[str, Any]:
    store: dict[str, Any] = {}
    DATA.blizzarr.to_zarr(store)
    return store


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda store: from_zarr(store, "t", chunk=2),
            "from_zarr(): unexpected keyword arguments: chunk; did you mean 'chunks'?",
        ),
        (
            lambda store: xr.open_dataset(store, engine="blizzarr", consolidate=True),
            "open_dataset(): unexpected keyword arguments: consolidate; did you mean 'consolidated'?",
        ),
        (
            lambda store: xr.open_dataset(store, engine="blizzarr", use_consolidated=True),
            "for 'use_consolidated', use consolidated=",
        ),
        (lambda store: DATA.blizzarr.to_zarr(store, overwrite=True), "for 'overwrite', use mode='w'"),
        (lambda store: blizzarr.xarray.to_zarr(DATA, store, append_dims="x"), "did you mean 'append_dim'?"),
        (lambda store: to_zarr(store, da.ones(3)), "found dict; the array comes first, and then the target"),
        (lambda store: to_zarr(DATA.t, store), "found DataArray; blizzarr.xarray.to_zarr stores it"),
    ],
)
def test_misspelled_and_misplaced(call: Any, told: str) -> None:
    with pytest.raises(TypeError, match=re.escape(told)):
        call(stored())


def test_advice_on_consolidated_metadata() -> None:
    store = stored()
    told = "open the group with consolidated=False to look"
    with pytest.raises(NodeNotFoundError, match=told):
        xr.open_dataset(store, engine="blizzarr", group="below")
    with pytest.raises(NodeNotFoundError, match=told):
        xr.open_dataset(blizzarr.open(store), engine="blizzarr", group="below")


def test_a_region_of_a_group() -> None:
    store = stored()
    for target in (store, blizzarr.open_group(store)):
        with pytest.raises(NodeTypeError, match="found a group; name one of its arrays with component="):
            to_zarr(da.ones(1, dtype=int), target, region=(slice(0, 1),))
    to_zarr(da.full(1, 7), store, "t", region=(slice(0, 1),))
    assert np.array_equal(blizzarr.load(store)["t"], [7, 2])


def test_encodings_of_others() -> None:
    for encoding, told in (
        (
            {"zlib": True, "complevel": 4},
            [
                "'complevel', use compressors, like blizzarr.codecs.GzipCodec(level=4)",
                "'zlib', use compressors='gzip'",
            ],
        ),
        ({"compressor": None}, ["'compressor', use compressors"]),
        ({"chunksizes": (2,)}, ["'chunksizes', use chunks"]),
    ):
        with pytest.raises(ValueError, match="unexpected encoding parameters") as error:
            DATA.blizzarr.to_zarr({}, encoding={"t": encoding})
        assert error.value.__notes__ == [f"in place of the encoding {one}" for one in told]
    target: dict[str, Any] = {}
    DATA.blizzarr.to_zarr(target, encoding={"t": {"compressors": "gzip", "chunks": (2,)}})
    assert blizzarr.open_group(target)["t"].compressors[0].name == "gzip"


def test_encodings_for_other_dimensions() -> None:
    square = xr.Dataset({"t": (("y", "x"), np.eye(4))})
    for chunks in ((2,), (2, 2, 2), {"y": 2}):
        target: dict[str, Any] = {}
        with pytest.raises(ValueError, match=r"'chunks'\]: expected 2 lengths, one for each dimension \(y, x\)"):
            square.blizzarr.to_zarr(target, encoding={"t": {"chunks": chunks}})
        assert not target
    # Those that a dataset was read with are of the data that it was made from.
    square.t.encoding["chunks"] = (2,)
    square.blizzarr.to_zarr(target)
    assert blizzarr.open_group(target)["t"].chunks == (4, 4)


def test_numbers_are_no_times() -> None:
    store: dict[str, Any] = {}
    xr.Dataset({"t": ("x", np.array(["2020-01-01"], "M8[ns]"))}).blizzarr.to_zarr(store)
    for values in ([1], np.array([1.5]), np.array([1], "m8[s]")):
        with pytest.raises(
            ValueError,
            match=r"stored as times in 'days since 2020.*, and these values are (float|int|timedelta)64",
        ):
            xr.Dataset({"t": ("x", values)}).blizzarr.to_zarr(store, append_dim="x")
    raw = xr.open_dataset(store, engine="blizzarr", decode_times=False)
    raw.blizzarr.to_zarr(store, append_dim="x")
    again = xr.open_dataset(store, engine="blizzarr")
    assert again.t.values.astype("M8[D]").astype(str).tolist() == ["2020-01-01"] * 2


def test_data_that_would_be_removed() -> None:
    store = stored()
    with pytest.raises(ValueError, match="which would be removed before it is copied") as error:
        xr.open_dataset(store, engine="blizzarr").blizzarr.to_zarr(store, mode="w")
    assert error.value.__notes__ == ["load() of the dataset reads all of it into memory"]


def test_functions_of_xarray_are_not_looked_for_here() -> None:
    module: Any = blizzarr.xarray
    for name in ("open_dataset", "open_zarr"):
        with pytest.raises(AttributeError, match=r'; use xarray\.open_dataset\(path, engine="blizzarr"\)$'):
            getattr(module, name)
