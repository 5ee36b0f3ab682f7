"""N5 arrays in specs: the members of an ``attributes.json`` that a spec may constrain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

from blizzarr.codecs import BloscCodec
from blizzarr.dtypes import DataType
from blizzarr.errors import SpecError
from blizzarr.formats.document import load
from blizzarr.formats.n5_array import TYPES, decode
from blizzarr.formats.n5_compression import options_of
from blizzarr.json_members import Option, as_float, as_text
from blizzarr.json_values import braces, within_64_bits
from blizzarr.model import ArrayMeta
from blizzarr.problems import Problems
from blizzarr.spec.codec_spec import DriverCodec
from blizzarr.spec.dtype import DTYPES, DType, dtype_json
from blizzarr.spec.metadata.constraints import Chosen, Chunks, Constraints
from blizzarr.spec.metadata.elements import Elements
from blizzarr.spec.metadata.interface import Options
from blizzarr.spec.metadata.reading import (
    Member,
    alone,
    array_of,
    each,
    encoded,
    lengths,
    parsed_by,
    read,
    refuse,
    sorted_members,
)
from blizzarr.spec.schema import Schema
from blizzarr.spec.unit import DimensionUnits, Unit, units_shown
from blizzarr.views import IndexDomain

_compression = parsed_by(options_of)


class N5Codec(DriverCodec):
    """The codec of ``n5`` in a schema: a compression, or nothing."""

    members: ClassVar[Mapping[str, Option]] = {"compression": Option(_compression, to_json=sorted_members)}


def _elements(dtype: DType) -> Elements:
    if dtype.name not in TYPES:
        raise SpecError(f"{dtype.name} data type is not one of the supported data types: {', '.join(TYPES)}")
    return Elements.of(DataType.parse(dtype.name), None, dtype.name)


_ATTRIBUTES: Final[Mapping[str, Member]] = {
    "units": Member(each(as_text), list),
    "resolution": Member(each(as_float), list),
}


class N5Constraints(Constraints):
    """The constraints of a spec on N5 metadata."""

    driver = "n5"
    codec_class = N5Codec
    shape_member = "dimensions"
    dtype_member = "dataType"
    has_fill = False
    invalid = frozenset({"domain"})
    table: ClassVar[Mapping[str, Member]] = {
        "dimensions": lengths(0),
        "blockSize": lengths(1),
        "dataType": Member(alone(lambda value: _elements(dtype_json(value))), lambda elements: elements.json),
        "compression": Member(_compression, sorted_members),
        "axes": Member(lambda value, reading: IndexDomain(labels=reading.each(value, as_text)).labels, list),
        **_ATTRIBUTES,
    }

    @classmethod
    def of(cls, meta: ArrayMeta) -> Self:
        document = encoded(meta) if meta.source is None else meta.source
        rank = len(meta.shape)
        reading, extra = read(meta.attributes, _ATTRIBUTES, rank)
        given = {
            "dimensions": meta.shape,
            "blockSize": meta.write_shape,
            "dataType": _elements(DTYPES[meta.dtype.name]),
            "compression": options_of(document["compression"], Problems(), others=True),
            "axes": tuple(name or "" for name in meta.dimension_names or (None,) * rank),
        }
        return cls(given | reading.given, rank, within_64_bits(extra))

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        if schema.dtype is not None:
            _elements(schema.dtype)

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The member ``metadata``; labels that are all empty are left out, and are demanded none the less."""
        members = super().to_json()
        if not any(self.labels or ()):
            members.pop("axes", None)
        return members

    @property
    def labels(self) -> tuple[str, ...] | None:
        return self.given.get("axes")

    def elements_for(self, dtype: DType) -> Elements:
        return _elements(dtype)

    def chunks(self, grid: int, full: int) -> Chunks:
        block = self.given.get("blockSize")
        return Chunks(tuple(reversed(range(full))), block, block)

    @property
    def units(self) -> DimensionUnits:
        """A unit for each dimension, or none at all where there are no `units`, whatever the `resolution`."""
        units = self.given.get("units")
        if units is None:
            return ()
        counts = self.given.get("resolution", (1.0,) * len(units))
        return tuple(Unit(count, unit) for count, unit in zip(counts, units, strict=True))

    def dimension_units(self, schema: Schema, options: Options) -> DimensionUnits | None:
        """Return the units; a resolution without units must still agree with the schema."""
        units = super().dimension_units(schema, options)
        counts = self.given.get("resolution")
        if counts is not None and "units" not in self.given:
            for count, unit in zip(counts, units or (), strict=False):
                if unit is not None and unit.multiplier != count:
                    shown = units_shown(units or ())
                    raise SpecError(f'expected units of the "resolution" {braces(counts)}, found {shown} in the schema')
        return units

    def check_units(self, schema: Schema, options: Options) -> None:
        """Raise unless all units of a schema are those of an array: they cannot be added to it."""
        units = self.units or (None,) * self.rank
        for unit, wanted in zip(units, self.dimension_units(schema, options) or (), strict=False):
            if unit is None and wanted is not None:
                asked = units_shown(schema.dimension_units or ())
                raise SpecError(f"expected the units {asked} of the schema, found {units_shown(units)}")

    def array(self, chosen: Chosen) -> ArrayMeta:
        """Return the array; by default its compression is Blosc, which shuffles single bytes bit by bit."""
        field, document = chosen.elements.fields[0], dict(self.extra)
        compression = chosen.codec.given.get("compression")
        if compression is None:
            shuffle = 2 if field.size == 1 else 1
            made = {"type": "blosc", **BloscCodec().configuration(), "shuffle": shuffle}
            compression = options_of(made, Problems())
        document |= {
            "dimensions": list(chosen.shape),
            "blockSize": list(chosen.write),
            "dataType": chosen.elements.json,
            "compression": sorted_members(compression),
        }
        if any(chosen.domain.labels):
            document["axes"] = list(chosen.domain.labels)
        for name in _ATTRIBUTES:
            if name in self.given:
                document[name] = list(self.given[name])
        if any(chosen.units):
            # The unit of dimensions without one is 1.
            names = list(self.given.get("units", ("",) * len(chosen.units)))
            counts = list(self.given.get("resolution", (1.0,) * len(chosen.units)))
            for dim, unit in enumerate(chosen.units):
                if unit is not None:
                    names[dim], counts[dim] = unit.base_unit, unit.multiplier
            document |= {"units": names, "resolution": counts}
        return array_of("n5", dict(sorted(document.items())))

    def refuse(self, raw: bytes) -> None:
        """Raise what is wrong with a document that is not that of an array, such as that of a group."""
        problems = Problems()
        document = load(raw, problems, attributes=True)
        if document is not None:
            decode(document, problems)
        refuse(problems)
