"""Making the metadata of new ``zarr`` arrays from constraints."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from blizzarr.errors import SpecError
from blizzarr.json_values import dump
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.constraint import braces
from blizzarr.spec.element_type import ElementType, check_choice
from blizzarr.spec.layout_solver import choose_shape
from blizzarr.spec.ranks import Ranks, ranks_of
from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr.check import check_schema, field_fill
from blizzarr.spec.zarr.compressor import DEFAULT_COMPRESSOR
from blizzarr.spec.zarr.effective import codec_of, domain_of, layout_with, order_of
from blizzarr.spec.zarr.elements import element_type, spell
from blizzarr.spec.zarr.metadata import Metadata
from blizzarr.views.interval import INF

__all__ = ["new_metadata"]

_MEMBERS = frozenset(
    (
        *("zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters"),
        "dimension_separator",
    )
)


def new_metadata(constraints: Metadata, schema: Schema, name: str = "", void: bool = False) -> Metadata:
    """Return the metadata of a new array, with everything that is left open chosen.

    The schema is one of the field with this name, or of the bytes of elements if `void`.

    Examples
    --------
    >>> new_metadata(Metadata(), Schema(dtype="uint16", shape=[1000, 2000, 3000])).chunks
    (101, 101, 101)
    """
    check_choice(name, void)
    elements = constraints.elements or _elements(schema, name, void)
    field = elements.pick(name, void)
    constraints = replace(constraints, elements=elements)
    ranks = ranks_of(constraints.rank, schema, field)
    with prefixed("Invalid domain"):
        domain = domain_of(constraints, schema, field)
    if domain is None or any(low == -INF for low in domain.origin) or any(high > INF for high in domain.exclusive_max):
        raise SpecError("domain must be specified")
    rank = ranks.grid
    assert rank is not None, "as the domain and the field are known"
    layout = layout_with(schema.chunk_layout, constraints, ranks, field)
    with prefixed("write_chunk constraints not compatible with existing read_chunk constraints"):
        layout._merge_grid("read", layout._grids["write"])
    bounds = [domain._form.interval(dim).bounds for dim in range(domain.rank)]
    chunks = choose_shape(layout._grids["read"], bounds)[:rank]
    if prod(chunks) >= 1 << 63:
        raise SpecError(f"Product of chunk dimensions {braces(chunks)} is too large")
    codec = codec_of(constraints, schema)._value
    order = _order(layout, ranks)
    fills = constraints.fills
    if "fill_value" not in constraints.said and schema.fill_value is not None and schema._fill_dtype is not None:
        with prefixed("Invalid fill_value"):
            if len(elements.fields) != 1:
                raise SpecError(
                    "Cannot specify fill_value through schema for structured zarr data type " + dump(elements.json)
                )
            fills = (field_fill(schema.fill_value, schema._fill_dtype, field),)
    found = Metadata(
        rank,
        domain.shape[:rank],
        chunks,
        elements,
        codec.compressor if codec.has_compressor else DEFAULT_COMPRESSOR,
        fills,
        order,
        constraints.separator or ".",
        said=_MEMBERS,
    )
    # TensorStore creates nothing by its bytes: there the schema is held against the first field, too.
    check_schema(found, schema, name or elements.fields[0].name)
    return found


def _elements(schema: Schema, name: str, void: bool) -> ElementType:
    for asked, option in ((name, "field"), (void, "open_as_void")):
        if asked:
            raise SpecError(f'"dtype" must be specified in "metadata" if "{option}" is specified')
    if schema.dtype is None:
        raise SpecError('"dtype" must be specified')
    return element_type(spell(schema.dtype))


def _order(layout: ChunkLayout, ranks: Ranks) -> str:
    wanted = layout._inner_order
    if wanted is None or list(wanted) == order_of(ranks, "C"):
        return "C"
    if list(wanted) == order_of(ranks, "F"):
        return "F"
    if layout.inner_order is not None:
        raise SpecError(f'Invalid "inner_order" constraint: {braces(wanted)}')
    return "C"
