"""Arrays whose elements may be missing, of Arrow or masked: NumPy would make NaN or other numbers of these elements."""

from __future__ import annotations

from typing import Any

import numpy as np


def null_count(value: Any) -> int:
    """Return how many elements of an array of Arrow are null, or of a masked one are masked; 0 for anything else.

    >>> null_count([1, None]), null_count(np.ma.masked_equal([1, 2, 1], 1))
    (0, 2)
    """
    if isinstance(value, np.ma.MaskedArray):
        # Fields are masked each by itself.
        return int(np.count_nonzero(np.ma.getmaskarray(value).reshape(-1).view(bool)))
    if isinstance(value, np.ndarray):
        return 0
    count = getattr(value, "null_count", 0)
    number = count() if callable(count) else count
    return number if isinstance(number, int) else 0


def refuse(count: int) -> ValueError:
    """Return the error about nulls, or masked elements, where there is no place for them.

    >>> refuse(2)
    ValueError('expected elements that are there, found 2 that are null or masked; fill them, or use zarrs.optional')
    """
    are = "is" if count == 1 else "are"
    return ValueError(
        f"expected elements that are there, found {count:,} that {are} null or masked; fill them, or use zarrs.optional"
    )


def masked_of(value: Any) -> np.ma.MaskedArray[Any, Any]:
    """Return the masked array for an array of Arrow with nulls, or for a masked one."""
    if isinstance(value, np.ma.MaskedArray):
        return value
    return np.ma.array(np.asarray(value.fill_null(0)), mask=np.asarray(value.is_null()))
