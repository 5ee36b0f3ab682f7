"""The data types of the ``ml_dtypes`` package, which NumPy lacks, and complex numbers of two narrow parts.

Narrow types take one byte per element in memory and in the ``bytes`` codec, as zarr-extensions specifies. ``ml_dtypes``
is imported when the first such type is used.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np

from blizzarr.dtypes.data_type import DataType, Field
from blizzarr.dtypes.kinds import Kind

ROWS: Final[dict[str, tuple[Kind, int]]] = {
    # name: kind, bytes that swap (0: none)
    "int2": (Kind.INTEGER, 0),
    "int4": (Kind.INTEGER, 0),
    "uint2": (Kind.INTEGER, 0),
    "uint4": (Kind.INTEGER, 0),
    "bfloat16": (Kind.FLOAT, 2),
    "float4_e2m1fn": (Kind.FLOAT, 0),
    "float6_e2m3fn": (Kind.FLOAT, 0),
    "float6_e3m2fn": (Kind.FLOAT, 0),
    "float8_e3m4": (Kind.FLOAT, 0),
    "float8_e4m3": (Kind.FLOAT, 0),
    "float8_e4m3b11fnuz": (Kind.FLOAT, 0),
    # Not registered, but TensorStore writes it.
    "float8_e4m3fn": (Kind.FLOAT, 0),
    "float8_e4m3fnuz": (Kind.FLOAT, 0),
    "float8_e5m2": (Kind.FLOAT, 0),
    "float8_e5m2fnuz": (Kind.FLOAT, 0),
    "float8_e8m0fnu": (Kind.FLOAT, 0),
}

COMPLEX: Final = {
    f"complex_{part}": part
    for part in ("float16", *(name for name, (kind, _) in ROWS.items() if kind is Kind.FLOAT))
    if part != "float8_e4m3fn"
}
"""The data types of the parts of complex numbers whose parts have fewer than 32 bits."""


def data_type(name: str) -> DataType | None:
    """Return the data type of this name; `None` if ``ml_dtypes`` is not installed or too old."""
    try:
        package = importlib.import_module("ml_dtypes")
        dtype: np.dtype[Any] = np.dtype(getattr(package, name))
    except (ImportError, AttributeError):
        return None
    kind, swap_unit = ROWS[name]
    return DataType(name, dtype, kind, swap_unit, limits(dtype, kind, package))


def limits(dtype: np.dtype[Any], kind: Kind, package: Any) -> tuple[float, float] | None:
    """Return the least and the greatest number of a type that this package, NumPy or ``ml_dtypes``, has; or None."""
    if kind is Kind.INTEGER:
        whole = package.iinfo(dtype)
        return int(whole.min), int(whole.max)
    if kind in (Kind.FLOAT, Kind.COMPLEX):
        real = package.finfo(dtype)
        return float(real.min), float(real.max)
    return None


def complex_type(name: str, part: DataType) -> DataType:
    """Return the data type of this name: records of two parts in memory, the fields ``real`` and ``imag``."""
    fields = (Field("real", part), Field("imag", part))
    return DataType(name, np.dtype([(field.name, part.numpy) for field in fields]), Kind.STRUCT, fields=fields)
