"""Checking the stored scales of a volume against constraints; errors name both sides."""

from __future__ import annotations

from typing import Any

from blizzarr.errors import ArrayNotFoundError, ConstraintError, InvalidArgumentError, SpecError
from blizzarr.json_values import dump, quote
from blizzarr.neuroglancer.constraints import MultiscaleConstraints, ScaleConstraints
from blizzarr.neuroglancer.effective import check_resolution, check_units, codec_of, domain_of, layout_with, units_of
from blizzarr.neuroglancer.format import Choice
from blizzarr.neuroglancer.info import Scale, Triple, Volume
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, grid_of
from blizzarr.spec.codec_spec import CodecSpec, merged_codec, parts_of
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import DimensionUnits, units_shown
from blizzarr.views.domain import merged_domain


def stored_scale(scale: Scale, chunk: Triple | None) -> ScaleConstraints:
    """Return constraints that only this scale meets, with one of its chunk sizes."""
    shared = {name: getattr(scale, name) for name in Scale.__match_args__ if name not in ("chunk_sizes", "extra")}
    return ScaleConstraints(**shared, unsharded=scale.sharding is None, chunk_size=chunk)


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
    stored = {"data_type": volume.data_type, "num_channels": volume.num_channels, "type": volume.kind}
    for name, demanded in wanted.to_json(with_dtype=True).items():
        if demanded != stored[name]:
            _differ(name, demanded, stored[name])


def check_scale(scale: Scale, wanted: ScaleConstraints) -> None:
    """Raise unless a scale meets the constraints.

    >>> scale = Scale("a", (1.0, 1.0, 1.0), (1, 1, 1), (0, 0, 0), ((1, 1, 1),), "raw", None, None, None, None, {})
    >>> check_scale(scale, ScaleConstraints(chunk_size=(2, 1, 1)))
    Traceback (most recent call last):
    ...
    blizzarr.errors.ConstraintError: FAILED_PRECONDITION: Expected "chunk_size" of [2,1,1] but received: [[1,1,1]]
    """
    demands, chunks = wanted.to_json(), list(map(list, scale.chunk_sizes))
    # -1 is how TensorStore names the default level.
    stored = {"png_level": -1, **stored_scale(scale, None).to_json()}
    for name in filter(demands.__contains__, wanted.__match_args__):
        if name == "chunk_size":
            if demands[name] not in chunks:
                _differ(name, demands[name], chunks)
        elif demands[name] != stored[name]:
            _differ(name, demands[name], stored[name])


def _differ(name: str, wanted: Any, actual: Any) -> None:
    raise ConstraintError(f"Expected {quote(name)} of {dump(wanted)} but received: {dump(actual)}")


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
            if scale.sharding is None and "shard_data_encoding" in parts_of(codec)[1].given:
                raise SpecError("shard_data_encoding requires sharded format")
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
