"""Replacing an array by the elements of another one: what cannot be read loses nothing."""

from __future__ import annotations

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError


@pytest.mark.parametrize("dtype", ["int32", "float32", str])
def test_a_source_that_is_damaged_replaces_nothing(dtype: type | str) -> None:
    """Row 77: the old array is still there, whole, when the new elements cannot be read."""
    values: dict[str, bytes] = {}
    data = np.array(["a", "b", "c", "d"] if dtype is str else [1, 2, 3, 4])
    source = blizzarr.create_array(values, name="source", data=data, dtype=dtype, chunks=2, compressors="zstd")
    old = blizzarr.create_array(values, name="old", data=np.arange(10), chunks=3)
    values["source/c/1"] = values["source/c/1"][:-3]
    before = dict(values)
    with pytest.raises(CodecError, match="cannot decode chunk c/1 of /source"):
        blizzarr.create_array(values, name="old", data=source, overwrite=True)
    assert values == before
    assert old[...].tolist() == list(range(10))
    values["source/c/1"] = values["source/c/0"]
    made = blizzarr.create_array(values, name="old", data=source, overwrite=True)
    assert made[...].tolist() == [*data[:2].tolist(), *data[:2].tolist()]
    assert made.dtype == source.dtype
