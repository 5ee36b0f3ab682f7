"""Text and byte strings of v3 and v2 cross between zarr-python 3 and us, both ways."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr

zarr = pytest.importorskip("zarr", minversion="3.1")

TEXTS = np.array([["a", "", "ccc", "\N{SNOWMAN}"], ["none", "\N{CRAB}", "x" * 200, "z"]] * 3, object)
BYTES = np.array([[text.encode() for text in row] for row in TEXTS], object)
BYTES[0, 0] = b"\xff\0"
LAYOUTS: dict[str, dict[str, Any]] = {
    "raw": {"compressors": None},
    "zstd": {},
    "shards": {"shards": (4, 4)},
    "F": {"order": "F"},
    "v2": {"zarr_format": 2},
    "v2 F": {"zarr_format": 2, "order": "F"},
}


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    """zarr-python warns of what is not in the core specification."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("dtype", "data", "fill"), [("string", TEXTS, "none"), ("bytes", BYTES, b"none")])
def test_zarr_python_reads_what_we_write(tmp_path: Path, dtype: str, data: Any, fill: Any, layout: str) -> None:
    options = {"shape": (8, 4), "chunks": (2, 2), "fill_value": fill} | LAYOUTS[layout]
    array = blizzarr.create_array(tmp_path, dtype=dtype, **options)
    array[1:7] = data
    there = zarr.open_array(tmp_path, mode="r+")
    assert there.fill_value == fill
    assert np.asarray(there[...]).astype(object).tolist() == array[...].tolist()
    assert array[1:7].tolist() == data.tolist()
    if (dtype, layout) == ("bytes", "F"):
        # zarr-python 3.1 lays byte strings down as they lie in its memory, which undoes the transposition.
        return
    there[2:4, 1] = data[:2, 0]
    assert array[2:4, 1].tolist() == data[:2, 0].tolist()


@pytest.mark.parametrize("layout", ["raw", "zstd", "shards", "v2", "v2 F"])
@pytest.mark.parametrize(("dtype", "data", "fill"), [("string", TEXTS, "none"), ("bytes", BYTES, b"none")])
def test_we_read_what_zarr_python_writes(tmp_path: Path, dtype: str, data: Any, fill: Any, layout: str) -> None:
    from zarr.dtype import VariableLengthBytes, VariableLengthUTF8

    named = {"string": VariableLengthUTF8(), "bytes": VariableLengthBytes()}[dtype]
    options = {"shape": (8, 4), "chunks": (2, 2), "fill_value": fill} | LAYOUTS[layout]
    there = zarr.create_array(tmp_path, dtype=named, **options)
    there[1:7] = data
    array = blizzarr.open_array(tmp_path, mode="r+")
    assert (array.metadata.dtype.name, array.fill_value) == (dtype, fill)
    model = np.full((8, 4), fill, object)
    model[1:7] = data
    assert array[...].tolist() == model.tolist()
    array[2:4, 1] = data[:2, 0]
    model[2:4, 1] = data[:2, 0]
    array.attrs["seen"] = True
    again = zarr.open_array(tmp_path, mode="r")
    assert np.asarray(again[...]).astype(object).tolist() == model.tolist()
    assert again.attrs["seen"] is True
