"""Data types as NumPy's array interface spells them: in v1, v2, and zarr-python's draft of v3."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.extra.numpy as numpy_strategies
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blizzarr.dtypes import DataType, Kind
from blizzarr.dtypes.struct import MAX_DEPTH, MAX_FIELDS
from blizzarr.dtypes.typestr import Typestr, from_typestr, to_typestr
from blizzarr.problems import Problems

UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")


def read(value: Any) -> Typestr:
    problems = Problems()
    found = from_typestr(value, "dtype", problems)
    assert not problems.items, problems.items
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("spelled", "name", "endian"),
    [
        ("|b1", "bool", None),
        ("|i1", "int8", None),
        ("<i1", "int8", None),
        ("|u1", "uint8", None),
        ("<i2", "int16", "little"),
        (">i4", "int32", "big"),
        ("<u8", "uint64", "little"),
        (">f2", "float16", "big"),
        ("<f4", "float32", "little"),
        (">c8", "complex64", "big"),
        ("<c16", "complex128", "little"),
        ("|S5", "null_terminated_bytes", None),
        ("<U4", "fixed_length_utf32", "little"),
        (">U4", "fixed_length_utf32", "big"),
        ("|V10", "r80", None),
        ("<M8[ns]", "numpy.datetime64", "little"),
        (">m8[25s]", "numpy.timedelta64", "big"),
        ("<M8", "numpy.datetime64", "little"),
        ("|O", "object", None),
    ],
)
def test_names(spelled: str, name: str, endian: str | None) -> None:
    """O-6, V-1, W-6, C-3: a typestr is a data type and, where elements have more bytes than one, their order."""
    found = read(spelled)
    assert (found.dtype.name, found.endian, found.shape) == (name, endian, ())
    assert found.dtype.numpy == np.dtype(spelled).newbyteorder("=")
    assert to_typestr(found.dtype, endian) == spelled.replace("<i1", "|i1")


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("letter", ["M", "m"])
def test_times_in_every_unit(letter: str, unit: str) -> None:
    """D-135 to D-138: moments and spans are 64-bit counts of a unit; the identifier has the order and the unit."""
    for order, endian in (("<", "little"), (">", "big")):
        found = read(f"{order}{letter}8[{unit}]")
        assert (found.dtype.kind, found.endian) == (Kind.TIME, endian)
        assert found.dtype.numpy == np.dtype(f"{letter}8[{unit}]")
        assert found.dtype.swap == 8
        assert to_typestr(found.dtype, endian) == f"{order}{letter}8[{unit}]"


def test_both_spellings_of_micro() -> None:
    """D-138: the registry has two; NumPy writes one."""
    assert to_typestr(read("<M8[μs]").dtype, "little") == "<M8[us]"


@pytest.mark.parametrize(
    ("spelled", "numpy", "endian"),
    [
        ([["a", "<i4"], ["b", "|S2"]], [("a", "<i4"), ("b", "S2")], "little"),
        ([["a", ">i4"], ["b", ">f8"]], [("a", "=i4"), ("b", "=f8")], "big"),
        ([["a", "|u1"]], [("a", "u1")], None),
        ([["n", [["x", "<f4"], ["y", "|u1"]]]], [("n", [("x", "<f4"), ("y", "u1")])], "little"),
        ([["v", ">f4", [2, 3]]], [("v", "=f4", (2, 3))], "big"),
        ([["v", "<f4", 2]], [("v", "=f4", (2,))], "little"),
        ([["f", [["g", "<i4", [2, 3]]], [2]]], [("f", [("g", "<i4", (2, 3))], (2,))], "little"),
        ([["é ", "<U2"], ["t", "<M8[ns]"]], [("é ", "<U2"), ("t", "M8[ns]")], "little"),
        ([["a", "<i4"], ["b", ">f8"]], [("a", "<i4"), ("b", ">f8")], None),
        ([["a", ">i4"], ["n", [["x", "<i2"]]]], [("a", ">i4"), ("n", [("x", "<i2")])], None),
    ],
)
def test_structs(spelled: Any, numpy: Any, endian: str | None) -> None:
    """V-1, W-6, D-141: fields may be structs and have shapes; orders that differ are kept as they are stored."""
    found = read(spelled)
    assert (found.dtype.numpy, found.endian) == (np.dtype(numpy), endian)
    again = read(to_typestr(found.dtype, endian))
    assert again == found


def test_padding_has_the_name_of_its_position() -> None:
    """V-1: what zarr-python 2.18.7 wrote for an aligned record; it reads the padding as ``f1`` too."""
    assert read([["a", "|u1"], ["", "|V3"], ["b", "<i4"]]).dtype.numpy == [("a", "u1"), ("f1", "V3"), ("b", "<i4")]


SPELLING = 'a data type like "<f8", "|b1", "|S5", "<U4", "<M8[ns]" or a list of fields'
ORDER = 'a byte order, "<" or ">", in front'
NAME = "a name that is not empty and no other field has"


@pytest.mark.parametrize(
    ("spelled", "place", "expected"),
    [
        (None, "dtype", SPELLING),
        (4, "dtype", SPELLING),
        ({"a": "<i4"}, "dtype", SPELLING),
        ("", "dtype", SPELLING),
        ("<f", "dtype", "a size of 2 or 4 or 8 bytes behind f"),
        ("<f16", "dtype", "a size of 2 or 4 or 8 bytes behind f"),
        ("<i3", "dtype", "a size of 1 or 2 or 4 or 8 bytes behind i"),
        ("<i08", "dtype", SPELLING),
        ("<i٨", "dtype", SPELLING),
        ("<U1٨", "dtype", SPELLING),
        ("<t4", "dtype", SPELLING),
        ("!f8", "dtype", SPELLING),
        ("<f8 ", "dtype", SPELLING),
        ("<f8\n", "dtype", SPELLING),
        ("f8", "dtype", ORDER),
        ("=f8", "dtype", ORDER),
        ("|f8", "dtype", ORDER),
        ("|U4", "dtype", ORDER),
        ("U4", "dtype", ORDER),
        ("|S0", "dtype", "a size from 1 to 2147483647 behind S"),
        ("|V0", "dtype", "a size from 1 to 2147483647 behind V"),
        ("<U0", "dtype", "a size from 1 to 536870911 behind U"),
        ("|S2147483648", "dtype", "a size from 1 to 2147483647 behind S"),
        ("<U536870912", "dtype", "a size from 1 to 536870911 behind U"),
        ("|S99999999999999999999", "dtype", SPELLING),
        ("<M8[eon]", "dtype", SPELLING),
        ("<M8[generic]", "dtype", SPELLING),
        ("<M8[]", "dtype", SPELLING),
        ("<M8[0s]", "dtype", SPELLING),
        ("<M8[2147483648s]", "dtype", SPELLING),
        ("<M8[s/7]", "dtype", SPELLING),
        ("<M4[s]", "dtype", "a size of 8 bytes behind M"),
        ("|M8[s]", "dtype", ORDER),
        ("<f8[s]", "dtype", SPELLING),
        ("|O[s]", "dtype", SPELLING),
        ("|O16", "dtype", SPELLING),
        ([], "dtype", f"at least one field, at most {MAX_FIELDS:,}"),
        ([["a", "<i4"]] * (MAX_FIELDS + 1), "dtype", f"at least one field, at most {MAX_FIELDS:,}"),
        (["a"], "dtype[0]", "a name and a data type, perhaps a shape"),
        ([["a"]], "dtype[0]", "a name and a data type, perhaps a shape"),
        ([["a", "<i4", [2], 1]], "dtype[0]", "a name and a data type, perhaps a shape"),
        ([[None, "<i4"]], "dtype[0].name", NAME),
        ([[0, "<i4"]], "dtype[0].name", NAME),
        ([[["title", "a"], "<i4"]], "dtype[0].name", NAME),
        ([["a", "<i4"], ["a", "<i2"]], "dtype[1].name", NAME),
        ([["f1", "<i4"], ["", "|V3"]], "dtype[1].name", NAME),
        ([["\ud800", "<i4"]], "dtype[0].name", NAME),
        ([["a", "|O"]], "dtype[0].data_type", "a data type of a fixed size"),
        ([["a", "<i4", [0]]], "dtype[0][2][0]", "an integer in [1, 2^63)"),
        ([["a", "<i4", -1]], "dtype[0][2][0]", "an integer in [1, 2^63)"),
        ([["a", "<i4", [2.0]]], "dtype[0][2][0]", "an integer in [1, 2^63)"),
        ([["a", "<i4", True]], "dtype[0][2]", "a list of integers"),
        ([["a", "<i4", [1] * 33]], "dtype[0][2]", "a shape of at most 32 lengths and 2^31 elements"),
        ([["a", "<i4", [2**40, 2**40]]], "dtype[0][2]", "a shape of at most 32 lengths and 2^31 elements"),
        ([["a", "|u1", [2**30]], ["b", "|u1", [2**30]]], "dtype", "fields of at most 2,147,483,647 bytes together"),
        ([["a", [["b", [["c", "f8"]]]]]], "dtype[0][1][0][1][0][1]", ORDER),
    ],
)
def test_problems(spelled: Any, place: str, expected: str) -> None:
    """row 57: what is no data type is a problem in its place; NumPy never gets to see it."""
    problems = Problems()
    assert from_typestr(spelled, "dtype", problems) is None
    assert [(problem.path, problem.expected) for problem in problems.items] == [(place, expected)]


def test_all_problems_of_a_struct_at_once() -> None:
    """row 57: a wrong field does not hide the next."""
    problems = Problems()
    assert from_typestr([["a", "f8"], ["b", "<i4", []], ["b", "x", 0]], "dtype", problems) is None
    assert [problem.path for problem in problems.items] == ["dtype[0][1]", "dtype[2][2][0]", "dtype[2][1]"]


def test_depth() -> None:
    """row 57: structs within each other, up to the cap and beyond it."""
    spelled: Any = "|u1"
    for _ in range(MAX_DEPTH):
        spelled = [["a", spelled]]
    assert read(spelled).dtype.itemsize == 1
    problems = Problems()
    assert from_typestr([["a", spelled]], "dtype", problems) is None
    assert [problem.expected for problem in problems.items] == [f"structs at most {MAX_DEPTH} deep"]


def test_types_that_numpy_lacks() -> None:
    """What v1 and v2 cannot spell has no typestr."""
    assert to_typestr(DataType.parse("bfloat16"), "little") is None
    assert to_typestr(DataType.parse({"name": "struct", "configuration": {"fields": FIELDS}}), "little") is None


FIELDS = [{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "bfloat16"}]

simple = st.one_of(
    numpy_strategies.boolean_dtypes(),
    numpy_strategies.integer_dtypes(),
    numpy_strategies.unsigned_integer_dtypes(),
    numpy_strategies.floating_dtypes(sizes=(16, 32, 64)),
    numpy_strategies.complex_number_dtypes(sizes=(64, 128)),
    numpy_strategies.datetime64_dtypes(),
    numpy_strategies.timedelta64_dtypes(),
    numpy_strategies.byte_string_dtypes(min_len=1),
    numpy_strategies.unicode_string_dtypes(min_len=1),
    st.integers(1, 20).map(lambda size: np.dtype(f"V{size}")),
)


@given(numpy_strategies.nested_dtypes(simple), st.sampled_from(["little", "big"]))
def test_any_type_of_numpy_survives(numpy: np.dtype[Any], endian: str) -> None:
    """V-1: spelled in either order and read again, it is the same data type in that order, or has none."""
    if numpy.subdtype is not None:
        numpy = numpy.base
    dtype = DataType.parse(numpy)
    found = read(json.loads(json.dumps(to_typestr(dtype, endian))))
    assert found.dtype == dtype
    assert found.endian == (endian if dtype.swap else None)


junk: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 3),
        st.floats(),
        st.text(max_size=3),
        st.builds(
            "".join,
            st.tuples(
                st.sampled_from(["", "<", ">", "|", "=", "!"]),
                st.sampled_from("biufcSUVMmOgG?aTt"),
                st.sampled_from(["", "0", "1", "2", "4", "8", "-8", "8.0", "٣", "2147483647", "9" * 20]),
                st.sampled_from(["", "", "[ns]", "[25s]", "[0s]", "[", "[S]"]),
            ),
        ),
    ),
    lambda inner: st.lists(
        st.one_of(inner, st.tuples(st.sampled_from("ab"), inner).map(list), st.lists(inner, max_size=3)), max_size=3
    ),
    max_leaves=8,
)


@given(junk)
def test_any_document_is_a_type_or_a_problem(spelled: Any) -> None:
    """row 57: never both, never neither, and never an error of NumPy."""
    problems = Problems()
    found = from_typestr(spelled, "dtype", problems)
    assert (found is None) == bool(problems.items)
    if found is not None:
        assert read(to_typestr(found.dtype, found.endian)) == found
