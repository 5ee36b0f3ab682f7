"""What cannot be written into an array that is there: its units and its data type stay as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from xarray import Variable


def check_fits(name: Any, variable: Variable, encoded: Variable, stored: Variable) -> None:
    """Check that an array, read again, has the values of the variable. Elements of Dask are not computed for that.

    Raise `ValueError` if the array has other units of time, shorter elements, or integers that are too narrow.

    - `encoded`: the variable as xarray encodes it for the array. Where times need finer units than those of the array,
      they are in finer units, which no attribute of the array would say.
    - `stored`: the array as it is stored, with its attributes.

    >>> days = Variable("t", [0, 1], {"units": "days since 2000-01-01"})
    >>> noon = Variable("t", np.array(["2000-01-01T12"], "M8[ns]"))
    >>> check_fits("t", noon, Variable("t", [12], {"units": "hours since 2000-01-01"}), days)
    Traceback (most recent call last):
    ...
    ValueError: 't' is stored in 'days since 2000-01-01', and these values need 'hours since 2000-01-01'...
    """
    units, there = encoded.attrs.get("units"), stored.attrs.get("units")
    # Units that are an attribute of the variable itself are no encoding.
    if units is not None and "units" not in variable.attrs and (there is None or _unit(units) != _unit(there)):
        raise ValueError(
            f"{name!r} is stored in {there!r}, and these values need {units!r}, in which they would not be read. Round "
            "them, or write the dataset anew with finer units or floating-point numbers"
        )
    needed = _text_type(variable, encoded)
    if needed.kind in "SU" and needed.kind == stored.dtype.kind and needed > stored.dtype:
        raise ValueError(f"{name!r} is stored as {stored.dtype}, and these values need {needed}: they would be cut off")
    if _is_narrowed(variable, encoded, stored) and (lost := _lost(variable, encoded, stored)).size:
        raise ValueError(f"{name!r} is stored as {encoded.dtype}, which cannot hold {lost[0]!r}")


def _unit(units: object) -> str:
    return str(units).strip().partition(" ")[0].lower().removesuffix("s")


def _text_type(variable: Variable, encoded: Variable) -> np.dtype[Any]:
    """Return the type of the encoded elements; of texts and bytes, before they are cut to the length of the array."""
    needed: np.dtype[Any] = encoded.dtype
    if variable.dtype.kind == "O" and needed.kind in "SU" and encoded.chunks is None:
        needed = variable.values[variable.notnull().values].astype(needed.kind).dtype
    return needed


def _is_narrowed(variable: Variable, encoded: Variable, stored: Variable) -> bool:
    """Return whether numbers in memory have become integers of another type, and nothing else was done to them."""
    kinds = variable.dtype.kind in "iuf" and encoded.dtype.kind in "iu"
    packed = {"scale_factor", "add_offset", "_Unsigned"} & stored.attrs.keys()
    return kinds and not packed and encoded.chunks is None and encoded.dtype != variable.dtype


def _lost(variable: Variable, encoded: Variable, stored: Variable) -> np.ndarray[Any, Any]:
    """Return the values that the integers differ from by more than rounding."""
    values = variable.values
    lost = np.around(values) != encoded.values
    if {"_FillValue", "missing_value"} & stored.attrs.keys():
        lost &= ~np.isnan(values)
    return np.asarray(values[lost])
