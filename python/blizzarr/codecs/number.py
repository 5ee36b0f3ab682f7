"""Real numbers of all data types, as the engine takes them."""

from __future__ import annotations

import sys
from typing import Any

from blizzarr.dtypes import DataType, Kind


def is_number(dtype: DataType) -> bool:
    """Return whether elements are integers or real floating point, of NumPy or of ``ml_dtypes``."""
    return dtype.kind in (Kind.INTEGER, Kind.FLOAT)


def bits(dtype: DataType, value: Any) -> str:
    """Return the bits of a scalar, given as in documents, as hexadecimal digits.

    >>> bits(DataType.parse("float32"), 1), bits(DataType.parse("int8"), -1)
    ('3f800000', 'ff')
    """
    element = dtype.fill_bytes(dtype.fill_from_json(value))
    return f"{int.from_bytes(element, sys.byteorder):x}"
