"""Zarr v3 arrays in specs: the members of a ``zarr.json`` that a spec may constrain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, Self

from blizzarr.dtypes import DataType, Kind
from blizzarr.dtypes.fill_typed import named_tokens
from blizzarr.errors import ConstraintError, SpecError
from blizzarr.indexing.form import Form
from blizzarr.json_members import Members, Option, as_bool, as_integer, as_text, one_of, or_none
from blizzarr.json_values import MISSING, alike, dump, expected, quote, within_64_bits
from blizzarr.model import ArrayMeta
from blizzarr.problems import Problems
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, grid_of, merge_grid
from blizzarr.spec.codec_spec import DriverCodec
from blizzarr.spec.dtype import DType
from blizzarr.spec.layout_solver import choose_read_write_shapes
from blizzarr.spec.metadata.constraints import Chosen, Chunks, Constraints
from blizzarr.spec.metadata.elements import WHOLE, Elements, Field, Fill, choice
from blizzarr.spec.metadata.interface import Options, one_chunk_shape, resizable
from blizzarr.spec.metadata.reading import Member, Reading, alone, array_of, checked, each, lengths, mismatch, whole
from blizzarr.spec.metadata.zarr3_chain import Chain, Codec, Decoded, chain_from_json, layout_of, resolve
from blizzarr.spec.schema import Schema
from blizzarr.spec.through_view import layout_of_view
from blizzarr.spec.unit import DimensionUnits, Unit
from blizzarr.views import IndexTransform, form_of

_SEPARATORS: Final = {"default": "/", "v2": "."}


class Zarr3Codec(DriverCodec):
    """The codec of ``zarr3`` in a schema: constraints on the chain of codecs, or nothing."""

    members: ClassVar[Mapping[str, Option]] = {
        "codecs": Option(chain_from_json, to_json=lambda chain: chain.to_json(partial=True))
    }

    def merged_member(self, name: str, mine: Any, theirs: Any) -> Any:
        return mine.merged(theirs)


# Members.


def _dtype(value: Any, reading: Reading) -> Elements:
    if isinstance(value, list):
        # TensorStore has this for the earlier name of structs.
        value = {"name": "structured", "configuration": {"fields": value}}
    problems = Problems()
    dtype = DataType.from_json(whole(value), "data_type", problems)
    if dtype is None or problems.items:
        raise SpecError(f"{'; '.join(map(str, problems.items))}; {_unknown(value).reason}")
    return _elements(dtype, "little")


def _elements(dtype: DataType, endian: str | None) -> Elements:
    """Return elements with their JSON: structs by their later name, and bytes as the specification has them."""
    json = dtype.to_json()
    if dtype.fields:
        spelled = [{"data_type": _spelled(field.dtype), "name": field.name} for field in dtype.fields]
        json = {"configuration": {"fields": spelled}, "name": "struct"}
    elements = Elements.of(dtype, endian, json if dtype.fields else _spelled(dtype))
    if any(field.dtype.name == "char" for field in elements.fields):
        raise _unknown(json)
    return elements


def _spelled(dtype: DataType) -> Any:
    return f"r{8 * dtype.itemsize}" if dtype.kind is Kind.RAW else dtype.to_json()


def _unknown(json: Any) -> SpecError:
    name = json if isinstance(json, str) else dump(json)
    return SpecError(
        f"{name} data type is not one of the supported data types: {', '.join(WHOLE)}, r<N> for a multiple of 8"
    )


def _fill(value: Any, reading: Reading) -> Fill:
    elements = reading.given.get("data_type")
    if elements is None:
        raise SpecError('must be specified in conjunction with "data_type"')
    fields = elements.dtype.fields
    if isinstance(value, list) and len(value) == len(fields) > 1:
        value = {field.name: part for field, part in zip(fields, value, strict=True)}
    value = whole(value) if elements.dtype.kind in (Kind.INTEGER, Kind.STRUCT) else named_tokens(value)
    return Fill(elements, checked(lambda problems: elements.dtype.fill_from_json(value, "fill_value", problems)))


def _fill_json(fill: Fill) -> Any:
    assert fill.value is not None
    json = fill.elements.dtype.fill_to_json(fill.value)
    # TensorStore takes and writes the value alone where there is only one field.
    return json[fill.elements.fields[0].name] if fill.elements.named and len(json) == 1 else json


def _named(
    value: Any, parse_name: Any, option: str, parse: Any, default: Callable[[str], Any] = lambda name: MISSING
) -> tuple[str, Any]:
    """Parse an extension whose configuration has one option; return its name and the option."""

    def configured(given: Any) -> Any:
        inner = Members(given)
        option_value = inner.take(option, parse, default(name))
        inner.end()
        return option_value

    members = Members(value)
    name: str = members.take("name", parse_name)
    option_value = members.take("configuration", configured)
    members.end()
    return name, option_value


def _encoding(value: Any, reading: Reading) -> tuple[str, str]:
    value = {"configuration": {}, **value} if isinstance(value, dict) else value
    return _named(value, one_of("default", "v2"), "separator", one_of(".", "/"), _SEPARATORS.__getitem__)


def _encoding_json(encoding: tuple[str, str], include_defaults: bool = False) -> dict[str, Any]:
    name, separator = encoding
    if _SEPARATORS[name] == separator and not include_defaults:
        return {"name": name}
    return {"configuration": {"separator": separator}, "name": name}


def _grid(value: Any, reading: Reading) -> Any:
    return _named(value, one_of("regular"), "chunk_shape", lambda sides: lengths(1).parse(sides, reading))[1]


def _grid_json(shape: tuple[int, ...]) -> dict[str, Any]:
    return {"configuration": {"chunk_shape": list(shape)}, "name": "regular"}


def _no_transformers(value: Any, reading: Reading) -> None:
    if not isinstance(value, list):
        raise expected(value, "array")
    if value:
        raise SpecError("No storage transformers supported")


def _attributes(value: Any, reading: Reading) -> dict[str, Any]:
    members = Members(value)
    if "dimension_units" in members.left:
        units = members.take(
            "dimension_units", lambda given: reading.each(given, or_none(lambda unit: Unit(as_text(unit))))
        )
        reading.given["dimension_units"] = units
    return members.left


def _units_json(units: DimensionUnits) -> list[str | None]:
    return [None if unit is None else str(unit) for unit in units]


class Zarr3Constraints(Constraints):
    """The constraints of a spec on Zarr v3 metadata."""

    driver = "zarr3"
    codec_class = Zarr3Codec
    dtype_member = "data_type"
    invalid = frozenset({"codec of another driver"})
    options: ClassVar[Mapping[str, Option]] = {"field": Option(as_text, ""), "open_as_void": Option(as_bool, False)}
    table: ClassVar[Mapping[str, Member]] = {
        "zarr_format": Member(alone(as_integer(3, 3))),
        "node_type": Member(alone(one_of("array"))),
        "data_type": Member(_dtype, lambda elements: elements.json),
        "fill_value": Member(_fill, _fill_json),
        "shape": lengths(0),
        "dimension_names": Member(each(or_none(as_text)), list),
        "chunk_key_encoding": Member(_encoding, _encoding_json),
        "chunk_grid": Member(_grid, _grid_json),
        "codecs": Member(alone(chain_from_json), Chain.to_json),
        "storage_transformers": Member(_no_transformers),
        "attributes": Member(_attributes),
    }

    @classmethod
    def check_extra(cls, extra: dict[str, Any]) -> None:
        for name, member in sorted(extra.items()):
            if not isinstance(member, dict) or member.get("must_understand") is not False:
                raise SpecError(f'Unsupported metadata field {quote(name)} is not marked {{"must_understand": false}}')

    @classmethod
    def of(cls, meta: ArrayMeta) -> Self:
        rank = len(meta.shape)
        reading = Reading(rank)
        attributes = _attributes(meta.attributes, reading)
        elements = _elements(meta.dtype, meta.codecs.endian)
        given = {
            "zarr_format": 3,
            "node_type": "array",
            "data_type": elements,
            "fill_value": Fill(elements, meta.fill_value),
            "shape": meta.shape,
            "dimension_names": meta.dimension_names or (None,) * rank,
            "chunk_key_encoding": (meta.chunk_keys.name, meta.chunk_keys.separator),
            "chunk_grid": one_chunk_shape(meta),
            "codecs": chain_from_json(meta.codecs.to_json()),
            "attributes": within_64_bits(attributes),
        }
        return cls(given | reading.given, rank, within_64_bits(meta.extra))

    @classmethod
    def form_of(cls, meta: ArrayMeta, field: Field) -> Form:
        """Return the view of an array that is all of it, without labels if a name occurs twice."""
        names = meta.dimension_names
        return resizable(meta.shape, names and _labels(names), field.shape)

    @staticmethod
    def check_dtype(schema: Schema) -> None:
        if schema.dtype is not None and schema.dtype.name not in (*WHOLE, "byte"):
            raise _unknown(schema.dtype.name)

    # JSON.

    def members(self) -> dict[str, Any]:
        made = {name: self.table[name].to_json(value) for name, value in self.given.items() if name in self.table}
        if "dimension_units" in self.given:
            units = {"dimension_units": _units_json(self.given["dimension_units"])}
            made["attributes"] = dict(sorted({**made.get("attributes", {}), **units}.items()))
        return made

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """Return the member ``metadata``; `include_defaults` includes the default separators of keys."""
        members = {"node_type": "array", **super().to_json()}
        members.pop("storage_transformers", None)
        if not any(name is not None for name in members.get("dimension_names", ())):
            members.pop("dimension_names", None)
        if not members.get("attributes"):
            members.pop("attributes", None)
        if "codecs" in members:
            members["codecs"] = self.given["codecs"].to_json(partial=True)
        if include_defaults and "chunk_key_encoding" in members:
            members["chunk_key_encoding"] = _encoding_json(self.given["chunk_key_encoding"], True)
        return dict(sorted(members.items()))

    def differences(self, stored: Self) -> Iterator[SpecError]:
        """Yield an error for each member that a stored array has otherwise; attributes need only be among its own."""
        for name, wanted in self.given.items():
            actual = stored.given.get(name)
            if name == "codecs":
                try:
                    with prefixed('Mismatch in "codecs"'):
                        stored.given[name].merged(wanted, strict=True)
                except SpecError as error:
                    yield error
            elif name == "attributes":
                yield from _missing('Mismatch in "attributes": ', wanted, stored.given[name])
            elif name == "dimension_units":
                mine, their = _units_json(wanted), _units_json(actual or (None,) * stored.rank)
                agree = [unit in (None, other) for unit, other in zip(mine, their, strict=False)]
                if len(mine) != len(their) or not all(agree):
                    yield mismatch(name, mine, their if actual else None)
            elif name == "fill_value" and wanted.elements.dtype == actual.elements.dtype:  # type: ignore[union-attr]
                if wanted.value.tobytes() != actual.value.tobytes():  # type: ignore[union-attr]
                    yield mismatch(name, _fill_json(wanted), _fill_json(actual))  # type: ignore[arg-type]
            elif name != "storage_transformers":
                mine, their = (self.table[name].to_json(value) for value in (wanted, actual))
                if not alike(mine, their):
                    yield mismatch(name, mine, their)
        yield from _missing("", self.extra, stored.extra)

    # What each member stands for.

    @property
    def labels(self) -> tuple[str, ...] | None:
        return _labels(self.given.get("dimension_names"))

    def elements_for(self, dtype: DType) -> Elements:
        if dtype.name in ("byte", "char"):
            return _elements(DataType.parse("r8"), None)
        if dtype.name not in WHOLE:
            raise _unknown(dtype.name)
        return _elements(DataType.parse(dtype.name), "little")

    def field(self, options: Options) -> Field | None:
        """Return the part of elements that is selected; errors are left to opening."""
        try:
            return super().field(options)
        except ConstraintError:
            elements = self.elements
            return None if elements is None or elements.named else elements.fields[0]

    def constrain(self, schema: Schema, options: Options) -> None:
        if schema.dtype is None:
            super().constrain(schema, options)
            return
        field, is_bytes = self.field(options), choice(options)[1]
        is_bytes = is_bytes or (field is not None and field.dtype.name == "byte")
        if schema.dtype.name == "byte" and not is_bytes:
            raise _unknown("byte")
        if field is None and self.elements is not None:
            raise SpecError("schema dtype must be unspecified for structured data types unless a field is selected")
        super().constrain(schema, options)

    def chunks(self, grid: int, full: int) -> Chunks:
        write, codecs = self.given.get("chunk_grid"), self.given.get("codecs")
        if codecs is None:
            return Chunks(None, write, None)
        order, read = layout_of(codecs, grid, write)
        return Chunks(order, write, read)

    @property
    def units(self) -> DimensionUnits:
        return self.given.get("dimension_units", ())

    # New arrays.

    def choose_chunks(self, layout: ChunkLayout, bounds: Any, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shapes of what is written and of what is read; where these differ there are shards."""
        if layout.rank != rank:
            # Without the dimensions within elements.
            inside = IndexTransform(input_rank=layout.rank)[(slice(None),) * rank + (0,) * (layout.rank - rank)]
            layout = layout_of_view(layout, form_of(inside))
        codecs = self.given.get("codecs")
        if codecs is not None and not codecs.sharding_height:
            for usage in ["read", "write"]:
                grid = grid_of(layout, usage)
                merge_grid(layout, "write", grid)
                merge_grid(layout, "codec", grid, ("aspect_ratio",))
            return super().choose_chunks(layout, bounds[:rank], rank)
        read, write = choose_read_write_shapes(grid_of(layout, "read"), grid_of(layout, "write"), bounds[:rank])
        return write, read

    def array(self, chosen: Chosen) -> ArrayMeta:
        """Return the array; shards are put in where less is read than is written, and a transpose for an order."""
        elements, rank = chosen.elements, len(chosen.shape)
        codecs: Chain | None = chosen.codec.given.get("codecs")
        if chosen.read != chosen.write and (codecs is None or not codecs.sharding_height):
            inner = {} if codecs is None else {"codecs": codecs}
            codecs = Chain((), Codec("sharding_indexed", {"chunk_shape": list(chosen.read), **inner}))
        if elements.named and elements.unit > 1 and codecs is not None and codecs.leaves_order_open:
            raise SpecError('fields of several bytes need a codec "bytes" with an "endian"')
        # Elements with fields are compressed as bytes.
        size = elements.unit if elements.is_whole else 1
        decoded = Decoded(rank, size, chosen.read, chosen.order, elements.named)
        document = {
            **self.extra,
            "zarr_format": 3,
            "node_type": "array",
            "data_type": elements.json,
            "fill_value": _fill_json(self.new_fill(chosen, elements.dtype.default_fill)),
            "shape": list(chosen.shape),
            "chunk_key_encoding": _encoding_json(self.given.get("chunk_key_encoding", ("default", "/"))),
            "chunk_grid": _grid_json(chosen.write),
            "codecs": resolve(codecs or Chain(), decoded).to_json(),
        }
        names = self._names(chosen.domain.labels[:rank])
        if any(name is not None for name in names):
            document["dimension_names"] = names
        attributes = dict(self.given.get("attributes", {}))
        if any(chosen.units):
            attributes["dimension_units"] = _units_json(chosen.units[:rank])
        if attributes:
            document["attributes"] = dict(sorted(attributes.items()))
        return array_of("v3", dict(sorted(document.items())))

    def _names(self, labels: tuple[str, ...]) -> list[str | None]:
        """Return the labels as names; an empty label is no name, unless the metadata demand an empty name."""
        given = self.given.get("dimension_names") if any(self.labels or ()) or not any(labels) else None
        names = given or (None,) * len(labels)
        return [label or ("" if name == "" else None) for label, name in zip(labels, names, strict=True)]


def _labels(names: tuple[str | None, ...] | None) -> tuple[str, ...] | None:
    """Return names as labels, which are all empty if a name occurs twice; None if there are no names."""
    if names is None:
        return None
    used = [name for name in names if name]
    return tuple(name or "" for name in names) if len(set(used)) == len(used) else ("",) * len(names)


def _missing(where: str, wanted: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterator[SpecError]:
    for name, value in sorted(wanted.items()):
        if name not in actual or not alike(actual[name], value):
            yield SpecError(where + mismatch(name, value, actual.get(name, MISSING)).reason)
