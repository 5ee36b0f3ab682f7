"""Making the metadata of new ``zarr3`` arrays from constraints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.element_type import ElementType, check_choice
from blizzarr.spec.layout_solver import choose_read_write_shapes, choose_shape
from blizzarr.spec.schema import Schema
from blizzarr.spec.seen import layout_seen
from blizzarr.spec.zarr3.chain import Chain, Codec
from blizzarr.spec.zarr3.check import check_schema
from blizzarr.spec.zarr3.effective import codec_of, domain_of, layout_with, units_of
from blizzarr.spec.zarr3.elements import of_dtype
from blizzarr.spec.zarr3.fill_value import Element, converted
from blizzarr.spec.zarr3.metadata import Metadata
from blizzarr.spec.zarr3.resolve import Decoded, check_chain, resolve
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.interval import INF

__all__ = ["new_metadata"]


def new_metadata(constraints: Metadata, schema: Schema, name: str = "", void: bool = False) -> Metadata:
    """Return the metadata of a new array, with everything that is left open chosen.

    The schema is one of the field with this name, or of the bytes of elements if `void`. Shards are put in where what
    is read is smaller than what is written, and a transpose for another order.

    Examples
    --------
    >>> new_metadata(Metadata(), Schema(dtype="uint16", shape=[1000, 2000, 3000])).chunk_shape
    (101, 101, 101)
    """
    check_choice(name, void)
    elements = constraints.elements or _elements(schema, name)
    field = elements.pick(name, void)
    constraints = replace(constraints, elements=elements)
    domain = domain_of(constraints, schema, field)
    if domain is None or any(bounds[0] == -INF or bounds[1] > INF for bounds in _bounds(domain)):
        raise SpecError("domain must be specified")
    rank = domain.rank - len(field.shape)
    fills = _fills(constraints, schema, elements)
    with prefixed("Invalid dimension_units"):
        units = units_of(replace(constraints, rank=rank), schema)
    found = Metadata(
        rank=rank,
        zarr_format=3,
        elements=elements,
        fills=fills,
        shape=domain.shape[:rank],
        dimension_names=_names(constraints, domain.labels[:rank]),
        key_encoding=constraints.key_encoding or ("default", "/"),
        dimension_units=units if any(unit is not None for unit in units) else None,
        attributes=constraints.attributes,
        extra=constraints.extra,
    )
    codecs: Chain | None = codec_of(constraints, schema)._value.codecs
    layout = _of_grid(layout_with(schema.chunk_layout, constraints, rank, field), rank)
    bounds = [domain._form.interval(dim).bounds for dim in range(rank)]
    if constraints.codecs is not None and not constraints.codecs.sharding_height:
        # Write chunks that are not sharded are also the read chunks.
        for usage in ["read", "write"]:
            theirs = layout._grids[usage]
            layout._merge_grid("write", theirs)
            layout._merge_grid("read", theirs)
            layout._merge_grid("codec", theirs, ("aspect_ratio",))
        read = write = choose_shape(layout._grids["write"], bounds)
    else:
        read, write = choose_read_write_shapes(layout._grids["read"], layout._grids["write"], bounds)
    if read != write and (codecs is None or not codecs.sharding_height):
        inner = {} if codecs is None else {"codecs": codecs}
        codecs = Chain((), Codec("sharding_indexed", {"chunk_shape": list(read), **inner}))
    unit = max(part.dtype._element_dtype.itemsize for part in elements.fields)
    if elements.named and unit > 1 and codecs is not None and codecs.leaves_order_open:
        raise SpecError(
            'Zarr v3 "struct" data types with multi-byte fields require the innermost `bytes` codec to specify an '
            'explicit `endian` ("little" or "big").'
        )
    # Elements with fields are compressed as bytes.
    decoded = Decoded(rank, unit if elements.is_whole else 1, read, layout._inner_order, elements.named)
    resolved = resolve(codecs or Chain(), decoded)
    check_chain(resolved, write, unit)
    found = replace(found, chunk_shape=write, codecs=resolved)
    check_schema(found, schema, name, void)
    return found


def _elements(schema: Schema, name: str) -> ElementType:
    if name:
        raise SpecError('"dtype" must be specified in "metadata" if "field" is specified')
    if schema.dtype is None:
        raise SpecError("dtype must be specified")
    return of_dtype(schema.dtype)


def _of_grid(layout: ChunkLayout, rank: int) -> ChunkLayout:
    """Return the layout without the dimensions within elements."""
    if layout.rank == rank:
        return layout
    inside = IndexTransform(input_rank=layout.rank)[(slice(None),) * rank + (0,) * (layout.rank - rank)]
    return layout_seen(layout, inside._form)


def _bounds(domain: IndexDomain) -> list[tuple[int, int]]:
    return list(zip(domain.inclusive_min, domain.exclusive_max, strict=True))


def _fills(constraints: Metadata, schema: Schema, elements: ElementType) -> tuple[Element, ...]:
    if constraints.fills is not None:
        return constraints.fills
    if schema.fill_value is None or schema._fill_dtype is None:
        return tuple(np.zeros(part.shape, part.dtype._element_dtype) for part in elements.fields)
    if len(elements.fields) != 1:
        raise SpecError("Cannot specify fill_value through schema for structured zarr data type")
    (only,) = elements.fields
    with prefixed("Invalid fill_value"):
        return (converted(schema.fill_value, schema._fill_dtype, only.dtype, only.shape),)


def _names(constraints: Metadata, labels: tuple[str, ...]) -> tuple[str | None, ...]:
    """Return the labels as names; an empty label is no name, unless the metadata demand an empty name."""
    said = constraints.dimension_names or (None,) * len(labels)
    if len(set(filter(None, said))) < len(list(filter(None, said))):
        # Duplicate names cannot be labels: drop them; the check of the new metadata reports it.
        said = (None,) * len(labels)
    return tuple(label or ("" if name == "" else None) for label, name in zip(labels, said, strict=True))
