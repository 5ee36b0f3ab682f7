"""Data types in the spelling of NumPy's array interface, which v1, v2 and zarr-python's draft of v3 use.

https://numpy.org/doc/stable/reference/arrays.interface.html

A string is a byte order (``<``, ``>``, or ``|`` for none), a letter, the bytes of an element (for ``U``, the
characters), and for times a unit. A list has the fields of a struct: pairs of a name and a type, or triples with a
shape. Nothing is passed to NumPy before its form and its size have been checked.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from blizzarr.dtypes import ml, struct, table
from blizzarr.dtypes.data_type import OBJECT, DataType, Field
from blizzarr.dtypes.kinds import Kind
from blizzarr.dtypes.time import UNITS
from blizzarr.problems import Problems, lengths

_FORM: Final = re.compile(r"([<>|=]?)([biufcSUVMmO])(0|[1-9][0-9]{0,9})?(?:\[([1-9][0-9]{0,9})?([A-Za-zμ]+)\])?")
_SIZES: Final = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16), "M": (8,), "m": (8,)}
_ENDIAN: Final = {"<": "little", ">": "big"}
_MOST: Final = 2**31 - 1
_EXPECTED: Final = 'a data type like "<f8", "|b1", "|S5", "<U4", "<M8[ns]" or a list of fields'


class Typestr(NamedTuple):
    """A decoded typestr: a data type, the byte order of its elements, and the shape of one element."""

    dtype: DataType
    endian: str | None
    """``"little"`` or ``"big"``; `None` if there is no order, or each field of a struct has its own."""
    shape: tuple[int, ...] = ()


def from_typestr(value: Any, path: str, problems: Problems, depth: int = 0) -> Typestr | None:
    """Decode a typestr in a document; `None` if a problem was added.

    >>> from_typestr(">i2", "dtype", Problems())
    Typestr(dtype=DataType('int16'), endian='big', shape=())
    >>> from_typestr([["r", "|u1"], ["v", "<f4", [2]]], "dtype", Problems()).dtype.numpy
    dtype([('r', 'u1'), ('v', '<f4', (2,))])
    """
    if type(value) is str:
        return _sound(value) or _simple(value, path, problems)
    if type(value) is list:
        return _struct(value, path, problems, depth)
    problems.add(path, _EXPECTED, value)
    return None


@lru_cache
def _sound(value: str) -> Typestr | None:
    """Decode a typestr that nothing is to be said of; the arrays of a hierarchy usually have few of them."""
    problems = Problems()
    typed = _simple(value, "", problems)
    return None if problems.items or problems.limits or problems.notices else typed


def _simple(value: str, path: str, problems: Problems) -> Typestr | None:
    form = _FORM.fullmatch(value)
    if form is None:
        problems.add(path, _EXPECTED, value)
        return None
    order, letter, digits, scale, unit = form.groups()
    size = 0 if digits is None else int(digits)
    timed = letter in "Mm" and unit in UNITS and unit != "generic" and int(scale or 1) < 2**31
    if (unit is not None and not timed) or (letter == "O" and digits not in (None, "4", "8")):
        problems.add(path, _EXPECTED, value)
        return None
    if letter == "O":
        return Typestr(OBJECT, None)
    sizes = _SIZES.get(letter)
    width = 4 if letter == "U" else 1
    if (size not in sizes) if sizes is not None else not 0 < size <= _MOST // width:
        some = f"a size of {' or '.join(map(str, sizes))} bytes" if sizes else f"a size from 1 to {_MOST // width}"
        problems.add(path, f"{some} behind {letter}", value)
        return None
    if order in ("", "=") and (size > 1 or letter == "U") and letter not in "SV":
        problems.add(path, 'a byte order, "<" or ">", in front', value)
        return None
    dtype = table.from_numpy(np.dtype(value.replace("=", "|").replace(">", "<")), problems)
    if dtype is None:
        return None
    endian = _ENDIAN.get(order) if dtype.swap_unit else None
    if dtype.swap_unit and endian is None:
        problems.add(path, 'a byte order, "<" or ">", in front', value)
        return None
    return Typestr(dtype, endian)


def _struct(value: list[Any], path: str, problems: Problems, depth: int) -> Typestr | None:
    if not 0 < len(value) <= struct.MAX_FIELDS:
        problems.add(path, f"at least one field, at most {struct.MAX_FIELDS:,}", value)
        return None
    if struct.is_too_deep(depth, path, problems):
        return None
    before = len(problems.items)
    parts: list[tuple[struct.Placed, str | None]] = []
    for position, item in enumerate(value):
        here = f"{path}[{position}]"
        if type(item) is not list or len(item) not in (2, 3):
            problems.add(here, "a name and a data type, perhaps a shape", item)
            continue
        shape = _shape(item[2], f"{here}[2]", problems) if len(item) == 3 else ()
        if type(item[1]) is str and item[1] in ml.ROWS:
            inner = _named(item[1], f"{here}[1]", problems)
        else:
            inner = from_typestr(item[1], f"{here}[1]", problems, depth + 1)
        if inner is not None and shape is not None:
            # Padding of aligned records has no name; NumPy names it by its position.
            name = f"f{position}" if item[0] == "" else item[0]
            parts.append((struct.Placed(here, Field(name, inner.dtype, (*shape, *inner.shape))), inner.endian))
    orders = {endian for part, endian in parts if part.field.dtype.swap}
    mixed = len(orders) > 1 or not all(part.field.dtype.is_native for part, _ in parts)
    if mixed:
        parts = [(part._replace(field=_stored_field(part.field, endian)), endian) for part, endian in parts]
    made = struct.make([part for part, _ in parts], path, problems)
    if made is None or len(problems.items) > before:
        return None
    return Typestr(made, None if mixed or not orders else orders.pop())


def _named(name: str, path: str, problems: Problems) -> Typestr | None:
    """Decode a type that NumPy lacks, which TensorStore writes by its name."""
    dtype = table.from_json(name, path, problems)
    return None if dtype is None else Typestr(dtype, "little" if dtype.swap_unit else None)


def _shape(value: Any, path: str, problems: Problems) -> tuple[int, ...] | None:
    given = [value] if type(value) is int else value
    shape = lengths(given, path, problems, 1)
    if shape is not None and (len(shape) > 32 or prod(shape) > _MOST):
        problems.add(path, "a shape of at most 32 lengths and 2^31 elements", value)
        return None
    return shape


def _stored_field(field: Field, endian: str | None) -> Field:
    """Return a field with its stored byte order, for structs whose fields have different ones."""
    dtype = field.dtype
    if endian is None or not dtype.swap:
        return field
    order: Literal["<", ">"] = "<" if endian == "little" else ">"
    fields = tuple(_stored_field(inner, endian) for inner in dtype.fields)
    return field._replace(dtype=replace(dtype, numpy=dtype.numpy.newbyteorder(order), fields=fields))


def with_field_orders(dtype: DataType, given: np.dtype[Any]) -> DataType:
    """Return the struct with the byte orders that the fields of a NumPy type have, if they are not all the same.

    >>> given = np.dtype([("a", "<i4"), ("b", ">f8")])
    >>> to_typestr(with_field_orders(DataType.parse(given), given), None)
    [['a', '<i4'], ['b', '>f8']]
    """
    typed = from_typestr(_listed(given), "dtype", Problems())
    # Types that NumPy lacks have no such spelling.
    if typed is None or typed.dtype.is_native or DataType.parse(typed.dtype.numpy) != dtype:
        return dtype
    return typed.dtype


def _listed(given: np.dtype[Any]) -> list[list[Any]]:
    listed = []
    for name in given.names or ():
        base, shape = given[name].subdtype or (given[name], ())
        listed.append([name, _listed(base) if base.names else base.str, *([list(shape)] if shape else [])])
    return listed


def to_typestr(dtype: DataType, endian: str | None) -> Any:
    """Return the typestr of a data type; `None` if it has none.

    >>> to_typestr(DataType.parse("int16"), "big"), to_typestr(DataType.parse("bool"), None)
    ('>i2', '|b1')
    >>> to_typestr(DataType.parse([("a", "i4"), ("b", "S2")]), "little")
    [['a', '<i4'], ['b', '|S2']]
    """
    if dtype.kind is Kind.OBJECT:
        return "|O"
    if dtype.fields:
        return _fields(dtype, endian)
    if dtype.numpy.kind not in "biufcSUVMm" or (dtype.numpy.kind == "V" and dtype.kind is not Kind.RAW):
        return None
    if dtype.numpy.isbuiltin == 2:
        # A type of a package: ml_dtypes says of float8_e5m2 that its kind is "f".
        return None
    if not dtype.swap_unit:
        return dtype.numpy.str.replace("<", "|").replace(">", "|")
    if not dtype.numpy.isnative or endian is None:
        return dtype.numpy.str
    return dtype.numpy.newbyteorder("<" if endian == "little" else ">").str


def _fields(dtype: DataType, endian: str | None) -> list[list[Any]] | None:
    if not dtype.is_native:
        # Each field has its stored byte order.
        endian = None
    listed = []
    for field in dtype.fields:
        inner = to_typestr(field.dtype, endian)
        if inner is None:
            return None
        listed.append([field.name, inner, list(field.shape)] if field.shape else [field.name, inner])
    return listed
