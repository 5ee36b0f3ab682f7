"""Complex numbers whose parts are narrower than 32 bits, which NumPy lacks: records of two parts in memory.

https://github.com/zarr-developers/zarr-extensions/tree/main/data-types
"""

from __future__ import annotations

from typing import Final

import numpy as np

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
