"""Fill values: exact to the bit, in documents and from users."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blizzarr.dtypes import DataType, ml
from blizzarr.errors import MetadataError

EXACT: list[Any] = ["float16", "float32", "float64", "complex64", "complex128", "r24", "int8", "uint64", "bfloat16"]
EXACT += [
    "float8_e4m3",
    "S5",
    "M8[s]",
    [("a", ">f4"), ("n", [("x", "u1"), ("c", "c8")])],
    [("b", "V2"), ("t", "m8[ns]")],
]


@given(st.sampled_from(EXACT), st.binary(min_size=16, max_size=16))
def test_any_bits_survive_a_document(name: Any, data: bytes) -> None:
    """F-6: whatever the bits, NaN payloads and signs included, writing and reading gives them back."""
    dtype = DataType.parse(name)
    value = np.frombuffer(data[: dtype.itemsize], dtype=dtype.numpy)[0]
    text = json.dumps(dtype.fill_to_json(value))
    assert "NaN" not in text or '"NaN"' in text
    assert dtype.fill_bytes(dtype.fill_from_json(json.loads(text))) == data[: dtype.itemsize]


@pytest.mark.parametrize("name", [*EXACT, "bool", "U3", *ml.ROWS])
def test_default_survives_a_document(name: Any) -> None:
    """K-27: zero, false or not-a-time; as a value, and from a document."""
    dtype = DataType.parse(name)
    default = dtype.default_fill
    assert dtype.fill_bytes(dtype.fill(None)) == dtype.fill_bytes(default)
    if name == "M8[s]":
        assert np.isnat(default)
    else:
        assert dtype.fill_bytes(default) == bytes(dtype.itemsize)
    assert dtype.fill_bytes(dtype.fill_from_json(dtype.fill_to_json(default))) == dtype.fill_bytes(default)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("float16", "7e00"),
        ("float32", "7fc00000"),
        ("float64", "7ff8000000000000"),
        ("bfloat16", "7fc0"),
        ("float8_e3m4", "78"),
        ("float8_e4m3", "7c"),
        ("float8_e4m3b11fnuz", "80"),
        ("float8_e4m3fnuz", "80"),
        ("float8_e5m2", "7e"),
        ("float8_e5m2fnuz", "80"),
        ("float8_e8m0fnu", "ff"),
    ],
)
def test_the_bits_of_nan(name: str, bits: str) -> None:
    """F-6: "NaN" means exactly the bits that the specification, or the registry, says."""
    dtype = DataType.parse(name)
    value = dtype.fill_from_json("NaN")
    assert value.tobytes()[::-1].hex() == bits
    assert dtype.fill_to_json(value) == "NaN"
    assert dtype.fill(float("nan")).tobytes() == value.tobytes()


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("float32", 0.1, 0.1),
        ("float16", -0.0, -0.0),
        ("float32", float("inf"), "Infinity"),
        ("float32", np.uint32(0x7FC00001).view("f4"), "0x7fc00001"),
        ("complex64", 1 - 2j, [1.0, -2.0]),
        ("int64", -(2**63), -(2**63)),
        ("bool", True, True),
        ("r16", b"\x01\xff", "Af8="),
        ("M8[s]", np.datetime64("1970-01-02"), 86400),
        ("m8[s]", "NaT", -(2**63)),
        ("bfloat16", 1.5, 1.5),
        ("S5", b"ab", "YWI="),
        ("S5", b"", ""),
        ("U5", "é", "é"),
        ("string", "é", "é"),
        ("bytes", b"ab", "YWI="),
        (
            [("a", "i4"), ("n", [("x", "f4"), ("y", "V2")])],
            (1, (np.inf, b"ab")),
            {"a": 1, "n": {"x": "Infinity", "y": "YWI="}},
        ),
    ],
)
def test_written_form(name: Any, value: Any, written: Any) -> None:
    """F-6: the shortest number that reads back, strings where JSON has no number."""
    dtype = DataType.parse(name)
    found = dtype.fill_to_json(dtype.fill(value))
    assert (found, str(found), type(found)) == (written, str(written), type(written))


@pytest.mark.parametrize(
    ("name", "value", "equal"),
    [
        ("bool", 1, True),
        ("uint8", np.int64(7), 7),
        ("int8", 3.0, 3),
        ("float32", 3, 3.0),
        ("float64", "0x3ff0000000000000", 1.0),
        ("float32", np.array(2.5), 2.5),
        ("complex64", (1, 2), 1 + 2j),
        ("complex128", 3, 3 + 0j),
        ("m8[s]", 5, np.timedelta64(5, "s")),
        ("int4", -8, -8),
        ("int8", np.True_, 1),
        ("int8", DataType.parse("int4").fill(-8), -8),
        ("uint8", DataType.parse("bfloat16").fill(3), 3),
        ("M8[D]", np.datetime64("2001-02-03T00:00:00"), np.datetime64("2001-02-03")),
        ("M8[25s]", "1970-01-01T00:00:50", np.datetime64("1970-01-01T00:00:50")),
        ("m8[m]", np.timedelta64(120, "s"), np.timedelta64(2, "m")),
        ("m8[s]", datetime.timedelta(days=1), np.timedelta64(86400, "s")),
        ("S3", "ab", b"ab"),
        ("S3", b"abc\0\0", b"abc"),
        ("S3", bytearray(b"a"), b"a"),
        ("S3", 0, b""),
        ("U3", "é", "é"),
        ("U3", b"ab", "ab"),
        ("U3", np.str_("é"), "é"),
        ("U3", 0, ""),
        ("string", 0, ""),
        ("string", np.str_("a"), "a"),
        ("bytes", 0, b""),
        ("bytes", np.bytes_(b"a"), b"a"),
    ],
)
def test_users_may_say_it_otherwise(name: str, value: Any, equal: Any) -> None:
    """A value that is equal after conversion is taken."""
    assert DataType.parse(name).fill(value) == equal


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("uint8", 300),
        ("uint8", -1),
        ("int32", 1.5),
        ("int32", "1"),
        ("int32", float("nan")),
        ("int64", np.timedelta64(1, "s")),
        ("bool", 2),
        ("bool", "true"),
        ("float32", 1e39),
        ("float32", "one"),
        ("float32", [1]),
        ("float64", 1j),
        ("float64", np.complex128(1 + 2j)),
        ("bool", np.timedelta64(1, "s")),
        ("int8", DataType.parse("bfloat16").fill(1.5)),
        ("int8", np.void(b"1")),
        ("int8", np.int64(1).view("M8")),
        ("complex64", "1"),
        ("complex64", (1, 2, 3)),
        ("r16", b"abc"),
        ("r16", 1),
        ("M8[s]", "yesterday"),
        ("m8[s]", 2**63),
        ("float4_e2m1fn", float("nan")),
        ("int4", 8),
        ("M8[D]", "2001-02-03T04:05"),
        ("M8[D]", np.datetime64("2001-02-03T04:05")),
        ("M8[ns]", "9999-01-01"),
        ("M8[25s]", "1970-01-01T00:00:51"),
        ("m8[m]", np.timedelta64(90, "s")),
        ("m8[D]", np.timedelta64(1, "Y")),
        ("m8[s]", 1.5),
        ("M8[s]", np.timedelta64(1, "s")),
        ("S3", b"abcd"),
        ("S3", "é"),
        ("S3", 1),
        ("U3", "abcd"),
        ("U3", b"\xff"),
        ("U1", np.str_("\ud800")),
        ("U3", 1),
        ("string", 1),
        ("bytes", "a"),
    ],
)
def test_users_may_not_lose_a_value(name: str, value: Any) -> None:
    """row 58: what would be another value in this type is refused, with what was expected."""
    with pytest.raises(MetadataError) as caught:
        DataType.parse(name).fill(value)
    assert caught.value.problems[0].path == "fill_value"
