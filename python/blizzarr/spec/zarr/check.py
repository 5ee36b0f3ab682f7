"""Stored metadata of ``zarr`` held against what is demanded of them; errors name both sides."""

from __future__ import annotations

from typing import Any

from blizzarr.errors import SpecError
from blizzarr.json_values import dump, quote
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.fill_value import shown
from blizzarr.spec.schema import Schema
from blizzarr.spec.zarr.effective import codec_stored, domain_of, layout_with
from blizzarr.spec.zarr.metadata import Metadata
from blizzarr.spec.zarr3.fill_value import converted, same_bits

__all__ = ["check_metadata", "check_schema"]

_CHECKED = ("shape", "chunks", "compressor", "order", "dtype", "fill_value")


def check_metadata(stored: Metadata, constraints: Metadata) -> None:
    """Refuse metadata that are not what is demanded.

    Examples
    --------
    >>> from blizzarr.spec.zarr.metadata import metadata_from_json
    >>> check_metadata(metadata_from_json({"shape": [1, 2]}), metadata_from_json({"shape": [1, 3]}))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Expected "shape" of [1,3] but received: [1,2]
    """
    wanted, found = constraints.to_json(), stored.to_json()
    # A document without a separator leaves it open.
    names = (*_CHECKED, "dimension_separator") if stored.separator else _CHECKED
    for name in names:
        if name in wanted and dump(wanted[name]) != dump(found[name]):
            raise _mismatch(name, wanted[name], found[name])


def _mismatch(name: str, wanted: Any, found: Any) -> SpecError:
    return SpecError(f"Expected {quote(name)} of {dump(wanted)} but received: {dump(found)}")


def check_schema(stored: Metadata, schema: Schema) -> None:
    """Refuse metadata that do not have this schema."""
    dtype = stored.dtype
    assert dtype is not None
    if schema.rank not in (None, stored.rank):
        raise SpecError(f"Rank is {stored.rank}, but schema specifies rank of {schema.rank}")
    if schema.dtype is not None and schema.dtype != dtype:
        raise SpecError(f"dtype from metadata ({dtype.name}) does not match dtype in schema ({schema.dtype.name})")
    if schema.domain is not None:
        with prefixed("domain from metadata does not match domain in schema"):
            domain_of(stored, schema)
    if schema.codec is not None:
        with prefixed("codec from metadata does not match codec in schema"):
            CodecSpec.of("zarr", codec_stored(stored)).merged(schema.codec)
    _check_fill(stored, schema)
    layout = schema.chunk_layout
    if layout.rank != -1 and layout_with(layout, stored, stored.rank).grid("codec").shape.hard:
        raise SpecError("codec_chunk_shape not supported")
    if any(unit is not None for unit in schema.dimension_units or ()):
        raise SpecError("Dimension units not supported by zarr driver")


def _check_fill(stored: Metadata, schema: Schema) -> None:
    dtype = stored.dtype
    if schema.fill_value is None or schema.fill_dtype is None or dtype is None:
        return
    requires = "Invalid fill_value: schema requires fill value of"
    if stored.fill_value is None:
        raise SpecError(f"{requires} {shown(schema.fill_value)}, but metadata specifies no fill value")
    wanted = converted(schema.fill_value, schema.fill_dtype, dtype)
    if not same_bits(wanted, stored.fill_value):
        raise SpecError(f"{requires} {shown(wanted)}, but metadata specifies fill value of {shown(stored.fill_value)}")
