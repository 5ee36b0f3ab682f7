"""What metadata of ``zarr`` and a schema say together: the domain, the layout and the codec."""

from __future__ import annotations

from blizzarr.errors import SpecError
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr.codec import ZarrCodec
from blizzarr.spec.zarr.metadata import Metadata
from blizzarr.views import IndexDomain
from blizzarr.views.interval import INF

__all__ = ["codec_of", "codec_stored", "constrain", "domain_of", "layout_with", "order_of"]


def constrain(metadata: Metadata, schema: Schema) -> None:
    """Add to the schema what the metadata say of data type and, once that is known, rank."""
    rank = schema.rank
    if (
        rank is not None
        and metadata.rank != -1
        and (metadata.rank > rank or (metadata.dtype and metadata.rank != rank))
    ):
        raise SpecError(f"Rank specified by schema ({rank}) is not compatible with metadata")
    if metadata.dtype is not None:
        schema.merge(Schema(dtype=metadata.dtype))
        if metadata.rank != -1:
            schema.merge(Schema(rank=metadata.rank))


def domain_of(metadata: Metadata, schema: Schema) -> IndexDomain | None:
    """The domain; upper bounds can be changed, so they are implicit.

    Examples
    --------
    >>> from blizzarr.spec.zarr.metadata import metadata_from_json
    >>> domain_of(metadata_from_json({"shape": [2, 3]}), Schema(dtype="int8", rank=2))
    { [0, 2*), [0, 3*) }
    """
    rank = schema.rank if metadata.dtype is None or metadata.rank == -1 else metadata.rank
    if rank is None or (schema.domain is None and metadata.rank != 0 and metadata.shape is None):
        return schema.domain
    # Dimensions that a data type might add are not known.
    shape = (*(metadata.shape or ()), *(INF + 1,) * rank)[:rank]
    domain = IndexDomain(shape=shape, implicit_upper_bounds=[True] * rank)
    if schema.domain is not None:
        domain = domain._merge(schema.domain)
    return domain.mark_bounds_implicit[False:True]


def order_of(rank: int, order: str) -> list[int]:
    """The dimensions from the slowest to the fastest.

    Examples
    --------
    >>> order_of(3, "F")
    [2, 1, 0]
    """
    return list(range(rank))[:: -1 if order == "F" else 1]


def layout_with(layout: ChunkLayout, metadata: Metadata, rank: int | None) -> ChunkLayout:
    """The constraints on the layout together with those that follow from the metadata."""
    found = layout.copy()
    if rank is None:
        return found
    found.set_rank(rank)
    found.merge(ChunkLayout(grid_origin=[0] * rank))
    if metadata.chunks is not None:
        found.merge(ChunkLayout(chunk_shape=metadata.chunks))
    if metadata.order is not None and metadata.rank in (-1, rank):
        found.merge(ChunkLayout(inner_order=order_of(rank, metadata.order)))
    return found


def codec_of(metadata: Metadata, schema: Schema) -> CodecSpec:
    """The constraints on codecs."""
    codec = ZarrCodec(metadata.compressor, "compressor" in metadata.said)
    return CodecSpec.of("zarr", codec).merged(schema.codec)


def codec_stored(stored: Metadata) -> ZarrCodec:
    """The codec of an array that is there."""
    return ZarrCodec(stored.compressor, True, list(stored.filters) or None)
