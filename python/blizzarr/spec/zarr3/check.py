"""Checking stored ``zarr3`` metadata against constraints; errors name both sides."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from blizzarr.errors import InvalidArgumentError, SpecError
from blizzarr.json_values import MISSING, alike, dump
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.element_type import Field
from blizzarr.spec.mismatch import check_dtype, check_rank, mismatch
from blizzarr.spec.schema import Schema
from blizzarr.spec.status import invalid_argument
from blizzarr.spec.stored_values import to_stored
from blizzarr.spec.zarr3.codec import Zarr3Codec
from blizzarr.spec.zarr3.effective import domain_of, layout_with, units_of
from blizzarr.spec.zarr3.elements import fills_to_json
from blizzarr.spec.zarr3.fill_value import Element, converted, element_to_json, same_bits
from blizzarr.spec.zarr3.metadata import Metadata, encoding_json, units_json

__all__ = ["check_metadata", "check_schema", "fill_of"]


def check_metadata(stored: Metadata, constraints: Metadata) -> None:
    """Raise unless the metadata meet the constraints.

    Examples
    --------
    >>> check_metadata(Metadata(shape=(1, 2)), Metadata(shape=(1, 3)))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Expected "shape" of [1,3] but received: [1,2]
    """
    elements = stored.elements
    if constraints.elements is not None and elements is not None and constraints.elements.json != elements.json:
        # TensorStore quotes both sides, as JSON in JSON.
        raise mismatch("data_type", dump(constraints.elements.json), dump(elements.json))
    if constraints.fills is not None and stored.fills is not None and elements is not None:
        pairs = zip(constraints.fills, stored.fills, strict=True)
        if not all(same_bits(wanted, found) for wanted, found in pairs):
            both = (fills_to_json(fills, elements) for fills in (constraints.fills, stored.fills))
            raise mismatch("fill_value", *both)
    for name in ("shape", "chunk_shape"):
        wanted, found = getattr(constraints, name), getattr(stored, name)
        if wanted is not None and wanted != found:
            raise mismatch(name, list(wanted), list(found))
    if constraints.key_encoding is not None and constraints.key_encoding != stored.key_encoding:
        assert stored.key_encoding is not None
        raise mismatch(
            "chunk_key_encoding", encoding_json(constraints.key_encoding), encoding_json(stored.key_encoding)
        )
    if constraints.codecs is not None:
        assert stored.codecs is not None
        with prefixed('Mismatch in "codecs"'):
            stored.codecs.merged(constraints.codecs, strict=True)
    if constraints.dimension_names is not None and constraints.dimension_names != stored.dimension_names:
        wanted, found = _names(constraints), _names(stored)
        raise SpecError(f'Expected "dimension_names" of {wanted} but received: {found}')
    with prefixed('Mismatch in "attributes"'):
        _check_subset(constraints.attributes, stored.attributes)
    _check_units(constraints, stored)
    _check_subset(constraints.extra, stored.extra)


def _names(metadata: Metadata) -> str:
    return f"[{','.join('<discarded>' if name is None else dump(name) for name in metadata.dimension_names or ())}]"


def _check_subset(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    for name, value in sorted(wanted.items()):
        if name not in found or not alike(found[name], value):
            raise mismatch(name, value, found.get(name, MISSING))


def _check_units(constraints: Metadata, stored: Metadata) -> None:
    if constraints.dimension_units is None:
        return
    known = stored.dimension_units or (None,) * len(constraints.dimension_units)
    if len(known) != len(constraints.dimension_units):
        raise mismatch("dimension_units", units_json(constraints.dimension_units), units_json(known))
    for wanted, unit in zip(constraints.dimension_units, known, strict=True):
        if wanted is not None and (unit is None or unit != wanted):
            raise mismatch(
                "dimension_units", units_json(constraints.dimension_units), units_json(stored.dimension_units)
            )


def check_schema(stored: Metadata, schema: Schema, name: str = "", void: bool = False) -> None:
    """Raise unless a field of the metadata, or the bytes of elements if `void`, meets the schema."""
    elements = stored.elements
    assert elements is not None
    field = elements.pick(name, void)
    rank = stored.rank + len(field.shape)
    check_rank(schema, rank)
    check_dtype(schema, field.dtype, "data_type")
    if schema.domain is not None:
        domain_of(stored, schema, field)
    layout = schema.chunk_layout
    if layout.rank != -1 and layout_with(layout, stored, stored.rank, field).codec_chunk._constraints.shape.hard:
        raise InvalidArgumentError("codec_chunk_shape not supported")
    if schema.fill_value is not None and schema._fill_dtype is not None:
        with invalid_argument():
            wanted = converted(schema.fill_value, schema._fill_dtype, field.dtype, field.shape)
        found = fill_of(stored, name, void)
        if found is None or not same_bits(wanted, found):
            raise SpecError(
                f"Invalid fill_value: schema requires fill value of {_shown(wanted, field)}, but "
                f"metadata specifies fill value of {_shown(found, field)}"
            )
    if schema.codec is not None:
        other = nullcontext() if schema.codec._driver == "zarr3" else invalid_argument()
        with other, prefixed("codec from metadata does not match codec in schema"):
            CodecSpec._of("zarr3", Zarr3Codec(stored.codecs))._merged(schema.codec)
    if schema.dimension_units is not None:
        with prefixed("dimension_units from metadata does not match dimension_units in schema"):
            units_of(stored, schema)


def fill_of(metadata: Metadata, name: str, void: bool) -> Element | None:
    """The fill value of the field with this name, or of the bytes of elements, in the byte order that is stored."""
    elements = metadata.elements
    if metadata.fills is None or elements is None:
        return None
    if not void:
        return metadata.fills[elements.position(name)]
    big = metadata.codecs is not None and metadata.codecs.is_big
    pairs = zip(metadata.fills, elements.fields, strict=True)
    return np.frombuffer(b"".join(to_stored(fill, replace(field, big=big)).tobytes() for fill, field in pairs), "V1")


def _shown(fill: Element | None, field: Field) -> str:
    if fill is None:
        return "none"
    return dump(fill.tobytes().hex() if field.dtype.name == "byte" else element_to_json(fill, field.dtype))
