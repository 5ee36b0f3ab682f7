"""Complex numbers whose parts are narrower than 32 bits, which NumPy lacks: records of two parts in memory.

https://github.com/zarr-developers/zarr-extensions/tree/main/data-types
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from blizzarr.dtypes import nulls, optional
from blizzarr.dtypes.data_type import DataType, Field
from blizzarr.dtypes.kinds import Kind

PARTS: Final = {
    f"complex_{part}": part
    for part in (
        "bfloat16",
        "float16",
        "float4_e2m1fn",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    )
}
"""The data types of the parts."""


def data_type(name: str, part: DataType) -> DataType:
    """Return the data type of this name with such parts, the fields ``real`` and ``imag``."""
    fields = (Field("real", part), Field("imag", part))
    return DataType(name, np.dtype([(field.name, part.numpy) for field in fields]), Kind.STRUCT, fields=fields)


def as_elements(value: npt.ArrayLike, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return a value as an array of this data type, as NumPy does; but a number gives its real and imaginary part.

    NumPy would give both parts the real one.

    >>> as_elements([1 + 2j, 3], np.dtype([("real", "f2"), ("imag", "f2")])).tolist()
    [(1.0, 2.0), (3.0, 0.0)]
    """
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
