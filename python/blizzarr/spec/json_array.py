"""Arrays in JSON: nested lists, whose elements have the JSON of their data type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_values import dump, plain
from blizzarr.spec.dtype import DType
from blizzarr.spec.json_element import as_element

__all__ = ["array_from_json", "array_json"]


def array_from_json(value: Any, dtype: DType, rank: int | None = None) -> np.ndarray[Any, Any]:
    """Parse an array from nested lists.

    Examples
    --------
    >>> array_from_json([[1, 2], [3, 4]], DType("int8"))
    array([[1, 2],
           [3, 4]], dtype=int8)
    """
    parse = as_element(dtype)
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
    """Return the shape, from the first element of each list."""
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
