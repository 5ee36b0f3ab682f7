"""The elements of a stored array: fields with names, or a single one without.

A spec opens one field of them (``field``), or their bytes (``open_as_void``): either has the dimensions of the array,
and those that each element has of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Self

from blizzarr.errors import ConstraintError, SpecError
from blizzarr.json_values import dump, quote
from blizzarr.model import ArrayMeta
from blizzarr.spec.dtype import DTYPES, DType

__all__ = ["ElementType", "Field", "PickedElements", "WholeElements", "check_choice", "choice"]


@dataclass(frozen=True, slots=True)
class Field:
    """A field: some of the bytes of each element, and their data type.

    Examples
    --------
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
        return prod(self.shape) * self.dtype._element_dtype.itemsize


@dataclass(frozen=True, slots=True)
class ElementType:
    """All fields of an element.

    Examples
    --------
    >>> made = ElementType.of("", [Field("a", DTYPES["int16"]), Field("b", DTYPES["uint8"])], True)
    >>> made.itemsize, made.pick("b", False).offset, made.pick("", True).shape
    (3, 2, (3,))
    >>> made.pick("", False)
    Traceback (most recent call last):
    ...
    blizzarr.errors.ConstraintError: FAILED_PRECONDITION: Must specify a "field" that is one of: ["a","b"]
    """

    json: Any
    """The data type as the document has it."""
    fields: tuple[Field, ...]
    itemsize: int

    named: bool
    """True if the fields have names."""
    legacy: bool = False
    """True if v3 spells the fields in the earlier way, which has other forms of fill values, too."""

    @classmethod
    def of(cls, json: Any, fields: list[Field], named: bool, legacy: bool = False) -> Self:
        """Return the type of elements whose fields lie one after the other."""
        placed: list[Field] = []
        offset = 0
        for field in fields:
            if any(field.name == other.name for other in placed):
                raise SpecError(f"Field name {quote(field.name)} occurs more than once")
            placed.append(replace(field, offset=offset))
            offset += field.size
        return cls(json, tuple(placed), offset, named, legacy)

    @property
    def is_whole(self) -> bool:
        """True if an element is a single value."""
        return not self.named and not self.fields[0].shape

    @property
    def void(self) -> Field:
        """The bytes of an element."""
        return Field("", DTYPES["byte"], shape=(self.itemsize,))

    def position(self, name: str) -> int:
        """Return the position of a field; without a name, there must be only one."""
        names = [field.name for field in self.fields]
        if not name:
            if len(names) == 1:
                return 0
            raise ConstraintError(f'Must specify a "field" that is one of: {dump(names)}')
        if not self.named:
            raise ConstraintError(f"Requested field {quote(name)} but dtype does not have named fields")
        if name not in names:
            raise ConstraintError(f"Requested field {quote(name)} is not one of: {dump(names)}")
        return names.index(name)

    def pick(self, name: str, void: bool) -> Field:
        """Return the field that a spec selects."""
        return self.void if void else self.fields[self.position(name)]


def check_choice(name: str, void: bool) -> None:
    """Raise if a spec selects both a field and bytes."""
    if name and void:
        raise SpecError('"field" and "open_as_void" are mutually exclusive')


def choice(options: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the options that select a part of each element: the name of a field, and whether bytes are selected."""
    return options.get("field", ""), options.get("open_as_void", False)


class PickedElements(ABC):
    """The part of each element that is selected, in formats whose elements may have fields."""

    @staticmethod
    @abstractmethod
    def part(meta: ArrayMeta, options: Mapping[str, Any]) -> Field | None:
        """Return the selected part of each element; None if the whole element is a single value."""

    @classmethod
    def options_of(cls, meta: ArrayMeta, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options in the spec of an open array, which names the field."""
        part, (_, void) = cls.part(meta, options), choice(options)
        return options if part is None or void else {**options, "field": part.name}


class WholeElements:
    """The part of each element that is selected, in formats whose elements have no fields."""

    @staticmethod
    def part(meta: ArrayMeta, options: Mapping[str, Any]) -> Field | None:
        """Return None: the whole element is a single value."""
        return None

    @staticmethod
    def options_of(meta: ArrayMeta, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options in the spec of an open array."""
        return options
