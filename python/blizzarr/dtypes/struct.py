"""Records of named fields, packed.

https://github.com/zarr-developers/zarr-extensions/tree/main/data-types/struct

``structured`` is the name in zarr-python 3.1, from before they were registered. It is read and never written anew: its
fields may be pairs, and its documents may omit the byte order, which then is little-endian.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from blizzarr.dtypes.data_type import DataType, Field
from blizzarr.dtypes.fill_json import is_text
from blizzarr.dtypes.kinds import Kind
from blizzarr.errors import Problem
from blizzarr.problems import MISSING, Problems, describe, members

NAMES: Final = ("struct", "structured")
MAX_DEPTH: Final = 32
"""The deepest nesting of structs."""
MAX_FIELDS: Final = 65_536
_MOST: Final = 2**31 - 1


class Placed(NamedTuple):
    """A field with its JSON path."""

    path: str
    field: Field


def from_json(
    name: str, configuration: Mapping[str, Any], path: str, problems: Problems, depth: int = 0
) -> DataType | None:
    """Return the struct of a v3 document; `None` if a problem was added."""
    from blizzarr.dtypes import table

    before = len(problems.items)
    members(configuration, path, problems, ("fields",))
    listed = configuration.get("fields", MISSING)
    where = f"{path}.configuration.fields"
    if type(listed) is not list or not 0 < len(listed) <= MAX_FIELDS:
        problems.add(where, f"a list of at least one field, at most {MAX_FIELDS:,}", listed)
        return None
    if is_too_deep(depth, where, problems):
        return None
    fields = []
    for position, item in enumerate(listed):
        here = f"{where}[{position}]"
        pair = name == "structured" and type(item) is list and len(item) == 2
        if not pair and (type(item) is not dict or item.keys() != {"name", "data_type"}):
            problems.add(here, "an object with a name and a data_type", item)
            continue
        label, value = item if pair else (item["name"], item["data_type"])
        dtype = table.from_json(value, f"{here}.data_type", problems, depth + 1)
        if dtype is not None:
            fields.append(Placed(here, Field(label, dtype)))
    made = make(fields, where, problems, "struct" if depth else name)
    return made if len(problems.items) == before else None


def is_too_deep(depth: int, path: str, problems: Problems) -> bool:
    """Return whether a struct is nested too deeply; if so, add a problem."""
    if depth >= MAX_DEPTH:
        problems.items.append(Problem(path, f"structs at most {MAX_DEPTH} deep", "deeper ones"))
    return depth >= MAX_DEPTH


def make(listed: Sequence[Placed], path: str, problems: Problems, name: str = "struct") -> DataType | None:
    """Return the struct of these fields; `None` if a problem was added or there are no fields."""
    before = len(problems.items)
    names_before = set()
    size = 0
    for where, (label, dtype, shape) in listed:
        if type(label) is not str or not label or label in names_before or not is_text(label):
            problems.add(f"{where}.name", "a name that is not empty and no other field has", label)
        else:
            names_before.add(label)
        if dtype.kind is Kind.OBJECT:
            problems.add(f"{where}.data_type", "a data type of a fixed size", dtype.name)
        if 0 in shape:
            problems.add(f"{where}.data_type", "a field of at least one element", list(shape))
        size += dtype.itemsize * prod(shape)
    if size > _MOST:
        problems.add(path, f"fields of at most {_MOST:,} bytes together", size)
    if len(problems.items) > before or not listed:
        return None
    fields = tuple(placed.field for placed in listed)
    numpy: np.dtype[Any] = np.dtype([(label, dtype.numpy, shape) for label, dtype, shape in fields])
    return DataType(name, numpy, Kind.STRUCT, fields=fields)


def from_numpy(dtype: np.dtype[Any], path: str, problems: Problems, depth: int = 0) -> DataType | None:
    """Return the struct of a NumPy dtype with fields; byte orders and padding do not matter."""
    from blizzarr.dtypes import table

    if is_too_deep(depth, path, problems):
        return None
    before = len(problems.items)
    listed = []
    for label in dtype.names or ():
        where = f"{path}[{describe(label)}]"
        inner = dtype[label]
        base, shape = inner.subdtype or (inner, ())
        made = table.from_numpy(base, problems, where, depth + 1)
        if made is not None:
            listed.append(Placed(where, Field(label, made, tuple(shape))))
    made = make(listed, path, problems)
    return made if len(problems.items) == before else None
