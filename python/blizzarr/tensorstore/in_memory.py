"""Stores of arrays in memory."""

from __future__ import annotations

from typing import Any

from blizzarr.spec.context import Context
from blizzarr.spec.dtype import DTypeLike
from blizzarr.tensorstore.memory_array import array_driver
from blizzarr.tensorstore.store import TensorStore

__all__ = ["array"]


def array(
    array: Any,
    dtype: DTypeLike | None = None,
    *,
    context: Context | None = None,
    copy: bool | None = None,
    write: bool | None = None,
) -> TensorStore:
    """Make a store of an array in memory.

    Parameters
    ----------
    array
        An array, or anything that NumPy can make into one.
    dtype
        The data type of the elements; by default, that of the array.
    context
        What is shared with others.
    copy
        Give the store a copy of the elements. None copies only what must be converted; False fails in that
        case.
    write
        Allow writing. None allows it if the array does; with True, a copy is made if necessary.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1, 2, 3])
    >>> store = array(x)
    >>> store[0] = 9
    >>> x
    array([9, 2, 3])
    """
    return TensorStore._of(array_driver(array, dtype, context, copy, write))
