"""Constraints on the documents of formats that TensorStore does not have: members that must be as they are said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.members import as_object
from blizzarr.spec.places import Option
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import Unit
from blizzarr.views import IndexDomain

__all__ = ["DocumentConstraints"]


class DocumentConstraints:
    """Members of a document by name, as JSON.

    Examples
    --------
    >>> DocumentConstraints.from_json({"shape": [3, 4]}).domain(Schema(), {})
    { [0, 3*), [0, 4*) }
    """

    options: ClassVar[Mapping[str, Option]] = {}

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members

    @classmethod
    def from_json(cls, value: Any) -> DocumentConstraints:
        """The members of an object."""
        return cls(as_object(value))

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Nothing is refused before it is created."""

    def to_json(self) -> dict[str, Any]:
        """The members."""
        return self.members

    def constrain(self, schema: Schema, options: Mapping[str, Any]) -> None:
        """The rank is that of the shape."""
        shape = self.members.get("shape")
        if isinstance(shape, list):
            schema.update(rank=len(shape))

    def domain(self, schema: Schema, options: Mapping[str, Any]) -> IndexDomain | None:
        """That of the shape, with upper bounds that can be changed."""
        shape = self.members.get("shape")
        if not isinstance(shape, list):
            return schema.domain
        domain = IndexDomain(shape=shape, implicit_upper_bounds=[True] * len(shape))
        return domain if schema.domain is None else schema.domain._merge(domain)

    def chunk_layout(self, schema: Schema, options: Mapping[str, Any]) -> ChunkLayout:
        """What the schema says."""
        return schema.chunk_layout

    def codec(self, schema: Schema, options: Mapping[str, Any]) -> CodecSpec | None:
        """What the schema says."""
        return schema.codec

    def fill_value(self, schema: Schema, options: Mapping[str, Any]) -> np.ndarray[Any, Any] | None:
        """What the schema says."""
        return schema.fill_value

    def dimension_units(self, schema: Schema, options: Mapping[str, Any]) -> tuple[Unit | None, ...] | None:
        """What the schema says."""
        return schema.dimension_units
