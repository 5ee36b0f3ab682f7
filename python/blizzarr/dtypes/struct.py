"""Records of named fields, packed.

https://github.com/zarr-developers/zarr-extensions/tree/main/data-types/struct

``structured`` is what zarr-python called them before they were registered; it is read, and its fields may be pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np

from blizzarr.dtypes.data_type import DataType, Field
from blizzarr.dtypes.kinds import Kind
from blizzarr.problems import MISSING, Problems, members

__all__ = ["MAX_DEPTH", "MAX_FIELDS", "NAMES", "from_json", "from_numpy", "make"]

NAMES: Final = ("struct", "structured")
MAX_DEPTH: Final = 32
"""How deep structs may be within each other."""
MAX_FIELDS: Final = 65_536
_MOST: Final = 2**31 - 1


def from_json(
    name: str, configuration: Mapping[str, Any], path: str, problems: Problems, depth: int = 0
) -> DataType | None:
    """The data type of a v3 document."""
    from blizzarr.dtypes import table

    members(configuration, path, problems, ("fields",))
    listed = configuration.get("fields", MISSING)
    place = f"{path}.configuration.fields"
    if type(listed) is not list or not 0 < len(listed) <= MAX_FIELDS:
        problems.add(place, f"a list of at least one field, at most {MAX_FIELDS:,}", listed)
        return None
    if depth >= MAX_DEPTH:
        problems.add(place, f"structs at most {MAX_DEPTH} deep", "deeper ones")
        return None
    before = len(problems.items)
    fields = []
    for position, item in enumerate(listed):
        here = f"{place}[{position}]"
        if type(item) is list and len(item) == 2:
            item = {"name": item[0], "data_type": item[1]}
        if type(item) is not dict or item.keys() != {"name", "data_type"}:
            problems.add(here, "an object with a name and a data_type", item)
            continue
        dtype = table.from_json(item["data_type"], f"{here}.data_type", problems, depth + 1)
        if dtype is not None:
            fields.append(Field(item["name"], dtype))
    made = make(fields, place, problems)
    return made if len(problems.items) == before else None


def make(fields: Sequence[Field], path: str, problems: Problems) -> DataType | None:
    """The struct of these fields; `None` when a problem was added."""
    before = len(problems.items)
    seen = set()
    size = 0
    for position, field in enumerate(fields):
        if type(field.name) is not str or not field.name or field.name in seen:
            problems.add(f"{path}[{position}].name", "a name that is not empty and no other field has", field.name)
        seen.add(field.name if type(field.name) is str else position)
        if field.dtype.kind is Kind.OBJECT:
            problems.add(f"{path}[{position}].data_type", "a data type of a fixed size", field.dtype.name)
        size += field.dtype.itemsize * prod(field.shape)
    if not 0 < size <= _MOST:
        problems.add(path, f"fields of 1 to {_MOST} bytes together", size)
    if len(problems.items) > before:
        return None
    dtype: np.dtype[Any] = np.dtype([(field.name, field.dtype.numpy, field.shape) for field in fields])
    return DataType("struct", dtype, Kind.STRUCT, fields=tuple(fields))


def from_numpy(dtype: np.dtype[Any], path: str, problems: Problems) -> DataType | None:
    """The data type of a NumPy dtype with fields; byte orders and padding do not matter."""
    from blizzarr.dtypes import table

    fields = []
    for name in dtype.names or ():
        inner = dtype.fields[name][0]  # type: ignore[index]  # it has names, so it has fields
        base, shape = inner.subdtype or (inner, ())
        made = table.from_numpy(base, problems)
        if made is not None:
            fields.append(Field(name, made, tuple(shape)))
    return None if len(fields) < len(dtype.names or ()) else make(fields, path, problems)
