"""Zarr v2 arrays in specs: the members of a ``.zarray`` that a spec may constrain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

from blizzarr.codecs.configs import codec_from_config
from blizzarr.codecs.numcodecs.registered import NumcodecsBlosc
from blizzarr.dtypes import DataType, fill_typed
from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.formats.v2_elements import decode_dtype, decode_fill
from blizzarr.json_members import Members, Option, as_bool, as_integer, as_text, one_of
from blizzarr.json_values import braces, copied, dump, expected, quote, within_64_bits
from blizzarr.model import ArrayMeta
from blizzarr.problems import Problems
from blizzarr.spec.chunk_layout import ChunkLayout, order_in
from blizzarr.spec.codec_spec import DriverCodec
from blizzarr.spec.dtype import DType
from blizzarr.spec.metadata.constraints import Chosen, Chunks, Constraints
from blizzarr.spec.metadata.elements import WHOLE, Elements, Fill
from blizzarr.spec.metadata.interface import Options
from blizzarr.spec.metadata.reading import (
    Member,
    Reading,
    alone,
    array_of,
    checked,
    encoded,
    lengths,
    parsed_by,
    sorted_members,
)
from blizzarr.spec.schema import Schema

_KEY: Final = ".zarray"
_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "blosc": NumcodecsBlosc(shuffle=-1).configuration(),
    "bz2": {"level": 1},
    "gzip": {"level": 1},
    "zlib": {"level": 1},
    "zstd": {"level": 1},
}
"""The compressors of specs, with the options that are left out. The first is that of new arrays."""


def _completed(value: Any) -> Any:
    """Return the compressor of a document with all its options; those that specs do not have as they are."""
    name = value.get("id") if isinstance(value, dict) else None
    return {**_DEFAULTS[name], **value} if isinstance(name, str) and name in _DEFAULTS else value


def _check_compressor(value: Any, problems: Problems) -> dict[str, Any] | None:
    if value is None:
        return None
    made: dict[str, Any] = _completed(value)
    name = made.get("id") if isinstance(made, dict) else None
    if isinstance(name, str) and name not in _DEFAULTS:
        problems.add("compressor.id", f"one of {', '.join(_DEFAULTS)}", name)
    else:
        codec_from_config(made, "compressor", problems, strict=True)
    return made


_compressor = parsed_by(_check_compressor)


class ZarrCodec(DriverCodec):
    """The codec of ``zarr`` in a schema: constraints on compressor, which may be null, and filters."""

    members: ClassVar[Mapping[str, Option]] = {
        "filters": Option(lambda value: value, to_json=copied),
        "compressor": Option(_compressor, to_json=sorted_members),
    }

    def merged_member(self, name: str, mine: Any, theirs: Any) -> Any:
        if name == "filters" and (mine is None or theirs is None):
            return theirs if mine is None else mine
        return super().merged_member(name, mine, theirs)

    def to_json(self) -> dict[str, Any]:
        """Return the members; filters are null if there are none."""
        return {"filters": None, **super().to_json()}


def _dtype(value: Any, reading: Reading) -> Elements:
    dtype, endian = checked(lambda problems: decode_dtype({"dtype": value}, problems))
    assert dtype is not None, "else there is a problem"
    return Elements.of(dtype, endian, value)


def _fill(value: Any, reading: Reading) -> Fill:
    elements = reading.given.get("dtype")
    if elements is None:
        raise SpecError('must be specified in conjunction with "dtype"')
    if value is None:
        return Fill(elements, None)
    return Fill(elements, checked(lambda problems: decode_fill(elements.dtype, elements.endian, value, problems)))


def _fill_json(fill: Fill) -> Any:
    return None if fill.value is None else fill_typed.encode(fill.elements.dtype, fill.value, fill.elements.endian)


def _filters(value: Any, reading: Reading) -> None:
    if value is not None and not isinstance(value, list):
        raise expected(value, "null or array")
    if value:
        raise SpecError("filters are not supported")


class ZarrConstraints(Constraints):
    """The constraints of a spec on Zarr v2 metadata."""

    driver = "zarr"
    codec_class = ZarrCodec
    has_units = False
    inner_unknown = True
    invalid = frozenset({"domain", "codec", "fill_value"})
    options: ClassVar[Mapping[str, Option]] = {
        "key_encoding": Option(one_of(".", "/"), None),
        "field": Option(as_text, ""),
        "open_as_void": Option(as_bool, False),
        "metadata_key": Option(as_text, _KEY),
    }
    table: ClassVar[Mapping[str, Member]] = {
        "zarr_format": Member(alone(as_integer(2, 2))),
        "shape": lengths(0),
        "chunks": lengths(1),
        "dtype": Member(_dtype, lambda elements: elements.json),
        "compressor": Member(_compressor, sorted_members),
        "fill_value": Member(_fill, _fill_json),
        "order": Member(alone(one_of("C", "F"))),
        "filters": Member(_filters),
        "dimension_separator": Member(alone(one_of(".", "/"))),
    }

    @classmethod
    def check_extra(cls, extra: dict[str, Any]) -> None:
        Members(extra).end()

    @classmethod
    def of(cls, meta: ArrayMeta) -> Self:
        document = within_64_bits(encoded(meta) if meta.source is None else meta.source)
        # The byte order of stored elements is that of the document, also where there are filters.
        elements = Elements.of(meta.dtype, decode_dtype(document, Problems())[1], document["dtype"])
        given = {
            "zarr_format": 2,
            "shape": meta.shape,
            "chunks": meta.write_shape,
            "dtype": elements,
            "compressor": _completed(document["compressor"]),
            "fill_value": Fill(elements, None if meta.fill_undefined else meta.fill_value),
            "order": document["order"],
            "filters": document.get("filters") or None,
        }
        if document.get("dimension_separator") is not None:
            given["dimension_separator"] = document["dimension_separator"]
        return cls(given, len(meta.shape), {})

    def with_options(self, options: dict[str, Any]) -> Self:
        """Take ``key_encoding``, an option from before documents had a member for it, among the members."""
        separator = options["key_encoding"]
        if separator is None:
            return self
        options["key_encoding"] = None
        there = self.given.get("dimension_separator", separator)
        if there != separator:
            raise SpecError(f'expected "key_encoding" {dump(there)} as in the metadata, found {dump(separator)}')
        return type(self)({**self.given, "dimension_separator": separator}, self.rank, self.extra)

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The member ``metadata``, without filters and compressors of an array that specs cannot demand."""
        members = super().to_json()
        if members.get("filters"):
            del members["filters"]
        if members.get("compressor") and members["compressor"].get("id") not in _DEFAULTS:
            del members["compressor"]
        return members

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        _check_key(options)
        super().check(meta, schema, options)

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        _check_key(options)
        return super().create(schema, options)

    def elements_for(self, dtype: DType) -> Elements:
        if dtype.name not in WHOLE:
            raise SpecError(f"Data type not supported: {dtype.name}")
        parsed = DataType.parse(dtype.name)
        json = parsed.numpy.str if parsed.numpy.isbuiltin == 1 else dtype.name
        return Elements.of(parsed, "little" if parsed.swap_unit else None, json)

    def chunks(self, grid: int, full: int) -> Chunks:
        order = self.given.get("order")
        sides = self.given.get("chunks", ())
        dims = None if order is None else tuple(range(grid)[:: -1 if order == "F" else 1])
        return Chunks(dims, sides, sides)

    def order(self, layout: ChunkLayout, rank: int) -> tuple[int, ...] | None:
        """Return the order of dimensions if it is reversed; any other is an error, or a wish that is not met."""
        wanted, usual = order_in(layout), tuple(range(layout.rank))
        if wanted is None or wanted == usual:
            return None
        if wanted != (*usual[:rank][::-1], *usual[rank:]):
            if layout.inner_order is not None:
                raise SpecError(f'Invalid "inner_order" constraint: {braces(wanted)}')
            return None
        return wanted

    def array(self, chosen: Chosen) -> ArrayMeta:
        """Return the array; its compressor is Blosc, unless another one is given."""
        compressor = chosen.codec.given.get("compressor", {"id": "blosc", **_DEFAULTS["blosc"]})
        document = {
            "zarr_format": 2,
            "shape": list(chosen.shape),
            "chunks": list(chosen.write),
            "dtype": chosen.elements.json,
            "compressor": sorted_members(compressor),
            "fill_value": _fill_json(self.new_fill(chosen, None)),
            "order": "F" if chosen.order is not None else "C",
            "filters": None,
            "dimension_separator": self.given.get("dimension_separator", "."),
        }
        return array_of("v2", dict(sorted(document.items())))


def _check_key(options: Options) -> None:
    if options.get("metadata_key", _KEY) != _KEY:
        raise UnsupportedOperationError(
            f'expected "metadata_key" {quote(_KEY)}, found {quote(options["metadata_key"])}: documents have that name'
        )
