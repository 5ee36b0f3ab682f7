"""Which selections zarr-python understands in another way than NumPy."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

__all__ = ["is_orthogonal", "picks_one"]


def is_orthogonal(key: Any, rank: int) -> bool:
    """Return whether ``array[key]`` is orthogonal in zarr-python: lists or masks with slices, or several masks.

    Examples
    --------
    >>> is_orthogonal((0, slice(None), [1, 3]), 3), is_orthogonal(([0, 1], [1, 3]), 2), is_orthogonal([0, 1], 2)
    (True, False, False)
    """
    if not isinstance(key, tuple):
        return False
    listed = [item for item in key if isinstance(item, list | np.ndarray) and np.ndim(item)]
    if not listed:
        return False
    if any(np.asarray(item).dtype == bool for item in listed):
        return len(key) > 1
    return any(isinstance(item, slice) or item is Ellipsis for item in key) or len(key) < rank


def picks_one(key: Any) -> bool:
    """Return whether a key has nothing but integers, so that it picks a single element.

    Examples
    --------
    >>> picks_one((1, 2)), picks_one(...), picks_one((1, slice(2)))
    (True, False, False)
    """
    items = key if isinstance(key, tuple) else (key,)
    return bool(items) and all(isinstance(item, Integral) for item in items)
