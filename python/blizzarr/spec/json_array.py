"""Arrays in JSON: nested lists, whose elements have the JSON of their data type; and the fill values of schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_members import (
    as_bool,
    as_float,
    as_integer,
    as_text,
    float_of_text,
    integer_of_text,
    nested,
    number_in,
)
from blizzarr.json_values import braces, dump, plain
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.dtype import DType, as_dtype


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
    if dtype.name.startswith("complex") or dtype.name in ("char", "byte"):
        raise SpecError(f"Conversion from {dtype.name} to JSON is not implemented")
    if dtype.name == "string":
        array = np.array([element.decode() for element in array.flat], object).reshape(array.shape)
    return plain(array.tolist())


# Elements: numbers and booleans may also be texts.

_TRUTH = {"true": True, "false": False}


def as_element(dtype: DType) -> Callable[[Any], Any]:
    """Return a parser of JSON for elements of a data type."""
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
        wide = {"int64": "64-bit signed integer", "uint64": "64-bit unsigned integer"}
        exact = as_integer(*integer_range(dtype), wide.get(name, ""))
        return lambda value: exact(number_in(value, integer_of_text))
    if name.startswith(("float", "bfloat")):
        return lambda value: _rounded(as_float(number_in(value, float_of_text)), dtype)
    raise SpecError(f"Conversion from JSON to {name} is not implemented")


def _rounded(value: float, dtype: DType) -> Any:
    with np.errstate(over="ignore"):
        return np.float64(value).astype(dtype.numpy_dtype)


def integer_range(dtype: DType) -> tuple[int, int]:
    bits = int(dtype.name.removeprefix("u").removeprefix("int"))
    return (0, (1 << bits) - 1) if dtype.name.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


Array = np.ndarray[Any, np.dtype[Any]]


def fill_from_user(value: Any, dtype: DType | None) -> tuple[Array, DType]:
    """Convert a user's fill value to an array, of the data type if that is known.

    Dimensions along which nothing changes have length 1, and are left out in front.
    """
    if dtype is None:
        array = np.asarray(value)
        dtype = dtype_of(array)
    else:
        array = np.asarray(value, dtype.numpy_dtype)
    if array.dtype == object:
        array = as_objects(array, dtype)
    return unbroadcast(array), dtype


def dtype_of(array: Array) -> DType:
    """Return the data type of an array; that of objects is JSON."""
    return DType("json") if array.dtype == object else as_dtype(array.dtype)


def as_object(element: Any, dtype: DType) -> Any:
    """Return an element of a data type whose elements are objects: a text, bytes, or JSON."""
    if dtype.name == "json":
        try:
            return plain(element)
        except ValueError as error:
            raise TypeError(f"expected JSON, found {element!r}") from error
    wanted: type = bytes if dtype.name == "string" else str
    if isinstance(element, wanted):
        # NumPy's scalars of texts and bytes are ours, too.
        return element if type(element) is wanted else wanted(element)
    raise TypeError(f"expected {wanted.__name__}, {type(element).__name__} found")


def as_objects(array: Array, dtype: DType) -> Array:
    objects = np.empty(array.shape, object)
    for position, element in np.ndenumerate(array):
        objects[position] = as_object(element, dtype)
    return objects


def unbroadcast(array: Array) -> Array:
    """Return the array without repetitions that broadcasting restores.

    >>> unbroadcast(np.broadcast_to(np.arange(3), (2, 3)))
    array([0, 1, 2])
    """
    steps = zip(array.shape, array.strides, strict=True)
    # The ellipsis keeps an array without dimensions one.
    array = array[
        (*(slice(0, 1) if (size and not stride) or size == 1 else slice(None) for size, stride in steps), ...)
    ]
    needed = next((dim for dim, size in enumerate(array.shape) if size != 1), array.ndim)
    array = array.reshape(array.shape[needed:]).copy()
    array.flags.writeable = False
    return array


def check_broadcast(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    aligned = target[len(target) - len(shape) :] if len(shape) <= len(target) else None
    if aligned is None or any(size not in (1, wanted) for size, wanted in zip(shape, aligned, strict=True)):
        raise SpecError(f"Cannot broadcast array of shape {braces(shape)} to target shape {braces(target)}")


def shown(array: Array, dtype: DType | None = None) -> str:
    """Format an array for an error message.

    >>> shown(np.array([[1, 2]])), shown(np.array(1.5))
    ('{{1, 2}}', '1.5')
    """
    if array.ndim:
        return f"{{{', '.join(shown(array[number, ...]) for number in range(len(array)))}}}"
    value = array[()]
    if array.dtype == object:
        text = value.decode(errors="replace") if isinstance(value, bytes) else value
        return str(text) if dtype is not None and dtype.name != "json" else dump(text)
    return f"{value:g}" if isinstance(value, float | np.floating) else str(value)


def fill_json(array: Array) -> Any:
    """The array as nested JSON arrays; a complex number is the pair of its parts."""
    if array.dtype.kind == "c":
        return fill_json(np.stack([array.real, array.imag], -1))
    with prefixed('Error converting object member "fill_value"'):
        return array_json(array, dtype_of(array))


def fill_from_json(value: Any, dtype: DType | None) -> tuple[Array, DType]:
    """Parse an array from JSON; without a data type, one of JSON values."""
    dtype = dtype or DType("json")
    return unbroadcast(array_from_json(value, dtype)), dtype
