"""What NumPy does around an assignment, and buffers that the engine may write into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blizzarr.transfer import Binding, as_source, read, write
from support.arrays import make
from support.reference import ReferenceHandle


@pytest.mark.parametrize("value", [3, 2.9, True, "7", np.float32(1.5), [1, 2, 3], [[1], [2]], np.ones((1, 1, 3)), b"4"])
@pytest.mark.parametrize("dtype", ["i1", "f4", "c8", "?", "u8"])
def test_values_are_converted_as_in_an_assignment(value: Any, dtype: str) -> None:
    expected = np.zeros((2, 3), dtype)
    expected[...] = value
    np.testing.assert_array_equal(as_source(value, (2, 3), np.dtype(dtype)), expected, strict=True)


def test_a_fitting_array_is_not_copied() -> None:
    value = np.arange(6).reshape(2, 3)
    assert as_source(value, (2, 3), value.dtype) is value
    assert as_source(value[0], (9, 3), value.dtype).base is not None


def test_the_engine_is_not_called_for_nothing() -> None:
    binding = Binding(None, np.dtype("i4"))  # type: ignore[arg-type]  # nothing may be asked of it
    assert read(binding, ((0, 5), ((0, 0, 1), (1, 0, 1)), False)).shape == (0, 5)
    write(binding, ((0, 5), ((0, 0, 1), (1, 0, 1)), False), 7)


def test_values_are_checked_for_empty_selections_too() -> None:
    with pytest.raises(ValueError, match=r"broadcasts to the selection's shape \(0, 5\), found shape \(4,\)"):
        write(
            Binding(ReferenceHandle(np.zeros((1, 5))), np.dtype("f8")),
            ((0, 5), ((0, 0, 1), (1, 0, 1)), False),
            np.ones(4),
        )


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint64", "float16", "complex64", "r24", "datetime64[s]", "timedelta64[ms]", "bfloat16", "int4"],
)
def test_every_kind_of_element_passes_the_border(dtype: str) -> None:
    """Also those that NumPy does not export with a format, and the erasing that compares them bit by bit."""
    z = make(shape=(4, 5), dtype=dtype, chunks=(3, 2))
    data = np.zeros((4, 5), z.dtype)
    data.reshape(-1).view(np.uint8)[:] = 1
    z[...] = data
    assert z[::-1, 1:].tobytes() == data[:, 1:].tobytes()
    z.resize((3, 3))
    z.resize((4, 5))
    assert z[:3, :3].tobytes() == data[:3, :3].tobytes()
    assert z[3, 4].tobytes() == z.fill_value.tobytes()
