"""Zarr v2 arrays in specs: their constraints, and the schema that these and stored metadata give."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.json_values import dump, quote
from blizzarr.model import ArrayMeta
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.element_type import Field, check_choice, choice
from blizzarr.spec.members import as_bool, as_text, one_of
from blizzarr.spec.metadata.interface import MetadataConstraints
from blizzarr.spec.places import Option
from blizzarr.spec.ranks import ranks_of
from blizzarr.spec.remembered import Remembered
from blizzarr.spec.schema import Schema
from blizzarr.spec.stored_document import array_of
from blizzarr.spec.zarr.check import check_metadata, check_schema, fill_of
from blizzarr.spec.zarr.compressor import is_shared
from blizzarr.spec.zarr.create import new_metadata
from blizzarr.spec.zarr.effective import codec_of, codec_stored, constrain, domain_of, layout_with
from blizzarr.spec.zarr.metadata import Metadata, metadata_from_json, stored_from_json
from blizzarr.views import IndexDomain

__all__ = ["ZarrConstraints"]

Options = Mapping[str, Any]
_KEY = ".zarray"


class ZarrConstraints(MetadataConstraints):
    """The constraints of a spec on Zarr v2 metadata.

    Examples
    --------
    >>> constraints = ZarrConstraints.from_json({"shape": [1000, 1000], "dtype": ">i2", "order": "F"})
    >>> meta = constraints.create(Schema(chunk_layout=ChunkLayout(chunk_elements=10_000)), {})
    >>> meta.chunk_shape, meta.order
    ((100, 100), 'F')
    >>> constraints.check(meta, Schema(), {})
    >>> ZarrConstraints.schema_of(meta, {}).dtype
    dtype("int16")
    """

    options: ClassVar[Mapping[str, Option]] = {
        "key_encoding": Option(one_of(".", "/"), None),
        "field": Option(as_text, ""),
        "open_as_void": Option(as_bool, False),
        "metadata_key": Option(as_text, _KEY),
    }

    def __init__(self, metadata: Metadata) -> None:
        self.metadata = metadata

    @classmethod
    def from_json(cls, value: Any) -> ZarrConstraints:
        """Parse the member ``metadata``."""
        return cls(metadata_from_json(value))

    @classmethod
    def of(cls, meta: ArrayMeta) -> ZarrConstraints:
        """Return constraints that only this array meets, as far as they can be expressed."""
        stored = _METADATA.of(meta)
        unsaid = {"filters"} if stored.filters else set()
        if not is_shared(stored.compressor):
            unsaid.add("compressor")
        return cls(replace(stored, said=stored.said - unsaid, extra={}))

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Do nothing: data types are checked when an array is created."""

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The member ``metadata``, which has no defaults."""
        return self.metadata.to_json()

    def constrain(self, schema: Schema, options: Options) -> None:
        """Add the data type and rank that are known to the schema."""
        encoding = options.get("key_encoding")
        if encoding is not None:
            # An option from before documents had a member for it.
            self.metadata = _separated(self.metadata, encoding)
            if isinstance(options, MutableMapping):
                options["key_encoding"] = None
        constrain(self.metadata, schema, self._field(options))

    def _field(self, options: Options) -> Field | None:
        """Return the part of each element that the options select, if the data type is known."""
        chosen = choice(options)
        check_choice(*chosen)
        return None if self.metadata.elements is None else self.metadata.elements.pick(*chosen)

    def domain(self, schema: Schema, options: Options) -> IndexDomain | None:
        """Return the domain, as far as it is known."""
        return domain_of(self.metadata, schema, self._field(options))

    def chunk_layout(self, schema: Schema, options: Options) -> ChunkLayout:
        """Return the layout, as far as it is known."""
        field = self._field(options)
        return layout_with(schema.chunk_layout, self.metadata, ranks_of(self.metadata.rank, schema, field), field)

    def codec(self, schema: Schema, options: Options) -> CodecSpec:
        """Return the codec, as far as it is known."""
        return codec_of(self.metadata, schema)

    def fill_value(self, schema: Schema, options: Options) -> np.ndarray[Any, Any] | None:
        """The fill value, if it is known."""
        if "fill_value" not in self.metadata.said:
            return schema.fill_value
        return fill_of(self.metadata, *choice(options))

    def dimension_units(self, schema: Schema, options: Options) -> DimensionUnits | None:
        """Return the units of the schema; documents have no member for them."""
        return schema.dimension_units

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        """Return the metadata of a new array that meets the constraints."""
        _check_key(options)
        document = new_metadata(self.metadata, schema, *choice(options)).to_json()
        return array_of("v2", document)

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        """Raise unless an array meets the constraints."""
        _check_key(options)
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
        elements, (name, void) = _METADATA.of(meta).elements, choice(options)
        assert elements is not None, "documents have it"
        return None if elements.is_whole and not void else elements.pick(name, void)


def _check_key(options: Options) -> None:
    if options.get("metadata_key", _KEY) != _KEY:
        raise UnsupportedOperationError(
            f'expected "metadata_key" {quote(_KEY)}, found {quote(options["metadata_key"])}: documents have that name'
        )


def _separated(metadata: Metadata, separator: str) -> Metadata:
    if metadata.separator not in (None, separator):
        raise SpecError(
            f'Error parsing object member "key_encoding": value ({dump(separator)}) does not match value in metadata '
            f"({dump(metadata.separator)})"
        )
    return replace(metadata, separator=separator, said=metadata.said | {"dimension_separator"})


def _read(document: Mapping[str, Any], shape: tuple[int, ...]) -> Metadata:
    return replace(stored_from_json(document), shape=shape)


def _schema(stored: Metadata, name: str, void: bool) -> Schema:
    assert stored.elements is not None
    field = stored.elements.pick(name, void)
    ranks = ranks_of(stored.rank, Schema(), field)
    layout = layout_with(ChunkLayout(), stored, ranks, field)
    layout._finalize()
    schema = Schema(rank=ranks.full, dtype=field.dtype)
    schema.update(domain=domain_of(stored, schema, field), chunk_layout=layout)
    schema.update(codec=CodecSpec._of("zarr", codec_stored(stored)), fill_value=fill_of(stored, name, void))
    return schema


_METADATA = Remembered(_read)
