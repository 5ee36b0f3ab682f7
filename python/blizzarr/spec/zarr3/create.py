"""The metadata of new arrays of ``zarr3``, from what is demanded of them."""

from __future__ import annotations

from dataclasses import replace

from blizzarr.errors import SpecError
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.dtype import DType
from blizzarr.spec.layout_solver import choose_read_write_shapes, choose_shape
from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr3.chain import Chain, Codec
from blizzarr.spec.zarr3.check import check_schema
from blizzarr.spec.zarr3.effective import codec_of, domain_of, layout_with, units_of
from blizzarr.spec.zarr3.fill_value import NAMES, Element, converted, zero
from blizzarr.spec.zarr3.metadata import Metadata
from blizzarr.spec.zarr3.resolve import Decoded, check_chain, resolve
from blizzarr.views import IndexDomain
from blizzarr.views.interval import INF

__all__ = ["new_metadata"]


def new_metadata(constraints: Metadata, schema: Schema) -> Metadata:
    """The metadata of a new array: everything that is left open is chosen.

    Shards are put in where what is read is smaller than what is written, and a transpose for another order.

    Examples
    --------
    >>> new_metadata(Metadata(), Schema(dtype="uint16", shape=[1000, 2000, 3000])).chunk_shape
    (101, 101, 101)
    """
    dtype = constraints.dtype or schema.dtype
    if dtype is None:
        raise SpecError("dtype must be specified")
    if dtype.name not in NAMES:
        raise SpecError(f"Data type not supported: {dtype.name}")
    domain = domain_of(constraints, schema)
    if domain is None or any(bounds[0] == -INF or bounds[1] > INF for bounds in _bounds(domain)):
        raise SpecError("domain must be specified")
    rank = domain.rank
    fill_value = _fill(constraints, schema, dtype)
    with prefixed("Invalid dimension_units"):
        units = units_of(replace(constraints, rank=rank), schema)
    found = Metadata(
        rank=rank,
        zarr_format=3,
        dtype=dtype,
        fill_value=fill_value,
        shape=domain.shape,
        dimension_names=_names(constraints, domain),
        key_encoding=constraints.key_encoding or ("default", "/"),
        dimension_units=units if any(unit is not None for unit in units) else None,
        attributes=constraints.attributes,
        extra=constraints.extra,
    )
    codecs: Chain | None = codec_of(constraints, schema).value.codecs
    layout = layout_with(schema.chunk_layout, constraints, rank)
    bounds = [domain._form.interval(dim).bounds for dim in range(rank)]
    if constraints.codecs is not None and not constraints.codecs.sharding_height:
        # Chunks that are not cut into parts are read as they are written.
        for usage in ["read", "write"]:
            theirs = layout.grid(usage)
            layout.merge_grid("write", theirs)
            layout.merge_grid("read", theirs)
            layout.merge_grid("codec", theirs, ("aspect_ratio",))
        read = write = choose_shape(layout.grid("write"), bounds)
    else:
        read, write = choose_read_write_shapes(layout.grid("read"), layout.grid("write"), bounds)
    if read != write and (codecs is None or not codecs.sharding_height):
        inner = {} if codecs is None else {"codecs": codecs}
        codecs = Chain((), Codec("sharding_indexed", {"chunk_shape": list(read), **inner}))
    itemsize = dtype.numpy_dtype.itemsize
    resolved = resolve(codecs or Chain(), Decoded(rank, itemsize, read, layout.any_inner_order))
    check_chain(resolved, write, itemsize)
    found = replace(found, chunk_shape=write, codecs=resolved)
    check_schema(found, schema)
    return found


def _bounds(domain: IndexDomain) -> list[tuple[int, int]]:
    return list(zip(domain.inclusive_min, domain.exclusive_max, strict=True))


def _fill(constraints: Metadata, schema: Schema, dtype: DType) -> Element:
    if constraints.fill_value is not None:
        return constraints.fill_value
    if schema.fill_value is None or schema.fill_dtype is None:
        return zero(dtype)
    with prefixed("Invalid fill_value"):
        return converted(schema.fill_value, schema.fill_dtype, dtype)


def _names(constraints: Metadata, domain: IndexDomain) -> tuple[str | None, ...]:
    """The labels; an empty one is no name, unless the metadata demand an empty name."""
    said = constraints.dimension_names or (None,) * domain.rank
    if len(set(filter(None, said))) < len(list(filter(None, said))):
        # Names that are no labels are not stored, which whoever demanded them is told of.
        said = (None,) * domain.rank
    return tuple(label or ("" if name == "" else None) for label, name in zip(domain.labels, said, strict=True))
