"""Making the metadata of new ``n5`` arrays from constraints."""

from __future__ import annotations

from dataclasses import replace

from blizzarr.errors import SpecError
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.layout_solver import choose_shape
from blizzarr.spec.n5.check import check_schema
from blizzarr.spec.n5.compression import default_compression
from blizzarr.spec.n5.effective import codec_of, domain_of, layout_with, units_of
from blizzarr.spec.n5.metadata import Metadata, check_dtype, check_size
from blizzarr.spec.schema import Schema
from blizzarr.views.interval import INF

__all__ = ["new_metadata"]


def new_metadata(constraints: Metadata, schema: Schema) -> Metadata:
    """Return the metadata of a new array, with everything that is left open chosen.

    Examples
    --------
    >>> schema = Schema(dtype="uint16", shape=[1000, 2000], dimension_units=["4 nm", None])
    >>> found = new_metadata(Metadata(), schema)
    >>> found.chunks, found.compression["type"], found.units, found.resolution
    ((1000, 1048), 'blosc', ('nm', ''), (4.0, 1.0))
    """
    domain = domain_of(constraints, schema)
    if domain is None or any(low == -INF for low in domain.origin) or any(high > INF for high in domain.exclusive_max):
        raise SpecError("domain must be specified")
    rank = domain.rank
    if schema.dtype is None:
        raise SpecError("dtype must be specified")
    dtype = check_dtype(schema.dtype)
    layout = layout_with(schema.chunk_layout, constraints, rank)
    with prefixed("write_chunk constraints not compatible with existing read_chunk constraints"):
        layout._merge_grid("read", layout._grids["write"])
    chunks = choose_shape(layout._grids["read"], [domain._form.interval(dim).bounds for dim in range(rank)])
    compression = codec_of(constraints, schema)._value.compression
    found = replace(
        constraints,
        rank=rank,
        shape=domain.shape,
        chunks=chunks,
        dtype=dtype,
        compression=default_compression(dtype.numpy_dtype.itemsize) if compression is None else compression,
        axes=domain.labels,
    )
    found = _with_units(found, units_of(constraints, schema))
    check_size(chunks, dtype)
    check_schema(found, schema)
    return found


def _with_units(metadata: Metadata, units: DimensionUnits) -> Metadata:
    """Return units for all dimensions if any has one; the unit of the others is 1."""
    if all(unit is None for unit in units):
        return metadata
    names = list(metadata.units or ("",) * metadata.rank)
    counts = list(metadata.resolution or (1.0,) * metadata.rank)
    for dim, unit in enumerate(units):
        if unit is not None:
            names[dim], counts[dim] = unit.base_unit, unit.multiplier
    return replace(metadata, units=tuple(names), resolution=tuple(counts))
