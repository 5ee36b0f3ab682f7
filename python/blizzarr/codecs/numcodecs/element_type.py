"""Element types as options of filters: NumPy's strings with a byte order, like ``"<f8"``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import numpy as np

from blizzarr.codecs.codec import Option

# Also names like float32 and datetime64[10ms]; no lists of types, no sub-arrays, and nothing that is a Python object.
_SPELLINGS: Final = re.compile(r"[<>|=]?[A-Za-z]+[0-9]*(\[[0-9]*[A-Za-z]+\])?\Z")
_KINDS: Final = "biufcmMSU"


@lru_cache(256)
def element_type(spelling: str) -> np.dtype[Any] | None:
    """Return the type for a string; None if elements cannot have it.

    >>> element_type(">i4"), element_type("float32"), element_type("O")
    (dtype('>i4'), dtype('float32'), None)
    """
    if not _SPELLINGS.match(spelling):
        return None
    try:
        dtype = np.dtype(spelling)
    except (TypeError, ValueError):
        return None
    return dtype if dtype.kind in _KINDS and dtype.itemsize else None


def type_option(name: str, required: bool = True) -> Option:
    """Return an option that is an element type."""
    expected = 'a data type of NumPy, like "<f8"'
    return Option(name, expected, lambda value: type(value) is str and element_type(value) is not None, required)


def order_of(dtype: np.dtype[Any]) -> str | None:
    """Return ``"<"`` or ``">"``; None for elements of one byte, or without a byte order."""
    return dtype.str[0] if dtype.str[0] in "<>" else None


def in_order(dtype: np.dtype[Any], endian: str | None) -> np.dtype[Any]:
    """Return the type in this byte order, ``"little"`` or ``"big"``; None stands for ``"little"``."""
    return dtype.newbyteorder(">" if endian == "big" else "<")
