"""Fill values in documents of Zarr v1, as zarr-python 1 interprets them.

The specification says only "a scalar value". zarr-python 1 wrote what Python's JSON encoder made of it, and let NumPy
fill memory with the value that it read; chunks were completed with that, so it is what counts here.

========  ==================================================================  ==========================================
kind      read                                                                written
========  ==================================================================  ==========================================
bool      true, false, 0, 1                                                   true, false
integer   a number: fractions are dropped, integers out of range wrap around  a number
float     a number; "NaN", "Infinity", "-Infinity"; the bare tokens; true,    the shortest number that reads back;
          false                                                               "NaN", "Infinity", "-Infinity"
complex   such a value; a pair of them                                        such a value; a pair if it is imaginary
bytes     text of ASCII, cut to length; numbers as Python spells them         text
text      text, cut to length; numbers as Python spells them                  text
raw       0; base64                                                           0; base64
struct    a value that all fields are filled with; base64                     such a value; base64
time      a number, "NaT"; moments: "2001-02-03" and "2001-02-03T04:05:06"    a number
========  ==================================================================  ==========================================

So 0 is the byte string "0" in arrays of byte strings, and base64 is plain text there. Base64 and pairs are written only
for values without another form: zarr-python 1 raises an error when it has to fill with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import numpy as np

from blizzarr.dtypes import DataType, Kind, fill_typed
from blizzarr.problems import Problems

_NUMBERS: Final = (bool, int, float)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(T\d\d(:\d\d(:\d\d(\.\d{1,18})?)?)?)?", re.ASCII)


def decode(dtype: DataType, value: Any, path: str, problems: Problems, endian: str | None) -> Any:
    """Return the scalar for a JSON value; `None` if a problem was added. `endian` is that of stored elements.

    >>> decode(DataType.parse("S5"), "YWI=", "fill_value", Problems(), None)
    np.bytes_(b'YWI=')
    >>> decode(DataType.parse("S5"), 0, "fill_value", Problems(), None)
    np.bytes_(b'0')
    """
    kind, given = dtype.kind, type(value)
    if kind is Kind.STRUCT and (given is not str or _takes_text(dtype.numpy)):
        return _filled(dtype, value, path, "a value that each field can have, or base64", problems)
    if kind is Kind.BYTES:
        return _bytes(dtype, value, path, problems)
    if kind is Kind.TEXT and given in _NUMBERS:
        value = str(value)
    if kind is Kind.TEXT and type(value) is str:
        value = value[: dtype.itemsize // 4]
    if kind is Kind.TIME and given is str and _MOMENT.fullmatch(value) and dtype.numpy.kind == "M":
        return _filled(dtype, value, path, 'a moment that there is, a 64-bit integer or "NaT"', problems)
    if kind is Kind.INTEGER:
        value = _wrapped(dtype, value)
    if kind in (Kind.FLOAT, Kind.COMPLEX, Kind.TIME) and given is bool:
        value = int(value)
    if kind in (Kind.BOOL, Kind.TIME) and given is float and value.is_integer():
        value = int(value)
    return fill_typed.decode(dtype, value, path, problems, endian)


def _bytes(dtype: DataType, value: Any, path: str, problems: Problems) -> np.bytes_ | None:
    """Return the text of a value, cut to length; without NumPy filling an element, which may have 2 GiB."""
    if type(value) in (*_NUMBERS, str) and str(value).isascii():
        return np.bytes_(str(value).encode("ascii")[: dtype.itemsize].rstrip(b"\0"))
    problems.add(path, "text of ASCII", value)
    return None


def _takes_text(numpy: np.dtype[Any]) -> bool:
    """Return whether NumPy can fill all fields of a struct with text."""
    if numpy.fields is None:
        return numpy.base.kind in "SUb"
    return all(_takes_text(field[0].base) for field in numpy.fields.values())


def _filled(dtype: DataType, value: Any, path: str, expected: str, problems: Problems) -> np.generic | None:
    """Return one element that NumPy has filled with a value."""
    if type(value) in (*_NUMBERS, str):
        memory = np.zeros(1, dtype.numpy)
        with suppress(ValueError, OverflowError, TypeError):
            memory.fill(value)
            scalar: np.generic = memory[0]
            return scalar
    problems.add(path, expected, value)
    return None


def _wrapped(dtype: DataType, value: Any) -> Any:
    """Return an integer wrapped to the width of the data type, where the result is unambiguous."""
    low, high = dtype.limits or (0, 0)
    if type(value) is float and low - 1 < value < high + 1:
        return int(value)
    if type(value) is int and -(2**63) <= value < 2**64:
        size, signed = dtype.itemsize, dtype.numpy.kind == "i"
        return int.from_bytes((value % 256**size).to_bytes(size, "little"), "little", signed=signed)
    return value


def encode(dtype: DataType, value: Any, endian: str | None, problems: Problems) -> Any:
    """Return the JSON value of a fill value; add a problem if no value reads back as it.

    >>> encode(DataType.parse("S5"), np.bytes_(b"ab"), None, Problems())
    'ab'
    >>> encode(DataType.parse("complex64"), np.complex64(2), "little", Problems())
    2.0
    """
    kind = dtype.kind
    made: Any
    if kind is Kind.BYTES:
        made = bytes(value).decode("latin-1")
    elif kind in (Kind.STRUCT, Kind.RAW):
        made = next((plain for plain in (0, "", *_leaves(value)) if _is(dtype, plain, value, endian)), None)
        made = fill_typed.encode(dtype, value, endian) if made is None else made
    else:
        made = fill_typed.encode(dtype, value, endian)
    if kind is Kind.COMPLEX and _is(dtype, made[0], value, endian):
        made = made[0]
    if not _is(dtype, made, value, endian):
        problems.add("fill_value", "one that v1 has: null, or text of ASCII throughout", repr(value))
    return made


def _leaves(value: Any) -> Iterator[bool | int | float | str]:
    """Yield the fields of an element as JSON values: one of them may fill all fields."""
    if isinstance(value, np.void) and value.dtype.names:
        for name in value.dtype.names:
            yield from _leaves(value[name])
    elif isinstance(value, bytes):
        yield value.decode("latin-1")
    elif isinstance(value, str):
        yield str(value)
    elif isinstance(value, np.bool_ | np.integer | np.floating) and np.isfinite(value):
        yield value.item()


def _is(dtype: DataType, made: Any, value: Any, endian: str | None) -> bool:
    """Return whether a JSON value reads back as this fill value."""
    problems = Problems()
    decoded = decode(dtype, made, "", problems, endian)
    return not problems.items and dtype.fill_bytes(decoded) == dtype.fill_bytes(value)
