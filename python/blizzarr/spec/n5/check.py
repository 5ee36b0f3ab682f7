"""Checking stored ``n5`` metadata against constraints; errors name both sides."""

from __future__ import annotations

from blizzarr.errors import InvalidArgumentError, SpecError
from blizzarr.json_values import MISSING, alike
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dimension_units import merge_units, units_shown
from blizzarr.spec.mismatch import check_dtype, check_rank, mismatch
from blizzarr.spec.n5.codec import N5Codec
from blizzarr.spec.n5.effective import domain_of, layout_with
from blizzarr.spec.n5.metadata import Metadata
from blizzarr.spec.schema import Schema
from blizzarr.spec.status import invalid_argument

__all__ = ["check_metadata", "check_schema"]

_CHECKED = ("dimensions", "axes", "blockSize", "dataType", "compression", "units", "resolution")


def check_metadata(stored: Metadata, constraints: Metadata) -> None:
    """Raise unless the metadata meet the constraints.

    Examples
    --------
    >>> check_metadata(Metadata(shape=(1, 2)), Metadata(shape=(1, 3)))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Expected "dimensions" of [1,3] but received: [1,2]
    """
    wanted, found = constraints.to_json(), stored.to_json()
    # No labels are left out of JSON, and are demanded none the less.
    for metadata, members in ((constraints, wanted), (stored, found)):
        if metadata.axes is not None:
            members["axes"] = list(metadata.axes)
    for name in (*_CHECKED, *sorted(constraints.extra)):
        if name not in wanted:
            continue
        if name not in found or not alike(wanted[name], found[name]):
            raise mismatch(name, wanted[name], found.get(name, MISSING))


def check_schema(stored: Metadata, schema: Schema) -> None:
    """Raise unless the metadata meet the schema."""
    dtype = stored.dtype
    assert dtype is not None
    check_rank(schema, stored.rank)
    if schema.domain is not None:
        with invalid_argument():
            domain_of(stored, schema)
    check_dtype(schema, dtype)
    if schema.codec is not None:
        with prefixed("codec from metadata does not match codec in schema"):
            CodecSpec._of("n5", N5Codec(stored.compression))._merged(schema.codec)
    layout = schema.chunk_layout
    if layout.rank != -1 and layout_with(layout, stored, stored.rank)._grids["codec"].shape.hard:
        raise InvalidArgumentError("codec_chunk_shape not supported")
    if schema.fill_value is not None:
        raise InvalidArgumentError("fill_value not supported by N5 format")
    if schema.dimension_units is not None:
        units = stored.dimension_units
        merged = merge_units(schema.dimension_units, units)
        if any(unit is None and theirs is not None for unit, theirs in zip(units, merged, strict=True)):
            raise SpecError(
                f"Dimension units in metadata {units_shown(units)} do not match dimension units in schema "
                f"{units_shown(schema.dimension_units)}"
            )
