"""Scales of Neuroglancer volumes in specs: their constraints, and the schema that these and stored metadata give."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from blizzarr.json_values import dump
from blizzarr.model import ArrayMeta
from blizzarr.neuroglancer.check import check_scale, check_schema, choose, codec_of_scale, stored_scale
from blizzarr.neuroglancer.constraints import MultiscaleConstraints, PrecomputedCodec, ScaleConstraints
from blizzarr.neuroglancer.create import Existing, new_document
from blizzarr.neuroglancer.effective import RANK, codec_of, domain_of, layout_with, units_of
from blizzarr.neuroglancer.format import Choice, Precomputed, VolumeSource
from blizzarr.neuroglancer.info import Volume
from blizzarr.neuroglancer.sharding import shard_shape
from blizzarr.spec.chunk_layout import ChunkLayout, finalize, merge_layout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dtype import DType
from blizzarr.spec.metadata.elements import Field
from blizzarr.spec.metadata.interface import MetadataConstraints, Options
from blizzarr.spec.schema import Schema, merge_schema
from blizzarr.spec.unit import DimensionUnits, units_shown
from blizzarr.views import IndexDomain


class VolumeConstraints(MetadataConstraints):
    """The constraints of a spec on a volume, and on one of its scales.

    >>> constraints = VolumeConstraints(scale=ScaleConstraints(size=(1, 2, 3), voxel_offset=(0, 0, 0)))
    >>> constraints.domain(Schema(), {})
    { "x": [0, 1), "y": [0, 2), "z": [0, 3), "channel": [0, +inf*) }
    """

    codec_class = PrecomputedCodec

    def __init__(
        self,
        number: int | None = None,
        multiscale: MultiscaleConstraints = MultiscaleConstraints(),  # noqa: B008  # is never changed
        scale: ScaleConstraints = ScaleConstraints(),  # noqa: B008
    ) -> None:
        self.number = number
        self.multiscale = multiscale
        self.scale = scale

    @classmethod
    def from_json(cls, value: Any) -> VolumeConstraints:
        """Return nothing: all constraints are members of the driver itself."""
        return cls()

    @classmethod
    def of(cls, meta: ArrayMeta) -> VolumeConstraints:
        volume, number, chunk = _stored(meta)
        return cls(
            number,
            MultiscaleConstraints(volume.kind, None, volume.num_channels),
            stored_scale(volume.scales[number], chunk),
        )

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        members: dict[str, Any] = {}
        if self.number is not None:
            members["scale_index"] = self.number
        if part := self.multiscale.to_json(include_defaults):
            members["multiscale_metadata"] = part
        if part := self.scale.to_json():
            members["scale_metadata"] = part
        return members

    def constrain(self, schema: Schema, options: Options) -> None:
        merge_schema(schema, Schema(rank=RANK))
        if self.multiscale.dtype is not None:
            merge_schema(schema, Schema(dtype=self.multiscale.dtype))

    def selection(self, schema: Schema) -> str:
        """Return, as text, everything that determines which scale is selected."""
        units = None if schema.dimension_units is None else units_shown(schema.dimension_units)
        return dump([self.to_json(), units])

    def choose(self, volume: Volume, schema: Schema) -> Choice:
        """Return the selected scale of a stored volume, and which of its chunk sizes is selected."""
        return choose(volume, self.number, self.multiscale, self.scale, schema)

    def domain(self, schema: Schema, options: Options) -> IndexDomain:
        return domain_of(self.scale, self.multiscale.num_channels, schema)

    def chunk_layout(self, schema: Schema, options: Options) -> ChunkLayout:
        return layout_with(schema.chunk_layout, self.domain(schema, options), self.scale)

    def codec(self, schema: Schema, options: Options) -> CodecSpec:
        return codec_of(self.scale, schema)

    def fill_value(self, schema: Schema, options: Options) -> None:
        """Return None: volumes have no fill value, and are filled with zeros."""
        return

    def dimension_units(self, schema: Schema, options: Options) -> DimensionUnits:
        return units_of(self.scale, schema)

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        document, number = self.document(None, schema)
        raw = json.dumps(document).encode()
        chunk = tuple(document["scales"][number]["chunk_sizes"][0])
        meta = Precomputed(lambda volume: (number, chunk)).decode("", {"info": raw})
        assert isinstance(meta, ArrayMeta)
        return meta

    def document(self, existing: Existing | None, schema: Schema, assumed: bool = False) -> tuple[dict[str, Any], int]:
        """Return the document with a new scale after the existing ones, and its number."""
        return new_document(existing, self.number, self.multiscale, self.scale, schema, assumed)

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        volume, number, chunk = _stored(meta)
        scale = volume.scales[number]
        check_scale(scale, self.scale)
        check_schema(volume, scale, chunk, schema)

    @classmethod
    def field_of(cls, meta: ArrayMeta, options: Options) -> Field:
        return Field("", DType(_stored(meta)[0].data_type))

    @staticmethod
    def schema_of(meta: ArrayMeta, options: Options) -> Schema:
        volume, number, chunk = _stored(meta)
        scale = volume.scales[number]
        stored = stored_scale(scale, chunk)
        domain = domain_of(stored, volume.num_channels, Schema())
        layout = layout_with(ChunkLayout(), domain, replace(stored, sharding=None))
        if scale.sharding is not None:
            # A box of whole chunks; for shards that are not boxes, the whole volume.
            count = shard_shape(scale.sharding, scale.size, chunk) or scale.size
            boxes = zip(count, chunk, scale.size, strict=True)
            whole = [-(-min(number * step, size) // step) * step for number, step, size in boxes]
            merge_layout(layout, ChunkLayout(write_chunk_shape=[*whole, volume.num_channels]))
        finalize(layout)
        schema = Schema(rank=RANK, dtype=DType(volume.data_type), domain=domain, chunk_layout=layout)
        schema.update(codec=codec_of_scale(scale), dimension_units=units_of(stored, Schema()))
        return schema


def _stored(meta: ArrayMeta) -> tuple[Volume, int, tuple[int, int, int]]:
    source = meta.source
    assert isinstance(source, VolumeSource), "as all arrays of this format have"
    return source.volume, source.number, source.chunk_size
