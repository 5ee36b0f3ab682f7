"""Values of a field, and the bytes that they are stored as."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.spec.field import Field

_BIG = sys.byteorder == "big"


def from_stored(raw: npt.NDArray[np.uint8], field: Field) -> npt.NDArray[Any]:
    """Return the values whose bytes are along the last axis.

    Examples
    --------
    >>> from blizzarr.spec.dtype import DTYPES
    >>> from_stored(np.array([[1, 2, 3, 4]], "u1"), Field("a", DTYPES["uint16"], True))
    array([[258, 772]], dtype=uint16)
    """
    dtype = field.dtype._element_dtype
    raw = np.ascontiguousarray(raw)
    if field.dtype.name == "bool":
        truth: npt.NDArray[Any] = raw != 0
        return truth
    unit = _swapped(field, dtype)
    if unit:
        raw = raw.view(f"u{unit}").byteswap().view(np.uint8)
    return raw.view(dtype)


def to_stored(values: npt.NDArray[Any], field: Field) -> npt.NDArray[np.uint8]:
    """Return the bytes of values, with a last axis for the bytes of each.

    Examples
    --------
    >>> from blizzarr.spec.dtype import DTYPES
    >>> to_stored(np.array([[258, 772]]), Field("a", DTYPES["uint16"], True, (2,)))
    array([[[1, 2],
            [3, 4]]], dtype=uint8)
    """
    dtype = field.dtype._element_dtype
    found = np.ascontiguousarray(values, dtype)
    raw = found.reshape(-1).view(np.uint8)
    unit = _swapped(field, dtype)
    if unit:
        raw = raw.view(f"u{unit}").byteswap().view(np.uint8)
    return raw.reshape(*values.shape, dtype.itemsize)


def _swapped(field: Field, dtype: np.dtype[Any]) -> int:
    """Return the length of the unit whose bytes are stored in reverse order; 0 if none is."""
    unit = dtype.itemsize // 2 if field.dtype.name.startswith("complex") else dtype.itemsize
    return unit if unit > 1 and field.big != _BIG else 0
