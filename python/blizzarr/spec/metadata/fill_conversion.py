"""Fill values of schemas as those of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from blizzarr.dtypes import DataType
from blizzarr.errors import SpecError
from blizzarr.json_values import expected
from blizzarr.problems import Problems
from blizzarr.spec.dtype import DType
from blizzarr.spec.fill_value import check_broadcast
from blizzarr.spec.json_element import as_integer_of
from blizzarr.spec.metadata.elements import Element
from blizzarr.spec.metadata.reading import refuse

_BYTES = ("char", "byte")


def converted(fill: np.ndarray[Any, Any], given: DType, dtype: DType, shape: tuple[int, ...] = ()) -> Element:
    """Convert the fill value of a schema to an element of this data type, or several if elements have a shape.

    Examples
    --------
    >>> converted(np.array(2.7), DType("float64"), DType("int8"))
    array(2, dtype=int8)
    """
    check_broadcast(fill.shape, shape)
    fill = np.broadcast_to(fill, shape)
    if given.name == "json":
        values = [_from_json(value, dtype) for value in fill.reshape(-1)]
        return np.array(values, dtype._element_dtype).reshape(shape)
    if given.name != dtype.name and not {given.name, dtype.name}.isdisjoint(_BYTES):
        raise SpecError(f"Cannot convert {given.name} -> {dtype.name}")
    if given.name.startswith("complex") and not dtype.name.startswith("complex"):
        raise SpecError(f"Explicit data type conversion required to convert {given.name} -> {dtype.name}")
    with np.errstate(over="ignore", invalid="ignore"):
        return fill.astype(dtype._element_dtype)


def _from_json(value: Any, dtype: DType) -> Any:
    if dtype.name.startswith("complex") or dtype.name in _BYTES:
        raise SpecError(f"Cannot convert json -> {dtype.name}")
    if "float" in dtype.name and isinstance(value, bool | str):
        raise expected(value, "64-bit floating-point number")
    if dtype.name.startswith(("int", "uint")):
        return as_integer_of(dtype)(value)
    problems = Problems()
    found = DataType.parse(dtype.name).fill_from_json(value, "fill_value", problems)
    return refuse(problems) if problems.items else found
