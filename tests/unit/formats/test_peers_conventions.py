"""What netCDF-C and GDAL mask and name, in v2 and in v3."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr

TYPES = {"types": {"_FillValue": "<f4", "_nczarr_attr": "|J0"}}


def moved(store: dict[str, Any], zarr_format: int, how: str) -> dict[str, Any]:
    made = dict(store) if how == "upgrade" else {}
    if how == "upgrade":
        blizzarr.upgrade(made, to=f"v{zarr_format}")
    else:
        blizzarr.copy(store, made, zarr_format=zarr_format)
    return made


def array(store: dict[str, Any]) -> blizzarr.Array:
    return blizzarr.open_array(store, mode="r")


@pytest.mark.parametrize("how", ["upgrade", "copy"])
@pytest.mark.parametrize(("dtype", "fill"), [("f4", -9.5), ("f4", "NaN"), ("i2", -9), ("u1", 0)])
def test_nczarr_masks_the_same_after_both_ways(how: str, dtype: str, fill: Any) -> None:
    attributes = {"_FillValue": fill, "_nczarr_attr": TYPES, "_nczarr_array": {"storage": "chunked"}}
    value = float("nan") if fill == "NaN" else fill
    data = np.array([1, 2], dtype)
    store: dict[str, Any] = {}
    z = blizzarr.create_array(
        store, data=data, fill_value=value, dimension_names=["x"], attributes=attributes, zarr_format=2
    )
    expected = dict(z.attrs)
    back = moved(moved(store, 3, how), 2, how)
    assert dict(array(back).attrs) == expected
    assert blizzarr.diff(store, back).same


def test_without_nczarr_the_fill_value_alone_says_it() -> None:
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=[1, 2], fill_value=-9, dimension_names=["x"], zarr_format=2)
    assert "_FillValue" not in array(moved(moved(store, 3, "copy"), 2, "copy")).attrs


@pytest.mark.filterwarnings("ignore:.*xarray masks")
@pytest.mark.parametrize("how", ["upgrade", "copy"])
def test_gdal_keeps_its_value_for_missing_elements(how: str) -> None:
    for attributes, fill, expected in (({"_CRS": {}}, -9, -9), ({"_CRS": {}}, 0, None)):
        store: dict[str, Any] = {}
        options: dict[str, Any] = {"attributes": attributes, "dimension_names": ["x"], "zarr_format": 3}
        blizzarr.create_array(store, data=np.array([1, -9], "i2"), fill_value=fill, **options)
        made = array(moved(store, 2, how)).metadata
        assert (None if made.fill_undefined else made.fill_value) == expected


@pytest.mark.filterwarnings("ignore:.*xarray masks")
@pytest.mark.parametrize("how", ["upgrade", "copy"])
def test_names_that_only_the_document_has(how: str) -> None:
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=np.zeros((2, 3), "i2"), fill_value=-1, zarr_format=2)
    document = json.loads(store[".zarray"]) | {"_NCZARR_ARRAY": {"dimrefs": ["/y", "/g/x"], "storage": "chunked"}}
    store[".zarray"] = json.dumps(document).encode()
    if how == "upgrade":
        text = str(blizzarr.upgrade(dict(store), dry_run=True))
        assert "/: the names of the dimensions in _NCZARR_ARRAY stay" in text
    made = array(moved(store, 3, how))
    assert made.metadata.dimension_names == ("y", "x")
    assert dict(made.attrs) == {"_FillValue": -1}
