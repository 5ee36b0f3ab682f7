"""Checking stored ``zarr`` metadata against constraints; errors name both sides."""

from __future__ import annotations

import numpy as np

from blizzarr.errors import ConstraintError, InvalidArgumentError, SpecError
from blizzarr.json_values import dump
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.dtype import DType
from blizzarr.spec.element_type import Field
from blizzarr.spec.fill_value import shown
from blizzarr.spec.mismatch import mismatch
from blizzarr.spec.ranks import ranks_of
from blizzarr.spec.schema import Schema
from blizzarr.spec.status import invalid_argument
from blizzarr.spec.zarr.effective import codec_stored, domain_of, layout_with
from blizzarr.spec.zarr.elements import Element, fill_bytes
from blizzarr.spec.zarr.metadata import Metadata
from blizzarr.spec.zarr3.fill_value import converted, same_bits

__all__ = ["check_metadata", "check_schema", "field_fill", "fill_of"]

_CHECKED = ("shape", "chunks", "compressor", "order", "dtype", "fill_value")


def check_metadata(stored: Metadata, constraints: Metadata) -> None:
    """Raise unless the metadata meet the constraints.

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
            raise mismatch(name, wanted[name], found[name])


def check_schema(stored: Metadata, schema: Schema, name: str = "", void: bool = False) -> None:
    """Raise unless a field of the metadata, or the bytes of elements if `void`, meets the schema."""
    elements = stored.elements
    assert elements is not None
    field = elements.pick(name, void)
    ranks = ranks_of(stored.rank, Schema(), field)
    if schema.rank not in (None, ranks.full):
        raise ConstraintError(f"Rank is {ranks.full}, but schema specifies rank of {schema.rank}")
    if schema.dtype is not None and schema.dtype != field.dtype:
        raise ConstraintError(
            f"dtype from metadata ({field.dtype.name}) does not match dtype in schema ({schema.dtype.name})"
        )
    if schema.domain is not None:
        with prefixed("domain from metadata does not match domain in schema", InvalidArgumentError):
            domain_of(stored, schema, field)
    if schema.codec is not None:
        with invalid_argument(), prefixed("codec from metadata does not match codec in schema"):
            CodecSpec._of("zarr", codec_stored(stored))._merged(schema.codec)
    with invalid_argument():
        _check_fill(stored, schema, name, void)
    layout = schema.chunk_layout
    if layout.rank != -1 and layout_with(layout, stored, ranks, field)._grids["codec"].shape.hard:
        raise InvalidArgumentError("codec_chunk_shape not supported")
    if any(unit is not None for unit in schema.dimension_units or ()):
        raise InvalidArgumentError("Dimension units not supported by zarr driver")


def fill_of(metadata: Metadata, name: str, void: bool) -> Element | None:
    """The fill value of the field with this name, or of the bytes of elements."""
    if metadata.fills is None or metadata.elements is None:
        return None
    if void:
        return np.frombuffer(fill_bytes(metadata.fills, metadata.elements), "V1")
    return metadata.fills[metadata.elements.position(name)]


def field_fill(fill: Element, dtype: DType, field: Field) -> Element:
    """Convert the fill value of a schema to that of a field."""
    return converted(fill, dtype, field.dtype, field.shape)


def _check_fill(stored: Metadata, schema: Schema, name: str, void: bool) -> None:
    if schema.fill_value is None or schema._fill_dtype is None or stored.elements is None:
        return
    requires = "Invalid fill_value: schema requires fill value of"
    found = fill_of(stored, name, void)
    if found is None:
        raise SpecError(f"{requires} {shown(schema.fill_value)}, but metadata specifies no fill value")
    wanted = field_fill(schema.fill_value, schema._fill_dtype, stored.elements.pick(name, void))
    if not same_bits(wanted, found):
        raise SpecError(f"{requires} {shown(wanted)}, but metadata specifies fill value of {shown(found)}")
