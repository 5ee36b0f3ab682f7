"""``zarrs.optional``: elements that may be missing.

https://docs.rs/zarrs/latest/zarrs/array/data_type/

In memory, an element is a record of whether it is there (`is_valid`) and its value, which is zero if it is missing.

>>> elements = of_masked(np.ma.array([5, 6], mask=[False, True]), np.dtype([("is_valid", "?"), ("value", "u1")]))
>>> elements.tolist()
[(True, 5), (False, 0)]
>>> masked(elements)
masked_array(data=[5, --],
             mask=[False,  True],
       fill_value=np.uint64(999999),
            dtype=uint8)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from blizzarr.dtypes.data_type import DataType, Field
from blizzarr.dtypes.kinds import Kind
from blizzarr.problems import MISSING, Problems

NAME: Final = "zarrs.optional"
FIELDS: Final = ("is_valid", "value")
ADVICE: Final = (
    "use the data type zarrs.optional of their type, if that has a fixed size: "
    'dtype={"name": "zarrs.optional", "configuration": {"name": "int64"}}'
)


@dataclass(frozen=True, slots=True)
class OptionalType(DataType):
    """The data type of elements that may be missing; a fill value in documents is null, or a list of the value."""

    def fill_from_json(
        self, value: Any, path: str = "fill_value", problems: Problems | None = None, endian: str | None = "little"
    ) -> Any:
        inner: Any = self.fields[1].dtype.default_fill
        own = Problems() if problems is None else problems
        before = len(own.items)
        if value is not None:
            if type(value) is list and len(value) == 1:
                inner = self.fields[1].dtype.fill_from_json(value[0], f"{path}[0]", own, endian)
            else:
                own.add(path, "null, or a list of one value", value)
        if problems is None:
            own.raise_any()
        return np.array((value is not None, inner), self.numpy)[()] if len(own.items) == before else None

    def fill_to_json(self, value: np.generic) -> Any:
        record: Any = value
        return [self.fields[1].dtype.fill_to_json(record["value"])] if record["is_valid"] else None

    def fill(self, value: Any) -> np.generic:
        inner = self.fields[1].dtype
        is_record = isinstance(value, np.void) or (isinstance(value, tuple) and len(value) == 2)
        is_valid, given = value if is_record else (value is not None and value is not np.ma.masked, value)
        made: Any = np.array((bool(is_valid), inner.fill(given if is_valid else None)), self.numpy)[()]
        return made

    def __hash__(self) -> int:
        return hash(self.name)


def from_json(configuration: Mapping[str, Any], path: str, problems: Problems, depth: int) -> DataType | None:
    """Return the data type whose elements are those that the configuration names; `None` if a problem was added."""
    from blizzarr.dtypes import table

    place = f"{path}.configuration"
    if configuration.get("name", MISSING) is MISSING:
        problems.add(f"{place}.name", "the name of a data type", MISSING)
        return None
    inner = table.from_json(dict(configuration), place, problems, depth + 1)
    if inner is None:
        return None
    if inner.kind is Kind.OBJECT or inner.fields:
        problems.add(place, "a data type of a fixed size without fields", inner.name)
        return None
    fields = (Field("is_valid", DataType.parse("bool")), Field("value", inner))
    numpy: np.dtype[Any] = np.dtype([(field.name, field.dtype.numpy) for field in fields])
    return OptionalType(NAME, numpy, Kind.STRUCT, configuration=dict(configuration), fields=fields)


def of_masked(value: np.ma.MaskedArray[Any, Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the elements for a masked array, whose masked elements are missing."""
    made = np.zeros(value.shape, dtype)
    made["is_valid"] = ~np.ma.getmaskarray(value)
    made["value"] = value.filled(0)
    return made


def masked(elements: npt.NDArray[Any]) -> np.ma.MaskedArray[Any, Any]:
    """Return the masked array for elements, which shares their values."""
    return np.ma.array(elements["value"], mask=~elements["is_valid"])
