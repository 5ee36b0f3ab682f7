"""Data types and fill values of ``zarr3``: of one value, of bytes, or of fields with names."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import replace
from typing import Any, Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, dump, expected
from blizzarr.spec.dtype import DTYPES, DType
from blizzarr.spec.element_type import ElementType, Field
from blizzarr.spec.members import as_text, at_position
from blizzarr.spec.stored_values import from_stored
from blizzarr.spec.zarr3.fill_value import NAMES, Element, check_dtype, element_json, element_to_json

__all__ = ["element_type", "fills_json", "fills_to_json", "of_dtype"]

_RAW: Final = re.compile(r"r(.*)", re.DOTALL)


def of_dtype(dtype: DType) -> ElementType:
    """Elements of this data type.

    Examples
    --------
    >>> of_dtype(DTYPES["int8"]).json, of_dtype(DTYPES["byte"]).json
    ('int8', 'r8')
    """
    if dtype.name in ("byte", "char"):
        return element_type("r8")
    if dtype.name not in NAMES:
        raise SpecError(f"Data type not supported: {dtype.name}")
    return ElementType.of(dtype.name, [Field("", dtype)], False)


def element_type(value: Any) -> ElementType:
    """Parse the type of elements from a document or a spec.

    Examples
    --------
    >>> element_type("r24").fields[0].shape, element_type({"name": "int8", "configuration": {}}).json
    ((3,), 'int8')
    >>> fields = [{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "bool"}]
    >>> made = element_type({"name": "struct", "configuration": {"fields": fields}})
    >>> made.itemsize, made.fields[1].offset
    (3, 2)
    """
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, list):
        return _fields(value, "structured")
    if not isinstance(value, dict):
        raise expected(value, "array" if value is not MISSING else "string")
    if not {"name", "configuration"} <= value.keys():
        raise SpecError(
            "Expected string, array, or object with 'name' and 'configuration', but received: " + dump(value)
        )
    name = as_text(value["name"])
    if name in ("struct", "structured"):
        return _fields(_configured(value, name, "fields", "array"), name)
    if name == "raw_bytes":
        length = _configured(value, name, "length_bytes", "field")
        if isinstance(length, bool) or not isinstance(length, int):
            raise expected(length, "64-bit signed integer")
        if length <= 0:
            raise SpecError("raw_bytes length_bytes must be positive")
        return _plain(f"r{8 * length}")
    return _plain(name)


def _configured(value: dict[str, Any], name: str, member: str, kind: str) -> Any:
    configuration = value["configuration"]
    if not isinstance(configuration, dict) or member not in configuration:
        raise SpecError(f"{name} data type requires 'configuration' object with '{member}' {kind}")
    return configuration[member]


def _plain(name: str) -> ElementType:
    return ElementType.of(name, [_base(name)], False)


def _base(name: str, field: str = "") -> Field:
    if name not in NAMES and (raw := _RAW.fullmatch(name)) is not None:
        bits = int(raw[1]) if raw[1].isascii() and raw[1].isdigit() else 0
        if not bits or bits % 8 or bits >= 1 << 64:
            raise SpecError(f"{name} data type is invalid; expected r<N> where N is a positive multiple of 8")
        return Field(field, DTYPES["byte"], shape=(bits // 8,))
    if name not in NAMES:
        raise SpecError(f"{name} data type is not one of the supported data types: {', '.join(NAMES)}, r<N>")
    return Field(field, check_dtype(DTYPES[name]))


def _fields(value: Any, name: str) -> ElementType:
    if not isinstance(value, list):
        raise expected(value, "array")
    if not value:
        raise SpecError(f"{name} data type requires at least one field")
    take = _named if name == "struct" else _listed
    fields = [at_position(position, value, take) for position in range(len(value))]
    told = [{"data_type": said, "name": field.name} for said, field in fields]
    # The earlier spelling in a spec is stored in the current one.
    json = {"configuration": {"fields": told}, "name": "struct"}
    return ElementType.of(json, [field for _, field in fields], True, name == "structured")


def _named(value: Any) -> tuple[str, Field]:
    if not isinstance(value, dict):
        raise SpecError(f"struct dtype requires fields as objects, but received: {dump(value)}")
    if not {"name", "data_type"} <= value.keys():
        raise SpecError(f"Field object must contain 'name' and 'data_type', but received: {dump(value)}")
    name = as_text(value["name"])
    if not name:
        raise SpecError("Field 'name' must be non-empty")
    if isinstance(value["data_type"], dict):
        raise SpecError(
            "Nested struct types and extension data types with configuration are not supported by TensorStore. "
            "Field 'data_type' must be a string."
        )
    said = as_text(value["data_type"])
    return said, _base(said, name)


def _listed(value: Any) -> tuple[str, Field]:
    if not isinstance(value, list):
        raise SpecError(f"structured dtype requires fields as arrays, but received: {dump(value)}")
    if len(value) != 2:
        raise expected(value, "array of size 2")
    name = at_position(0, value, _name)
    said = at_position(1, value, as_text)
    return said, at_position(1, value, lambda text: _base(text, name))


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise expected(value, "non-empty string")
    return value


def fills_json(value: Any, elements: ElementType, big: bool = False) -> tuple[Element, ...]:
    """Parse the fill value of each field; `big` is the byte order of fill values that are the bytes of an element.

    Examples
    --------
    >>> fills_json("AQI=", element_type("r16"))
    (array([b'\\x01', b'\\x02'], dtype='|V1'),)
    """
    if len(elements.fields) == 1:
        (field,) = elements.fields
        if field.name and isinstance(value, dict) and field.name in value:
            # As the specification has it; TensorStore takes and writes the value alone.
            value = value[field.name]
        return (_single(value, field),)
    if isinstance(value, dict):
        for field in elements.fields:
            if field.name not in value:
                raise SpecError(f'Missing required field "{field.name}" in fill_value object')
        return tuple(_single(value[field.name], field) for field in elements.fields)
    if isinstance(value, str) and elements.legacy:
        return _of_bytes(value, elements, big)
    if isinstance(value, list) and elements.legacy:
        if len(value) != len(elements.fields):
            raise expected(value, f"array of size {len(elements.fields)}")
        return tuple(_single(part, field) for part, field in zip(value, elements.fields, strict=True))
    raise expected(value, "object, array, or base64-encoded string" if elements.legacy else "object")


def _single(value: Any, field: Field) -> Element:
    if not field.shape:
        return element_json(value, field.dtype)
    if not isinstance(value, str):
        raise SpecError("Expected base64-encoded string for raw_bytes fill_value")
    return np.frombuffer(_decoded(value, field.size), "V1").reshape(field.shape)


def _of_bytes(value: str, elements: ElementType, big: bool) -> tuple[Element, ...]:
    raw = np.frombuffer(_decoded(value, elements.itemsize), np.uint8)
    return tuple(
        from_stored(raw[field.offset : field.offset + field.size], replace(field, big=big)).reshape(field.shape)
        for field in elements.fields
    )


def _decoded(value: str, size: int) -> bytes:
    try:
        raw = base64.b64decode(value, validate=True)
    except binascii.Error as error:
        raise SpecError(f"Expected valid base64-encoded fill value, but received: {dump(value)}") from error
    if len(raw) != size:
        raise SpecError(f"Expected {size} base64-encoded bytes for fill_value, but received {len(raw)} bytes")
    return raw


def fills_to_json(fills: tuple[Element, ...], elements: ElementType) -> Any:
    """The fill values as JSON."""
    told = [_to_json(fill, field) for fill, field in zip(fills, elements.fields, strict=True)]
    if len(told) == 1:
        return told[0]
    return {field.name: value for field, value in zip(elements.fields, told, strict=True)}


def _to_json(fill: Element, field: Field) -> Any:
    return base64.b64encode(fill.tobytes()).decode() if field.shape else element_to_json(fill, field.dtype)
