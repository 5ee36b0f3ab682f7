"""Elements of arrays as arrays of Arrow."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.array.objects import ObjectHandle
from blizzarr.codecs.objects.vlen_array import ArrayTable
from blizzarr.dtypes import DataType, optional
from blizzarr.errors import UnsupportedOperationError
from blizzarr.indexing import Lowered
from blizzarr.transfer import Binding, read


def read_objects(binding: Binding, lowered: Lowered, dtype: DataType) -> Any:
    """Read objects as an array of pyarrow. Texts, bytes and ragged arrays become no objects of Python on the way.

    Raise `UnsupportedOperationError` if pyarrow is not installed, `TypeError` if Arrow has no such data type.
    """
    arrow = _pyarrow()
    handle = binding.handle
    assert isinstance(handle, ObjectHandle), "that of an array of objects"
    table = handle.new_table()
    if not isinstance(table, _native.ElementTable | ArrayTable):
        return as_arrow(read(binding, lowered), dtype)
    tokens = _with_axis(read(handle.tokens(table), lowered))
    offsets, joined = table.join(np.ascontiguousarray(tokens).reshape(-1))
    if isinstance(table, ArrayTable):
        made = arrow.LargeListArray.from_arrays(offsets, as_arrow(joined, dtype))
    else:
        kind = arrow.large_string() if dtype.name == "string" else arrow.large_binary()
        made = arrow.Array.from_buffers(kind, tokens.size, [None, *map(arrow.py_buffer, (offsets, joined))])
    return _in_lists(made, tokens)


def as_arrow(elements: Any, dtype: DataType) -> Any:
    """Return elements of a data type as an array of pyarrow, which shares their memory where Arrow has the data type.

    Raise `UnsupportedOperationError` if pyarrow is not installed, `TypeError` if Arrow has no such data type, and
    `OverflowError` if there are days that Arrow cannot count.
    """
    arrow = _pyarrow()
    values = _with_axis(elements)
    missing_ones = None
    if dtype.name == optional.NAME:
        values, missing_ones = values["value"], ~values["is_valid"]
    flat = np.ascontiguousarray(values).reshape(-1)
    _refuse_lossy_times(flat, dtype)
    if _has_inner_nul(flat):
        flat = flat.astype(object)
    kind = {"string": arrow.large_string(), "bytes": arrow.large_binary()}.get(dtype.name)
    try:
        made = arrow.array(flat, type=kind, mask=None if missing_ones is None else missing_ones.reshape(-1))
    except (arrow.ArrowNotImplementedError, arrow.ArrowInvalid, arrow.ArrowTypeError) as refused:
        raise TypeError(f"expected a data type that Arrow has, found {dtype}: {refused}") from refused
    return _in_lists(made, values)


def _with_axis(elements: Any) -> npt.NDArray[Any]:
    values = np.asarray(elements)
    if values.ndim == 0:
        raise ValueError("expected a selection with an axis, found a single element")
    return values


def _in_lists(made: Any, elements: npt.NDArray[Any]) -> Any:
    """Return an array of Arrow with the axes of these elements: those after the first are lists of a fixed size."""
    arrow, shape = _pyarrow(), elements.shape
    for axis in reversed(range(1, len(shape))):
        kind = arrow.list_(made.type, shape[axis])
        made = arrow.Array.from_buffers(kind, math.prod(shape[:axis]), [None], children=[made])
    return made


def _refuse_lossy_times(flat: npt.NDArray[Any], dtype: DataType) -> None:
    """Raise an error for times that pyarrow would change silently."""
    if flat.dtype.kind not in "mM":
        return
    unit, count = np.datetime_data(flat.dtype)
    if count != 1:
        raise TypeError(f"expected a data type that Arrow has, found {dtype}: a unit of {count} {unit}")
    if flat.dtype == np.dtype("M8[D]"):
        days = flat[~np.isnat(flat)].view(np.int64)
        if days.size and not (days.min() >= -(2**31) and days.max() < 2**31):
            raise OverflowError("expected days that Arrow can count, with 32 bits from 1970 on, found later or earlier")


def _has_inner_nul(flat: npt.NDArray[Any]) -> bool:
    """Return whether a text or byte string of fixed length goes on behind a NUL, where pyarrow takes it to end."""
    if flat.dtype.kind not in "SU" or flat.size == 0:
        return False
    units = flat.view(np.uint8 if flat.dtype.kind == "S" else np.uint32).reshape(flat.size, -1)
    return bool(((units[:, :-1] == 0) & (units[:, 1:] != 0)).any())


def _pyarrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError as missing:
        raise UnsupportedOperationError("to_arrow needs pyarrow: pip install 'blizzarr[arrow]'") from missing
