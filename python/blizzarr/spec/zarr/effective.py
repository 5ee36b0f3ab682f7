"""The domain, layout and codec that follow from ``zarr`` metadata and a schema."""

from __future__ import annotations

from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.element_type import Field
from blizzarr.spec.ranks import Ranks, ranks_of
from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr.codec import ZarrCodec
from blizzarr.spec.zarr.metadata import Metadata
from blizzarr.views import IndexDomain
from blizzarr.views.interval import INF

__all__ = ["codec_of", "codec_stored", "constrain", "domain_of", "layout_with", "order_of"]


def constrain(metadata: Metadata, schema: Schema, field: Field | None) -> None:
    """Add the data type and rank of the metadata to the schema."""
    full = ranks_of(metadata.rank, schema, field).full
    if full is not None:
        schema._merge(Schema(rank=full))
    if field is not None:
        schema._merge(Schema(dtype=field.dtype))


def domain_of(metadata: Metadata, schema: Schema, field: Field | None) -> IndexDomain | None:
    """Return the domain; the upper bounds of the grid can be changed and therefore are implicit.

    Examples
    --------
    >>> from blizzarr.spec.dtype import DTYPES
    >>> from blizzarr.spec.zarr.metadata import metadata_from_json
    >>> domain_of(metadata_from_json({"shape": [2, 3]}), Schema(dtype="int8", rank=2), None)
    { [0, 2*), [0, 3*) }
    >>> domain_of(metadata_from_json({"shape": [2]}), Schema(), Field("", DTYPES["char"], shape=(3,)))
    { [0, 2*), [0, 3) }
    """
    ranks = ranks_of(metadata.rank, schema, field)
    open_grid = ranks.grid != 0 and metadata.shape is None
    open_elements = ranks.inner != 0 and field is None
    if ranks.full is None or (schema.domain is None and (open_grid or open_elements)):
        return schema.domain
    inner = () if field is None else field.shape
    shape = [*(metadata.shape or ()), *(INF + 1,) * ranks.full][: ranks.full]
    if inner:
        shape[-len(inner) :] = inner
    implicit = [True] * (ranks.full - len(inner)) + [False] * len(inner)
    domain = IndexDomain(shape=shape, implicit_upper_bounds=implicit)
    if schema.domain is not None:
        domain = domain._merge(schema.domain)
    return IndexDomain(
        inclusive_min=domain.inclusive_min,
        exclusive_max=domain.exclusive_max,
        labels=domain.labels,
        implicit_upper_bounds=implicit,
    )


def order_of(ranks: Ranks, order: str) -> list[int]:
    """Return the dimensions from the slowest to the fastest; those within elements are always last.

    Examples
    --------
    >>> order_of(Ranks(4, 3, 1), "F")
    [2, 1, 0, 3]
    """
    assert ranks.full is not None
    assert ranks.grid is not None
    return [*range(ranks.grid)[:: -1 if order == "F" else 1], *range(ranks.grid, ranks.full)]


def layout_with(layout: ChunkLayout, metadata: Metadata, ranks: Ranks, field: Field | None) -> ChunkLayout:
    """Merge the constraints on the layout with those that follow from the metadata."""
    found = layout._copy()
    if ranks.full is None:
        return found
    found._set_rank(ranks.full)
    found._merge(ChunkLayout(grid_origin=[0] * ranks.full))
    chunks = [*(metadata.chunks or ()), *(0,) * ranks.full][: ranks.full]
    if field is not None and field.shape:
        chunks[-len(field.shape) :] = field.shape
    found._merge(ChunkLayout(chunk_shape=chunks))
    if metadata.order is not None and ranks.grid is not None:
        found._merge(ChunkLayout(inner_order=order_of(ranks, metadata.order)))
    return found


def codec_of(metadata: Metadata, schema: Schema) -> CodecSpec:
    """The constraints on codecs."""
    codec = ZarrCodec(metadata.compressor, "compressor" in metadata.said)
    return CodecSpec._of("zarr", codec)._merged(schema.codec)


def codec_stored(stored: Metadata) -> ZarrCodec:
    """Return the codec of a stored array."""
    return ZarrCodec(stored.compressor, True, list(stored.filters) or None)
