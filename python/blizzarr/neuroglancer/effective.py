"""The domain, layout, codec and units that follow from constraints on a volume and a schema."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Final

from blizzarr.errors import SpecError
from blizzarr.indexing.interval import INF
from blizzarr.json_values import braces
from blizzarr.neuroglancer.constraints import PrecomputedCodec, ScaleConstraints
from blizzarr.neuroglancer.scale_array import AXES
from blizzarr.neuroglancer.sharding import Sharding, shard_shape
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, grid_of, merge_grid, merge_layout
from blizzarr.spec.codec_spec import CodecSpec, driver_codec, merged_codec
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import DimensionUnits, Unit, merge_units, units_shown
from blizzarr.views import IndexDomain
from blizzarr.views.domain import merged_domain

DRIVER: Final = "neuroglancer_precomputed"
RANK: Final = 4
_ORDER: Final = [3, 2, 1, 0]


def domain_of(scale: ScaleConstraints, channels: int | None, schema: Schema) -> IndexDomain:
    """Return the domain; known bounds are explicit, unknown ones implicit.

    >>> domain_of(ScaleConstraints(size=(1, 2, 3), voxel_offset=(5, 0, 0)), None, Schema())
    { "x": [5, 6), "y": [0, 2), "z": [0, 3), "channel": [0, +inf*) }
    """
    known = scale.size is not None
    size, offset = scale.size or (), scale.voxel_offset or ()
    domain = IndexDomain(
        inclusive_min=[*(offset if known else [-INF] * 3), 0],
        exclusive_max=[
            *([first + length for first, length in zip(offset, size, strict=True)] if known else [INF + 1] * 3),
            INF + 1 if channels is None else channels,
        ],
        implicit_lower_bounds=[not known] * 3 + [False],
        implicit_upper_bounds=[not known] * 3 + [channels is None],
        labels=AXES,
    )
    if schema.domain is None:
        return domain
    with prefixed('Error applying domain constraints from "multiscale_metadata" and "scale_metadata"'):
        return merged_domain(schema.domain, domain)


def layout_with(layout: ChunkLayout, domain: IndexDomain | None, scale: ScaleConstraints) -> ChunkLayout:
    """Merge the constraints on the layout with those that follow from the scale and the domain."""
    merged = copy(layout)
    origin: list[int | None] = [None, None, None, 0]
    if domain is not None:
        for dim, (first, implicit) in enumerate(zip(domain.inclusive_min, domain.implicit_lower_bounds, strict=True)):
            origin[dim] = None if implicit and first == -INF else first
    merged.update(rank=RANK)
    with prefixed("Chunk grid origin must match domain origin"):
        merge_layout(merged, ChunkLayout(grid_origin=origin))
    with prefixed("Only lexicographic {channel, z, y, x} inner order is supported"):
        merge_layout(merged, ChunkLayout(inner_order=_ORDER))
    if domain is not None and domain.exclusive_max[3] <= INF:
        with prefixed("Chunking of channel dimension is not supported"):
            merge_layout(merged, ChunkLayout(chunk_shape=[None, None, None, domain.shape[3]]))
    if scale.chunk_size is not None:
        merge_layout(merged, ChunkLayout(read_chunk_shape=[*scale.chunk_size, None]))
    if scale.sharding is not None:
        _set_shards(merged, domain, scale.sharding)
    elif scale.unsharded:
        merge_grid(merged, "write", grid_of(merged, "read"), ("shape",))
    if scale.encoding == "compressed_segmentation":
        block: Sequence[int | None] = scale.compressed_segmentation_block_size or (None, None, None)
        merge_layout(merged, ChunkLayout({"codec_chunk": {"shape": [*block, 1]}}))
    return merged


def _set_shards(layout: ChunkLayout, domain: IndexDomain | None, sharding: Sharding) -> None:
    """Add the constraints that follow from shards that are boxes, if everything that determines these is known."""
    chunk = layout.read_chunk.shape
    if chunk is None or None in chunk[:3] or domain is None:
        return
    if any(first == -INF for first in domain.inclusive_min[:3]) or any(end > INF for end in domain.exclusive_max[:3]):
        return
    size = domain.shape[:3]
    count = shard_shape(sharding, size, chunk[:3])  # type: ignore[arg-type]  # none is None
    if count is None:
        return
    shape: list[int | None] = [
        min(number * step, length)  # type: ignore[operator]
        for number, step, length in zip(count, chunk, size, strict=False)
    ]
    shape.append(domain.shape[3] if domain.exclusive_max[3] <= INF else None)
    merge_layout(layout, ChunkLayout(write_chunk_shape=shape))


def codec_of(scale: ScaleConstraints, schema: Schema) -> CodecSpec:
    """Return the constraints on the encoding."""
    data = None if scale.sharding is None else scale.sharding.data_encoding
    codec = PrecomputedCodec(scale.encoding, scale.jpeg_quality, scale.png_level, data)
    return merged_codec(driver_codec(DRIVER, codec), schema.codec)


def check_units(units: DimensionUnits | None) -> None:
    """Raise if no volume can have the units."""
    if not units:
        return
    if units[3] is not None:
        raise SpecError(
            f"Invalid dimension units {units_shown(units)}: neuroglancer_precomputed format does not allow units to be "
            "specified for channel dimension"
        )
    if any(unit is not None and unit.base_unit != "nm" for unit in units[:3]):
        raise SpecError(
            f"Invalid dimension units {units_shown(units)}: neuroglancer_precomputed format requires a base unit of "
            '"nm" for the "x", "y", and "z" dimensions'
        )


def check_resolution(resolution: Sequence[float], units: DimensionUnits | None) -> None:
    """Raise unless the units are those of a resolution."""
    for number, unit in zip(resolution, units or (), strict=False):
        if unit is not None and unit.multiplier != number:
            shown = braces([f"{number:g}" for number in resolution])
            raise SpecError(
                f'Dimension units {units_shown(units or ())} do not match "resolution" in metadata: {shown}'
            )


def units_of(scale: ScaleConstraints, schema: Schema) -> DimensionUnits:
    """Return the units, as far as they are known."""
    units: DimensionUnits = (None,) * RANK
    if schema.dimension_units is not None:
        units = merge_units(units, schema.dimension_units)
        check_units(units)
    if scale.resolution is not None:
        check_resolution(scale.resolution, units)
        units = (*(Unit(number, "nm") for number in scale.resolution), None)
    return units
