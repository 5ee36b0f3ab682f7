"""Data types with elements of variable length, which are Python objects in memory.

========  ==========  =========================================================
name      elements    source
========  ==========  =========================================================
string    `str`       zarr-extensions
bytes     `bytes`     zarr-extensions; zarr-python calls it variable_length_bytes
object    any         Zarr v2's ``|O``; only the codec knows the type
========  ==========  =========================================================
"""

from __future__ import annotations

from typing import Final

import numpy as np

from blizzarr.dtypes.data_type import DataType
from blizzarr.dtypes.kinds import Kind

STRING: Final = DataType("string", np.dtype(object), Kind.OBJECT)
BYTES: Final = DataType("bytes", np.dtype(object), Kind.OBJECT)
OBJECT: Final = DataType("object", np.dtype(object), Kind.OBJECT)
