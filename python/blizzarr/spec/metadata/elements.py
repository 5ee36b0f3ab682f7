"""The elements of an array in terms of specs: fields of data types that TensorStore has, and their fill values.

A spec opens one field (``field``), or the bytes of elements (``open_as_void``): either has the dimensions of the array,
and those that each element has of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from blizzarr.dtypes import DataType, Kind
from blizzarr.dtypes.byte_order import in_order
from blizzarr.errors import ConstraintError, SpecError
from blizzarr.json_values import dump, quote
from blizzarr.spec.dtype import DTYPES, DType, element_dtype
from blizzarr.spec.json_array import as_element, check_broadcast


@dataclass(frozen=True, slots=True)
class Field:
    """A field: some of the bytes of each element, and their data type.

    >>> from blizzarr.spec.dtype import DTYPES
    >>> Field("a", DTYPES["int16"], True, (3,), 4).size
    6
    """

    name: str
    """Empty where there are no names."""
    dtype: DType
    big: bool = False
    """True if the first byte of a value is the most significant one."""
    shape: tuple[int, ...] = ()
    """The dimensions within each element."""
    offset: int = 0
    """The offset in the element, in bytes."""

    @property
    def size(self) -> int:
        """The size in bytes."""
        return prod(self.shape) * element_dtype(self.dtype).itemsize

    def decode(self, raw: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """Return the values whose bytes are along the last axis.

        >>> from blizzarr.spec.dtype import DTYPES
        >>> Field("a", DTYPES["uint16"], True).decode(np.array([[1, 2, 3, 4]], "u1"))
        array([[258, 772]], dtype=uint16)
        """
        raw = np.ascontiguousarray(raw)
        if self.dtype.name == "bool":
            return raw != 0
        return self._swapped(raw).view(element_dtype(self.dtype))

    def encode(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Return the bytes of values, with a last axis for the bytes of each.

        >>> from blizzarr.spec.dtype import DTYPES
        >>> Field("a", DTYPES["uint16"], True, (2,)).encode(np.array([[258, 772]]))
        array([[[1, 2],
                [3, 4]]], dtype=uint8)
        """
        dtype = element_dtype(self.dtype)
        raw = np.ascontiguousarray(values, dtype).reshape(-1).view(np.uint8)
        return self._swapped(raw).reshape(*values.shape, dtype.itemsize)

    def _swapped(self, raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return bytes of values in the other byte order, if stored values have another than this machine."""
        size = element_dtype(self.dtype).itemsize
        unit = size // 2 if self.dtype.name.startswith("complex") else size
        if unit == 1 or self.big == (sys.byteorder == "big"):
            return raw
        return raw.view(f"u{unit}").byteswap().view(np.uint8)


def choice(options: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the options that select a part of each element: the name of a field, and whether bytes are selected."""
    name, void = options.get("field", ""), options.get("open_as_void", False)
    if name and void:
        raise SpecError('"field" and "open_as_void" are mutually exclusive')
    return name, void


Element = np.ndarray[Any, np.dtype[Any]]
"""One element, or all that lie within one."""

_BYTES: Final = {Kind.RAW: "byte", Kind.BYTES: "char"}
_NUMBERS: Final = (Kind.BOOL, Kind.INTEGER, Kind.FLOAT, Kind.COMPLEX)


WHOLE: Final = {
    name: Field("", dtype)
    for name, dtype in DTYPES.items()
    if name not in ("byte", "char", "string", "ustring", "json")
}
"""The fields of elements that are a single value."""


@dataclass(frozen=True, slots=True)
class Elements:
    """The type of elements, and where each of its fields lies."""

    dtype: DataType
    endian: str | None
    """The byte order of stored elements; None if they have none, or each field has its own."""
    fields: tuple[Field, ...]
    json: Any
    """The data type as the document has it."""

    @classmethod
    def of(cls, dtype: DataType, endian: str | None, json: Any = None) -> Self:
        """Return the elements of a data type; raise `SpecError` if specs do not have it."""
        if endian != "big" and dtype.name in WHOLE:
            return cls(dtype, endian, (WHOLE[dtype.name],), json)
        offset, fields = 0, []
        for name, inner, shape in dtype.fields or (("", dtype, ()),):
            made = _field(name, inner, shape, endian, offset)
            if made is None:
                supported = ", ".join(known for known in DTYPES if known not in ("string", "ustring", "json"))
                spelled = dump(dtype.to_json() if json is None else json)
                raise SpecError(f"{spelled} data type is not one of the supported data types: {supported}")
            fields.append(made)
            offset += made.size
        return cls(dtype, endian, tuple(fields), json)

    @property
    def named(self) -> bool:
        return bool(self.dtype.fields)

    @property
    def is_whole(self) -> bool:
        """True if an element is a single value."""
        return not self.named and not self.fields[0].shape

    @property
    def unit(self) -> int:
        """The size in bytes of the largest value."""
        return max(element_dtype(field.dtype).itemsize for field in self.fields)

    def pick(self, name: str, void: bool) -> Field:
        """Return the field with this name, or the bytes of elements; without a name, there must be only one field."""
        if void:
            return Field("", DTYPES["byte"], shape=(self.dtype.itemsize,))
        if not name and len(self.fields) == 1:
            return self.fields[0]
        names = [field.name for field in self.fields]
        if name and not self.named:
            raise ConstraintError(f"Requested field {quote(name)} but dtype does not have named fields")
        if name not in names:
            what = f"Requested field {quote(name)} is not" if name else 'Must specify a "field" that is'
            raise ConstraintError(f"{what} one of: {dump(names)}")
        return self.fields[names.index(name)]


def _field(name: str, dtype: DataType, shape: tuple[int, ...], endian: str | None, offset: int) -> Field | None:
    """Return a field; None if specs do not have its data type."""
    if dtype.kind in _BYTES:
        return Field(name, DTYPES[_BYTES[dtype.kind]], endian == "big", (*shape, dtype.itemsize), offset)
    if dtype.kind not in _NUMBERS or dtype.name not in DTYPES:
        return None
    big = endian == "big" if endian is not None else dtype.numpy.byteorder == ">"
    return Field(name, DTYPES[dtype.name], big, shape, offset)


class Fill(NamedTuple):
    """The fill value of whole elements; None if there is none."""

    elements: Elements
    value: np.generic | None

    @classmethod
    def of(cls, elements: Elements, element: Element) -> Self:
        """Return the fill value of elements whose only field has this one."""
        stored = elements.fields[0].encode(element).tobytes()
        raw = in_order(stored, elements.dtype.swap, elements.endian)
        return cls(elements, np.frombuffer(raw, elements.dtype.numpy)[0])

    @property
    def stored(self) -> bytes:
        assert self.value is not None
        dtype = self.elements.dtype
        return in_order(dtype.fill_bytes(self.value), dtype.swap, self.elements.endian)

    def part(self, options: Mapping[str, Any]) -> Element | None:
        """Return the fill value of the selected part of elements.

        >>> elements = Elements.of(DataType.parse(">i2"), "big")
        >>> fill = Fill(elements, elements.dtype.fill(5))
        >>> fill.part({}), fill.part({"open_as_void": True})
        (array(5, dtype=int16), array([b'\\x00', b'\\x05'], dtype='|V1'))
        """
        if self.value is None:
            return None
        name, void = choice(options)
        field = self.elements.pick(name, void)
        if not void and self.elements.is_whole and self.elements.dtype.kind in _NUMBERS:
            return np.array(self.value, field.dtype.numpy_dtype)
        raw = np.frombuffer(self.stored, np.uint8)
        return field.decode(raw[field.offset : field.offset + field.size]).reshape(field.shape)


def converted(fill: np.ndarray[Any, Any], given: DType, dtype: DType, shape: tuple[int, ...] = ()) -> Element:
    """Convert the fill value of a schema to an element of this data type, or several if elements have a shape.

    >>> converted(np.array(2.7), DType("float64"), DType("int8"))
    array(2, dtype=int8)
    """
    check_broadcast(fill.shape, shape)
    fill = np.broadcast_to(fill, shape)
    if given.name == "json":
        values = list(map(as_element(dtype), fill.reshape(-1)))
        return np.array(values, element_dtype(dtype)).reshape(shape)
    if given.name != dtype.name and not {given.name, dtype.name}.isdisjoint(_BYTES.values()):
        raise SpecError(f"Cannot convert {given.name} -> {dtype.name}")
    if given.name.startswith("complex") and not dtype.name.startswith("complex"):
        raise SpecError(f"Explicit data type conversion required to convert {given.name} -> {dtype.name}")
    with np.errstate(over="ignore", invalid="ignore"):
        return fill.astype(element_dtype(dtype))
