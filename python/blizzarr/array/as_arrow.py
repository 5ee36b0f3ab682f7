"""Elements in memory as arrays of Arrow."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from blizzarr.dtypes import DataType, optional
from blizzarr.errors import UnsupportedOperationError


def as_arrow(elements: Any, dtype: DataType) -> Any:
    """Return elements of a data type as an array of pyarrow, which shares their memory where Arrow has the data type.

    Raise `UnsupportedOperationError` if pyarrow is not installed, `TypeError` if Arrow has no such data type.
    """
    try:
        arrow: Any = import_module("pyarrow")
    except ImportError as missing:
        raise UnsupportedOperationError("to_arrow needs pyarrow: pip install 'blizzarr[arrow]'") from missing
    values = np.asarray(elements)
    if values.ndim == 0:
        raise ValueError("expected a selection with an axis, found a single element")
    missing_ones = None
    if dtype.name == optional.NAME:
        values, missing_ones = values["value"], ~values["is_valid"]
    flat = np.ascontiguousarray(values).reshape(-1)
    kind = {"string": arrow.large_string(), "bytes": arrow.large_binary()}.get(dtype.name)
    try:
        made = arrow.array(flat, type=kind, mask=None if missing_ones is None else missing_ones.reshape(-1))
    except (arrow.ArrowNotImplementedError, arrow.ArrowInvalid, arrow.ArrowTypeError) as refused:
        raise TypeError(f"expected a data type that Arrow has, found {dtype}: {refused}") from refused
    for length in reversed(values.shape[1:]):
        made = arrow.FixedSizeListArray.from_arrays(made, length)
    return made
