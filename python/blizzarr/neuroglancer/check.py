"""Checking the stored scales of a volume against constraints; errors name both sides."""

from __future__ import annotations

from typing import Any

from blizzarr.errors import ArrayNotFoundError, ConstraintError, InvalidArgumentError, SpecError
from blizzarr.json_values import dump, quote
from blizzarr.neuroglancer.constraints import MultiscaleConstraints, ScaleConstraints
from blizzarr.neuroglancer.effective import check_resolution, check_units, codec_of, domain_of, layout_with, units_of
from blizzarr.neuroglancer.format import Choice
from blizzarr.neuroglancer.info import Scale, Triple, Volume
from blizzarr.neuroglancer.sharding import check_is_sharded
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, grid_of
from blizzarr.spec.codec_spec import CodecSpec, merged_codec, parts_of
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import DimensionUnits, units_shown
from blizzarr.views.domain import merged_domain


def stored_scale(scale: Scale, chunk: Triple | None) -> ScaleConstraints:
    """Return constraints that only this scale meets, with one of its chunk sizes."""
    return ScaleConstraints(
        scale.key,
        scale.resolution,
        scale.sharding,
        scale.sharding is None,
        scale.encoding,
        scale.jpeg_quality if scale.encoding == "jpeg" else None,
        scale.png_level if scale.encoding == "png" and scale.png_level >= 0 else None,
        scale.block_size,
        scale.size,
        scale.voxel_offset,
        chunk,
    )


def codec_of_scale(scale: Scale) -> CodecSpec:
    """Return the codec of the scale's chunks."""
    return codec_of(stored_scale(scale, None), Schema())


def choose(
    volume: Volume, number: int | None, multiscale: MultiscaleConstraints, wanted: ScaleConstraints, schema: Schema
) -> Choice:
    """Return the selected scale: by its number, or the first with this key and resolution."""
    check_multiscale(volume, multiscale)
    units = units_of(wanted, schema)
    if number is None:
        number = _matching(volume, wanted, units)
    elif number >= len(volume.scales):
        raise ConstraintError(f"Scale {number} does not exist, number of scales is {len(volume.scales)}")
    scale = volume.scales[number]
    chunk = wanted.chunk_size
    return number, chunk if chunk is not None and chunk in scale.chunk_sizes else scale.chunk_sizes[0]


def _matching(volume: Volume, wanted: ScaleConstraints, units: DimensionUnits) -> int:
    for number, scale in enumerate(volume.scales):
        if wanted.key not in (None, scale.key):
            continue
        pairs = zip(scale.resolution, units, strict=False)
        if all(unit is None or unit.multiplier == length for length, unit in pairs):
            return number
    named = []
    if any(unit is not None for unit in units):
        named.append(f"dimension_units={units_shown(units)}")
    if wanted.key is not None:
        named.append(f"key={quote(wanted.key)}")
    raise ArrayNotFoundError(f"No scale found matching {', '.join(named)}")


def check_multiscale(volume: Volume, wanted: MultiscaleConstraints) -> None:
    """Raise unless a volume meets the constraints."""
    if wanted.dtype is not None and wanted.dtype.name != volume.data_type:
        _differ("data_type", wanted.dtype.name, volume.data_type)
    if wanted.num_channels not in (None, volume.num_channels):
        _differ("num_channels", wanted.num_channels, volume.num_channels)
    if wanted.kind not in (None, volume.kind):
        _differ("type", wanted.kind, volume.kind)


def check_scale(scale: Scale, wanted: ScaleConstraints) -> None:
    """Raise unless a scale meets the constraints.

    >>> scale = Scale("a", (1.0, 1.0, 1.0), (1, 1, 1), (0, 0, 0), ((1, 1, 1),), "raw", None, None, 75, -1, {})
    >>> check_scale(scale, ScaleConstraints(chunk_size=(2, 1, 1)))
    Traceback (most recent call last):
    ...
    blizzarr.errors.ConstraintError: FAILED_PRECONDITION: Expected "chunk_size" of [2,1,1] but received: [[1,1,1]]
    """
    pairs: list[tuple[str, Any, Any]] = [("key", wanted.key, scale.key), ("encoding", wanted.encoding, scale.encoding)]
    if scale.encoding == "jpeg":
        pairs.append(("jpeg_quality", wanted.jpeg_quality, scale.jpeg_quality))
    if scale.encoding == "png":
        pairs.append(("png_level", wanted.png_level, scale.png_level))
    block = wanted.compressed_segmentation_block_size
    pairs.append(("compressed_segmentation_block_size", block, scale.block_size))
    pairs.append(("resolution", wanted.resolution, scale.resolution))
    if wanted.unsharded or wanted.sharding is not None:
        said, stored = wanted.sharding, scale.sharding
        if said != stored:
            _differ("sharding", None if said is None else said.to_json(), None if stored is None else stored.to_json())
    pairs += [("size", wanted.size, scale.size), ("voxel_offset", wanted.voxel_offset, scale.voxel_offset)]
    for name, demanded, actual in pairs:
        if demanded is not None and demanded != actual:
            _differ(name, demanded, actual)
    if wanted.chunk_size is not None and wanted.chunk_size not in scale.chunk_sizes:
        _differ("chunk_size", wanted.chunk_size, scale.chunk_sizes)


def _differ(name: str, wanted: Any, actual: Any) -> None:
    raise ConstraintError(f"Expected {quote(name)} of {_shown(wanted)} but received: {_shown(actual)}")


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return dump([list(item) if isinstance(item, tuple) else item for item in value])
    return dump(value)


def check_schema(volume: Volume, scale: Scale, chunk: Triple, schema: Schema) -> None:
    """Raise unless a scale meets the schema."""
    if schema.dtype is not None and schema.dtype.name != volume.data_type:
        raise ConstraintError(
            f"data_type from metadata ({volume.data_type}) does not match dtype in schema ({schema.dtype.name})"
        )
    with prefixed("the scale does not match the schema", InvalidArgumentError):
        if schema.codec is not None:
            with prefixed("codec from metadata does not match codec in schema"):
                codec = merged_codec(codec_of_scale(scale), schema.codec)
            check_is_sharded(scale.sharding, parts_of(codec)[1].given.get("shard_data_encoding"))
        stored = stored_scale(scale, chunk)
        domain = domain_of(stored, volume.num_channels, Schema())
        if schema.domain is not None:
            with prefixed("domain from metadata does not match domain in schema"):
                merged_domain(domain, schema.domain)
        layout = schema.chunk_layout
        if layout.rank != -1:
            with prefixed("chunk layout from metadata does not match chunk layout in schema"):
                merged: ChunkLayout = layout_with(layout, domain, stored)
            if scale.encoding != "compressed_segmentation" and grid_of(merged, "codec").shape.hard:
                raise SpecError(f"codec_chunk_shape not supported by {scale.encoding} encoding")
        if schema.fill_value is not None:
            raise SpecError("fill_value not supported by neuroglancer_precomputed format")
        check_units(schema.dimension_units)
        check_resolution(scale.resolution, schema.dimension_units)
