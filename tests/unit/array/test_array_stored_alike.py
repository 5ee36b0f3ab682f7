"""Appends that are repeated: elements are the same if they would be stored alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from blizzarr.api import create_array
from blizzarr.errors import ConflictError

NAN = float("nan")
ROUNDED = {"id": "fixedscaleoffset", "offset": 0, "scale": 10, "dtype": "<f8", "astype": "<i2"}


def objects(*elements: Any) -> npt.NDArray[Any]:
    return np.fromiter(elements, object, len(elements))


CASES: dict[str, tuple[dict[str, Any], Any, Any]] = {
    "a field that is NaN": ({"dtype": [("a", "f4"), ("b", "i4")]}, [(NAN, 1), (2, 3)], [(NAN, 2), (2, 3)]),
    "a field that is NaT": ({"dtype": [("a", "M8[s]"), ("b", "i4")]}, [("NaT", 1)], [("NaT", 2)]),
    "a field that is an array": (
        {"dtype": [("a", "f4", (2,)), ("b", "i4")], "zarr_format": 2},
        [([0, NAN], 1), ([2, 3], 4)],
        [([0, NAN], 1), ([2, 9], 4)],
    ),
    "complex numbers": ({"dtype": "c8"}, [complex(NAN, 1), 1j], [complex(1, NAN), 1j]),
    "arrays of any length": (
        {"dtype": object, "filters": [{"id": "vlen-array", "dtype": "<f8"}], "zarr_format": 2},
        objects(np.array([1.0, NAN]), np.array([3.0])),
        objects(np.array([1.0, NAN]), np.array([4.0])),
    ),
    "lists that become arrays": (
        {"dtype": object, "filters": [{"id": "vlen-array", "dtype": "<f8"}], "zarr_format": 2},
        objects([1, 2], [3]),
        objects([1, 2], [4]),
    ),
    "JSON with NaN": (
        {"dtype": object, "filters": [{"id": "json2"}], "zarr_format": 2},
        objects({"a": NAN}, [3]),
        objects({"a": NAN}, [4]),
    ),
    "JSON with tuples": (
        {"dtype": object, "filters": [{"id": "json2"}], "zarr_format": 2},
        objects((1, 2), {"a": (3, [NAN])}),
        objects((1, 2), {"a": (4, [NAN])}),
    ),
    "numbers that are rounded": (
        {"dtype": "f8", "filters": [ROUNDED], "zarr_format": 2},
        [0.11, 0.52],
        [0.11, 0.57],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_would_be_stored_alike_is_there_already(case: str) -> None:
    options, given, others = CASES[case]
    z = create_array({}, shape=0, chunks=2, **options)
    given, others = (np.array(each, z.dtype) if isinstance(each, list) else each for each in (given, others))
    for _ in range(3):
        assert z.append(given, at=0) == (len(given),)
    before = z[:].tolist()
    with pytest.raises(ConflictError, match="found others"):
        z.append(others, at=0)
    assert str(z[:].tolist()) == str(before)
