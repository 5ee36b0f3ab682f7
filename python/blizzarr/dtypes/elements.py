"""A user's values as elements: nulls and masked elements, and complex numbers of two narrow parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.dtypes import nulls, optional


def as_elements(value: npt.ArrayLike, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return a value as an array of this data type, as NumPy does but for values that NumPy would change.

    Nulls of Arrow and masked elements are missing in ``zarrs.optional``. In complex numbers of two narrow parts, of
    which NumPy would set both to the same, a number is its real and its imaginary part.

    Raise `ValueError` for nulls and masked elements if elements cannot be missing, `TypeError` for groups and mappings.

    >>> as_elements([1 + 2j, 3], np.dtype([("real", "f2"), ("imag", "f2")])).tolist()
    [(1.0, 2.0), (3.0, 0.0)]
    """
    check_no_mapping(value)
    if count := nulls.null_count(value):
        if dtype.names != optional.FIELDS:
            raise nulls.refuse(count)
        value = nulls.masked_of(value)
    if dtype.names == optional.FIELDS and isinstance(value, np.ma.MaskedArray):
        return optional.of_masked(value, dtype)
    if dtype.names != ("real", "imag"):
        return np.asarray(value, dtype)
    numbers = np.asarray(value)
    if numbers.dtype.names is not None or numbers.dtype.kind in "OSTU":
        return np.asarray(value, dtype)
    is_complex = numbers.dtype.kind == "c"
    # Pairs in a list are records, of which NumPy makes one axis less.
    if not is_complex and numbers is not value and (records := np.asarray(value, dtype)).shape != numbers.shape:
        return records
    made = np.zeros(numbers.shape, dtype)
    made["real"] = numbers.real if is_complex else numbers
    if is_complex:
        made["imag"] = numbers.imag
    return made


def check_no_mapping(value: object) -> None:
    """Check that a value is no group and no other mapping: NumPy would take its names for elements.

    >>> check_no_mapping({"a": 1})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    TypeError: expected an array or nested lists, found dict, of which NumPy would take the names; ...
    """
    if callable(getattr(value, "keys", None)) and not hasattr(value, "__array__"):
        raise TypeError(
            f"expected an array or nested lists, found {type(value).__name__}, of which NumPy would take the names; "
            "pass one of its arrays"
        )
