"""Constraints on the metadata of stored arrays: one table, by driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol, Self

import numpy as np

from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.document_constraints import DocumentConstraints
from blizzarr.spec.driver_names import FORMATS
from blizzarr.spec.places import Option
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import Unit
from blizzarr.views import IndexDomain

__all__ = ["METADATA", "MetadataConstraints"]


class MetadataConstraints(Protocol):
    """What a spec says of the documents of an array, in the terms of its format.

    What is asked for takes the schema into account, and the driver's own options.
    """

    options: ClassVar[Mapping[str, Option]]
    """Members of the driver besides those that all drivers of stored arrays have."""

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """What the member ``metadata`` says."""
        ...

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Refuse data types that the format does not have."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The member ``metadata``."""
        ...

    def constrain(self, schema: Schema, options: Mapping[str, Any]) -> None:
        """Add the data type and rank that are known to the schema."""
        ...

    def domain(self, schema: Schema, options: Mapping[str, Any]) -> IndexDomain | None:
        """The domain of the array, as far as it is known."""
        ...

    def chunk_layout(self, schema: Schema, options: Mapping[str, Any]) -> ChunkLayout:
        """The layout, as far as it is known."""
        ...

    def codec(self, schema: Schema, options: Mapping[str, Any]) -> CodecSpec | None:
        """The codec, as far as it is known."""
        ...

    def fill_value(self, schema: Schema, options: Mapping[str, Any]) -> np.ndarray[Any, Any] | None:
        """The fill value, if it is known."""
        ...

    def dimension_units(self, schema: Schema, options: Mapping[str, Any]) -> tuple[Unit | None, ...] | None:
        """The units, as far as they are known."""
        ...


METADATA: Final[dict[str, type[MetadataConstraints]]] = dict.fromkeys(FORMATS, DocumentConstraints)
"""What drivers constrain metadata with."""
