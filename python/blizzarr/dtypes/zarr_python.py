"""Data types that packages register with zarr-python (entry points ``zarr.data_type``), as data types of this library.

An entry point has to have the name that documents have.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blizzarr.dtypes.data_type import DataType
from blizzarr.errors import MetadataError, Problem
from blizzarr.problems import Problems


def adapted(name: str, theirs: Any) -> Callable[..., DataType]:
    """Return a function that makes the data type of a class of zarr-python's, for the options of a document."""

    def make(**options: Any) -> DataType:
        document = {"name": name, "configuration": options} if options else name
        parsed = theirs.from_json(document, zarr_format=3)
        plain = DataType.parse(parsed.to_native_dtype().newbyteorder("="))
        ordered = plain.itemsize if hasattr(parsed, "endianness") else 0
        return ZarrPythonType(
            name, plain.numpy, plain.kind, plain.swap_unit or ordered, configuration=dict(options), theirs=parsed
        )

    return make


@dataclass(frozen=True, slots=True)
class ZarrPythonType(DataType):
    """A data type whose fill values zarr-python reads and writes."""

    theirs: Any = field(default=None, compare=False)

    def fill_from_json(
        self, value: Any, path: str = "fill_value", problems: Problems | None = None, endian: str | None = "little"
    ) -> Any:
        try:
            return np.asarray(self.theirs.from_json_scalar(value, zarr_format=3), self.numpy)[()]
        except (TypeError, ValueError) as error:
            problem = Problem(path, f"a fill value of {self.name}", f"{value!r} ({error})")
            if problems is None:
                raise MetadataError(problems=[problem]) from error
            problems.items.append(problem)
            return None

    def fill_to_json(self, value: np.generic) -> Any:
        return self.theirs.to_json_scalar(value, zarr_format=3)

    def fill(self, value: Any) -> np.generic:
        made = self.theirs.default_scalar() if value is None else self.theirs.cast_scalar(value)
        return np.asarray(made, self.numpy)[()]  # type: ignore[return-value]

    def to_json(self) -> Any:
        return self.theirs.to_json(zarr_format=3)

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return DataType.parse, (self.to_json(),)
