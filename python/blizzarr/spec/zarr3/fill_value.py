"""Fill values of ``zarr3``: JSON for one element, exact to the bit."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_values import expected
from blizzarr.spec.dtype import DType
from blizzarr.spec.fill_value import check_broadcast
from blizzarr.spec.json_element import as_integer_of
from blizzarr.spec.members import as_bool, at_position

__all__ = ["NAMES", "Element", "check_dtype", "converted", "element_json", "element_to_json", "same_bits", "zero"]

Element = np.ndarray[Any, np.dtype[Any]]
"""An array without dimensions."""

_FLOATS: Final = (
    "float8_e3m4",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn",
    "float16",
    "bfloat16",
    "float32",
    "float64",
)
_INTEGERS: Final = ("int2", "int4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_BYTES: Final = ("char", "byte")
_COMPLEX: Final = {"complex64": "float32", "complex128": "float64"}
NAMES: Final = ("bool", *_INTEGERS, *_FLOATS, *_COMPLEX)
"""The data types that ``zarr3`` has."""


def check_dtype(dtype: DType, others: str = "") -> DType:
    """Raise if ``zarr3`` lacks the data type."""
    if dtype.name not in NAMES:
        raise SpecError(f"{dtype.name} data type is not one of the supported data types: {', '.join(NAMES)}{others}")
    return dtype


def zero(dtype: DType) -> Element:
    """Return zero, or false.

    Examples
    --------
    >>> zero(DType("bool"))
    array(False)
    """
    return np.zeros((), dtype.numpy_dtype)


def converted(fill: np.ndarray[Any, Any], said: DType, dtype: DType, shape: tuple[int, ...] = ()) -> Element:
    """Convert the fill value of a schema to an element of this data type, or several if elements have a shape.

    Examples
    --------
    >>> converted(np.array(2.7), DType("float64"), DType("int8"))
    array(2, dtype=int8)
    """
    check_broadcast(fill.shape, shape)
    fill = np.broadcast_to(fill, shape)
    if said.name == "json":
        values = [_from_json(value, dtype) for value in fill.reshape(-1)]
        return np.array(values, dtype._element_dtype).reshape(shape)
    if said.name != dtype.name and not {said.name, dtype.name}.isdisjoint(_BYTES):
        raise SpecError(f"Cannot convert {said.name} -> {dtype.name}")
    if said.name in _COMPLEX and dtype.name not in _COMPLEX:
        raise SpecError(f"Explicit data type conversion required to convert {said.name} -> {dtype.name}")
    with np.errstate(over="ignore", invalid="ignore"):
        return fill.astype(dtype._element_dtype)


def _from_json(value: Any, dtype: DType) -> Element:
    if dtype.name in _COMPLEX or dtype.name in _BYTES:
        raise SpecError(f"Cannot convert json -> {dtype.name}")
    if dtype.name in _FLOATS and isinstance(value, bool | str):
        raise expected(value, "64-bit floating-point number")
    return element_json(value, dtype)


def element_json(value: Any, dtype: DType) -> Element:
    """Parse an element from JSON.

    Examples
    --------
    >>> element_json("0x7fc00001", DType("float32")), element_json(7, DType("int4"))
    (array(nan, dtype=float32), array(7, dtype=int4))
    """
    name = dtype.name
    if name == "bool":
        return np.array(as_bool(value))
    if name in _INTEGERS:
        return np.array(as_integer_of(dtype)(value)).astype(dtype.numpy_dtype)
    if name in _FLOATS:
        return _float(value, dtype)
    if not isinstance(value, list):
        raise expected(value, "array")
    if len(value) != 2:
        raise SpecError(f"Array has length {len(value)} but should have length 2")
    part = DType(_COMPLEX[name])
    return np.array([_part(position, value, part) for position in range(2)]).view(dtype.numpy_dtype).reshape(())


def _part(position: int, value: list[Any], part: DType) -> Element:
    return at_position(position, value, lambda number: _float(number, part))


def _float(value: Any, dtype: DType) -> Element:
    numpy_dtype = dtype.numpy_dtype
    if isinstance(value, str):
        if value == "NaN":
            return _nan(dtype)
        if value in ("Infinity", "-Infinity"):
            return np.array(float(value.replace("Infinity", "inf"))).astype(numpy_dtype)
        return _from_bits(value, numpy_dtype)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise expected(value, "floating-point number")
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array(float(value)).astype(numpy_dtype)


_QUIET: Final = {"float16": 0x7E00, "bfloat16": 0x7FC0, "float32": 0x7FC00000, "float64": 0x7FF8000000000000}


def _nan(dtype: DType) -> Element:
    if dtype.name in _QUIET:
        numpy_dtype = dtype.numpy_dtype
        return np.array(_QUIET[dtype.name], f"u{numpy_dtype.itemsize}").view(numpy_dtype)
    return np.array(float("nan")).astype(dtype.numpy_dtype)


def _from_bits(value: str, numpy_dtype: np.dtype[Any]) -> Element:
    size = numpy_dtype.itemsize
    digits = value[2:]
    if not value.startswith("0x") or not 1 <= len(digits) <= 2 * size or set(digits) - set("0123456789abcdefABCDEF"):
        raise expected(value, '"Infinity", "-Infinity", "NaN", or hex string')
    return np.array(int(digits, 16), f"u{size}").view(numpy_dtype)


def element_to_json(element: Element, dtype: DType) -> Any:
    """The element as JSON.

    Examples
    --------
    >>> element_to_json(np.array(complex(1, np.inf), "c8"), DType("complex64"))
    [1.0, 'Infinity']
    """
    if dtype.name == "bool":
        return bool(element)
    if dtype.name in _INTEGERS:
        return int(element)
    if dtype.name in _FLOATS:
        return _float_to_json(element, dtype)
    part = DType(_COMPLEX[dtype.name])
    return [_float_to_json(number, part) for number in element.reshape(1).view(part.numpy_dtype)]


def _float_to_json(element: Any, dtype: DType) -> Any:
    number = float(element)
    if number == number:
        return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(number, number)
    array = np.asarray(element)
    size = array.dtype.itemsize
    if same_bits(array, _nan(dtype)):
        return "NaN"
    return f"0x{int.from_bytes(array.tobytes(), 'little'):0{2 * size}x}"


def same_bits(a: Element, b: Element) -> bool:
    """Return whether two elements of one data type have the same bits."""
    return a.tobytes() == b.tobytes()
