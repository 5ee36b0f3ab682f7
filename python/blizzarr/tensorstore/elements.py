"""Conversion of what a user gives to be written into an array of the stored data type."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SpecError
from blizzarr.json_values import plain
from blizzarr.spec.dtype import DType


def as_elements(value: Any, dtype: DType, max_rank: int | None = None) -> npt.NDArray[Any]:
    """Convert a value to an array of this data type.

    Arrays must convert without loss, whatever their elements are; other values are taken element by element, as NumPy
    takes them.

    Raise `SpecError`, `TypeError` or `OverflowError` when the value does not convert, or has too many dimensions.

    >>> as_elements([1.5, 2], DType("int8"))
    array([1, 2], dtype=int8)
    >>> as_elements(np.array([1.5, 2]), DType("int8"))
    Traceback (most recent call last):
    ...
    TypeError: Cannot cast array data from dtype('float64') to dtype('int8') according to the rule 'safe'
    """
    # Numbers where there are no dimensions are looked at first.
    most = max_rank if max_rank or dtype.name in ("string", "ustring") else None
    if most is not None and isinstance(value, np.ndarray) and value.ndim > most and dtype.name != "json":
        raise SpecError("object too deep for desired array")
    try:
        result = _converted(value, dtype, max_rank)
    except (TypeError, ValueError, OverflowError) as error:
        if most is not None and _depth(value) > most:
            raise SpecError("object too deep for desired array") from error
        if isinstance(error, ValueError):
            raise SpecError(str(error)) from error
        raise
    if max_rank is not None and result.ndim > max_rank:
        raise SpecError("object too deep for desired array")
    return result


def _depth(value: Any) -> int:
    """Return the number of dimensions of nested lists, as far as they are regular."""
    try:
        return np.array(value, object).ndim
    except ValueError:
        return 0


def _converted(value: Any, dtype: DType, max_rank: int | None) -> npt.NDArray[Any]:
    wanted = dtype._element_dtype
    if wanted.hasobject:
        return as_text_elements(value, dtype, max_rank)
    if not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        if value.dtype == wanted:
            return value
        if np.can_cast(value.dtype, wanted, "safe"):
            return value.astype(wanted)
        what = "array data" if value.ndim else "scalar"
        raise TypeError(f"Cannot cast {what} from {value.dtype!r} to {wanted!r} according to the rule 'safe'")
    return np.asarray(value).astype(wanted) if isinstance(value, np.generic) else np.array(value, wanted)


def as_text_elements(value: Any, dtype: DType, max_rank: int | None = None) -> npt.NDArray[Any]:
    """Convert a value to an array of objects: texts, byte strings or JSON."""
    result = _json(value, max_rank) if dtype.name == "json" else np.array(value, object)
    made = np.empty(result.shape, object)
    for position, element in np.ndenumerate(result):
        made[position] = _checked(element, dtype)
    return made


def _json(value: Any, max_rank: int | None) -> npt.NDArray[Any]:
    """Parse nested lists, which are dimensions as far as they are regular, up to `max_rank`; deeper ones are JSON."""
    if isinstance(value, np.ndarray):
        if max_rank is None or value.ndim <= max_rank:
            return value.astype(object)
        # Deeper levels stay lists.
        value = value.tolist()
    shape: list[int] = []
    level = [value]
    while (
        (max_rank is None or len(shape) < max_rank) and level and all(isinstance(each, list | tuple) for each in level)
    ):
        lengths = {len(each) for each in level}
        if len(lengths) > 1:
            break
        shape.append(lengths.pop())
        level = [element for each in level for element in each]
    made = np.empty(len(level), object)
    for number, element in enumerate(level):
        made[number] = element
    return made.reshape(shape)


def _checked(element: Any, dtype: DType) -> Any:
    if dtype.name == "json":
        try:
            return plain(element)
        except ValueError as error:
            raise TypeError(f"expected JSON, found {element!r}") from error
    wanted: type = bytes if dtype.name == "string" else str
    if isinstance(element, wanted):
        # NumPy's scalars of texts and bytes are ours, too.
        return element if type(element) is wanted else wanted(element)
    raise TypeError(f"expected {wanted.__name__}, {type(element).__name__} found")
