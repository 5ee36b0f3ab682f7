"""Data types as zarr-python shows them: scalars, and the JSON of documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blizzarr import zarr
from blizzarr.zarr.dtype import ZDType, parse_dtype


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (zarr.dtype.DateTime64(unit="ns"), 5, np.datetime64(5, "ns")),
        (zarr.dtype.DateTime64(unit="ns"), "2000-01-01", np.datetime64("2000-01-01", "ns")),
        (zarr.dtype.TimeDelta64(unit="s", scale_factor=10), 5, np.timedelta64(5, "10s")),  # type: ignore[call-overload]  # NumPy takes it
        (zarr.dtype.NullTerminatedBytes(length=3), b"abcd", np.bytes_(b"abc")),
        (zarr.dtype.FixedLengthUTF32(length=3), "abcd", np.str_("abc")),
        (zarr.dtype.RawBytes(length=3), b"abc", np.void(b"abc")),
        (zarr.dtype.Int32(endianness="big"), 3.7, np.int32(3)),
        (zarr.dtype.VariableLengthUTF8(), "a", "a"),
        (zarr.dtype.VariableLengthBytes(), b"a", b"a"),
    ],
    ids=str,
)
def test_a_scalar_has_the_unit_and_the_length_of_its_type(kind: ZDType, given: Any, expected: Any) -> None:
    made = kind.cast_scalar(given)
    assert (made, type(made), getattr(made, "dtype", None)) == (
        *(expected, type(expected)),
        getattr(expected, "dtype", None),
    )


@pytest.mark.parametrize(
    "dtype",
    [
        *("i1", ">i4", "<f8", "M8[ns]", "S3", ">U4", "V5", str, bytes),
        np.dtype([("a", "<i4"), ("b", [("c", ">f8")])]),
    ],
    ids=str,
)
def test_the_json_of_v2_is_read_again(dtype: Any) -> None:
    kind = parse_dtype(dtype)
    json = kind.to_json(2)
    assert type(kind).from_json(json, zarr_format=2) == kind
    stored = zarr.create_array({}, shape=2, dtype=json, zarr_format=2).metadata.dtype
    assert (stored, stored.to_json(2)) == (kind, json)


def test_texts_of_numpy_are_texts() -> None:
    z = zarr.create_array({}, shape=2, dtype=np.dtypes.StringDType())
    assert (z.metadata.dtype.to_json(3), z[:].tolist()) == ("string", ["", ""])


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("texts", [[], ["a", "", "größe"]], ids=len)
def test_data_may_be_texts_of_numpy(texts: list[str], zarr_format: Any) -> None:
    z = zarr.create_array({}, data=np.array(texts, np.dtypes.StringDType()), zarr_format=zarr_format)
    assert (z.shape, z.dtype, z[:].tolist()) == ((len(texts),), np.dtypes.StringDType(), texts)
    z.resize((4,))
    z[1:3] = np.array(["b", "cc"], np.dtypes.StringDType())
    assert z[:].tolist() == [*texts[:1], *[""] * (not texts), "b", "cc", ""]
