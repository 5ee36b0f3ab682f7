"""Filters of v2 that read the memory of a chunk as elements of another size, as zarr-python and numcodecs do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError

numcodecs = pytest.importorskip("numcodecs")
zarr = pytest.importorskip("zarr", "3")

DATA = np.array([[1, 5, 3, 250], [7, 100, 90, 2]])

FILTERS: list[tuple[str, list[dict[str, str]]]] = [
    ("<i4", [{"id": "astype", "encode_dtype": "<i2", "decode_dtype": "<i2"}]),
    ("<i4", [{"id": "astype", "encode_dtype": "<i8", "decode_dtype": "<i8"}]),
    ("<i2", [{"id": "astype", "encode_dtype": "<f8", "decode_dtype": "<i4"}]),
    (
        "<i4",
        [
            {"id": "delta", "dtype": "<i4", "astype": "<i2"},
            {"id": "astype", "encode_dtype": "<f8", "decode_dtype": "<i4"},
        ],
    ),
    (
        "<f4",
        [
            {"id": "astype", "encode_dtype": "<i4", "decode_dtype": "<i2"},
            {"id": "delta", "dtype": "<i4", "astype": "<i8"},
        ],
    ),
]


def store(root: Path, dtype: str, filters: list[dict[str, Any]], order: str) -> Path:
    """An array of two chunks that numcodecs has encoded."""
    document = {
        "zarr_format": 2,
        "shape": [2, 4],
        "chunks": [2, 2],
        "dtype": dtype,
        "order": order,
        "compressor": None,
        "fill_value": 0,
        "filters": filters,
    }
    root.mkdir()
    (root / ".zarray").write_text(json.dumps(document))
    for number in range(2):
        chunk = DATA[:, 2 * number : 2 * number + 2].astype(dtype).reshape(-1, order=order)
        for config in filters:
            chunk = numcodecs.get_codec(config).encode(chunk)
        (root / f"0.{number}").write_bytes(np.ascontiguousarray(chunk).tobytes())
    return root


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("dtype", "filters"), FILTERS, ids=str)
def test_read_as_zarr_python_does(dtype: str, filters: list[dict[str, Any]], order: str, tmp_path: Path) -> None:
    root = store(tmp_path / "a", dtype, filters, order)
    expected = zarr.open_array(root, mode="r")[:]
    assert np.array_equal(expected, DATA)
    array = blizzarr.open_array(root)
    assert array.dtype == expected.dtype
    assert array[...].tolist() == expected.tolist()
    assert array[1, 1:3].tolist() == [100, 90]
    before = [(root / f"0.{number}").read_bytes() for number in range(2)]
    array[...] = DATA
    assert [(root / f"0.{number}").read_bytes() for number in range(2)] == before
    array[1, 2] = 91
    assert zarr.open_array(root, mode="r")[:].tolist() == [[1, 5, 3, 250], [7, 100, 91, 2]]
    copied = blizzarr.copy(array, {}, zarr_format=3)
    assert copied[...].tolist() == [[1, 5, 3, 250], [7, 100, 91, 2]]


def test_what_would_come_back_as_something_else_is_not_written(tmp_path: Path) -> None:
    """numcodecs stores it, and reads 1 for 65537."""
    filters = [{"id": "astype", "encode_dtype": "|u1", "decode_dtype": "<i8"}]
    array = blizzarr.open_array(store(tmp_path / "a", "<i4", filters, "C"))
    with pytest.raises(CodecError, match="expected elements whose memory, as int64, comes back from uint8"):
        array[...] = 65537
