"""Elements in JSON: numbers and booleans may also be texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.number_text import float_of_text, integer_of_text
from blizzarr.spec.dtype import DType
from blizzarr.spec.members import as_bool, as_float, as_integer, as_text

_TRUTH = {"true": True, "false": False}


def as_element(dtype: DType) -> Callable[[Any], Any]:
    """Return a parser of JSON for elements of a data type.

    Examples
    --------
    >>> as_element(DType("uint8"))("12"), as_element(DType("float32"))("NaN"), as_element(DType("string"))("é")
    (12, np.float32(nan), b'\\xc3\\xa9')
    >>> as_element(DType("uint8"))("256")
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Expected integer in the range [0, 255], but received: "256"
    """
    name = dtype.name
    if name == "json":
        return lambda value: value
    if name == "bool":
        return lambda value: as_bool(_TRUTH.get(value, value) if isinstance(value, str) else value)
    if name == "ustring":
        return as_text
    if name == "string":
        return lambda value: as_text(value).encode()
    if name.startswith(("int", "uint")):
        return _integer_of(as_integer_of(dtype))
    if name.startswith(("float", "bfloat")):
        return lambda value: _rounded(as_float(_number_of(value, float_of_text)), dtype)
    raise SpecError(f"Conversion from JSON to {name} is not implemented")


def _number_of(value: Any, read: Callable[[str], float | None]) -> Any:
    """Parse a number in a text; return other values, and other texts, unchanged."""
    number = read(value) if isinstance(value, str) else None
    return value if number is None else number


def _integer_of(exact: Callable[[Any], int]) -> Callable[[Any], int]:
    def integer(value: Any) -> int:
        try:
            return exact(_number_of(value, integer_of_text))
        except SpecError:
            # The error shows the text.
            return exact(value)

    return integer


def _rounded(value: float, dtype: DType) -> Any:
    with np.errstate(over="ignore"):
        return np.float64(value).astype(dtype.numpy_dtype)


def integer_range(dtype: DType) -> tuple[int, int]:
    """Return the least and the greatest integer of a data type.

    Examples
    --------
    >>> integer_range(DType("int4")), integer_range(DType("uint16"))
    ((-8, 7), (0, 65535))
    """
    bits = int(dtype.name.removeprefix("u").removeprefix("int"))
    return (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


def as_integer_of(dtype: DType) -> Callable[[Any], int]:
    """Return a parser of JSON for integers of a data type."""
    names = {"int64": "64-bit signed integer", "uint64": "64-bit unsigned integer"}
    return as_integer(*integer_range(dtype), names.get(dtype.name, ""))
