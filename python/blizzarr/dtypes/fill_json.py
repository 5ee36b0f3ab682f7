"""Fill values in v3 documents, exact to the bit.

========  ======================================================================  ================================
kind      read                                                                    written
========  ======================================================================  ================================
bool      true, false                                                             the same
integer   a number without fraction and exponent, in range                        the same
float     a finite number in range; "NaN", "Infinity", "-Infinity"; "0x7fc00001"  the shortest number that reads
          (all bits as hexadecimal digits)                                        back; "NaN" only for those bits
complex   a pair of such values                                                   the same
raw       a list of bytes; base64                                                 base64, which TensorStore and
                                                                                  zarr-python demand
bytes     base64                                                                  the same
text      a string                                                                the same
struct    an object with a value for each field; base64 of the element as it is   an object
          stored (zarr-python)
time      a number, "NaT"                                                         a number
========  ======================================================================  ================================

Some other spellings are read as well: "+Infinity" and binary digits ("0b01...") of earlier drafts.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from blizzarr.dtypes.byte_order import in_order
from blizzarr.dtypes.kinds import Kind
from blizzarr.problems import MISSING, Problems

if TYPE_CHECKING:
    from blizzarr.dtypes.data_type import DataType

_NOT_A_TIME: Final = -(2**63)
_NAMED: Final = {"NaN": math.nan, "Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}


def decode(
    dtype: DataType, value: Any, path: str, problems: Problems, endian: str | None = "little"
) -> np.generic | None:
    """Return the scalar for a JSON value; `None` if a problem was added.

    `endian` is the byte order of stored elements, for structs that are given as the bytes of an element.
    """
    kind = dtype.kind
    if kind is Kind.FLOAT:
        return decode_real(dtype, dtype.numpy, value, path, problems)
    if kind is Kind.INTEGER:
        low, high = dtype.limits or (0, 0)
        if type(value) is int and low <= value <= high:
            return dtype.numpy.type(value)
        problems.add(path, f"an integer in [{low}, {high}]", value)
        return None
    if kind is Kind.BOOL:
        if type(value) is bool:
            return np.bool_(value)
        problems.add(path, "true or false", value)
        return None
    if kind is Kind.COMPLEX:
        return _decode_complex(dtype, value, path, problems)
    if kind is Kind.RAW:
        return _decode_raw(dtype, value, path, problems)
    if kind is Kind.STRUCT:
        return _decode_struct(dtype, value, path, problems, endian)
    if kind in _OTHERS:
        return _OTHERS[kind](dtype, value, path, problems)
    if value == "NaT":
        value = _NOT_A_TIME
    if type(value) is int and _NOT_A_TIME <= value < 2**63:
        return time_scalar(dtype, value)
    problems.add(path, 'a 64-bit integer or "NaT"', value)
    return None


def time_scalar(dtype: DataType, count: int) -> np.generic:
    """Return the time or duration of `count` units."""
    return np.int64(count).view(dtype.numpy)


def decode_real(dtype: DataType, numpy: np.dtype[Any], value: Any, path: str, problems: Problems) -> np.generic | None:
    """Return a floating-point scalar of NumPy dtype `numpy`, which is `dtype` or the type of its halves (complex)."""
    kind = type(value)
    if kind is float or kind is int:
        low, high = dtype.limits or (0.0, 0.0)
        if low <= value <= high:
            return numpy.type(float(value))
        if numpy.kind == "f" and (rounded := _rounded(numpy, value)) is not None:
            return rounded
        problems.add(path, f'a finite number in [{low}, {high}], "NaN", "Infinity", "-Infinity" or "0x..."', value)
        return None
    if kind is str:
        if value in _NAMED:
            named = numpy.type(_NAMED[value])
            # The narrowest types have no infinity, some no NaN either: casting gives another value.
            if str(float(named)) == str(_NAMED[value]):
                return named if value != "NaN" else _canonical_nan(numpy, named)
            problems.add(path, f"a value that {dtype.name} has", value)
            return None
        bits = _bits(value, numpy.itemsize)
        if bits is not None:
            return np.frombuffer(bits, dtype=numpy)[0]
    digits = numpy.itemsize * 2
    problems.add(path, f'a number, "NaN", "Infinity", "-Infinity" or "0x" and {digits} hexadecimal digits', value)
    return None


def _rounded(numpy: np.dtype[Any], value: float) -> np.generic | None:
    """Return the greatest value of the type for numbers that exceed it by less than half a unit in the last place."""
    try:
        with np.errstate(over="ignore"):
            scalar = numpy.type(float(value))
    except OverflowError:
        return None
    return scalar if np.isfinite(scalar) else None


def _canonical_nan(numpy: np.dtype[Any], nan: np.generic) -> np.generic:
    """Return the NaN with a clear sign bit, which casting does not guarantee."""
    if numpy.itemsize == 1:
        return nan
    data = bytearray(nan.tobytes())
    data[-1 if np.little_endian else 0] &= 0x7F
    return np.frombuffer(bytes(data), dtype=numpy)[0]


def _bits(text: str, itemsize: int) -> bytes | None:
    """Return the bytes, in the machine's order, of a number given as all its hexadecimal or binary digits."""
    base, width = {"0x": (16, 2), "0b": (2, 8)}.get(text[:2], (0, 0))
    digits = text[2:]
    if not base or len(digits) != width * itemsize or not digits.isascii() or not digits.isalnum():
        return None
    try:
        return int(digits, base).to_bytes(itemsize, "little" if np.little_endian else "big")
    except ValueError:
        return None


def _decode_complex(dtype: DataType, value: Any, path: str, problems: Problems) -> np.generic | None:
    if type(value) is not list or len(value) != 2:
        problems.add(path, "a pair [real, imaginary]", value)
        return None
    half = _half(dtype)
    real = decode_real(dtype, half, value[0], f"{path}[0]", problems)
    imaginary = decode_real(dtype, half, value[1], f"{path}[1]", problems)
    if real is None or imaginary is None:
        return None
    return np.frombuffer(real.tobytes() + imaginary.tobytes(), dtype=dtype.numpy)[0]


def _half(dtype: DataType) -> np.dtype[Any]:
    return np.dtype(f"f{dtype.itemsize // 2}")


def _decode_raw(dtype: DataType, value: Any, path: str, problems: Problems) -> np.generic | None:
    size = dtype.itemsize
    # Base64 is not in the specification, but TensorStore and zarr-python write and demand it.
    data = from_base64(value)
    if data is not None and len(data) == size:
        return np.void(data)
    if type(value) is not list or len(value) != size:
        problems.add(path, f"a list of {size} integers in [0, 255]", value)
        return None
    before = len(problems.items)
    for index, byte in enumerate(value):
        if type(byte) is not int or not 0 <= byte <= 255:
            problems.add(f"{path}[{index}]", "an integer in [0, 255]", byte)
    return np.void(bytes(value)) if len(problems.items) == before else None


def _decode_bytes(dtype: DataType, value: Any, path: str, problems: Problems) -> np.generic | None:
    """Return a byte string of a fixed length; trailing zeros do not count."""
    data = _any_bytes(value)
    if data is not None and len(data) <= dtype.itemsize:
        return np.bytes_(data.rstrip(b"\0"))
    problems.add(path, f"at most {dtype.itemsize} bytes in base64", value)
    return None


def _any_bytes(value: Any) -> bytes | None:
    """Return the bytes of a text in base64, or of a list; None for anything else."""
    if type(value) is list and all(type(byte) is int and 0 <= byte <= 255 for byte in value):
        return bytes(value)
    return from_base64(value)


def from_base64(value: Any) -> bytes | None:
    """Return the bytes of a text in base64; None for anything else."""
    if type(value) is not str:
        return None
    try:
        return b64decode(value, validate=True)
    except ValueError:
        return None


def _decode_text(dtype: DataType, value: Any, path: str, problems: Problems) -> np.generic | None:
    if type(value) is str and len(value) <= dtype.itemsize // 4 and is_text(value):
        return np.str_(value.rstrip("\0"))
    problems.add(path, f"text of at most {dtype.itemsize // 4} characters", value)
    return None


def is_text(value: str) -> bool:
    """Return whether a text has no lone surrogate, which cannot be stored."""
    return value == value.encode("utf-8", "replace").decode()


def _decode_struct(dtype: DataType, value: Any, path: str, problems: Problems, endian: str | None) -> np.generic | None:
    data = from_base64(value)
    if data is not None and len(data) == dtype.itemsize:
        return np.frombuffer(in_order(data, dtype.swap, endian), dtype.numpy)[0]
    if dtype.part is not dtype:
        # A complex number.
        if type(value) is not list or len(value) != 2:
            problems.add(path, "a pair [real, imaginary]", value)
            return None
        value = dict(zip(("real", "imag"), value, strict=True))
    elif type(value) is not dict and len(dtype.fields) == 1:
        # TensorStore writes the value of the field alone if there is only one.
        value = {dtype.fields[0].name: value}
    if type(value) is not dict:
        problems.add(path, "an object with a value for each field", value)
        return None
    made: Any = np.zeros((), dtype.numpy)
    before = len(problems.items)
    for field in dtype.fields:
        part = value.get(field.name, MISSING)
        if part is MISSING:
            problems.add(f"{path}.{field.name}", f"a value of {field.dtype}", MISSING)
        elif (scalar := decode(field.dtype, part, f"{path}.{field.name}", problems, endian)) is not None:
            made[field.name] = scalar
    for name in value.keys() - {field.name for field in dtype.fields} if len(value) > len(dtype.fields) else ():
        problems.add(f"{path}.{name}", "no such field", value[name])
    whole: np.generic = made[()]
    return whole if len(problems.items) == before else None


def _decode_object(dtype: DataType, value: Any, path: str, problems: Problems) -> Any:
    if dtype.name == "string":
        if type(value) is str and is_text(value):
            return value
        problems.add(path, "text", value)
        return None
    if dtype.name == "bytes":
        data = _any_bytes(value)
        if data is None:
            problems.add(path, "bytes in base64, or a list of them", value)
        return data
    return value


_OTHERS: Final = {Kind.BYTES: _decode_bytes, Kind.TEXT: _decode_text, Kind.OBJECT: _decode_object}


def encode(dtype: DataType, value: np.generic) -> Any:
    """Return the JSON value that `decode` turns into exactly these bits."""
    kind = dtype.kind
    if kind is Kind.FLOAT:
        return _encode_real(value)
    if kind is Kind.INTEGER:
        return int(value)
    if kind is Kind.BOOL:
        return bool(value)
    if kind is Kind.COMPLEX:
        real, imaginary = np.frombuffer(value.tobytes(), dtype=_half(dtype))
        return [_encode_real(real), _encode_real(imaginary)]
    if kind in (Kind.RAW, Kind.BYTES):
        # An empty byte string of NumPy has a zero in its memory.
        return b64encode(value.item()).decode()
    if kind is Kind.TEXT:
        return str(value)
    if kind is Kind.STRUCT:
        parts = {field.name: _encode_part(field.dtype, np.asarray(value)[field.name]) for field in dtype.fields}
        return parts if dtype.part is dtype else list(parts.values())
    if kind is Kind.OBJECT:
        return b64encode(value).decode() if isinstance(value, bytes) else value
    return int(value.view(np.int64))


def _encode_part(dtype: DataType, part: Any) -> Any:
    """Return the JSON value of a field of a struct: a value, or nested lists; null for invalid text."""
    if part.ndim:
        return [_encode_part(dtype, part[index, ...]) for index in range(len(part))]
    if dtype.kind is not Kind.TEXT:
        return encode(dtype, part[()])
    # Stored text may have invalid code points, which NumPy accepts.
    with suppress(UnicodeDecodeError):
        return part.astype(part.dtype.newbyteorder("<")).tobytes().decode("utf-32-le").rstrip("\0")
    return None


def _encode_real(value: np.generic) -> float | str:
    number = float(value)
    if math.isfinite(number):
        # str() gives the shortest digits that distinguish a NumPy float from its neighbours of the same width.
        return float(str(value)) if isinstance(value, np.floating) else number
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if value.tobytes() == _canonical_nan(value.dtype, value.dtype.type(math.nan)).tobytes():
        return "NaN"
    return "0x" + value.tobytes()[:: -1 if np.little_endian else 1].hex()
