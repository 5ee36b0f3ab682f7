"""Fields: the parts of the elements of a stored array.

A spec opens one field (``field``), or the bytes of elements (``open_as_void``): either has the dimensions of the array,
and those that each element has of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from blizzarr.errors import SpecError
from blizzarr.spec.dtype import DType


@dataclass(frozen=True, slots=True)
class Field:
    """A field: some of the bytes of each element, and their data type.

    Examples
    --------
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
        return prod(self.shape) * self.dtype._element_dtype.itemsize


def check_choice(name: str, void: bool) -> None:
    """Raise if a spec selects both a field and bytes."""
    if name and void:
        raise SpecError('"field" and "open_as_void" are mutually exclusive')


def choice(options: Mapping[str, Any]) -> tuple[str, bool]:
    """Return the options that select a part of each element: the name of a field, and whether bytes are selected."""
    return options.get("field", ""), options.get("open_as_void", False)
