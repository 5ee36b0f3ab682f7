"""Constraints on documents of the formats that TensorStore does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from blizzarr.creation.describe import describe_array
from blizzarr.errors import SpecError
from blizzarr.json_values import MISSING, dump, quote
from blizzarr.model import ArrayMeta
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.driver_names import FORMATS
from blizzarr.spec.dtype import DType
from blizzarr.spec.layout_solver import choose_shape
from blizzarr.spec.members import as_object, as_text
from blizzarr.spec.metadata.interface import MetadataConstraints
from blizzarr.spec.mismatch import check_dtype, check_rank, mismatch
from blizzarr.spec.places import Option
from blizzarr.spec.schema import Schema
from blizzarr.spec.stored_document import encoded
from blizzarr.spec.unit import Unit
from blizzarr.views import IndexDomain

__all__ = ["DocumentConstraints", "DraftConstraints", "V1Constraints"]

Options = Mapping[str, Any]


class DocumentConstraints(MetadataConstraints):
    """Constraints on members of a document, by name and as JSON.

    Examples
    --------
    >>> constraints = V1Constraints.from_json({"shape": [3, 4]})
    >>> meta = constraints.create(Schema(dtype="int16", chunk_layout=ChunkLayout(read_chunk_shape=[2, 4])), {})
    >>> meta.chunk_shape, V1Constraints.schema_of(meta, {}).domain
    ((2, 4), { [0, 3*), [0, 4*) })
    """

    driver: ClassVar[str]
    options: ClassVar[Mapping[str, Option]] = {}

    def __init__(self, members: dict[str, Any]) -> None:
        self.members = members

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Parse the members of an object."""
        return cls(as_object(value))

    @classmethod
    def of(cls, meta: ArrayMeta) -> Self:
        """Return constraints that only this array meets: its document."""
        return cls(encoded(meta))

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Do nothing: data types are checked when an array is created."""

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The members."""
        return self.members

    def constrain(self, schema: Schema, options: Options) -> None:
        """Add the rank of the shape to the schema."""
        shape = self.members.get("shape")
        if isinstance(shape, list):
            schema._merge(Schema(rank=len(shape)))

    def domain(self, schema: Schema, options: Options) -> IndexDomain | None:
        """Return the domain of the stored shape, with implicit upper bounds."""
        shape = self.members.get("shape")
        if not isinstance(shape, list):
            return None if schema.domain is None else schema.domain.mark_bounds_implicit[False:True]
        domain = IndexDomain(shape=shape, implicit_upper_bounds=[True] * len(shape))
        return domain if schema.domain is None else _merged(schema.domain, domain)

    def chunk_layout(self, schema: Schema, options: Options) -> ChunkLayout:
        """Return the layout of the schema."""
        return schema.chunk_layout

    def codec(self, schema: Schema, options: Options) -> CodecSpec | None:
        """Return the codec of the schema."""
        return schema.codec

    def fill_value(self, schema: Schema, options: Options) -> np.ndarray[Any, Any] | None:
        """Return the fill value of the schema."""
        return schema.fill_value

    def dimension_units(self, schema: Schema, options: Options) -> tuple[Unit | None, ...] | None:
        """Return the units of the schema."""
        return schema.dimension_units

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        """Create the metadata of a new array in this format."""
        domain = self.domain(schema, options)
        if schema.dtype is None:
            raise SpecError("dtype must be specified")
        if domain is None or any(not low == 0 <= high < 1 << 60 for low, high in _bounds(domain)):
            raise SpecError("domain must be specified")
        if schema.codec is not None:
            raise SpecError(f"codec not supported by {quote(self.driver)} driver")
        bounds = [domain._form.interval(dim).bounds for dim in range(domain.rank)]
        layout = schema.chunk_layout
        layout._merge(ChunkLayout(rank=domain.rank, grid_origin=[0] * domain.rank))
        with prefixed("write_chunk constraints not compatible with existing read_chunk constraints"):
            layout._merge_grid("read", layout._grids["write"])
        chunks = choose_shape(layout._grids["read"], bounds)
        order = layout._inner_order
        meta = describe_array(
            shape=domain.shape,
            dtype=schema.dtype.numpy_dtype,
            chunks=chunks,
            order="F" if order is not None and len(order) > 1 and order == tuple(reversed(range(len(order)))) else "C",
            fill_value=None if schema.fill_value is None else schema.fill_value[()],
            zarr_format=FORMATS[self.driver][0],
        )
        self.check(meta, schema, options)
        return meta

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        """Raise unless an array meets these constraints and those of the schema."""
        document = encoded(meta)
        for name, value in sorted(self.members.items()):
            if name not in document or dump(value) != dump(document[name]):
                raise mismatch(name, value, document.get(name, MISSING))
        known = self.schema_of(meta, options)
        check_rank(schema, known.rank)
        check_dtype(schema, DType(meta.dtype.numpy))
        if schema.domain is not None and known.domain is not None:
            _merged(schema.domain, known.domain)
        layout = known.chunk_layout
        layout._merge(schema.chunk_layout)
        if schema.fill_value is not None:
            known.update(fill_value=np.asarray(schema.fill_value, meta.dtype.numpy))

    @classmethod
    def schema_of(cls, meta: ArrayMeta, options: Options) -> Schema:
        """The schema of an array."""
        rank = len(meta.shape)
        labels = [name or "" for name in meta.dimension_names or [None] * rank]
        return Schema(
            dtype=DType(meta.dtype.numpy),
            domain=IndexDomain(shape=meta.shape, implicit_upper_bounds=[True] * rank, labels=labels),
            chunk_layout=ChunkLayout(
                grid_origin=[0] * rank,
                inner_order=list(range(rank))[:: -1 if meta.order == "F" else 1],
                write_chunk_shape=meta.write_shape,
                read_chunk_shape=meta.chunk_shape,
            ),
            fill_value=None if meta.fill_undefined else meta.fill_value,
        )


class V1Constraints(DocumentConstraints):
    """Arrays of Zarr v1."""

    driver = "zarr1"


class DraftConstraints(DocumentConstraints):
    """Arrays of the draft of Zarr v3 of 2022, whose documents lie beside all others of their hierarchy."""

    driver = "zarr3_draft"
    options: ClassVar[Mapping[str, Option]] = {"node": Option(as_text, "")}
    """The path of the array in the hierarchy whose root is where the store is."""


def _bounds(domain: IndexDomain) -> list[tuple[int, int]]:
    return list(zip(domain.inclusive_min, domain.exclusive_max, strict=True))


def _merged(said: IndexDomain, known: IndexDomain) -> IndexDomain:
    with prefixed("Mismatch between metadata and schema"):
        merged: IndexDomain = said._merge(known)
    return merged.mark_bounds_implicit[False:True]
