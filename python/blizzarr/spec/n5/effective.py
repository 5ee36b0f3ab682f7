"""The domain, layout, codec and units that follow from ``n5`` metadata and a schema."""

from __future__ import annotations

from blizzarr.errors import SpecError
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.constraint import braces
from blizzarr.spec.dimension_units import DimensionUnits, merge_units, units_shown
from blizzarr.spec.n5.codec import N5Codec
from blizzarr.spec.n5.metadata import Metadata
from blizzarr.spec.schema import Schema
from blizzarr.views import IndexDomain

__all__ = ["codec_of", "constrain", "domain_of", "layout_with", "units_of"]


def constrain(metadata: Metadata, schema: Schema) -> None:
    """Add the data type and rank of the metadata to the schema.

    Examples
    --------
    >>> from blizzarr.spec.n5.metadata import metadata_from_json
    >>> schema = Schema()
    >>> constrain(metadata_from_json({"dataType": "int8", "axes": ["x", "y"]}), schema)
    >>> schema
    Schema({'dtype': 'int8', 'rank': 2})
    """
    with prefixed('Error parsing object member "metadata"'):
        if metadata.dtype is not None:
            schema._merge(Schema(dtype=metadata.dtype))
        if metadata.rank != -1:
            schema._merge(Schema(rank=metadata.rank))


def domain_of(metadata: Metadata, schema: Schema) -> IndexDomain | None:
    """Return the domain, whose upper bounds can be changed and therefore are implicit.

    Examples
    --------
    >>> from blizzarr.spec.n5.metadata import metadata_from_json
    >>> domain_of(metadata_from_json({"dimensions": [2, 3], "axes": ["x", "y"]}), Schema())
    { "x": [0, 2*), "y": [0, 3*) }
    """
    if metadata.shape is None and metadata.axes is None and schema.domain is None:
        return IndexDomain(0) if schema.rank == 0 else None
    rank = max(metadata.rank, -1 if schema.rank is None else schema.rank)
    if metadata.shape is None:
        domain = IndexDomain(rank, inclusive_min=[0] * rank, labels=metadata.axes)
    else:
        domain = IndexDomain(shape=metadata.shape, implicit_upper_bounds=[True] * rank, labels=metadata.axes)
    if schema.domain is not None:
        with prefixed("Mismatch between metadata and schema"):
            domain = schema.domain._merge(domain)
    return domain.mark_bounds_implicit[False:True]


def layout_with(layout: ChunkLayout, metadata: Metadata, rank: int | None) -> ChunkLayout:
    """Merge the constraints on the layout with those that follow from the metadata: the first axis is the fastest."""
    found = layout._copy()
    if rank is None or rank == -1:
        return found
    found._set_rank(rank)
    found._merge(ChunkLayout(inner_order=list(range(rank))[::-1]))
    if metadata.chunks is not None:
        found._merge(ChunkLayout(chunk_shape=metadata.chunks))
    found._merge(ChunkLayout(grid_origin=[0] * rank))
    return found


def codec_of(metadata: Metadata, schema: Schema) -> CodecSpec:
    """The constraints on the compression."""
    return CodecSpec._of("n5", N5Codec(metadata.compression))._merged(schema.codec)


def units_of(metadata: Metadata, schema: Schema) -> DimensionUnits:
    """Return the units of dimensions; a resolution without units must still agree with the schema."""
    units, wanted = metadata.dimension_units, schema.dimension_units
    if wanted is None:
        return units
    units = merge_units(units, wanted)
    if metadata.units is None and metadata.resolution is not None:
        for count, unit in zip(metadata.resolution, units, strict=True):
            if unit is not None and unit.multiplier != count:
                raise SpecError(
                    f'"resolution" from metadata {braces([f"{count:g}" for count in metadata.resolution])} does not '
                    f"match dimension units from schema {units_shown(units)}"
                )
    return units
