"""Fields: the parts of the elements of a stored array.

A spec opens one field (``field``), or the bytes of elements (``open_as_void``): either has the dimensions of the array,
and those that each element has of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SpecError
from blizzarr.spec.dtype import DType


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
        return prod(self.shape) * self.dtype._element_dtype.itemsize

    def decode(self, raw: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """Return the values whose bytes are along the last axis.

        >>> from blizzarr.spec.dtype import DTYPES
        >>> Field("a", DTYPES["uint16"], True).decode(np.array([[1, 2, 3, 4]], "u1"))
        array([[258, 772]], dtype=uint16)
        """
        raw = np.ascontiguousarray(raw)
        if self.dtype.name == "bool":
            truth: npt.NDArray[Any] = raw != 0
            return truth
        return self._swapped(raw).view(self.dtype._element_dtype)

    def encode(self, values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Return the bytes of values, with a last axis for the bytes of each.

        >>> from blizzarr.spec.dtype import DTYPES
        >>> Field("a", DTYPES["uint16"], True, (2,)).encode(np.array([[258, 772]]))
        array([[[1, 2],
                [3, 4]]], dtype=uint8)
        """
        dtype = self.dtype._element_dtype
        raw = np.ascontiguousarray(values, dtype).reshape(-1).view(np.uint8)
        return self._swapped(raw).reshape(*values.shape, dtype.itemsize)

    def _swapped(self, raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return bytes of values in the other byte order, if stored values have another than this machine."""
        size = self.dtype._element_dtype.itemsize
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
