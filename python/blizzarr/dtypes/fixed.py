"""Text and byte strings of a fixed length, padded with zeros, as in NumPy.

https://github.com/zarr-developers/zarr-extensions/tree/main/data-types/fixed_length_utf32
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from blizzarr.dtypes.data_type import DataType
from blizzarr.dtypes.kinds import Kind
from blizzarr.problems import MISSING, Problems, members

NAMES: Final = {"null_terminated_bytes": ("S", Kind.BYTES, 1, 0), "fixed_length_utf32": ("U", Kind.TEXT, 4, 4)}
"""NumPy's letter, the kind, the bytes per character, and the size of the unit that is byte-swapped, by name."""

_MOST: Final = 2**31 - 1
_BY_KIND: Final = {letter: name for name, (letter, *_) in NAMES.items()}


def from_json(name: str, configuration: Mapping[str, Any], path: str, problems: Problems) -> DataType | None:
    """Return the data type with this name and configuration; `None` if a problem was added."""
    letter, kind, width, swap_unit = NAMES[name]
    members(configuration, path, problems, ("length_bytes",))
    length = configuration.get("length_bytes", MISSING)
    if type(length) is not int or not 0 < length <= _MOST or length % width:
        expected = "a positive integer" if width == 1 else f"a positive multiple of {width}"
        problems.add(f"{path}.configuration.length_bytes", f"{expected}, at most {_MOST}", length)
        return None
    dtype: np.dtype[Any] = np.dtype(f"{letter}{length // width}")
    return DataType(name, dtype, kind, swap_unit, configuration={"length_bytes": length})


def from_numpy(dtype: np.dtype[Any], path: str, problems: Problems) -> DataType | None:
    """Return the data type of a NumPy dtype of kind ``S`` or ``U``; a length of 0 becomes 1."""
    name = _BY_KIND[dtype.kind]
    width = NAMES[name][2]
    return from_json(name, {"length_bytes": dtype.itemsize or width}, path, problems)
