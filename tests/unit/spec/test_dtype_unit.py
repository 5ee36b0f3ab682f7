"""Data types and units, each asked of TensorStore too."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tensorstore as ts

from blizzarr.spec.dtype import DTYPES, DType
from blizzarr.spec.unit import Unit

DTYPE_LIKE: list[Any] = [
    *(value.name for value in vars(ts).values() if isinstance(value, ts.dtype)),
    *(np.dtype(letter) for letter in "?bhilqBHILQefdgFDGSVOUMm"),
    np.dtype(">i4"),
    np.dtype("S3"),
    np.dtype("V3"),
    np.dtype([("a", "i4")]),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    object,
    list,
    np.str_,
    np.bytes_,
    np.longdouble,
    ml_dtypes.bfloat16,
    ml_dtypes.int4,
    ml_dtypes.uint4,
    ml_dtypes.float8_e4m3,
    ml_dtypes.float8_e5m2,
    "float",
    "<i4",
    "é",
    "",
    None,
    5,
    [1],
    np.int8(3),
]
CALLS: list[tuple[str, Any]] = [
    ("uint8", 5),
    ("int8", 300),
    ("int4", 9),
    ("bool", 0),
    ("json", (1, np.float32(2))),
    ("json", b"x"),
    ("json", object()),
    ("ustring", 5),
    ("string", b"a"),
    ("string", "a"),
    ("float8_e4m3fn", 1.5),
]
UNITS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    *(((value,), {}) for value in (3, 3.5, 1e21, 1e6, 1234567, 1 / 3, 1e-5, float("nan"), -1, True, np.float32(3))),
    *(((text,), {}) for text in ("4nm", "  4  nm ", ".5e3nm", "5.", "-5 nm", "+5 nm", "5e", "nm 5", "", "1e400nm")),
    *(((text,), {}) for text in ("é\n", "3\tnm", "3e5", "\v3\v", b"nm", "٣nm")),
    *(((value,), {}) for value in ((3, "nm"), [3, "nm"], (3,), None, ("3", "nm"), object())),
    *(
        ((), {"json": value})
        for value in ([3, "nm"], "3nm", 3, [0, "nm"], [-1, "nm"], ["a", "nm"], None, [3], {}, True)
    ),
    *(((), {"json": value}) for value in ([3, 4], [True, "nm"], [float("inf"), ""], [1, 2, 3])),
    ((3, "nm"), {}),
    (("3", "nm"), {}),
    (("3nm", 5), {}),
    ((), {"multiplier": 3, "base_unit": "x"}),
    ((), {"unit": "3nm"}),
    ((), {"unit": (3, "nm")}),
]


def outcome(act: Callable[[], Any]) -> tuple[str, str]:
    """What it gives, or the class of the error, with the text unless that is one of TensorStore's about arguments."""
    try:
        return "gives", repr(act())
    except (TypeError, OverflowError) as error:
        return type(error).__name__, ""
    except ValueError as error:
        return "ValueError", str(error)


@pytest.mark.parametrize("value", DTYPE_LIKE, ids=repr)
def test_whatever_means_a_data_type(value: Any) -> None:
    """Names, dtypes of NumPy and types of Python mean the same as they do to TensorStore."""
    ours = outcome(lambda: DType(value))
    assert ours == outcome(lambda: ts.dtype(value))
    if ours[0] == "gives":
        a, b = DType(value), ts.dtype(value)
        assert (a.name, a.to_json(), a.type) == (b.name, b.to_json(), b.type)
        assert a.numpy_dtype == b.numpy_dtype
        assert a == value
        assert pickle.loads(pickle.dumps(a)) == a
    assert outcome(lambda: DType("int8") == value) == outcome(lambda: ts.int8 == value)


@pytest.mark.parametrize(("name", "value"), CALLS)
def test_elements_are_made(name: str, value: Any) -> None:
    """Calling a data type makes an element of it."""
    assert outcome(lambda: DTYPES[name](value)) == outcome(lambda: ts.dtype(name)(value))


@pytest.mark.parametrize(("args", "named"), UNITS)
def test_units(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """However they are given, units are what they are to TensorStore."""
    ours = outcome(lambda: Unit(*args, **named))
    assert ours == outcome(lambda: ts.Unit(*args, **named))
    if ours[0] == "gives":
        a, b = Unit(*args, **named), ts.Unit(*args, **named)
        assert str(a) == str(b)
        assert outcome(a.to_json) == outcome(b.to_json)
        assert repr(a * 2.5) == repr(b * 2.5)
        assert repr(a / 2.5) == repr(b / 2.5)
        assert repr(pickle.loads(pickle.dumps(a))) == repr(a)
        assert (a == Unit("3nm")) == (b == ts.Unit("3nm"))
