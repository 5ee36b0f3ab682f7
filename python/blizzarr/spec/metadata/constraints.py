"""The engine of constraints on metadata: what follows from them, whether an array meets them, and making new arrays.

Constraints are partial metadata: values by the name of the member that has them in documents. Constraints that only
one array meets are complete, so that everything that is known of an array follows from them in the same way. A driver
adds a table of its members, and says which part of the model each stands for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Final, NamedTuple, Self

from blizzarr.errors import InvalidArgumentError, SpecError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import INF
from blizzarr.json_members import refuse_all
from blizzarr.json_values import MISSING, alike, braces
from blizzarr.model import ArrayMeta
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import (
    ChunkLayout,
    chunk_constraints,
    finalize,
    grid_of,
    is_unset,
    layout_of,
    merge_layout,
    order_in,
)
from blizzarr.spec.codec_spec import CodecSpec, DriverCodec, driver_codec, merged_codec, parts_of
from blizzarr.spec.dtype import DType
from blizzarr.spec.grid import GridConstraints, Vector
from blizzarr.spec.json_array import shown
from blizzarr.spec.layout_solver import choose_shape
from blizzarr.spec.metadata.elements import WHOLE, Element, Elements, Field, Fill, choice, converted
from blizzarr.spec.metadata.interface import MetadataConstraints, Options, resizable
from blizzarr.spec.metadata.reading import Member, all_of, mismatch, read
from blizzarr.spec.schema import UNCONSTRAINED, Schema, fill_of, is_unconstrained, schema_of, set_dtype, set_rank
from blizzarr.spec.unit import DimensionUnits, merge_units
from blizzarr.views import IndexDomain, domain_of, form_of
from blizzarr.views.domain import merged_domain
from blizzarr.views.values import MAX_RANK

CHANGING: Final = ("shape", "attributes", "dimension_names", "dimensions", "axes", "units", "resolution")
"""The members that may change while an array stays the same; so may all that are not in a table."""


class Chunks(NamedTuple):
    """The layout of chunks: their order from the slowest to the fastest dimension, and both shapes; None if open."""

    order: tuple[int, ...] | None = None
    write: tuple[int | None, ...] | None = None
    read: tuple[int | None, ...] | None = None


@dataclass(frozen=True)
class Chosen:
    """What was chosen for a new array besides its codec, in the dimensions of its grid."""

    elements: Elements
    domain: IndexDomain
    shape: tuple[int, ...]
    write: tuple[int, ...]
    read: tuple[int, ...]
    order: tuple[int, ...] | None
    """The dimensions of the grid from the slowest to the fastest; None if that does not matter."""
    fill: Element | None
    units: DimensionUnits
    codec: Any
    """The codec of the driver, with all constraints; None if the driver has none."""


class Constraints(MetadataConstraints):
    """Constraints on the members of a document.

    - `given`: the members of the table that are given, as values.
    - `rank`: the number of dimensions of the grid; -1 if it is not known.
    - `extra`: other members, as JSON.
    """

    driver: ClassVar[str]
    table: ClassVar[Mapping[str, Member]]
    inner_unknown: ClassVar[bool] = False
    """True if elements may have dimensions of their own as long as the data type is not known."""
    invalid: ClassVar[frozenset[str]] = frozenset()
    """The constraints of a schema that are themselves called invalid where an array does not meet them."""
    shape_member: ClassVar[str] = "shape"
    """The member that has the shape of the grid."""
    dtype_member: ClassVar[str] = "dtype"
    """The member that has the type of elements."""
    has_units: ClassVar[bool] = True
    has_fill: ClassVar[bool] = True

    def __init__(self, given: Mapping[str, Any], rank: int, extra: Mapping[str, Any]) -> None:
        self.given = given
        self.rank = rank
        self.extra = extra

    @classmethod
    def from_json(cls, value: Any) -> Self:
        reading, extra = read(value, cls.table)
        cls.check_extra(extra)
        return cls(reading.given, reading.rank, extra)

    @classmethod
    def check_extra(cls, extra: dict[str, Any]) -> None:
        """Raise if there is a member that a document may not have."""

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        return dict(sorted((self.members() | dict(self.extra)).items()))

    def members(self) -> dict[str, Any]:
        """The members of the table as JSON."""
        return {name: self.table[name].to_json(value) for name, value in self.given.items()}

    def lasting(self) -> Self:
        return type(self)({name: value for name, value in self.given.items() if name not in CHANGING}, self.rank, {})

    # What each member stands for; None if that is open.

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the grid."""
        return self.given.get(self.shape_member)

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The labels of the dimensions of the grid."""
        return None

    @property
    def elements(self) -> Elements | None:
        """The type of elements."""
        return self.given.get(self.dtype_member)

    @abstractmethod
    def chunks(self, grid: int, full: int) -> Chunks:
        """Return the layout of chunks of so many dimensions in the grid, and in all."""

    @property
    def own_codec(self) -> DriverCodec:
        """The codec, without ``driver``: the members that documents have, too."""
        assert self.codec_class is not None, "else overridden"
        return self.codec_class(**{name: self.given[name] for name in self.codec_class.members if name in self.given})

    @property
    def units(self) -> DimensionUnits:
        """The units of the dimensions of the grid; none if there are none."""
        return ()

    def fill(self, options: Options) -> Element | None:
        """Return the fill value of the selected part of elements."""
        fill: Fill | None = self.given.get("fill_value")
        return None if fill is None else fill.part(options)

    @property
    def is_filled(self) -> bool:
        """True if the fill value is given, even if it is none."""
        return self.given.get("fill_value", MISSING) is not MISSING

    # What follows from all members.

    def field(self, options: Options) -> Field | None:
        """Return the part of each element that is selected, if the data type is known."""
        return None if self.elements is None else self.elements.pick(*choice(options))

    def _ranks(self, schema: Schema, field: Field | None) -> tuple[int | None, int | None, int | None]:
        """Return the numbers of dimensions that are known: all, those of the grid, and those of each element."""
        full, grid = schema.rank, None if self.rank == -1 else self.rank
        inner = None if field is None and self.inner_unknown else len(() if field is None else field.shape)
        if full is None and grid is not None and inner is not None:
            full = grid + inner
            if full > MAX_RANK:
                raise SpecError(f"{full} is not a valid rank")
        if full is not None:
            known = [rank for rank in (grid, inner) if rank is not None]
            if sum(known) > full or (len(known) == 2 and sum(known) != full):
                raise SpecError(f"expected rank {full} as in the schema, found {sum(known)} in the metadata")
            grid = full - inner if grid is None and inner is not None else grid
            inner = full - grid if inner is None and grid is not None else inner
        return full, grid, inner

    def constrain(self, schema: Schema, options: Options) -> None:
        choice(options)
        if not self.given:
            return
        field = self.field(options)
        with prefixed('Error parsing object member "metadata"'):
            all_of(
                lambda: None if field is None else set_dtype(schema, field.dtype),
                lambda: set_rank(schema, -1 if (full := self._ranks(schema, field)[0]) is None else full),
            )

    def domain(self, schema: Schema, options: Options) -> IndexDomain | None:
        """Return the domain; the upper bounds of the grid can be changed and therefore are implicit."""
        if not self.given and schema.domain is None:
            return IndexDomain(0) if schema.rank == 0 else None
        field = self.field(options)
        full, grid, inner = self._ranks(schema, field)
        if schema.domain is None:
            is_open = (grid != 0 and self.shape is None) or (inner != 0 and field is None)
            if full is None or (is_open and self.labels is None):
                return IndexDomain(0) if full == 0 else None
        if full is None:
            return schema.domain
        within = () if field is None else field.shape
        outer = full - len(within)
        own = resizable((*(self.shape or ()), *(INF + 1,) * outer)[:outer], self.labels and self.labels[:outer], within)
        if schema.domain is None:
            return domain_of(own)
        with prefixed("Mismatch between metadata and schema"):
            merged = form_of(merged_domain(schema.domain, domain_of(own)))
        return domain_of(merged._replace(implicit_lower=own.implicit_lower, implicit_upper=own.implicit_upper))

    def chunk_layout(self, schema: Schema, options: Options) -> ChunkLayout:
        field, layout = self.field(options), schema.chunk_layout
        full, known, _ = self._ranks(schema, field)
        if full is None:
            return layout
        within = () if field is None else field.shape
        grid = full - len(within)
        order, *shapes = self.chunks(grid if known is None else known, full)
        grids = {}
        for usage, shape in zip(("write", "read"), shapes, strict=True):
            sides = (None,) * full if shape is None else (*shape[:grid], *(None,) * (grid - len(shape)), *within)
            hard = frozenset(dim for dim, side in enumerate(sides) if side is not None)
            grids[usage] = GridConstraints(Vector(sides, hard), Vector.unset(full))
        grids["codec"] = GridConstraints().of_rank(full)
        origin = Vector((0,) * full, frozenset(range(full)))
        order = None if order is None else (*order, *range(len(order), full))
        own = layout_of(full, order or None, bool(order), origin, grids)
        if is_unset(layout):
            return own
        layout.update(rank=full)
        merge_layout(layout, own)
        return layout

    def codec(self, schema: Schema, options: Options) -> CodecSpec | None:
        return merged_codec(driver_codec(self.driver, self.own_codec), schema.codec)

    def fill_value(self, schema: Schema, options: Options) -> Element | None:
        """Return the fill value of the metadata, or else that of the schema."""
        if not self.has_fill:
            return None
        return self.fill(options) if self.is_filled else schema.fill_value

    def dimension_units(self, schema: Schema, options: Options) -> DimensionUnits | None:
        wanted = schema.dimension_units
        if not self.has_units:
            return wanted
        units = self.units or (None,) * max(self.rank, 0)
        if units:
            # The dimensions within elements have none.
            units = (*units, *(None,) * ((schema.rank or 0) - len(units)))
        if wanted is not None and any(wanted):
            units = merge_units(units, wanted)
        return units or None

    # Arrays.

    def check(self, meta: ArrayMeta, schema: Schema, options: Options) -> None:
        is_free = not self.given and not self.extra and (schema is UNCONSTRAINED or is_unconstrained(schema))
        # Units that are none are an error in any case.
        if is_free and not (self.has_units and "dimension_units" in meta.attributes):
            return
        stored = self.of(meta)
        refuse_all(list(self.differences(stored)))
        stored.check_schema(schema, options)

    def differences(self, stored: Self) -> Iterator[SpecError]:
        """Yield an error for each member that a stored array has otherwise."""
        wanted, actual = self.members() | dict(self.extra), stored.members() | dict(stored.extra)
        for name, value in wanted.items():
            if name not in actual or not alike(value, actual[name]):
                yield mismatch(name, value, actual.get(name, MISSING))

    def check_schema(self, schema: Schema, options: Options) -> None:
        """Raise unless the metadata of an array, which these are, meet a schema."""
        field = self.field(options)
        assert field is not None, "metadata of an array are complete"
        rank, dtype = self.rank + len(field.shape), field.dtype
        if schema.rank not in (None, rank):
            raise SpecError(f"expected rank {schema.rank} as in the schema, found {rank} in the metadata")
        if schema.dtype is not None and schema.dtype != dtype:
            raise SpecError(f"expected dtype {schema.dtype.name} of the schema, found {self.dtype_member} {dtype.name}")
        if schema.domain is not None:
            with self._mismatch("domain"):
                self.domain(schema, options)
        if schema.codec is not None:
            whose = "codec" if parts_of(schema.codec)[0] == self.driver else "codec of another driver"
            with self._mismatch("codec", whose):
                self.codec(schema, options)
        if not is_unset(schema.chunk_layout) and grid_of(self.chunk_layout(schema, options), "codec").shape.hard:
            raise InvalidArgumentError("codec_chunk_shape not supported")
        if schema.fill_value is not None:
            with self._mismatch("fill_value"):
                self._check_fill(schema, field, options)
        if any(schema.dimension_units or ()):
            if not self.has_units:
                raise InvalidArgumentError(f"Dimension units not supported by {self.driver} driver")
            self.check_units(schema, options)

    def _mismatch(self, *names: str) -> prefixed:
        """Return a context for the constraint with the first of these names, which `invalid` may have."""
        kind = SpecError if self.invalid.isdisjoint(names) else InvalidArgumentError
        return prefixed(f"{names[0]} from metadata does not match {names[0]} in schema", kind)

    def check_units(self, schema: Schema, options: Options) -> None:
        """Raise unless the units of an array agree with those of a schema."""
        with prefixed("dimension_units from metadata does not match dimension_units in schema"):
            self.dimension_units(schema, options)

    def _check_fill(self, schema: Schema, field: Field, options: Options) -> None:
        if not self.has_fill:
            raise InvalidArgumentError(f"fill_value not supported by {self.driver} format")
        given = fill_of(schema)
        assert given is not None, "as the schema has one"
        wanted = converted(*given, field.dtype, field.shape)
        actual = self.fill(options)
        if actual is None or wanted.tobytes() != actual.tobytes():
            there = "none" if actual is None else shown(actual)
            raise SpecError(f"expected the fill_value {shown(wanted)} of the schema, found {there} in the metadata")

    @classmethod
    def schema_of(cls, meta: ArrayMeta, options: Options) -> Schema:
        stored, nothing = cls.of(meta), Schema()
        field = stored.field(options)
        assert field is not None, "metadata of an array are complete"
        rank, units = stored.rank + len(field.shape), stored.units
        set_rank(nothing, rank)
        layout = stored.chunk_layout(nothing, options)
        finalize(layout)
        return schema_of(
            field.dtype,
            rank,
            domain_of(resizable(meta.shape, stored.labels, field.shape)),
            layout,
            (*units, *(None,) * len(field.shape)) if units else (),
            stored.codec(nothing, options),
            stored.fill(options),
        )

    @classmethod
    def field_of(cls, meta: ArrayMeta, options: Options) -> Field:
        name, void = options.get("field", ""), options.get("open_as_void", False)
        if not name and not void and meta.dtype.name in WHOLE:
            return WHOLE[meta.dtype.name]
        elements = cls.of(meta).elements
        assert elements is not None, "metadata of an array are complete"
        return elements.pick(name, void)

    @classmethod
    def form_of(cls, meta: ArrayMeta, field: Field) -> Form:
        return resizable(meta.shape, meta.dimension_names, field.shape)

    # New arrays.

    def create(self, schema: Schema, options: Options) -> ArrayMeta:
        """Return the metadata of a new array that meets the constraints, with everything that is left open chosen."""
        chosen, elements = choice(options), self.elements
        if elements is None:
            for asked, option in zip(chosen, ("field", "open_as_void"), strict=True):
                if asked:
                    raise SpecError(f'"dtype" must be specified in "metadata" if "{option}" is specified')
            if schema.dtype is None:
                raise SpecError("dtype must be specified")
            elements = self.elements_for(schema.dtype)
        whole = type(self)({**self.given, self.dtype_member: elements}, self.rank, self.extra)
        return whole._created(elements, schema, options)

    @abstractmethod
    def elements_for(self, dtype: DType) -> Elements:
        """Return the type of elements of new arrays of a data type."""

    def new_fill(self, chosen: Chosen, default: Any) -> Fill:
        """Return the fill value of a new array: that of the metadata, that of the schema, or the default."""
        if fill := self.given.get("fill_value"):
            return fill
        return Fill(chosen.elements, default) if chosen.fill is None else Fill.of(chosen.elements, chosen.fill)

    def _created(self, elements: Elements, schema: Schema, options: Options) -> ArrayMeta:
        field = elements.pick(*choice(options))
        with prefixed("Invalid domain"):
            domain = self.domain(schema, options)
        if domain is None or -INF in domain.origin or INF + 1 in domain.exclusive_max:
            raise SpecError("domain must be specified")
        rank = domain.rank - len(field.shape)
        bounds = [form_of(domain).interval(dim).bounds for dim in range(domain.rank)]

        def arranged() -> list[Any]:
            layout = self.chunk_layout(schema, options)
            return all_of(lambda: self.order(layout, rank), lambda: self.choose_chunks(layout, bounds, rank))

        (order, (write, read)), fill, units, codec = all_of(
            arranged,
            lambda: self._fill_of(schema, elements, field),
            lambda: self.dimension_units(schema, options) or (),
            lambda: self.codec(schema, options),
        )
        if prod(write) >= 1 << 63:
            raise SpecError(f"Product of chunk dimensions {braces(write)} is too large")
        value = None if codec is None else parts_of(codec)[1]
        meta = self.array(
            Chosen(elements, domain, domain.shape[:rank], write[:rank], read[:rank], order, fill, units, value)
        )
        self.of(meta).check_schema(schema, options)
        return meta

    def _fill_of(self, schema: Schema, elements: Elements, field: Field) -> Element | None:
        """Return the fill value of a schema, if the metadata have none."""
        given = fill_of(schema)
        if self.is_filled or given is None or not self.has_fill:
            return None
        with prefixed("Invalid fill_value"):
            if len(elements.fields) != 1:
                raise SpecError("a schema has no fill value for data types with several fields")
            return converted(*given, field.dtype, field.shape)

    def order(self, layout: ChunkLayout, rank: int) -> tuple[int, ...] | None:
        """Return the order of so many dimensions in new chunks."""
        return None if (order := order_in(layout)) is None else tuple(dim for dim in order if dim < rank)

    def choose_chunks(self, layout: ChunkLayout, bounds: Any, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shapes of what is written and of what is read; by default, they are the same."""
        shape = choose_shape(chunk_constraints(layout), bounds)
        return shape, shape

    @abstractmethod
    def array(self, chosen: Chosen) -> ArrayMeta:
        """Return the array with what was chosen."""
