"""Scalars of NumPy that are assigned, which NumPy refuses although it would convert an array of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import blizzarr

SCALARS = [
    np.float64("nan"),
    np.float32("inf"),
    np.float64(300),
    np.int64(-1),
    np.uint64(2**64 - 1),
    np.datetime64("NaT", "s"),
    np.datetime64("2000-01-01T00:00:00.5", "ms"),
    np.timedelta64(5, "s"),
    np.complex64(1 + 2j),
    np.str_("12"),
    np.bytes_(b"12"),
    np.array((1, 2.5), "i4,f8")[()],
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32", "datetime64[s]", "U2", "S2"])
@pytest.mark.parametrize("value", SCALARS, ids=repr)
@pytest.mark.parametrize("key", [1, slice(2), ...], ids=repr)
def test_scalars_are_converted_or_refused_as_in_numpy(dtype: str, value: np.generic, key: Any) -> None:
    expected = np.zeros(3, dtype)
    array = blizzarr.create_array({}, data=expected)
    try:
        expected[key] = value
    except (TypeError, ValueError, OverflowError) as error:
        with pytest.raises(type(error)):
            array[key] = value
    else:
        array[key] = value
    np.testing.assert_array_equal(array[:], expected)


@pytest.mark.parametrize("dtype", ["int2", "uint2", "int4", "uint4"])
def test_integers_of_python_out_of_range_are_refused_as_for_numpys_types(dtype: str) -> None:
    """Those of ml_dtypes would wrap around."""
    low, high = {"int2": (-2, 1), "uint2": (0, 3), "int4": (-8, 7), "uint4": (0, 15)}[dtype]
    array = blizzarr.create_array({}, data=[low, high], dtype=dtype)
    for value in (low - 1, high + 1):
        for write in (
            lambda value=value: array.__setitem__(0, value),
            lambda value=value: array.__setitem__(..., [0, value]),
            lambda value=value: array.append([value]),
            lambda value=value: blizzarr.create_array({}, data=[value], dtype=dtype),
        ):
            with pytest.raises(OverflowError, match=f"Python integer {value} out of bounds for {dtype}"):
                write()
    assert array[:].tolist() == [low, high]
