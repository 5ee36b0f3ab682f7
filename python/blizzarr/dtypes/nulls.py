"""Arrays of Arrow, by pyarrow or polars, whose elements may be null: NumPy would make NaN or other numbers of nulls."""

from __future__ import annotations

from typing import Any

import numpy as np


def null_count(value: Any) -> int:
    """Return how many elements of an array of Arrow are null; 0 for anything else.

    >>> null_count([1, None])
    0
    """
    if isinstance(value, np.ndarray):
        return 0
    count = getattr(value, "null_count", 0)
    number = count() if callable(count) else count
    return number if isinstance(number, int) else 0


def refuse(count: int) -> ValueError:
    """Return the error about nulls where there is no place for them.

    >>> refuse(2)
    ValueError('expected elements that are there, found 2 nulls; fill them, or use the data type zarrs.optional')
    """
    noun = "null" if count == 1 else "nulls"
    return ValueError(
        f"expected elements that are there, found {count:,} {noun}; fill them, or use the data type zarrs.optional"
    )


def masked_of(value: Any) -> np.ma.MaskedArray[Any, Any]:
    """Return the masked array for an array of Arrow with nulls."""
    return np.ma.array(np.asarray(value.fill_null(0)), mask=np.asarray(value.is_null()))
