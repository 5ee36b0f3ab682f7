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
