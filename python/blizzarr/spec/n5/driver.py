"""N5 arrays in specs: their constraints, and the schema that these and stored metadata give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from blizzarr.errors import SpecError
from blizzarr.formats.document import load
from blizzarr.model import ArrayMeta
from blizzarr.problems import Problems
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.element_type import WholeElements
from blizzarr.spec.n5.check import check_metadata, check_schema
from blizzarr.spec.n5.codec import N5Codec
from blizzarr.spec.n5.create import new_metadata
from blizzarr.spec.n5.effective import codec_of, constrain, domain_of, layout_with, units_of
from blizzarr.spec.n5.metadata import Metadata, check_dtype, metadata_from_json, stored_from_json
from blizzarr.spec.places import Option
from blizzarr.spec.remembered import Remembered
from blizzarr.spec.schema import Schema
from blizzarr.spec.stored_document import array_of
from blizzarr.views import IndexDomain

__all__ = ["N5Constraints"]

Options = Mapping[str, Any]


class N5Constraints(WholeElements):
    """The constraints of a spec on N5 metadata.

    Examples
    --------
    >>> constraints = N5Constraints.from_json({"dimensions": [1000, 1000], "dataType": "int16"})
    >>> meta = constraints.create(Schema(dtype="int16", chunk_layout=ChunkLayout(chunk_elements=10_000)), {})
    >>> meta.chunk_shape, meta.order
    ((100, 100), 'F')
    >>> constraints.check(meta, Schema(), {})
    >>> N5Constraints.schema_of(meta, {}).dtype
    dtype("int16")
    """

    options: ClassVar[Mapping[str, Option]] = {}

    def __init__(self, metadata: Metadata) -> None:
        self.metadata = metadata

    @classmethod
    def from_json(cls, value: Any) -> N5Constraints:
        """Parse the member ``metadata``."""
        return cls(metadata_from_json(value))

    @classmethod
    def of(cls, meta: ArrayMeta) -> N5Constraints:
        """Return constraints that only this array meets."""
        return cls(_METADATA.of(meta))

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Raise if the format does not have the data type."""
        if schema.dtype is not None:
            check_dtype(schema.dtype)

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The member ``metadata``, which has no defaults."""
        return self.metadata.to_json()

    def constrain(self, schema: Schema, options: Options) -> None:
        """Add the data type and rank that are known to the schema."""
        constrain(self.metadata, schema)

    def domain(self, schema: Schema, options: Options) -> IndexDomain | None:
        """Return the domain, as far as it is known."""
        return domain_of(self.metadata, schema)

    def chunk_layout(self, schema: Schema, options: Options) -> ChunkLayout:
        """Return the layout, as far as it is known."""
        rank = schema.rank if self.metadata.rank == -1 else self.metadata.rank
        return layout_with(schema.chunk_layout, self.metadata, rank)

    def codec(self, schema: Schema, options: Options) -> CodecSpec:
        """Return the codec, as far as it is known."""
        return codec_of(self.metadata, schema)

    def fill_value(self, schema: Schema, options: Options) -> None:
        """Return None: documents have no fill value, and arrays are filled with zeros."""
        return

    def dimension_units(self, schema: Schema, options: Options) -> DimensionUnits | None:
        """Return the units, as far as they are known."""
        return units_of(self.metadata, schema) or None

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        """Return the metadata of a new array that meets the constraints."""
        document = new_metadata(self.metadata, schema).to_json()
        return array_of("n5", document)

    @staticmethod
    def refuse(raw: bytes) -> None:
        """Raise what is wrong with a document that is not that of an array, such as that of a group."""
        document = load(raw, Problems(), attributes=True)
        if document is None:
            raise SpecError("Invalid JSON")
        stored_from_json(document)

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        """Raise unless an array meets the constraints."""
        stored = _METADATA.of(meta)
        check_metadata(stored, self.metadata)
        check_schema(stored, schema)

    @staticmethod
    def schema_of(meta: ArrayMeta, options: Options) -> Schema:
        """The schema of an array."""
        return _SCHEMA.of(meta).copy()


def _read(document: Mapping[str, Any], shape: tuple[int, ...]) -> Metadata:
    return replace(stored_from_json(document), shape=shape)


def _schema(document: Mapping[str, Any], shape: tuple[int, ...]) -> Schema:
    stored = _read(document, shape)
    layout = layout_with(ChunkLayout(), stored, stored.rank)
    layout._finalize()
    schema = Schema(rank=stored.rank, dtype=stored.dtype, domain=domain_of(stored, Schema()), chunk_layout=layout)
    schema.update(codec=CodecSpec._of("n5", N5Codec(stored.compression)), dimension_units=stored.dimension_units)
    return schema


_METADATA = Remembered(_read)
_SCHEMA = Remembered(_schema)
