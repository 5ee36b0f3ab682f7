"""Arrays of the data types that NumPy has and v3's core has not: everything works for them as for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import blizzarr

FORMATS = ("v3", "v2", "v1", "v3_draft", "v3_draft_zarr_python")
TYPES: list[Any] = [
    ("S5", b"x", b"abc"),
    ("U5", "é", "😀bc"),
    (">U5", "", "é"),
    ("V3", b"abc", b"xyz"),
    ("M8[s]", np.datetime64("2001-02-03", "s"), np.datetime64("NaT", "s")),
    (">m8[ms]", 5, -7),
    ([("a", "i4"), ("b", "S3")], (1, b"q"), (-1, b"xyz")),
    ([("a", ">i4"), ("n", [("x", ">f4"), ("y", "u1")])], (1, (np.nan, 2)), (3, (-0.0, 4))),
]


def same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and one.tobytes() == other.astype(one.dtype).tobytes()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("dtype", "fill", "value"), TYPES, ids=lambda given: str(given))
def test_arrays(dtype: Any, fill: Any, value: Any, form: str) -> None:
    """D-135, D-136, V-1, W-6, O-6: written in parts, selected, made smaller and larger, opened again, copied."""
    store: dict[str, bytes] = {}
    name = None if form == "v1" else "x"
    options = {"dtype": dtype, "chunks": (2, 3), "fill_value": fill, "zarr_format": form}
    array = blizzarr.create_array(store, name=name, shape=(6, 4), **options)
    expected = np.empty((6, 4), array.dtype)
    expected[...] = array.fill_value
    array[1:5, ::2] = value
    expected[1:5, ::2] = value
    assert same(array[...], expected)
    assert same(array[::-1, [0, 2]], expected[::-1][:, [0, 2]])
    assert same(array.vindex[[1, 2], [0, 1]], expected[[1, 2], [0, 1]])
    array.resize((5, 3))
    array.resize((7, 4))
    grown = np.empty((7, 4), array.dtype)
    grown[...] = array.fill_value
    grown[:5, :3] = expected[:5, :3]
    again = blizzarr.open_array(store, path=name or "")
    assert same(again[...], grown)
    for other in ("v3", "v2", "v3_draft_zarr_python"):
        assert same(blizzarr.copy(again, {}, zarr_format=other)[...], grown)


@pytest.mark.parametrize("dtype", ["complex_float16", "complex_bfloat16"])
def test_narrow_complex_numbers_are_written_as_numbers(dtype: str) -> None:
    """NumPy has no such numbers: of a number, it would give both fields of a record the real part."""
    array = blizzarr.create_array({}, shape=6, dtype=dtype, fill_value=1j)
    array[1:3] = np.array([1 + 2j, 3 - 4j])
    array[3] = 5
    array[4:] = [(1, 2), (0, 8)]
    array.append(np.array([9 + 8j]))
    expected = [(0, 1), (1, 2), (3, -4), (5, 0), (1, 2), (0, 8), (9, 8)]
    assert array[:].tolist() == expected
    numbers = np.array([real + 1j * imag for real, imag in expected])
    for data in (numbers, numbers.tolist(), blizzarr.create_array({}, data=numbers)):
        assert blizzarr.create_array({}, data=data, dtype=dtype)[:].tolist() == expected
