"""Data types and fill values of ``zarr``, as its documents spell them."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any, Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_values import dump, expected, quote
from blizzarr.spec.dtype import DType
from blizzarr.spec.members import as_bool, as_integer, at_position

__all__ = ["dtype_of", "dtype_spelled", "element_json", "element_to_json", "spell"]

Element = np.ndarray[Any, np.dtype[Any]]
_SIZED: Final = {
    "b1": "bool",
    "i1": "int8",
    "i2": "int16",
    "i4": "int32",
    "i8": "int64",
    "u1": "uint8",
    "u2": "uint16",
    "u4": "uint32",
    "u8": "uint64",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "c8": "complex64",
    "c16": "complex128",
}
_LETTERS: Final = {name: letters for letters, name in _SIZED.items()}
_ML: Final = (
    "bfloat16",
    "float8_e3m4",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn",
    "int2",
    "int4",
)
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_HEX: Final = re.compile(r"[-+]?0[xX][0-9a-fA-F.]+(?:[pP][-+]?\d+)?")


def dtype_spelled(value: Any) -> str:
    """The spelling itself, if it is one of a data type.

    Examples
    --------
    >>> dtype_spelled(">i4"), dtype_spelled("bfloat16")
    ('>i4', 'bfloat16')
    >>> dtype_spelled("<M8[s]")
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Unsupported zarr dtype: "<M8[s]"
    """
    if not isinstance(value, str):
        raise expected(value, "array")
    order, letters = value[:1], value[1:]
    known = letters in _SIZED and order in ("<", ">", "|")
    if value not in _ML and (not known or (order == "|" and letters[1:] != "1")):
        raise SpecError(f"Unsupported zarr dtype: {quote(value)}")
    return value


def dtype_of(spelled: str) -> DType:
    """The data type of a spelling.

    Examples
    --------
    >>> dtype_of(">i4"), dtype_of("int4")
    (dtype("int32"), dtype("int4"))
    """
    return DType(spelled if spelled in _ML else _SIZED[spelled[1:]])


def spell(dtype: DType) -> str:
    """The spelling that new arrays get.

    Examples
    --------
    >>> spell(DType("int32")), spell(DType("bool")), spell(DType("bfloat16"))
    ('<i4', '|b1', 'bfloat16')
    """
    if dtype.name in _ML:
        return dtype.name
    if dtype.name not in _LETTERS:
        raise SpecError(f"Data type not supported: {dtype.name}")
    letters = _LETTERS[dtype.name]
    return f"{'|' if letters[1:] == '1' else '<'}{letters}"


def element_json(value: Any, spelled: str) -> Element | None:
    """The fill value that JSON says; null is none.

    Examples
    --------
    >>> element_json("NaN", "<f4"), element_json(7, "int4")
    (array(nan, dtype=float32), array(7, dtype=int4))
    """
    if value is None:
        return None
    dtype = dtype_of(spelled)
    numpy_dtype = dtype.numpy_dtype
    if dtype.name == "bool":
        return np.array(as_bool(value))
    if dtype.name.startswith(("int", "uint")):
        bits = 8 * numpy_dtype.itemsize
        signed = dtype.name.startswith("int")
        least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        name = f"64-bit {'' if signed else 'un'}signed integer" if bits == 64 else ""
        # Those of less than a byte wrap.
        return np.array(as_integer(least, most, name)(value)).astype(numpy_dtype)
    if dtype.name.startswith("complex"):
        return _complex(value, numpy_dtype)
    with np.errstate(over="ignore"):
        return np.array(_float(value)).astype(numpy_dtype)


def _float(value: Any) -> float:
    if isinstance(value, str):
        if value in ("NaN", "Infinity", "-Infinity"):
            return float(value.replace("Infinity", "inf"))
        if _NUMBER.fullmatch(value.strip()):
            return float(value)
        if _HEX.fullmatch(value.strip()):
            return float.fromhex(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise SpecError(f"Invalid floating-point value: {dump(value)}")


def _complex(value: Any, numpy_dtype: np.dtype[Any]) -> Element:
    if isinstance(value, list):
        if len(value) != 2:
            raise SpecError(f"Array has length {len(value)} but should have length 2")
        parts = [at_position(position, value, _float) for position in range(2)]
        return np.array(complex(*parts)).astype(numpy_dtype)
    size = numpy_dtype.itemsize
    try:
        raw = base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except binascii.Error:
        raw = b""
    if len(raw) != size:
        raise SpecError(f"Expected {size} base64-encoded bytes, but received: {dump(value)}")
    return np.frombuffer(raw, numpy_dtype).reshape(())


def element_to_json(element: Element | None, dtype: DType) -> Any:
    """The fill value as JSON."""
    if element is None:
        return None
    if dtype.name == "bool":
        return bool(element)
    if dtype.name.startswith(("int", "uint")):
        return int(element)
    if dtype.name.startswith("complex"):
        return [_float_to_json(float(element.real)), _float_to_json(float(element.imag))]
    return _float_to_json(float(element))


def _float_to_json(number: float) -> Any:
    if number != number:
        return "NaN"
    return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(number, number)
