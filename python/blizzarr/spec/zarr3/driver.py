"""Zarr v3 arrays in specs: their constraints, and the schema that these and stored metadata give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from blizzarr.model import ArrayMeta
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.element_type import Field, check_choice, choice
from blizzarr.spec.members import as_bool, as_text
from blizzarr.spec.metadata.interface import MetadataConstraints
from blizzarr.spec.places import Option
from blizzarr.spec.ranks import ranks_of
from blizzarr.spec.remembered import Remembered
from blizzarr.spec.schema import Schema
from blizzarr.spec.stored_document import array_of
from blizzarr.spec.zarr3.check import check_metadata, check_schema, fill_of
from blizzarr.spec.zarr3.codec import Zarr3Codec
from blizzarr.spec.zarr3.create import new_metadata
from blizzarr.spec.zarr3.effective import codec_of, constrain, domain_of, layout_with, units_of
from blizzarr.spec.zarr3.fill_value import check_dtype
from blizzarr.spec.zarr3.metadata import Metadata, metadata_from_json, stored_from_json
from blizzarr.spec.zarr3.resolve import check_chain
from blizzarr.views import IndexDomain

__all__ = ["Zarr3Constraints"]

Options = Mapping[str, Any]


class Zarr3Constraints(MetadataConstraints):
    """The constraints of a spec on Zarr v3 metadata.

    Examples
    --------
    >>> constraints = Zarr3Constraints.from_json({"shape": [1000, 1000], "data_type": "int4"})
    >>> meta = constraints.create(Schema(chunk_layout=ChunkLayout(read_chunk_shape=[10, 10])), {})
    >>> meta.chunk_shape, meta.shard_shape
    ((10, 10), (1000, 1000))
    >>> constraints.check(meta, Schema(), {})
    >>> Zarr3Constraints.schema_of(meta, {}).dtype
    dtype("int4")
    """

    options: ClassVar[Mapping[str, Option]] = {
        "field": Option(as_text, ""),
        "open_as_void": Option(as_bool, False),
    }

    def __init__(self, metadata: Metadata) -> None:
        self.metadata = metadata

    @classmethod
    def from_json(cls, value: Any) -> Zarr3Constraints:
        """Parse the member ``metadata``."""
        return cls(metadata_from_json(value))

    @classmethod
    def of(cls, meta: ArrayMeta) -> Zarr3Constraints:
        """Return constraints that only this array meets."""
        return cls(_METADATA.of(meta))

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Raise if the format does not have the data type."""
        if schema.dtype is not None and schema.dtype.name != "byte":
            check_dtype(schema.dtype)

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """Return the member ``metadata``; `include_defaults` includes the default separators of keys."""
        return self.metadata.to_json(partial=True, include_defaults=include_defaults)

    def constrain(self, schema: Schema, options: Options) -> None:
        """Add the data type and rank that are known to the schema."""
        check_choice(*choice(options))
        field = self._field(options)
        if schema.dtype is not None and schema.dtype.name == "byte" and not _is_of_bytes(field, options):
            check_dtype(schema.dtype)
        constrain(self.metadata, schema, field)

    def _field(self, options: Options) -> Field | None:
        """Return the part of each element that the options select, if the data type is known; errors are left to
        opening.
        """
        elements, (name, void) = self.metadata.elements, choice(options)
        if elements is None or void:
            return None if elements is None else elements.void
        found = [field for field in elements.fields if field.name == name or (not name and len(elements.fields) == 1)]
        return found[0] if found else None

    def domain(self, schema: Schema, options: Options) -> IndexDomain | None:
        """Return the domain, as far as it is known."""
        return domain_of(self.metadata, schema, self._field(options))

    def chunk_layout(self, schema: Schema, options: Options) -> ChunkLayout:
        """Return the layout, as far as it is known."""
        field = self._field(options)
        ranks = ranks_of(self.metadata.rank, schema, field)
        # Without a data type elements are taken for single values.
        grid = ranks.full if ranks.grid is None else ranks.grid
        return layout_with(schema.chunk_layout, self.metadata, -1 if grid is None else grid, field)

    def codec(self, schema: Schema, options: Options) -> CodecSpec:
        """Return the codec, as far as it is known."""
        return codec_of(self.metadata, schema)

    def fill_value(self, schema: Schema, options: Options) -> np.ndarray[Any, Any] | None:
        """The fill value, if it is known."""
        if self.metadata.fills is None or self.metadata.elements is None:
            return schema.fill_value
        return fill_of(self.metadata, *choice(options))

    def dimension_units(self, schema: Schema, options: Options) -> DimensionUnits | None:
        """Return the units, as far as they are known."""
        return units_of(self.metadata, schema) or None

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        """Return the metadata of a new array that meets the constraints."""
        document = new_metadata(self.metadata, schema, *choice(options)).to_json()
        return array_of("v3", document)

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        """Raise unless an array meets the constraints."""
        stored = _METADATA.of(meta)
        check_metadata(stored, self.metadata)
        check_schema(stored, schema, *choice(options))

    @staticmethod
    def schema_of(meta: ArrayMeta, options: Options) -> Schema:
        """The schema of an array."""
        return _schema(_METADATA.of(meta), *choice(options))

    @staticmethod
    def part(meta: ArrayMeta, options: Options) -> Field | None:
        """Return the selected part of each element; None if the whole element is a single value."""
        stored, (name, void) = _METADATA.of(meta), choice(options)
        assert stored.elements is not None, "documents have it"
        if stored.elements.is_whole and not void:
            return None
        assert stored.codecs is not None, "documents have them"
        return replace(stored.elements.pick(name, void), big=stored.codecs.is_big)


def _is_of_bytes(field: Field | None, options: Options) -> bool:
    return choice(options)[1] or (field is not None and field.dtype.name == "byte")


def _read(document: Mapping[str, Any], shape: tuple[int, ...]) -> Metadata:
    stored = stored_from_json(document)
    assert stored.codecs is not None
    assert stored.chunk_shape is not None
    assert stored.elements is not None
    unit = max(field.dtype._element_dtype.itemsize for field in stored.elements.fields)
    check_chain(stored.codecs, stored.chunk_shape, unit)
    return replace(stored, shape=shape)


def _schema(stored: Metadata, name: str, void: bool) -> Schema:
    assert stored.elements is not None
    field = stored.elements.pick(name, void)
    layout = layout_with(ChunkLayout(), stored, stored.rank, field)
    layout._finalize()
    schema = Schema(
        rank=stored.rank + len(field.shape),
        dtype=field.dtype,
        domain=domain_of(stored, Schema(), field),
        chunk_layout=layout,
    )
    schema.update(codec=CodecSpec._of("zarr3", Zarr3Codec(stored.codecs)), fill_value=fill_of(stored, name, void))
    if stored.dimension_units is not None:
        schema.update(dimension_units=(*stored.dimension_units, *(None,) * len(field.shape)))
    return schema


_METADATA = Remembered(_read)
