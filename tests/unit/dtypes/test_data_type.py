"""Data types: what users mean by them, what documents say."""

from __future__ import annotations

import builtins
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.dtypes import DataType, ml, table
from blizzarr.errors import MetadataError, UnknownExtensionError

CORE = [row[0] for row in table._ROWS]


@pytest.mark.parametrize("name", CORE)
def test_core_names_are_numpy_names(name: str) -> None:
    """D-16 to D-27: each core type is the NumPy dtype of the same name."""
    dtype = DataType.parse(name)
    assert dtype.name == name
    assert dtype.numpy == np.dtype(name)
    assert dtype.itemsize == np.dtype(name).itemsize
    assert dtype.boolean is (name == "bool")
    assert dtype.to_json() == name
    assert DataType.from_json(name) is dtype


@pytest.mark.parametrize(
    ("name", "unit"),
    [("bool", 0), ("int8", 0), ("int16", 2), ("float64", 8), ("complex64", 4), ("complex128", 8), ("r64", 0)],
)
def test_swap_unit(name: str, unit: int) -> None:
    """F-9, D-166: what is reversed is an element, but half of a complex number, and nothing of raw bits."""
    assert DataType.parse(name).swap_unit == unit


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("<f4", "float32"),
        (">i2", "int16"),
        (float, "float64"),
        (bool, "bool"),
        (np.uint8, "uint8"),
        (np.dtype(">c16"), "complex128"),
        ("V3", "r24"),
        (np.dtype("V16"), "r128"),
        ("M8[ns]", "numpy.datetime64"),
        (">m8[10s]", "numpy.timedelta64"),
        ({"name": "float32"}, "float32"),
        ("bfloat16", "bfloat16"),
        ("S5", "null_terminated_bytes"),
        (">U4", "fixed_length_utf32"),
        ("M8", "numpy.datetime64"),
        (str, "string"),
        (bytes, "bytes"),
        (np.dtypes.StringDType(), "string"),
        ("variable_length_bytes", "bytes"),
        ("binary", "bytes"),
        (object, "object"),
        ("object", "object"),
        ([("a", ">i4"), ("b", "S2")], "struct"),
        ("float32,float32", "struct"),
        ({"names": ["a", "b"], "formats": ["u1", "i4"], "offsets": [0, 8]}, "struct"),
    ],
)
def test_parse(value: Any, name: str) -> None:
    """Names, NumPy dtypes of either byte order, Python types and documents."""
    dtype = DataType.parse(value)
    assert dtype.name == name
    assert dtype.numpy.isnative
    assert DataType.parse(dtype) is dtype


@pytest.mark.parametrize(
    "value",
    [
        *(
            "nope",
            None,
            "r7",
            "V0",
            3,
            "\ud800",
            "U99999999999",
            "f16",
            "g",
            "M8[eon]",
            [],
            {},
            {"name": "nope"},
        ),
        *("numpy.datetime64", "struct", "structured", "fixed_length_utf32", "null_terminated_bytes"),
        *([("a", "O")], [("a", "f16")], ("i4", (2,)), [("a", "i4"), ("a", "i4")], {"names": ["a"], "formats": []}),
        *({"name": "null_terminated_bytes", "configuration": {"length_bytes": 0}}, np.dtype([])),
    ],
)
def test_parse_refuses(value: Any) -> None:
    """row 57: what is no data type is named in the error."""
    with pytest.raises(MetadataError) as caught:
        DataType.parse(value)
    assert caught.value.problems[0].path.startswith("data_type")


@pytest.mark.parametrize(
    ("value", "supplier"),
    [
        ({"name": "subarray", "configuration": {}}, "only v1, v2 and the draft have"),
        ({"name": "swapped", "configuration": {}}, "both byte orders"),
    ],
)
def test_types_known_by_name(value: Any, supplier: str) -> None:
    """row 53: a type that Zarr has and we have not is named, with who reads it."""
    with pytest.raises(UnknownExtensionError, match=supplier):
        DataType.parse(value)


@pytest.mark.parametrize(
    ("value", "size", "said"),
    [
        ("S5", 5, {"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}}),
        ("U5", 20, {"name": "fixed_length_utf32", "configuration": {"length_bytes": 20}}),
        ("|S0", 8, "bytes"),
        ("<U0", 8, "string"),
    ],
)
def test_texts(value: str, size: int, said: Any) -> None:
    """row 57: text and byte strings of a fixed length; without one, of any."""
    dtype = DataType.parse(value)
    assert (dtype.itemsize, dtype.to_json()) == (size, said)
    assert DataType.from_json(said) == dtype


STRUCT: Any = [("a", ">i4"), ("n", [("x", "S2"), ("y", "U1")], (2,))]


@pytest.mark.parametrize("name", [*CORE, "r24", *ml.ROWS, "S5", "U5", "M8[25s]", "string", "object", STRUCT])
def test_pickle_and_equality(name: Any) -> None:
    """A pickled data type is the same one, also where NumPy has no such dtype."""
    dtype = DataType.parse(name)
    again = pickle.loads(pickle.dumps(dtype))
    assert again == dtype
    assert hash(again) == hash(dtype)
    assert again.numpy == dtype.numpy


def test_time_types_differ_by_unit() -> None:
    """Two units are two types, with one name."""
    assert DataType.parse("M8[ns]") != DataType.parse("M8[us]")
    assert str(DataType.parse("M8[ns]")) == "datetime64[ns]"


def test_ml_dtypes_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ml_dtypes, the error names the extra that brings it."""
    real = builtins.__import__
    monkeypatch.setattr("importlib.import_module", lambda name: real("no_such_package_at_all"))
    table._TABLE.pop("float8_e5m2", None)
    with pytest.raises(UnknownExtensionError, match=r"blizzarr\[ml\]"):
        DataType.parse("float8_e5m2")


@pytest.mark.parametrize("name", ml.ROWS)
def test_narrow_types_take_whole_bytes(name: str) -> None:
    """K-47: one byte per element in memory and in `bytes`, two for bfloat16."""
    assert DataType.parse(name).itemsize == (2 if name == "bfloat16" else 1)


REGISTERED = [
    "bfloat16",
    "bool",
    "bytes",
    "complex128",
    "complex64",
    "complex_bfloat16",
    "complex_float16",
    "complex_float32",
    "complex_float4_e2m1fn",
    "complex_float64",
    "complex_float6_e2m3fn",
    "complex_float6_e3m2fn",
    "complex_float8_e3m4",
    "complex_float8_e4m3",
    "complex_float8_e4m3b11fnuz",
    "complex_float8_e4m3fnuz",
    "complex_float8_e5m2",
    "complex_float8_e5m2fnuz",
    "complex_float8_e8m0fnu",
    "fixed_length_utf32",
    "float16",
    "float32",
    "float4_e2m1fn",
    "float64",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "int16",
    "int2",
    "int32",
    "int4",
    "int64",
    "int8",
    "numpy.datetime64",
    "numpy.timedelta64",
    "r8",
    "string",
    "struct",
    "structured",
    "uint16",
    "uint2",
    "uint32",
    "uint4",
    "uint64",
    "uint8",
]


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_names_are_known(name: str) -> None:
    """row 53: every registered data type is supported."""
    field = {"name": "a", "data_type": "int8"}
    configurations = {
        "numpy.datetime64": {"unit": "s", "scale_factor": 1},
        "numpy.timedelta64": {"unit": "s", "scale_factor": 1},
        "fixed_length_utf32": {"length_bytes": 4},
        "struct": {"fields": [field]},
        "structured": {"fields": [["a", "int8"]]},
    }
    document = {"name": name, "configuration": configurations[name]} if name in configurations else name
    kind = DataType.from_json(document)
    assert kind is not None
    if not name.startswith("complex_float") or name[13:] not in ("32", "64"):
        assert kind.name == name


@pytest.mark.parametrize("name", [name for name in REGISTERED if name.startswith("complex")])
def test_complex_numbers_of_any_width(name: str, tmp_path: Path) -> None:
    """K-47: two parts, each as its own type; the fill value is a pair, and a user gives a complex number."""
    kind = DataType.parse(name)
    one, zero = (2.0, 1.0) if "e8m0" in name else (-1.5, 0.0)
    array = blizzarr.create_array(tmp_path, shape=3, dtype=name, fill_value=complex(one, 1), compressors=None)
    document = json.loads((tmp_path / "zarr.json").read_text())
    assert document["fill_value"] == [one, 1.0]
    assert document["data_type"] == kind.to_json()
    part = kind.part.numpy
    pairs = np.array([[1, 2], [one, 4], [zero or 2, 1]]).astype(part)
    array[:] = pairs.view(kind.numpy)[:, 0]
    assert (tmp_path / "c" / "0").read_bytes() == pairs.tobytes()
    again = blizzarr.open_array(tmp_path)
    assert again.dtype == kind.numpy
    assert again[1:].tobytes() == pairs[1:].tobytes()
    assert again.fill_value.tobytes() == np.array([one, 1]).astype(part).tobytes()
