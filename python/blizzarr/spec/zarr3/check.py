"""Stored metadata of ``zarr3`` held against what is demanded of them; errors name both sides."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from blizzarr.errors import SpecError
from blizzarr.json_values import alike, dump, quote
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.schema import Schema
from blizzarr.spec.status import invalid_argument
from blizzarr.spec.zarr3.codec import Zarr3Codec
from blizzarr.spec.zarr3.effective import domain_of, layout_with, units_of
from blizzarr.spec.zarr3.fill_value import converted, element_to_json, same_bits
from blizzarr.spec.zarr3.metadata import Metadata, encoding_json, units_json

__all__ = ["check_metadata", "check_schema"]


def check_metadata(stored: Metadata, constraints: Metadata) -> None:
    """Refuse metadata that are not what is demanded.

    Examples
    --------
    >>> check_metadata(Metadata(shape=(1, 2)), Metadata(shape=(1, 3)))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Expected "shape" of [1,3] but received: [1,2]
    """
    dtype = stored.dtype
    if constraints.dtype is not None and dtype is not None and constraints.dtype != dtype:
        # TensorStore quotes what it compares, JSON in JSON.
        raise _mismatch("data_type", dump(constraints.dtype.name), dump(dtype.name))
    fills = constraints.fill_value, stored.fill_value
    if fills[0] is not None and fills[1] is not None and dtype is not None and not same_bits(fills[0], fills[1]):
        raise _mismatch("fill_value", *(element_to_json(fill, dtype) for fill in fills if fill is not None))
    for name in ("shape", "chunk_shape"):
        wanted, found = getattr(constraints, name), getattr(stored, name)
        if wanted is not None and wanted != found:
            raise _mismatch(name, list(wanted), list(found))
    if constraints.key_encoding is not None and constraints.key_encoding != stored.key_encoding:
        assert stored.key_encoding is not None
        raise _mismatch(
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


def _mismatch(name: str, wanted: Any, found: Any) -> SpecError:
    return SpecError(f"Expected {quote(name)} of {dump(wanted)} but received: {dump(found)}")


def _check_subset(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    for name, value in sorted(wanted.items()):
        if name not in found:
            raise SpecError(f"Expected {quote(name)} of {dump(value)} but received: <discarded>")
        if not alike(found[name], value):
            raise _mismatch(name, value, found[name])


def _check_units(constraints: Metadata, stored: Metadata) -> None:
    if constraints.dimension_units is None:
        return
    known = stored.dimension_units or (None,) * len(constraints.dimension_units)
    if len(known) != len(constraints.dimension_units):
        raise _mismatch("dimension_units", units_json(constraints.dimension_units), units_json(known))
    for wanted, unit in zip(constraints.dimension_units, known, strict=True):
        if wanted is not None and (unit is None or unit != wanted):
            raise _mismatch(
                "dimension_units", units_json(constraints.dimension_units), units_json(stored.dimension_units)
            )


def check_schema(stored: Metadata, schema: Schema) -> None:
    """Refuse metadata that do not have this schema."""
    dtype = stored.dtype
    assert dtype is not None
    assert stored.fill_value is not None
    if schema.rank not in (None, stored.rank):
        raise SpecError(
            f"Rank specified by schema ({schema.rank}) does not match rank specified by metadata ({stored.rank})"
        )
    if schema.dtype is not None and schema.dtype != dtype:
        raise SpecError(f"data_type from metadata ({dtype.name}) does not match dtype in schema ({schema.dtype.name})")
    if schema.domain is not None:
        domain_of(stored, schema)
    layout = schema.chunk_layout
    if layout.rank != -1 and layout_with(layout, stored, stored.rank).codec_chunk.constraints.shape.hard:
        raise SpecError("codec_chunk_shape not supported")
    if schema.fill_value is not None and schema.fill_dtype is not None:
        with invalid_argument():
            wanted = converted(schema.fill_value, schema.fill_dtype, dtype)
        if not same_bits(wanted, stored.fill_value):
            raise SpecError(
                f"Invalid fill_value: schema requires fill value of {dump(element_to_json(wanted, dtype))}, but "
                f"metadata specifies fill value of {dump(element_to_json(stored.fill_value, dtype))}"
            )
    if schema.codec is not None:
        other = nullcontext() if schema.codec.driver == "zarr3" else invalid_argument()
        with other, prefixed("codec from metadata does not match codec in schema"):
            CodecSpec.of("zarr3", Zarr3Codec(stored.codecs)).merged(schema.codec)
    if schema.dimension_units is not None:
        with prefixed("dimension_units from metadata does not match dimension_units in schema"):
            units_of(stored, schema)
