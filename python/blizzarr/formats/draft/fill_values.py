"""Fill values in documents of the draft.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/core/v3.0.rst#array-metadata

Core types have the forms of Zarr v3, and all their digits ("0b..." or "0x..."); infinity is "+Infinity". Extension
types, for which no document specifies a form, have those of Zarr v2, which zarr-python uses for all types. There, null
means that unwritten elements are undefined.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from blizzarr.dtypes import DataType, Kind, fill_typed
from blizzarr.formats.draft.keys import Spelling
from blizzarr.problems import MISSING, Problems, describe

_CORE: Final = (Kind.BOOL, Kind.INTEGER, Kind.FLOAT, Kind.COMPLEX, Kind.RAW)
_DIGITS: Final = {"0x": (16, 2), "0b": (2, 8)}


def undefined(value: Any, dtype: DataType, spelling: Spelling) -> bool:
    """Return whether a fill value is undefined: null, where it is allowed.

    The specification forbids null, and yet has it in its example of an extension type. In arrays of arbitrary objects,
    null is a value.
    """
    return value is None and dtype.name != "object" and (spelling is Spelling.ZARR_PYTHON or dtype.kind not in _CORE)


def decode(value: Any, dtype: DataType, endian: str | None, spelling: Spelling, problems: Problems) -> Any:
    """Return the scalar for a fill value, or the default if it is undefined; `None` if a problem was added.

    `endian` is the byte order of base64 values, which is that of the data type's identifier.
    """
    path = "fill_value"
    if value is MISSING:
        problems.add(path, "a value of the data type", value)
        return None
    if undefined(value, dtype, spelling) or (value is None and dtype.kind is Kind.OBJECT):
        return dtype.default_fill
    if value is None:
        problems.add(path, "a value of the data type: null leaves open what unwritten elements are", value)
        return None
    if dtype.kind in _CORE and type(value) is str and value[:2] in _DIGITS and dtype.kind is not Kind.COMPLEX:
        return from_digits(value, dtype, path, problems)
    if spelling is Spelling.DOCUMENT and dtype.kind in _CORE:
        return dtype.fill_from_json(value, path, problems)
    return fill_typed.decode(dtype, value, path, problems, endian)


def from_digits(text: str, dtype: DataType, path: str, problems: Problems) -> np.generic | None:
    """Return a value given as all its hexadecimal or binary digits, the most significant first."""
    base, width = _DIGITS[text[:2]]
    spelled = text[2:]
    data = None
    if len(spelled) == width * dtype.itemsize and spelled.isascii() and spelled.isalnum():
        try:
            data = int(spelled, base).to_bytes(dtype.itemsize, "big")
        except ValueError:
            data = None
    if data is None or (dtype.kind is Kind.BOOL and data > b"\x01"):
        expected = f'"0x" and {dtype.itemsize * 2} hexadecimal digits, or "0b" and {dtype.itemsize * 8} binary ones'
        problems.add(path, expected, text)
        return None
    # Raw bytes are not swapped.
    order = "V" if dtype.kind is Kind.RAW else ">"
    stored = np.frombuffer(data, dtype.numpy if order == "V" else dtype.numpy.newbyteorder(">"))
    value: np.generic = stored.astype(dtype.numpy)[0]
    return value


def encode(value: Any, dtype: DataType, endian: str | None, spelling: Spelling, problems: Problems) -> Any:
    """Encode a fill value; add a problem if the draft cannot express it to the bit."""
    if spelling is Spelling.DOCUMENT and dtype.kind in _CORE:
        if dtype.kind is Kind.RAW:
            return "0x" + dtype.fill_bytes(value).hex()
        plain = dtype.fill_to_json(value)
        return [_signed(part) for part in plain] if type(plain) is list else _signed(plain)
    spelled = fill_typed.encode(dtype, value, endian)
    again = fill_typed.decode(dtype, spelled, "fill_value", Problems(), endian)
    if dtype.kind is not Kind.OBJECT and (again is None or dtype.fill_bytes(again) != dtype.fill_bytes(value)):
        expected = f"a value that the draft can say: {describe(spelled)} would lose bits"
        problems.add("fill_value", expected, dtype.fill_to_json(value))
    return spelled


def _signed(value: Any) -> Any:
    return "+Infinity" if value == "Infinity" else value
