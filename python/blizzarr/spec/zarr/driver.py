"""Arrays of Zarr v2 as specs see them: what is demanded of them, what is stored, and the schema of both."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from blizzarr import formats
from blizzarr.errors import SpecError
from blizzarr.json_values import dump, quote
from blizzarr.model import ArrayMeta
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.members import as_text, one_of
from blizzarr.spec.places import Option
from blizzarr.spec.remembered import Remembered
from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr.check import check_metadata, check_schema
from blizzarr.spec.zarr.compressor import is_shared
from blizzarr.spec.zarr.create import new_metadata
from blizzarr.spec.zarr.effective import codec_of, codec_stored, constrain, domain_of, layout_with
from blizzarr.spec.zarr.metadata import Metadata, metadata_from_json, stored_from_json
from blizzarr.views import IndexDomain

__all__ = ["ZarrConstraints"]

Options = Mapping[str, Any]


class ZarrConstraints:
    """What a spec demands of metadata.

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
    }

    def __init__(self, metadata: Metadata) -> None:
        self.metadata = metadata

    @classmethod
    def from_json(cls, value: Any) -> ZarrConstraints:
        """What the member ``metadata`` says."""
        return cls(metadata_from_json(value))

    @classmethod
    def of(cls, meta: ArrayMeta) -> ZarrConstraints:
        """The constraints that nothing but this array fulfils, as far as they can be said."""
        stored = _stored(meta)
        unsaid = {"filters"} if stored.filters else set()
        if not is_shared(stored.compressor):
            unsaid.add("compressor")
        return cls(replace(stored, said=stored.said - unsaid, extra={}))

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Nothing is refused before an array is created."""

    def to_json(self) -> dict[str, Any]:
        """The member ``metadata``."""
        return self.metadata.to_json()

    def constrain(self, schema: Schema, options: Options) -> None:
        """Add the data type and rank that are known to the schema."""
        encoding = options.get("key_encoding")
        if encoding is not None:
            # What specs said before documents had a member for it.
            self.metadata = _separated(self.metadata, encoding)
            if isinstance(options, MutableMapping):
                options["key_encoding"] = None
        if options.get("field") and self.metadata.dtype is not None:
            raise _no_fields(options)
        constrain(self.metadata, schema)

    def domain(self, schema: Schema, options: Options) -> IndexDomain | None:
        """The domain, as far as it is known."""
        return domain_of(self.metadata, schema)

    def chunk_layout(self, schema: Schema, options: Options) -> ChunkLayout:
        """The layout, as far as it is known."""
        return layout_with(schema.chunk_layout, self.metadata, schema.rank)

    def codec(self, schema: Schema, options: Options) -> CodecSpec:
        """The codec, as far as it is known."""
        return codec_of(self.metadata, schema)

    def fill_value(self, schema: Schema, options: Options) -> np.ndarray[Any, Any] | None:
        """The fill value, if it is known."""
        return self.metadata.fill_value if "fill_value" in self.metadata.said else schema.fill_value

    def dimension_units(self, schema: Schema, options: Options) -> DimensionUnits | None:
        """The units that the schema demands; there is no room for them in documents."""
        return schema.dimension_units

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        """A new array that fulfils the constraints."""
        if options.get("field"):
            raise _no_fields(options)
        document = new_metadata(self.metadata, schema).to_json()
        raw = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
        meta = formats.format_named("v2").decode("", {".zarray": raw})
        assert isinstance(meta, ArrayMeta)
        return meta

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        """Refuse an array that does not fulfil them."""
        if options.get("field"):
            raise _no_fields(options)
        stored = _stored(meta)
        check_metadata(stored, self.metadata)
        check_schema(stored, schema)

    @staticmethod
    def schema_of(meta: ArrayMeta, options: Options) -> Schema:
        """The schema of an array."""
        return _SCHEMA.of(_document(meta), meta).copy()


def _no_fields(options: Options) -> SpecError:
    return SpecError(f"Requested field {quote(options['field'])} but dtype does not have named fields")


def _separated(metadata: Metadata, separator: str) -> Metadata:
    if metadata.separator not in (None, separator):
        raise SpecError(
            f'Error parsing object member "key_encoding": value ({dump(separator)}) does not match value in metadata '
            f"({dump(metadata.separator)})"
        )
    return replace(metadata, separator=separator, said=metadata.said | {"dimension_separator"})


def _document(meta: ArrayMeta) -> Mapping[str, Any]:
    if meta.source is not None:
        return meta.source
    document: dict[str, Any] = json.loads(formats.encode(meta, "")[".zarray"])
    return document


def _stored(meta: ArrayMeta) -> Metadata:
    return _METADATA.of(_document(meta), meta)


def _read(document: Mapping[str, Any], shape: tuple[int, ...]) -> Metadata:
    return replace(stored_from_json(document), shape=shape)


def _schema(document: Mapping[str, Any], shape: tuple[int, ...]) -> Schema:
    stored = _read(document, shape)
    layout = layout_with(ChunkLayout(), stored, stored.rank)
    layout.finalize()
    schema = Schema(rank=stored.rank, dtype=stored.dtype)
    schema.update(domain=domain_of(stored, schema), chunk_layout=layout)
    schema.update(codec=CodecSpec.of("zarr", codec_stored(stored)), fill_value=stored.fill_value)
    return schema


_METADATA = Remembered(_read)
_SCHEMA = Remembered(_schema)
