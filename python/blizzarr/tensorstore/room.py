"""Memory for elements that are about to be read."""

from __future__ import annotations

from math import prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from blizzarr import _native

__all__ = ["room"]

_LARGE: int = _native.ResultMemory.FROM
_HUGE = 1 << 62


def room(shape: tuple[int, ...], dtype: np.dtype[Any], order: str = "C") -> npt.NDArray[Any]:
    """An array whose elements are not set. Large ones lie in memory that is kept for the next one.

    Examples
    --------
    >>> room((2, 3), np.dtype("int8"), "F").strides
    (1, 2)
    """
    made: npt.NDArray[Any]
    length = prod(shape) * dtype.itemsize
    if _LARGE <= length < _HUGE and not dtype.hasobject:
        memory = cast("memoryview[int]", _native.ResultMemory(length))
        made = np.ndarray(shape, dtype, memory, order=cast("Any", order))
    else:
        made = np.empty(shape, dtype, cast("Any", order))
    return made
