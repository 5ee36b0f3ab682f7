"""Fields of records as keys and as ``fields=``; what is written to one field leaves the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import zarr

LITTLE = [("a", "u1"), ("b", "<i4"), ("c", "S3"), ("d", "<U2")]
BIG = [("a", "u1"), ("b", ">i4"), ("c", "S3"), ("d", ">U2")]
MIXED = [("a", "u1"), ("b", ">i4"), ("c", "S3"), ("d", "<U2"), ("e", ">f8", (2,))]


def records(dtype: Any) -> np.ndarray[Any, Any]:
    found = np.zeros((5, 7), np.dtype(dtype))
    found["a"] = np.arange(35).reshape(5, 7)
    found["c"] = b"xyz"
    return found


@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        (LITTLE, {"zarr_format": 3}),
        (LITTLE, {"zarr_format": 3, "shards": (4, 6)}),
        (BIG, {"zarr_format": 2}),
        (MIXED, {"zarr_format": 2, "order": "F"}),
    ],
)
def test_writing_a_field_leaves_the_others(dtype: Any, options: Any) -> None:
    expected = records(dtype)
    z = zarr.create_array({}, shape=(5, 7), dtype=expected.dtype, chunks=(2, 3), **options)
    z[...] = expected
    values = np.arange(35).reshape(5, 7) * 70_001
    z["b"] = expected["b"] = values
    z[1:4, "d"] = expected["d"][1:4] = "qr"
    z[4, 6, "a"] = expected["a"][4, 6] = 200
    z.oindex[[0, 3], [1, 2], "b"] = expected["b"][np.ix_([0, 3], [1, 2])] = [[1, 2], [3, 4]]
    z.vindex[[0, 3], [5, 6], "b"] = expected["b"][[0, 3], [5, 6]] = -1
    z.set_mask_selection(expected["b"] < 0, b"m", fields="c")
    expected["c"][expected["b"] < 0] = b"m"
    z.set_basic_selection((0, slice(2)), 7, fields=["a"])
    expected["a"][0, :2] = 7
    if len(dtype) == len(MIXED):
        z["e"] = expected["e"] = np.arange(70.0).reshape(5, 7, 2)
    assert (z[...] == expected).all()
    assert z["b"].tolist() == z.get_basic_selection(fields="b").tolist() == expected["b"].tolist()
    assert z[2, "a", "d"].tolist() == expected[["a", "d"]][2].tolist()
    assert z["a", "b"].dtype.names == ("a", "b")


def test_fields_are_read_into_memory_of_the_user() -> None:
    z = zarr.create_array({}, data=records(LITTLE))
    out = np.zeros(7, "u1")
    assert z.get_basic_selection(1, fields="a", out=out) is out
    assert out.tolist() == list(range(7, 14))
    converted = np.zeros(7)
    assert z.get_basic_selection(1, fields="a", out=converted).tolist() == list(range(7, 14))
    with pytest.raises(ValueError, match=r"out= of shape \(7,\), found \(6,\)"):
        z.get_basic_selection(1, fields="a", out=np.zeros(6))


@pytest.mark.parametrize("fields", ["nothing", ["a", "nothing"], slice(None), 3])
def test_wrong_fields_are_refused(fields: Any) -> None:
    z = zarr.create_array({}, data=records(LITTLE))
    with pytest.raises(IndexError):
        z.get_basic_selection(fields=fields)
    with pytest.raises(IndexError):
        z.set_basic_selection(..., 1, fields=fields)
    assert (z[...] == records(LITTLE)).all()


def test_only_records_have_fields_and_one_is_written_at_a_time() -> None:
    with pytest.raises(IndexError, match="only records have fields"):
        zarr.array([1])["a"]
    with pytest.raises(IndexError, match="one after the other"):
        zarr.create_array({}, data=records(LITTLE))["a", "b"] = 1


def test_arrays_of_blizzarr_take_them_as_numpy_does() -> None:
    expected = records(LITTLE)
    z = blizzarr.create_array({}, data=expected, chunks=(2, 3))
    z["b"] = expected["b"] = np.arange(7)
    assert z["b"].tolist() == expected["b"].tolist()
    assert z[["a", "b"]].tolist() == expected[["a", "b"]].tolist()
    z[["b", "a"]] = expected[["b", "a"]] = np.array([(number, 9) for number in range(7)], "i8,i2")
    assert z[...].tolist() == expected.tolist()
    with pytest.raises(blizzarr.errors.SelectionError, match="found 'x'"):
        z[["a", "x"]] = 1
    assert z[...].tolist() == expected.tolist()
    with pytest.raises(blizzarr.errors.SelectionError, match="the name of a field is a key by itself"):
        z["b", 0]
    with pytest.raises(blizzarr.errors.SelectionError, match="'a', 'b', 'c', 'd'"):
        z["x"]
