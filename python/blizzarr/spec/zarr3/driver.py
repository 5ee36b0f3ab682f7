"""Arrays of Zarr v3 as specs see them: what is demanded of them, what is stored, and the schema of both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from blizzarr import formats
from blizzarr.model import ArrayMeta
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.element_type import WholeElements
from blizzarr.spec.places import Option
from blizzarr.spec.remembered import Remembered
from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr3.check import check_metadata, check_schema
from blizzarr.spec.zarr3.codec import Zarr3Codec
from blizzarr.spec.zarr3.create import new_metadata
from blizzarr.spec.zarr3.effective import codec_of, constrain, domain_of, layout_with, units_of
from blizzarr.spec.zarr3.fill_value import check_dtype
from blizzarr.spec.zarr3.metadata import Metadata, metadata_from_json, stored_from_json
from blizzarr.spec.zarr3.resolve import check_chain
from blizzarr.views import IndexDomain

__all__ = ["Zarr3Constraints"]

Options = Mapping[str, Any]


class Zarr3Constraints(WholeElements):
    """What a spec demands of metadata.

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

    options: ClassVar[Mapping[str, Option]] = {}

    def __init__(self, metadata: Metadata) -> None:
        self.metadata = metadata

    @classmethod
    def from_json(cls, value: Any) -> Zarr3Constraints:
        """What the member ``metadata`` says."""
        return cls(metadata_from_json(value))

    @classmethod
    def of(cls, meta: ArrayMeta) -> Zarr3Constraints:
        """The constraints that nothing but this array fulfils."""
        return cls(_stored(meta))

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        """Refuse data types that the format does not have."""
        if schema.dtype is not None:
            check_dtype(schema.dtype)

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The member ``metadata``; with `include_defaults` the usual separators in keys, too."""
        return self.metadata.to_json(partial=True, include_defaults=include_defaults)

    def constrain(self, schema: Schema, options: Options) -> None:
        """Add the data type and rank that are known to the schema."""
        constrain(self.metadata, schema)

    def domain(self, schema: Schema, options: Options) -> IndexDomain | None:
        """The domain, as far as it is known."""
        return domain_of(self.metadata, schema)

    def chunk_layout(self, schema: Schema, options: Options) -> ChunkLayout:
        """The layout, as far as it is known."""
        rank = self.metadata.rank if schema.rank is None or self.metadata.rank != -1 else schema.rank
        return layout_with(schema.chunk_layout, self.metadata, rank)

    def codec(self, schema: Schema, options: Options) -> CodecSpec:
        """The codec, as far as it is known."""
        return codec_of(self.metadata, schema)

    def fill_value(self, schema: Schema, options: Options) -> np.ndarray[Any, Any] | None:
        """The fill value, if it is known."""
        return schema.fill_value if self.metadata.fill_value is None else self.metadata.fill_value

    def dimension_units(self, schema: Schema, options: Options) -> DimensionUnits | None:
        """The units, as far as they are known."""
        return units_of(self.metadata, schema) or None

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        """A new array that fulfils the constraints."""
        document = new_metadata(self.metadata, schema).to_json()
        raw = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
        meta = formats.format_named("v3").decode("", {"zarr.json": raw})
        assert isinstance(meta, ArrayMeta)
        return meta

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        """Refuse an array that does not fulfil them."""
        stored = _stored(meta)
        check_metadata(stored, self.metadata)
        check_schema(stored, schema)

    @staticmethod
    def schema_of(meta: ArrayMeta, options: Options) -> Schema:
        """The schema of an array."""
        return _SCHEMA.of(_document(meta), meta).copy()


def _document(meta: ArrayMeta) -> Mapping[str, Any]:
    if meta.source is not None:
        return meta.source
    (raw,) = formats.encode(meta, "").values()
    document: dict[str, Any] = json.loads(raw)
    return document


def _stored(meta: ArrayMeta) -> Metadata:
    return _METADATA.of(_document(meta), meta)


def _read(document: Mapping[str, Any], shape: tuple[int, ...]) -> Metadata:
    stored = stored_from_json(document)
    assert stored.codecs is not None
    assert stored.chunk_shape is not None
    assert stored.dtype is not None
    check_chain(stored.codecs, stored.chunk_shape, stored.dtype.numpy_dtype.itemsize)
    return replace(stored, shape=shape)


def _schema(document: Mapping[str, Any], shape: tuple[int, ...]) -> Schema:
    stored = _read(document, shape)
    layout = layout_with(ChunkLayout(), stored, stored.rank)
    layout.finalize()
    schema = Schema(rank=stored.rank, dtype=stored.dtype, domain=domain_of(stored, Schema()), chunk_layout=layout)
    schema.update(codec=CodecSpec.of("zarr3", Zarr3Codec(stored.codecs)))
    schema.update(fill_value=stored.fill_value, dimension_units=stored.dimension_units)
    return schema


_METADATA = Remembered(_read)
_SCHEMA = Remembered(_schema)
