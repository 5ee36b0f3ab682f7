"""Arrays of Arrow in and out: numbers without a copy, texts, bytes, and elements that are null."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.array.as_arrow import as_arrow
from blizzarr.dtypes import DataType, optional
from blizzarr.errors import UnsupportedOperationError

OPTIONAL = {"name": "zarrs.optional", "configuration": {"name": "int64"}}


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnsupportedOperationError, match=r"pip install 'blizzarr\[arrow\]'"):
        blizzarr.create_array({}, data=[1]).to_arrow()


class Nulls:
    """What pyarrow and polars have in common."""

    def __init__(self, values: list[Any], is_method: bool) -> None:
        self.values = values
        count = values.count(None)
        self.null_count: Any = (lambda: count) if is_method else count

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([np.nan if value is None else value for value in self.values], dtype)

    def fill_null(self, value: Any) -> Any:
        return Nulls([value if element is None else element for element in self.values], False)

    def is_null(self) -> Any:
        return np.array([element is None for element in self.values])


@pytest.mark.parametrize("is_method", [True, False])
def test_nulls_are_not_lost(is_method: bool) -> None:
    """Nulls are refused where NumPy would make numbers of them, and are missing where elements may be."""
    given: Any = Nulls([1, None, 3], is_method)
    array = blizzarr.create_array({}, data=[7, 8, 9])
    with pytest.raises(ValueError, match=r"found 1 null; fill them, or use the data type zarrs\.optional"):
        array[:] = given
    with pytest.raises(ValueError, match="found 1 null"):
        blizzarr.create_array({}, data=given)
    assert array[:].tolist() == [7, 8, 9]
    there = blizzarr.create_array({}, shape=3, dtype=OPTIONAL)
    there[:] = given
    assert optional.masked(there[:]).tolist() == [1, None, 3]
    array[:] = Nulls([1, 2, 3], is_method)  # type: ignore[call-overload]
    assert array[:].tolist() == [1, 2, 3]


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64", "datetime64[s]"])
def test_numbers_share_their_memory(dtype: str) -> None:
    """The array of Arrow has the memory of the result; it is written as it is."""
    arrow = pytest.importorskip("pyarrow")
    data = np.arange(6).astype(dtype)
    made = blizzarr.create_array({}, data=data).to_arrow()
    assert made.to_pylist() == arrow.array(data).to_pylist()
    assert as_arrow(data, DataType.parse(dtype)).buffers()[1].address == data.ctypes.data
    assert blizzarr.create_array({}, data=data).to_arrow(slice(1, 3)).to_pylist() == arrow.array(data[1:3]).to_pylist()
    array = blizzarr.create_array({}, data=np.zeros(6, dtype))
    array[:] = made
    np.testing.assert_array_equal(array[:], data)


@pytest.mark.parametrize("elements", [["a", "", "äö"], [b"a", b"", b"\xff"]])
def test_texts_and_bytes(elements: list[Any]) -> None:
    """Of any length, both ways; a null among them is refused by its place."""
    arrow = pytest.importorskip("pyarrow")
    array = blizzarr.create_array({}, data=np.array(elements, object))
    made = array.to_arrow()
    assert made.to_pylist() == elements
    assert made.type == (arrow.large_string() if isinstance(elements[0], str) else arrow.large_binary())
    array[:] = made[::-1]
    assert array[:].tolist() == elements[::-1]
    with pytest.raises((TypeError, ValueError)):
        array[:] = arrow.array([*elements[:2], None])


def test_axes_and_missing_elements() -> None:
    """Axes after the first are lists; what is missing is null, both ways; what Arrow lacks is refused."""
    arrow = pytest.importorskip("pyarrow")
    data = np.arange(24, dtype="int16").reshape(2, 3, 4)
    made = blizzarr.create_array({}, data=data).to_arrow()
    assert made.to_pylist() == data.tolist()
    array = blizzarr.create_array({}, shape=3, dtype=OPTIONAL)
    array[:] = arrow.array([1, None, 3])
    assert array.to_arrow().to_pylist() == [1, None, 3]
    with pytest.raises(TypeError, match="a data type that Arrow has, found complex64"):
        blizzarr.create_array({}, data=np.zeros(2, "complex64")).to_arrow()
    with pytest.raises(ValueError, match="a selection with an axis"):
        array.to_arrow(0)
