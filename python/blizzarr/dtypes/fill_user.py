"""Fill values given by users: more forms than in documents, but never a value that conversion would change."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from blizzarr.dtypes import fill_json
from blizzarr.dtypes.kinds import Kind
from blizzarr.dtypes.value_text import value_text
from blizzarr.problems import Problems

if TYPE_CHECKING:
    from blizzarr.dtypes.data_type import DataType


class RefusedError(ValueError):
    """Raised for a value that cannot be a fill value of the data type."""

    def __init__(self, expected: str, found: Any) -> None:
        super().__init__(expected, found)
        self.expected = expected
        self.found = value_text(found) if isinstance(found, np.generic) else repr(found)


def default(dtype: DataType) -> np.generic:
    """Return the default fill value, which undefined ones stand for, too: zero, false, NaT, or empty."""
    if dtype.kind is Kind.TIME:
        # NaT by its bits: from NumPy 2.5 on, to make one without a unit from text is deprecated.
        return np.int64(np.iinfo(np.int64).min).view(dtype.numpy)
    if dtype.kind is Kind.OBJECT:
        return _NOTHING.get(dtype.name)  # type: ignore[return-value]  # an object stands for itself
    if dtype.kind in (Kind.BYTES, Kind.TEXT):
        # Not made from an element of zeros: a document may specify elements of 2 GiB.
        return np.bytes_() if dtype.kind is Kind.BYTES else np.str_()
    if dtype.kind is Kind.RAW:
        # There is no shorter representation.
        dtype.check_length()
    return np.frombuffer(bytes(dtype.itemsize), dtype=dtype.numpy)[0]


def convert(dtype: DataType, value: Any) -> np.generic:
    """Return the scalar of this data type that is equal to `value`; raise `RefusedError` if there is none."""
    if value is None:
        return default(dtype)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic) and value.dtype == dtype.numpy and dtype.kind is not Kind.TEXT:
        return value
    return _CONVERT[dtype.kind](dtype, value)


def _bool(dtype: DataType, value: Any) -> np.generic:
    whole = isinstance(value, int | np.integer) and not isinstance(value, np.timedelta64)
    if isinstance(value, bool | np.bool_) or (whole and value in (0, 1)):
        return np.bool_(value)
    raise RefusedError("true or false", value)


def _integer(dtype: DataType, value: Any) -> np.generic:
    low, high = dtype.limits or (0, 0)
    if isinstance(value, np.generic) and value.dtype.kind in "bV" and np.can_cast(value.dtype, np.float64):
        # NumPy does not count booleans and the types of machine learning as numbers.
        value = float(value)
    whole = isinstance(value, int | np.integer) or (
        isinstance(value, float | np.floating) and float(value).is_integer()
    )
    if whole and not isinstance(value, np.timedelta64) and low <= int(value) <= high:
        return dtype.numpy.type(int(value))
    raise RefusedError(f"an integer in [{low}, {high}]", value)


def _float(dtype: DataType, value: Any) -> np.generic:
    if isinstance(value, str):
        return _as_document(dtype, value)
    if isinstance(value, np.complexfloating):
        # NumPy would only warn that it loses the imaginary part.
        raise RefusedError("a real number", value)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise RefusedError(f"a number in the range of {dtype.name}", value) from None
    return _real(dtype, dtype.numpy, number, value)


def _real(dtype: DataType, numpy: np.dtype[Any], number: float, value: Any) -> np.generic:
    low, high = dtype.limits or (0.0, 0.0)
    if math.isfinite(number) and not low <= number <= high:
        raise RefusedError(f"a number in [{low}, {high}]", value)
    if math.isfinite(number):
        return numpy.type(number)
    text = "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    problems = Problems()
    scalar = fill_json.decode_real(dtype, numpy, text, "", problems)
    if scalar is None:
        raise RefusedError(problems.items[0].expected, value)
    return scalar


def _complex(dtype: DataType, value: Any) -> np.generic:
    if isinstance(value, list | tuple):
        return _as_document(dtype, list(value))
    if isinstance(value, str):
        raise RefusedError("a complex number, or a pair", value)
    try:
        number = complex(value)
    except (TypeError, ValueError, OverflowError):
        raise RefusedError("a complex number", value) from None
    half = np.dtype(f"f{dtype.itemsize // 2}")
    parts = [_real(dtype, half, part, value).tobytes() for part in (number.real, number.imag)]
    return np.frombuffer(b"".join(parts), dtype=dtype.numpy)[0]


def _raw(dtype: DataType, value: Any) -> np.generic:
    if isinstance(value, list | tuple):
        return _as_document(dtype, list(value))
    if isinstance(value, bytes | bytearray | memoryview | np.void | np.bytes_):
        data = value.tobytes() if isinstance(value, np.void) else bytes(value)
        if len(data) == dtype.itemsize:
            return np.void(data)
    elif _is_zero(value):
        return default(dtype)
    raise RefusedError(f"{dtype.itemsize} bytes", value)


def _time(dtype: DataType, value: Any) -> np.generic:
    kind, unit = dtype.numpy.type, np.datetime_data(dtype.numpy)
    try:
        if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
            return fill_json.time_scalar(dtype, int(value))
        if isinstance(value, str) and value.lower() == "nat":
            return default(dtype)
        given: Any = value if isinstance(value, kind) else kind(value)
        made: np.generic = kind(given, unit)
        # NumPy drops precision below the unit, and wraps around on overflow.
        same = np.isnat(given) or made.astype(given.dtype) == given
    except (TypeError, ValueError, OverflowError):
        same = False
    if not same:
        raise RefusedError(f"a value that {dtype.numpy} has", value)
    return made


def _bytes(dtype: DataType, value: Any) -> np.generic:
    data = value.encode("ascii") if isinstance(value, str) and value.isascii() else value
    if _is_zero(data):
        data = b""
    if isinstance(data, bytes | bytearray) and len(data.rstrip(b"\0")) <= dtype.itemsize:
        return np.bytes_(data.rstrip(b"\0"))
    raise RefusedError(f"at most {dtype.itemsize} bytes", value)


def _text(dtype: DataType, value: Any) -> np.generic:
    text = value.decode("ascii") if isinstance(value, bytes) and value.isascii() else value
    if _is_zero(text):
        text = ""
    if isinstance(text, str) and len(text.rstrip("\0")) <= dtype.itemsize // 4 and fill_json.is_text(text):
        return np.str_(text.rstrip("\0"))
    raise RefusedError(f"text of at most {dtype.itemsize // 4} characters", value)


def _is_zero(value: Any) -> bool:
    """Return whether a value is the number 0, which stands for an empty string."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64) and value == 0


def _struct(dtype: DataType, value: Any) -> np.generic:
    """Return the record with these values, given as a tuple, a mapping, or a record of another data type."""
    if _is_zero(value):
        return default(dtype)
    names = [field.name for field in dtype.fields]
    parts = value
    if dtype.part is not dtype and isinstance(value, int | float | complex | np.number):
        parts = {"real": np.real(value), "imag": np.imag(value)}
    if isinstance(value, tuple) and len(value) == len(names):
        parts = dict(zip(names, value, strict=True))
    elif isinstance(value, np.void) and value.dtype.names == tuple(names):
        parts = {name: value[name] for name in names}
    if not isinstance(parts, dict) or parts.keys() != set(names):
        raise RefusedError("a value for each field", value)
    made: Any = np.zeros((), dtype.numpy)
    for field in dtype.fields:
        try:
            _set(made, field.name, field.dtype, field.shape, parts[field.name])
        except RefusedError as refused:
            raise RefusedError(f"{refused.expected}, for {field.name}", value) from refused
    return made[()]


def _set(target: Any, key: Any, dtype: DataType, shape: tuple[int, ...], value: Any) -> None:
    """Set an element, or each element of a sub-array of this shape."""
    if not shape:
        target[key] = convert(dtype.of_scalars, value)
        return
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if _is_zero(value):
        value = [0] * shape[0]
    if not isinstance(value, list | tuple | np.ndarray) or len(value) != shape[0]:
        raise RefusedError(f"a list of {shape[0]} values", value)
    for position, part in enumerate(value):
        _set(target[key], position, dtype, shape[1:], part)


def _object(dtype: DataType, value: Any) -> Any:
    wanted: Any = {"string": str, "bytes": bytes}.get(dtype.name, object)
    if _is_zero(value) and wanted is not object:
        return _NOTHING[dtype.name]
    if not isinstance(value, wanted):
        raise RefusedError("text" if wanted is str else "bytes", value)
    # NumPy scalars of text and bytes become plain `str` and `bytes`.
    return value if wanted is object else wanted(value)


_NOTHING = {"string": "", "bytes": b"", "object": None}


def _as_document(dtype: DataType, value: Any) -> np.generic:
    problems = Problems()
    scalar = fill_json.decode(dtype, value, "fill_value", problems)
    if scalar is None:
        raise RefusedError(problems.items[0].expected, value)
    return scalar


_CONVERT = {
    Kind.BOOL: _bool,
    Kind.INTEGER: _integer,
    Kind.FLOAT: _float,
    Kind.COMPLEX: _complex,
    Kind.RAW: _raw,
    Kind.TIME: _time,
    Kind.BYTES: _bytes,
    Kind.TEXT: _text,
    Kind.STRUCT: _struct,
    Kind.OBJECT: _object,
}
