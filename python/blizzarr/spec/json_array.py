"""Arrays in JSON: lists in lists, elements as their data type says them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_values import dump, expected, plain
from blizzarr.spec.dtype import DType
from blizzarr.spec.members import as_bool, as_integer, as_text

__all__ = ["array_from_json", "array_json"]

_UNBOUNDED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

_BITS = {"int2": 2, "int4": 4}


def array_from_json(value: Any, dtype: DType, rank: int | None = None) -> np.ndarray[Any, Any]:
    """The array that nested lists say.

    Examples
    --------
    >>> array_from_json([[1, 2], [3, 4]], DType("int8"))
    array([[1, 2],
           [3, 4]], dtype=int8)
    """
    parse = _parser(dtype)
    shape = _shape(value)
    array = np.empty(shape, dtype.numpy_dtype)
    for position, element in _elements(value, shape, ()):
        try:
            array[position] = parse(element)
        except SpecError as error:
            where = ", ".join(map(str, position))
            raise SpecError(f"Error parsing array element at position {{{where}}}: {error.reason}") from error
    if rank is not None and array.ndim != rank:
        raise SpecError(f"Array rank ({array.ndim}) does not match expected rank ({rank})")
    return array


def array_json(array: np.ndarray[Any, Any], dtype: DType) -> Any:
    """The array as nested lists.

    Examples
    --------
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


def _shape(value: Any) -> tuple[int, ...]:
    """What the first element of each list says."""
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return tuple(shape)


def _elements(value: Any, shape: tuple[int, ...], position: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    depth = len(position)
    where = "{" + ", ".join(map(str, position)) + "}"
    if depth == len(shape):
        if isinstance(value, list):
            raise SpecError(
                f"Expected rank-{len(shape)} array, but found array element {dump(value)} at position {where}."
            )
        yield position, value
        return
    if not isinstance(value, list):
        raise SpecError(
            f"Expected rank-{len(shape)} array, but found non-array element {dump(value)} at position {where}."
        )
    if len(value) != shape[depth]:
        raise SpecError(
            f"Expected array of shape {{{', '.join(map(str, shape))}}}, "
            f"but found array element {dump(value)} of length {len(value)} at position {where}."
        )
    for number, element in enumerate(value):
        yield from _elements(element, shape, (*position, number))


def _parser(dtype: DType) -> Callable[[Any], Any]:
    """What makes an element of what JSON says."""
    name = dtype.name
    if name == "bool":
        return as_bool
    if name == "string":
        return lambda value: as_text(value).encode("utf-8")
    if name == "ustring":
        return as_text
    if name == "json":
        return lambda value: value
    if name.startswith(("int", "uint")):
        bits = _BITS.get(name) or dtype.numpy_dtype.itemsize * 8
        if name.startswith("uint"):
            return as_integer(0, (1 << bits) - 1)
        return as_integer(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    if name.startswith(("float", "bfloat")):
        return lambda value: _rounded(_number(value), dtype)
    raise SpecError(f"Conversion from JSON to {name} is not implemented")


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value in _UNBOUNDED:
        return _UNBOUNDED[value]
    raise expected(value, "64-bit floating-point number")


def _rounded(value: float, dtype: DType) -> Any:
    with np.errstate(over="ignore"):
        return np.float64(value).astype(dtype.numpy_dtype)
