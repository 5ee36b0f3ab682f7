"""Fill values in documents of v2 and zarr-python's draft of v3, and what v1 has in common with them."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from blizzarr.dtypes import fill_typed
from blizzarr.dtypes.byte_order import in_order
from blizzarr.dtypes.typestr import Typestr, from_typestr
from blizzarr.problems import Problems

RECORD = [["a", "<i4"], ["b", "|S3"]]
BIG = [["a", ">i4"], ["b", ">f8"]]
BOTH = [["a", "<i4"], ["b", ">f8"]]
NESTED = [["a", "<i4"], ["n", [["x", "<f4"], ["y", "|u1"]]]]
PADDED = [["a", "|u1"], ["", "|V3"], ["b", "<i4"]]


def typed(spelled: Any) -> Typestr:
    found = from_typestr(spelled, "dtype", Problems())
    assert found is not None
    return found


def read(spelled: Any, value: Any) -> bytes:
    """The fill value as the bytes of one stored element."""
    dtype, endian, _ = typed(spelled)
    problems = Problems()
    found = fill_typed.decode(dtype, value, "fill_value", problems, endian)
    assert not problems.items, problems.items
    return in_order(dtype.fill_bytes(found), dtype.swap, endian)


@pytest.mark.parametrize(
    ("spelled", "written", "stored"),
    [
        ("|b1", "true", "01"),
        (">i2", "-2", "fffe"),
        ("<u8", "18446744073709551615", "ffffffffffffffff"),
        ("<i8", "-9223372036854775808", "0000000000000080"),
        ("<f2", '"NaN"', "007e"),
        ("<f4", "0.10000000149011612", "cdcccc3d"),
        ("<f8", '"-Infinity"', "000000000000f0ff"),
        ("<c8", "[1.0, -2.0]", "0000803f000000c0"),
        (">c16", '["Infinity", "-Infinity"]', "7ff0000000000000fff0000000000000"),
        ("<c8", '["NaN", -0.0]', "0000c07f00000080"),
        ("|S5", '"YWI="', "6162000000"),
        ("|S5", '""', "0000000000"),
        ("<U5", r'"\u00e9"', "e900000000000000000000000000000000000000"),
        (">U5", r'"\u00e9"', "000000e900000000000000000000000000000000"),
        ("|V3", '"YWJj"', "616263"),
        ("<M8[ns]", "5", "0500000000000000"),
        ("<M8[25s]", "5", "0500000000000000"),
        (">m8[ms]", "-7", "fffffffffffffff9"),
        ("<M8[D]", "11356", "5c2c000000000000"),
        (RECORD, '"AQAAAHgAAA=="', "01000000780000"),
        (BIG, '"AAAAAUAAAAAAAAAA"', "000000014000000000000000"),
        (BOTH, '"AQAAAEAAAAAAAAAA"', "010000004000000000000000"),
        (NESTED, '"AQAAAAAAAEAD"', "010000000000004003"),
        (PADDED, '"AbnKlAIAAAA="', "01b9ca9402000000"),
        ([["f", [["g", ">i2", [1, 2]]], [2]]], '"AAEAAgADAAQ="', "0001000200030004"),
    ],
)
def test_as_zarr_python_wrote_it(spelled: Any, written: str, stored: str) -> None:
    """V-1, W-7: documents of zarr-python 2.18.7, and what it filled with (complex infinities it lost itself)."""
    assert read(spelled, json.loads(written)).hex() == stored


@pytest.mark.parametrize(
    ("spelled", "value", "stored"),
    [
        ("|b1", 1, "01"),
        ("|b1", 0, "00"),
        ("<i4", 7.0, "07000000"),
        ("<i2", True, "0100"),
        ("<u8", "18446744073709551615", "ffffffffffffffff"),
        ("<i8", "-1", "ffffffffffffffff"),
        ("<f4", math.nan, "0000c07f"),
        ("<f4", -math.nan, "0000c07f"),
        ("<f8", math.inf, "000000000000f07f"),
        ("<f8", -math.inf, "000000000000f0ff"),
        ("<f4", "+Infinity", "0000807f"),
        ("<f4", -0.0, "00000080"),
        ("<f4", 2**127, "0000007f"),
        ("<c8", 1, "0000803f00000000"),
        ("<c8", "NaN", "0000c07f00000000"),
        ("<c8", [math.nan, -math.inf], "0000c07f000080ff"),
        ("|S3", 0, "000000"),
        ("|S3", "YQAA", "610000"),
        ("<U2", 0, "0000000000000000"),
        ("|V2", 0, "0000"),
        (RECORD, 0, "00000000000000"),
        ("<M8[s]", "NaT", "0000000000000080"),
        ("<m8[s]", -(2**63), "0000000000000080"),
    ],
)
def test_other_spellings(spelled: Any, value: Any, stored: str) -> None:
    """V-2, O-9, C-10: bare NaN and infinities, numbers of another type, digits as GDAL has them, 0 for nothing."""
    assert read(spelled, value).hex() == stored


def base64_of(size: str) -> str:
    return f"{size} in base64"


@pytest.mark.parametrize(
    ("spelled", "value", "expected"),
    [
        ("|b1", 2, "true or false"),
        ("|b1", "true", "true or false"),
        ("|u1", 256, "an integer in [0, 255]"),
        ("|u1", -1, "an integer in [0, 255]"),
        ("|u1", 1.5, "an integer in [0, 255]"),
        ("|u1", "1", "an integer in [0, 255]"),
        ("|u1", math.inf, "an integer in [0, 255]"),
        ("<u8", "1e3", "an integer in [0, 18446744073709551615]"),
        ("<u8", "٣", "an integer in [0, 18446744073709551615]"),
        ("<u8", str(2**64), "an integer in [0, 18446744073709551615]"),
        ("<M8[s]", 2**63, 'a 64-bit integer or "NaT"'),
        ("<M8[s]", "2001-02-03", 'a 64-bit integer or "NaT"'),
        ("<M8[s]", 1.5, 'a 64-bit integer or "NaT"'),
        ("|S3", "YWJjZA==", base64_of("at most 3 bytes")),
        ("|S3", "abc", base64_of("at most 3 bytes")),
        ("|S3", "é", base64_of("at most 3 bytes")),
        ("|S3", 1, base64_of("at most 3 bytes")),
        ("|S3", False, base64_of("at most 3 bytes")),
        ("|V3", "YQ==", base64_of("3 bytes")),
        ("|V3", [1, 2, 3], base64_of("3 bytes")),
        ("<U2", "abc", "text of at most 2 characters"),
        ("<U2", "\ud800", "text of at most 2 characters"),
        ("<U2", 1, "text of at most 2 characters"),
        (RECORD, "AQAAAA==", base64_of("7 bytes")),
        (RECORD, {"a": 1, "b": ""}, base64_of("7 bytes")),
        (RECORD, [1, ""], base64_of("7 bytes")),
    ],
)
def test_problems(spelled: Any, value: Any, expected: str) -> None:
    """row 58: what is no fill value of the data type is a problem, not another value."""
    dtype, endian, _ = typed(spelled)
    problems = Problems()
    assert fill_typed.decode(dtype, value, "fill_value", problems, endian) is None
    assert [(problem.path, problem.expected) for problem in problems.items] == [("fill_value", expected)]


@pytest.mark.parametrize(
    ("spelled", "element", "written"),
    [
        ("|b1", True, "true"),
        (">u8", 2**64 - 1, "18446744073709551615"),
        ("<f4", 0.1, "0.1"),
        ("<f4", -0.0, "-0.0"),
        ("<f2", math.nan, '"NaN"'),
        (">f8", -math.inf, '"-Infinity"'),
        ("<c16", complex(math.inf, -1.5), '["Infinity", -1.5]'),
        ("|S4", b"ab", '"YWIAAA=="'),
        (">U2", "é", r'"\u00e9"'),
        ("|V2", b"\x00\x01", '"AAE="'),
        ("<M8[s]", "NaT", "-9223372036854775808"),
        ("<M8[s]", "1970-01-02", "86400"),
        (BIG, (1, 2.0), '"AAAAAUAAAAAAAAAA"'),
        (BOTH, (1, 2.0), '"AQAAAEAAAAAAAAAA"'),
        ([["v", ">i2", [2]]], ([1, 2],), '"AAEAAg=="'),
    ],
)
def test_written_form(spelled: Any, element: Any, written: str) -> None:
    """V-1, W-7: numbers, names where JSON has no number, base64 of an element in the order in which it is stored."""
    dtype, endian, _ = typed(spelled)
    problems = Problems()
    value = dtype.fill(element)
    assert json.dumps(fill_typed.encode(dtype, value, endian, problems)) == written
    assert not problems.items


@pytest.mark.parametrize(
    ("spelled", "bits", "shown"),
    [
        ("<f4", "0100c07f", '"0x7fc00001"'),
        ("<f8", "000000000000f8ff", '"0xfff8000000000000"'),
        ("<f2", "017c", '"0x7c01"'),
        ("<c8", "0000803f010080ff", '[1.0, "0xff800001"]'),
    ],
)
def test_a_nan_of_other_bits_is_not_written_as_another(spelled: str, bits: str, shown: str) -> None:
    """V-1: only one NaN has a name; chunks that are not stored would silently become filled with that."""
    dtype = typed(spelled).dtype
    value = np.frombuffer(bytes.fromhex(bits), dtype.numpy)[0]
    problems = Problems()
    fill_typed.encode(dtype, value, "little", problems)
    expected = 'a value that reads back: no NaN but "NaN", without sign and payload, does'
    assert [str(problem) for problem in problems.items] == [f"fill_value: expected {expected}, found {shown}"]


TYPES: list[Any] = ["|b1", ">i2", "<u8", "<f2", ">f4", "<f8", ">c8", "<c16", "|S5", "|V3", "<M8[us]", ">m8[7D]"]
TYPES += [RECORD, BIG, BOTH, NESTED, PADDED, [["f", [["g", ">i2", [1, 2]], ["h", "|u1"]], [2]], ["u", "<U1"]]]


@given(st.sampled_from(TYPES), st.binary(min_size=16, max_size=16))
def test_any_bits_survive_a_document(spelled: Any, data: bytes) -> None:
    """V-1: whatever the bits of an element, the document gives them back, or cannot be written."""
    dtype, endian, _ = typed(spelled)
    data = data[: dtype.itemsize].ljust(dtype.itemsize, b"\1")
    assume(spelled != "|b1" or data[0] < 2)
    value = np.frombuffer(data, dtype.numpy)[0]
    problems = Problems()
    text = json.dumps(fill_typed.encode(dtype, value, endian, problems))
    if problems.items:
        assert dtype.numpy.kind in "fc"
        assert np.isnan(value)
        return
    assert read(spelled, json.loads(text)) == in_order(data, dtype.swap, endian)


@given(
    st.sampled_from([*TYPES, "<U2"]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6), st.just("AAAA")),
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=1), inner, max_size=2)),
        max_leaves=4,
    ),
)
def test_any_value_is_a_scalar_or_a_problem(spelled: Any, value: Any) -> None:
    """row 58: whatever JSON has there, never an error of another kind."""
    dtype, endian, _ = typed(spelled)
    problems = Problems()
    found = fill_typed.decode(dtype, value, "fill_value", problems, endian)
    assert (found is None) == bool(problems.items)
    assert found is None or len(dtype.fill_bytes(found)) == dtype.itemsize
