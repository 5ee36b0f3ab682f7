"""Arrays in JSON: nested lists, whose elements have the JSON of their data type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_members import as_bool, as_float, as_integer, as_text, nested, number_in
from blizzarr.json_values import plain
from blizzarr.number_text import float_of_text, integer_of_text
from blizzarr.spec.dtype import DType


def array_from_json(value: Any, dtype: DType, rank: int | None = None) -> np.ndarray[Any, Any]:
    """Parse an array from nested lists.

    >>> array_from_json([[1, 2], [3, 4]], DType("int8"))
    array([[1, 2],
           [3, 4]], dtype=int8)
    """
    shape, elements = nested(value, as_element(dtype))
    array = np.empty(len(elements), dtype.numpy_dtype)
    # One by one, as a list among the elements is an element of JSON.
    for position, element in enumerate(elements):
        array[position] = element
    if rank is not None and len(shape) != rank:
        raise SpecError(f"Array rank ({len(shape)}) does not match expected rank ({rank})")
    return array.reshape(shape)


def array_json(array: np.ndarray[Any, Any], dtype: DType) -> Any:
    """The array as nested lists.

    >>> array_json(np.array([0.5, np.nan], "float32"), DType("float32"))
    [0.5, nan]
    """
    return _lists(array.tolist() if array.dtype.kind != "O" else array, array.ndim, dtype)


def _lists(values: Any, depth: int, dtype: DType) -> Any:
    if depth:
        return [_lists(part, depth - 1, dtype) for part in values]
    if isinstance(values, np.ndarray):
        values = values[()]
    name = dtype.name
    if name == "string" and isinstance(values, bytes):
        return values.decode("utf-8")
    if name in ("string", "ustring", "json"):
        return plain(values)
    for begin, kind in (("bool", bool), ("int", int), ("uint", int), ("float", float), ("bfloat", float)):
        if name.startswith(begin):
            return kind(values)
    raise SpecError(f"Conversion from {name} to JSON is not implemented")


# Elements: numbers and booleans may also be texts.

_TRUTH = {"true": True, "false": False}


def as_element(dtype: DType) -> Callable[[Any], Any]:
    """Return a parser of JSON for elements of a data type.

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
        return lambda value: _rounded(as_float(number_in(value, float_of_text)), dtype)
    raise SpecError(f"Conversion from JSON to {name} is not implemented")


def _integer_of(exact: Callable[[Any], int]) -> Callable[[Any], int]:
    def integer(value: Any) -> int:
        try:
            return exact(number_in(value, integer_of_text))
        except SpecError:
            # The error shows the text.
            return exact(value)

    return integer


def _rounded(value: float, dtype: DType) -> Any:
    with np.errstate(over="ignore"):
        return np.float64(value).astype(dtype.numpy_dtype)


def integer_range(dtype: DType) -> tuple[int, int]:
    """Return the least and the greatest integer of a data type.

    >>> integer_range(DType("int4")), integer_range(DType("uint16"))
    ((-8, 7), (0, 65535))
    """
    bits = int(dtype.name.removeprefix("u").removeprefix("int"))
    return (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


def as_integer_of(dtype: DType) -> Callable[[Any], int]:
    """Return a parser of JSON for integers of a data type."""
    names = {"int64": "64-bit signed integer", "uint64": "64-bit unsigned integer"}
    return as_integer(*integer_range(dtype), names.get(dtype.name, ""))
