"""Data types and fill values of ``zarr``, as its documents have them."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import replace
from typing import Any, Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_values import dump, expected, quote
from blizzarr.spec.dtype import DTYPES, ML_NAMES, DType
from blizzarr.spec.element_type import ElementType, Field
from blizzarr.spec.members import as_bool, as_integer, as_list, as_text, at_position
from blizzarr.spec.stored_values import from_stored, to_stored

__all__ = ["element_type", "fill_bytes", "fills_json", "fills_to_json", "spell"]

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
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_HEX: Final = re.compile(r"[-+]?0[xX][0-9a-fA-F.]+(?:[pP][-+]?\d+)?")


_BYTES: Final = re.compile(r"[<>|]([SV])(\d+)")
_KINDS: Final = {"S": DTYPES["char"], "V": DTYPES["byte"]}
_LONGEST: Final = (1 << 62) - 1


def element_type(value: Any) -> ElementType:
    """Parse the type of elements of a document.

    Examples
    --------
    >>> element_type(">i4").fields[0].dtype, element_type("bfloat16").itemsize, element_type("|S5").fields[0].shape
    (dtype("int32"), 2, (5,))
    >>> [field.name for field in element_type([["a", "<f4"], ["b", "<i2", [3]]]).fields]
    ['a', 'b']
    >>> element_type("<M8[s]")
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Unsupported zarr dtype: "<M8[s]"
    """
    if isinstance(value, str):
        return ElementType.of(value, [_base(value)], False)
    if not isinstance(value, list):
        raise expected(value, "array")
    fields = [at_position(position, value, _field) for position in range(len(value))]
    return ElementType.of(value, fields, True)


def _base(value: str) -> Field:
    order, letters = value[:1], value[1:]
    if value in ML_NAMES:
        return Field("", DTYPES[value])
    if letters in _SIZED and order in ("<", ">", "|") and (order != "|" or letters[1:] == "1"):
        return Field("", DTYPES[_SIZED[letters]], order == ">")
    if (found := _BYTES.fullmatch(value)) and (length := int(found[2])) <= _LONGEST:
        return Field("", _KINDS[found[1]], shape=(length,))
    raise SpecError(f"Unsupported zarr dtype: {quote(value)}")


def _field(value: Any) -> Field:
    if not isinstance(value, list):
        raise expected(value, "array")
    if len(value) not in (2, 3):
        raise expected(value, "array of size 2 or 3")
    name = at_position(0, value, _name)
    base = at_position(1, value, lambda said: _base(as_text(said)))
    outer = at_position(2, value, as_list(as_integer(1, _LONGEST))) if len(value) == 3 else ()
    return replace(base, name=name, shape=(*outer, *base.shape))


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise expected(value, "non-empty string")
    return value


def spell(dtype: DType) -> str:
    """Return the spelling in new arrays.

    Examples
    --------
    >>> spell(DType("int32")), spell(DType("bool")), spell(DType("bfloat16"))
    ('<i4', '|b1', 'bfloat16')
    """
    if dtype.name in ML_NAMES:
        return dtype.name
    if dtype.name not in _LETTERS:
        raise SpecError(f"Data type not supported: {dtype.name}")
    letters = _LETTERS[dtype.name]
    return f"{'|' if letters[1:] == '1' else '<'}{letters}"


def fills_json(value: Any, elements: ElementType) -> tuple[Element, ...] | None:
    """Parse the fill value of each field; null means none.

    Examples
    --------
    >>> fills_json("NaN", element_type("<f4")), fills_json(7, element_type("int4"))
    ((array(nan, dtype=float32),), (array(7, dtype=int4),))
    >>> fills_json("AQACAw==", element_type([["a", "<i2"], ["b", "|V2"]]))
    (array(1, dtype=int16), array([b'\\x02', b'\\x03'], dtype='|V1'))
    """
    if value is None:
        return None
    if not elements.named:
        (field,) = elements.fields
        single = None if field.dtype.name == "float4_e2m1fn" else _single(value, field.dtype)
        if single is not None:
            return (single,)
    return _from_bytes(value, elements)


def _single(value: Any, dtype: DType) -> Element | None:
    """Return the only value; None where the fill value is the bytes of an element."""
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
        return _complex(value, numpy_dtype) if isinstance(value, list) else None
    if dtype.name in ("char", "byte"):
        return None
    with np.errstate(over="ignore"):
        return np.array(_float(value)).astype(numpy_dtype)


def _from_bytes(value: Any, elements: ElementType) -> tuple[Element, ...]:
    try:
        raw = base64.b64decode(value, validate=True) if isinstance(value, str) else None
    except binascii.Error:
        raw = None
    if raw is None or len(raw) != elements.itemsize:
        raise SpecError(f"Expected {elements.itemsize} base64-encoded bytes, but received: {dump(value)}")
    return tuple(
        from_stored(np.frombuffer(raw, np.uint8, field.size, field.offset), field).reshape(field.shape)
        for field in elements.fields
    )


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


def _complex(value: list[Any], numpy_dtype: np.dtype[Any]) -> Element:
    if len(value) != 2:
        raise SpecError(f"Array has length {len(value)} but should have length 2")
    parts = [at_position(position, value, _float) for position in range(2)]
    return np.array(complex(*parts)).astype(numpy_dtype)


def fills_to_json(fills: tuple[Element, ...] | None, elements: ElementType) -> Any:
    """The fill values as JSON."""
    if fills is None:
        return None
    name = elements.fields[0].dtype.name if len(elements.fields) == 1 else ""
    if elements.named or name in ("char", "byte", "float4_e2m1fn"):
        return base64.b64encode(fill_bytes(fills, elements)).decode()
    (element,) = fills
    if name == "bool":
        return bool(element)
    if name.startswith(("int", "uint")):
        return int(element)
    if name.startswith("complex"):
        return [_float_to_json(float(element.real)), _float_to_json(float(element.imag))]
    return _float_to_json(float(element))


def fill_bytes(fills: tuple[Element, ...], elements: ElementType) -> bytes:
    """The fill values as the bytes of a stored element."""
    return b"".join(to_stored(fill, field).tobytes() for fill, field in zip(fills, elements.fields, strict=True))


def _float_to_json(number: float) -> Any:
    if number != number:
        return "NaN"
    return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(number, number)
