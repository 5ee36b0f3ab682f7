"""NumPy's times and durations: 64-bit counts of a unit.

https://github.com/zarr-developers/zarr-extensions/tree/main/data-types/numpy.datetime64
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from blizzarr.dtypes.data_type import DataType
from blizzarr.dtypes.kinds import Kind
from blizzarr.problems import MISSING, Problems, members

NAMES: Final = {"numpy.datetime64": "M8", "numpy.timedelta64": "m8"}
UNITS: Final = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic")


def from_json(name: str, configuration: Mapping[str, Any], path: str, problems: Problems) -> DataType | None:
    """Return the data type with this name and configuration; `None` if a problem was added."""
    before = len(problems.items)
    members(configuration, path, problems, ("unit", "scale_factor"))
    unit = configuration.get("unit", MISSING)
    scale = configuration.get("scale_factor", MISSING)
    if unit not in UNITS:
        problems.add(f"{path}.configuration.unit", f"one of {', '.join(UNITS)}", unit)
    if type(scale) is not int or not 1 <= scale < 2**31:
        problems.add(f"{path}.configuration.scale_factor", "an integer in [1, 2^31)", scale)
    if len(problems.items) > before:
        return None
    code = NAMES[name]
    suffix = "" if unit == "generic" else f"[{scale}{'us' if unit == 'μs' else unit}]"
    return DataType(name, np.dtype(code + suffix), Kind.TIME, 8, configuration={"unit": unit, "scale_factor": scale})


def from_numpy(dtype: np.dtype[Any]) -> DataType:
    """Return the data type of a NumPy dtype of kind ``M`` or ``m``."""
    unit, scale = np.datetime_data(dtype)
    name = "numpy.datetime64" if dtype.kind == "M" else "numpy.timedelta64"
    return DataType(name, dtype.newbyteorder("="), Kind.TIME, 8, configuration={"unit": unit, "scale_factor": scale})
