"""The metadata of new arrays of ``zarr``, from what is demanded of them."""

from __future__ import annotations

from math import prod

from blizzarr.errors import SpecError
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.constraint import braces
from blizzarr.spec.layout_solver import choose_shape
from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr.check import check_schema
from blizzarr.spec.zarr.compressor import DEFAULT_COMPRESSOR
from blizzarr.spec.zarr.effective import codec_of, constrain, domain_of, layout_with, order_of
from blizzarr.spec.zarr.elements import dtype_of, spell
from blizzarr.spec.zarr.metadata import Metadata
from blizzarr.spec.zarr3.fill_value import converted
from blizzarr.views.interval import INF

__all__ = ["new_metadata"]

_MEMBERS = frozenset(
    (
        *("zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters"),
        "dimension_separator",
    )
)


def new_metadata(constraints: Metadata, schema: Schema) -> Metadata:
    """The metadata of a new array: everything that is left open is chosen.

    Examples
    --------
    >>> new_metadata(Metadata(), Schema(dtype="uint16", shape=[1000, 2000, 3000])).chunks
    (101, 101, 101)
    """
    spelled = constraints.spelled
    if spelled is None:
        if schema.dtype is None:
            raise SpecError('"dtype" must be specified')
        spelled = spell(schema.dtype)
    dtype = dtype_of(spelled)
    schema = schema.copy()
    if schema.rank is None and constraints.rank != -1:
        schema.merge(Schema(rank=constraints.rank))
    constrain(constraints, schema)
    with prefixed("Invalid domain"):
        domain = domain_of(constraints, schema)
    if domain is None or any(low == -INF for low in domain.origin) or any(high > INF for high in domain.exclusive_max):
        raise SpecError("domain must be specified")
    rank = domain.rank
    layout = layout_with(schema.chunk_layout, constraints, rank)
    with prefixed("write_chunk constraints not compatible with existing read_chunk constraints"):
        layout.merge_grid("read", layout.grid("write"))
    chunks = choose_shape(layout.grid("read"), [domain._form.interval(dim).bounds for dim in range(rank)])
    if prod(chunks) >= 1 << 63:
        raise SpecError(f"Product of chunk dimensions {braces(chunks)} is too large")
    codec = codec_of(constraints, schema).value
    order = _order(layout, rank)
    fill_value = constraints.fill_value
    if "fill_value" not in constraints.said and schema.fill_value is not None and schema.fill_dtype is not None:
        with prefixed("Invalid fill_value"):
            fill_value = converted(schema.fill_value, schema.fill_dtype, dtype)
    found = Metadata(
        rank,
        domain.shape,
        chunks,
        spelled,
        codec.compressor if codec.has_compressor else DEFAULT_COMPRESSOR,
        fill_value,
        order,
        constraints.separator or ".",
        said=_MEMBERS,
    )
    check_schema(found, schema)
    return found


def _order(layout: ChunkLayout, rank: int) -> str:
    wanted = layout.any_inner_order
    if wanted is None or list(wanted) == order_of(rank, "C"):
        return "C"
    if list(wanted) == order_of(rank, "F"):
        return "F"
    if layout.inner_order is not None:
        raise SpecError(f'Invalid "inner_order" constraint: {braces(wanted)}')
    return "C"
