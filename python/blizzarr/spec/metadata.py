"""The constraints on the metadata of stored arrays, by driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np

from blizzarr.lazy_imports import LazyTable
from blizzarr.model import ArrayMeta
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.element_type import Field
from blizzarr.spec.places import Option
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import Unit
from blizzarr.views import IndexDomain

__all__ = ["METADATA", "MetadataConstraints"]


class MetadataConstraints(Protocol):
    """The constraints of a spec on the documents of an array, in the terms of its format.

    What is asked for takes the schema into account, and the driver's own options.
    """

    options: ClassVar[Mapping[str, Option]]
    """Members of the driver besides those of all drivers of stored arrays."""

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Parse the member ``metadata``."""
        ...

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Raise if the format does not have the data type."""
        ...

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """Return the member ``metadata``; with `include_defaults`, defaults are included."""
        ...

    def constrain(self, schema: Schema, options: Mapping[str, Any]) -> None:
        """Add the data type and rank that are known to the schema."""
        ...

    def domain(self, schema: Schema, options: Mapping[str, Any]) -> IndexDomain | None:
        """Return the domain of the array, as far as it is known."""
        ...

    def chunk_layout(self, schema: Schema, options: Mapping[str, Any]) -> ChunkLayout:
        """Return the layout, as far as it is known."""
        ...

    def codec(self, schema: Schema, options: Mapping[str, Any]) -> CodecSpec | None:
        """Return the codec, as far as it is known."""
        ...

    def fill_value(self, schema: Schema, options: Mapping[str, Any]) -> np.ndarray[Any, Any] | None:
        """The fill value, if it is known."""
        ...

    def dimension_units(self, schema: Schema, options: Mapping[str, Any]) -> tuple[Unit | None, ...] | None:
        """Return the units, as far as they are known."""
        ...

    @classmethod
    def of(cls, meta: ArrayMeta) -> Self:
        """Return constraints that only this array meets."""
        ...

    def create(self, schema: Schema, options: Mapping[str, Any]) -> ArrayMeta:
        """Return the metadata of a new array that meets the constraints."""
        ...

    def check(self, meta: ArrayMeta, schema: Schema, options: Mapping[str, Any]) -> None:
        """Raise unless an array meets the constraints; the error names both sides."""
        ...

    @classmethod
    def schema_of(cls, meta: ArrayMeta, options: Mapping[str, Any]) -> Schema:
        """The schema of an array."""
        ...

    @staticmethod
    def part(meta: ArrayMeta, options: Mapping[str, Any]) -> Field | None:
        """Return the selected part of each element; None if the whole element is a single value."""
        ...

    @staticmethod
    def options_of(meta: ArrayMeta, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options in the spec of an open array."""
        ...


METADATA: Final = LazyTable[type[MetadataConstraints]](
    {
        "zarr3": "blizzarr.spec.zarr3.driver:Zarr3Constraints",
        "zarr": "blizzarr.spec.zarr.driver:ZarrConstraints",
        "n5": "blizzarr.spec.n5.driver:N5Constraints",
        "neuroglancer_precomputed": "blizzarr.spec.precomputed.driver:VolumeConstraints",
        "zarr1": "blizzarr.spec.document_constraints:V1Constraints",
        "zarr3_draft": "blizzarr.spec.document_constraints:DraftConstraints",
    }
)
"""The classes of the constraints on metadata."""
