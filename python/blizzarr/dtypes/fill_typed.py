"""Fill values in documents of v2 and of zarr-python's draft of v3; v1 shares parts of them.

========  =======================================================================  ==============================
kind      read                                                                     written
========  =======================================================================  ==============================
bool      true, false, 0, 1                                                        true, false
integer   a number in range without a fraction; true and false; of 64 bits, its    a number
          digits as a string (GDAL)
float     a number; "NaN", "Infinity", "-Infinity", "+Infinity"; the bare tokens   the shortest number that reads
                                                                                   back; "NaN", "Infinity"
complex   a pair of such values, or one of them                                    a pair
bytes     base64; 0 for nothing                                                    base64
text      text; 0 for nothing                                                      text
raw       base64; 0 for zeros                                                      base64
struct    base64 of the element as it is stored; 0 for zeros                       base64
time      a number, "NaT"                                                          a number
string    text; 0 for nothing                                                      text
bytes     base64; 0 for nothing                                                    base64
object    any value                                                                the value
========  =======================================================================  ==============================

The caller handles `null`, which leaves the value undefined. Only the canonical NaN can be written: other readers do not
accept a spelling of its bits.
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any, Final

import numpy as np

from blizzarr.dtypes import fill_json, fill_user
from blizzarr.dtypes.byte_order import in_order
from blizzarr.dtypes.data_type import DataType
from blizzarr.dtypes.kinds import Kind
from blizzarr.problems import Problems

_DIGITS: Final = re.compile("-?[0-9]{1,20}")
_PACKED: Final = (Kind.BYTES, Kind.RAW, Kind.STRUCT)


def decode(dtype: DataType, value: Any, path: str, problems: Problems, endian: str | None = None) -> Any:
    """Return the scalar for a JSON value; `None` if a problem was added. `endian` is that of stored elements."""
    kind = dtype.kind
    if kind is Kind.OBJECT:
        return _object(dtype, value, path, problems)
    if type(value) is int and value == 0 and kind in (*_PACKED, Kind.TEXT):
        return fill_user.default(dtype)
    if kind in _PACKED:
        return _packed(dtype, value, path, problems, endian)
    if kind is Kind.BOOL and type(value) is int and value in (0, 1):
        return np.bool_(value)
    if kind is Kind.INTEGER and type(value) is bool:
        value = int(value)
    if kind is Kind.INTEGER and dtype.itemsize == 8 and type(value) is str and _DIGITS.fullmatch(value):
        value = int(value)
    if kind is Kind.INTEGER and type(value) is float and value.is_integer():
        value = int(value)
    if kind is Kind.FLOAT:
        value = named_tokens(value)
    if kind is Kind.COMPLEX:
        value = named_tokens(value if type(value) is list else [value, 0.0])
    return fill_json.decode(dtype, value, path, problems)


def named_tokens(value: Any) -> Any:
    """Return the name of a non-finite number, or of each in a list, in place of its bare token.

    >>> named_tokens(float("-inf")), named_tokens([float("nan"), 1.0])
    ('-Infinity', ['NaN', 1.0])
    """
    if type(value) is list:
        return [named_tokens(part) if type(part) is float else part for part in value]
    if type(value) is float and value != value:
        return "NaN"
    if type(value) is float and value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _packed(dtype: DataType, value: Any, path: str, problems: Problems, endian: str | None) -> np.generic | None:
    """Decode the bytes of one element from base64; shorter ones are padded with zeros."""
    data = fill_json.from_base64(value)
    exact = dtype.kind is not Kind.BYTES
    if data is None or len(data) > dtype.itemsize or (exact and len(data) != dtype.itemsize):
        size = f"{dtype.itemsize} bytes" if exact else f"at most {dtype.itemsize} bytes"
        problems.add(path, f"{size} in base64", value)
        return None
    if dtype.kind is Kind.BYTES:
        return np.bytes_(data.rstrip(b"\0"))
    if dtype.kind is Kind.RAW:
        return np.void(data)
    return np.frombuffer(in_order(data, dtype.swap, endian), dtype.numpy)[0]


def _object(dtype: DataType, value: Any, path: str, problems: Problems) -> Any:
    # The default fill value of arrays of objects was the number 0 in zarr-python 2.
    if dtype.name != "object" and type(value) is int and value == 0:
        return fill_user.default(dtype)
    return fill_json.decode(dtype, value, path, problems)


def encode(dtype: DataType, value: Any, endian: str | None = None, problems: Problems | None = None) -> Any:
    """Return the JSON value of a fill value; `endian` is that of stored elements.

    A problem is added for a NaN with other bits than the canonical one.

    >>> encode(DataType.parse("float32"), np.float32("nan")), encode(DataType.parse("S3"), np.bytes_(b"ab"))
    ('NaN', 'YWIA')
    """
    kind = dtype.kind
    if kind in _PACKED:
        # All bytes of an element, including the trailing zeros of a string, which TensorStore requires.
        return b64encode(in_order(dtype.fill_bytes(value), dtype.swap, endian)).decode()
    if kind not in (Kind.FLOAT, Kind.COMPLEX):
        return fill_json.encode(dtype, value)
    exact = fill_json.encode(dtype, value)
    spelled = [_named(part) for part in exact] if type(exact) is list else _named(exact)
    if spelled != exact and problems is not None:
        problems.add("fill_value", 'a value that reads back: no NaN but "NaN", without sign and payload, does', exact)
    return spelled


def _named(exact: Any) -> Any:
    """Return a finite number, or the name of another; hexadecimal digits are those of a NaN."""
    return "NaN" if type(exact) is str and exact.startswith("0x") else exact
