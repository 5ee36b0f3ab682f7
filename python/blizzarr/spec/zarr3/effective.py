"""The domain, layout, codec and units that follow from ``zarr3`` metadata and a schema."""

from __future__ import annotations

from blizzarr.errors import SpecError
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dimension_units import DimensionUnits, merge_units
from blizzarr.spec.element_type import Field
from blizzarr.spec.ranks import ranks_of
from blizzarr.spec.schema import Schema
from blizzarr.spec.status import failed_precondition
from blizzarr.spec.zarr3.codec import Zarr3Codec
from blizzarr.spec.zarr3.metadata import Metadata
from blizzarr.spec.zarr3.resolve import layout_of
from blizzarr.views import IndexDomain

__all__ = ["codec_of", "constrain", "domain_of", "labels_of", "layout_with", "units_of"]


def constrain(metadata: Metadata, schema: Schema, field: Field | None = None) -> None:
    """Add the data type and rank of the metadata to the schema, for this field of the elements.

    Examples
    --------
    >>> from blizzarr.spec.zarr3.metadata import metadata_from_json
    >>> metadata, schema = metadata_from_json({"data_type": "int8", "shape": [2, 3]}), Schema()
    >>> constrain(metadata, schema, metadata.elements.fields[0])
    >>> schema
    Schema({'dtype': 'int8', 'rank': 2})
    """
    full = ranks_of(metadata.rank, schema, field).full
    if field is not None:
        schema._merge(Schema(dtype=field.dtype))
    elif metadata.elements is not None and not metadata.elements.named:
        schema._merge(Schema(dtype=metadata.elements.fields[0].dtype))
    elif metadata.elements is not None and schema.dtype is not None:
        raise SpecError("schema dtype must be unspecified for structured zarr3 data types unless a field is selected")
    if full is not None:
        schema._merge(Schema(rank=full))


def labels_of(metadata: Metadata) -> tuple[str, ...] | None:
    """Return the dimension names as labels, which are all empty if a name occurs twice; None if there are no names."""
    names = metadata.dimension_names
    if names is None:
        return None
    labels = tuple(name or "" for name in names)
    used = [label for label in labels if label]
    return labels if len(set(used)) == len(used) else ("",) * len(labels)


def domain_of(metadata: Metadata, schema: Schema, field: Field | None = None) -> IndexDomain | None:
    """Return the domain; the upper bounds of the grid can be changed and therefore are implicit.

    Examples
    --------
    >>> from blizzarr.spec.zarr3.metadata import metadata_from_json
    >>> domain_of(metadata_from_json({"shape": [2, 3]}), Schema(domain=IndexDomain(labels=["x", "y"])))
    { "x": [0, 2*), "y": [0, 3*) }
    """
    labels = labels_of(metadata)
    if labels is not None and field is not None:
        labels = (*labels, *("",) * len(field.shape))
    if metadata.shape is None and labels is None and schema.domain is None:
        return IndexDomain(0) if schema.rank == 0 else None
    inner = () if field is None else field.shape
    rank = max(metadata.rank + len(inner), -1 if schema.rank is None else schema.rank)
    if metadata.rank not in (-1, rank - len(inner)):
        raise SpecError(f"Rank specified by schema ({rank}) is not compatible with metadata")
    plain = labels is None and not inner
    if plain and schema.domain is not None and (usual := _usual(schema.domain, metadata.shape)) is not None:
        return usual
    if metadata.shape is None:
        domain = IndexDomain(rank, inclusive_min=[0] * rank, labels=labels)
    else:
        implicit = [True] * len(metadata.shape) + [False] * len(inner)
        domain = IndexDomain(shape=(*metadata.shape, *inner), implicit_upper_bounds=implicit, labels=labels)
    if schema.domain is not None:
        with failed_precondition(), prefixed("Mismatch between metadata and schema"):
            domain = schema.domain._merge(domain)
    if not inner:
        return domain.mark_bounds_implicit[False:True]
    return IndexDomain(
        inclusive_min=domain.inclusive_min,
        exclusive_max=domain.exclusive_max,
        labels=domain.labels,
        implicit_upper_bounds=[True] * (rank - len(inner)) + [False] * len(inner),
    )


def _usual(said: IndexDomain, shape: tuple[int, ...] | None) -> IndexDomain | None:
    """Return the domain in the frequent case of a schema with only a shape that agrees with the stored one."""
    form = said._form
    if any(form.lower) or True in form.implicit_lower or True in form.implicit_upper:
        return None
    if shape is not None and form.upper != shape:
        return None
    return IndexDomain._of(form._replace(implicit_upper=(True,) * len(form.upper)))


def layout_with(layout: ChunkLayout, metadata: Metadata, rank: int, field: Field | None = None) -> ChunkLayout:
    """Merge the constraints on the layout with those that follow from the metadata, whose grid has this rank."""
    found = layout._copy()
    if rank == -1:
        return found
    inner = () if field is None else field.shape
    full = rank + len(inner)
    found._set_rank(full)
    found._merge(ChunkLayout(grid_origin=[0] * full))
    if metadata.chunk_shape is not None:
        found._merge(ChunkLayout(write_chunk_shape=(*metadata.chunk_shape, *inner)))
    if metadata.codecs is not None:
        order, read = layout_of(metadata.codecs, rank, metadata.chunk_shape)
        found._merge(ChunkLayout(inner_order=None if order is None else (*order, *range(rank, full))))
        found._merge(ChunkLayout(read_chunk_shape=None if read is None else (*read, *inner)))
    return found


def codec_of(metadata: Metadata, schema: Schema) -> CodecSpec:
    """The constraints on codecs."""
    return CodecSpec._of("zarr3", Zarr3Codec(metadata.codecs))._merged(schema.codec)


def units_of(metadata: Metadata, schema: Schema) -> DimensionUnits:
    """The units of dimensions."""
    units = metadata.dimension_units or (None,) * max(metadata.rank, 0)
    known = schema.dimension_units or ()
    return merge_units(units, known) if any(unit is not None for unit in known) else units
