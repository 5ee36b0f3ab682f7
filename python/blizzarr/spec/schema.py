"""`Schema`: constraints on an array, given by keywords or JSON, and that of a view."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from functools import partial
from typing import Any, Final, Self

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form
from blizzarr.json_members import as_integer, as_list, as_object, or_none
from blizzarr.json_values import MISSING, braces
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import Argument, apply_arguments, apply_given, instance_of, prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, is_unset, layout_from_json, merge_layout
from blizzarr.spec.codec_spec import CodecSpec, merged_codec
from blizzarr.spec.dtype import DType, as_dtype, dtype_json
from blizzarr.spec.json_array import check_broadcast, fill_from_json, fill_from_user, fill_json, shown
from blizzarr.spec.pretty import Pretty
from blizzarr.spec.through_view import (
    domain_of_base,
    fill_of_base,
    fill_of_view,
    layout_of_base,
    layout_of_view,
    units_of_base,
    units_of_view,
)
from blizzarr.spec.unit import DimensionUnits, Unit, merge_units
from blizzarr.views import IndexDomain, Indexed, IndexTransform, domain_of, form_of
from blizzarr.views.descriptions import parse_domain
from blizzarr.views.domain import merged_domain
from blizzarr.views.values import MAX_RANK, to_index

_NO_LAYOUT: Final = ChunkLayout()


class Schema(Pretty, Indexed):
    """The properties of an array, or constraints on them.

    Examples
    --------
    >>> schema = Schema(dtype="uint8", chunk_layout=ChunkLayout(grid_origin=[1, 2, 3], inner_order=[0, 2, 1]))
    >>> schema
    Schema({
      'chunk_layout': {'grid_origin': [1, 2, 3], 'inner_order': [0, 2, 1]},
      'dtype': 'uint8',
      'rank': 3,
    })
    >>> schema.update(fill_value=42)
    >>> schema.fill_value, schema.rank
    (array(42, dtype=uint8), 3)
    """

    __slots__ = ("_codec", "_domain", "_dtype", "_fill", "_layout", "_rank", "_units")

    def __init__(self, json: Any = MISSING, **constraints: Any) -> None:
        self._rank = -1
        self._dtype: DType | None = None
        self._domain: IndexDomain | None = None
        # Never changed, only replaced.
        self._layout = _NO_LAYOUT
        self._codec: CodecSpec | None = None
        self._fill: tuple[np.ndarray[Any, Any], DType] | None = None
        self._units: DimensionUnits = ()
        apply_given(self, json, SCHEMA_ARGUMENTS, constraints)

    def update(self, **constraints: Any) -> None:
        """Add constraints.

        They are ``rank``, ``dtype``, ``domain``, ``shape`` (a domain from zero on), ``chunk_layout``, ``codec``,
        ``fill_value``, ``dimension_units``, and ``schema`` for all of another.

        Examples
        --------
        >>> schema = Schema(rank=3)
        >>> schema.update(dtype="uint8")
        >>> schema
        Schema({'dtype': 'uint8', 'rank': 3})
        """
        apply_arguments(Schema.update, self, SCHEMA_ARGUMENTS, constraints)

    def copy(self) -> Self:
        """Return an independent copy."""
        schema = type(self).__new__(type(self))
        for name in Schema.__slots__:
            setattr(schema, name, getattr(self, name))
        return schema

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    # Properties

    @property
    def rank(self) -> int | None:
        """The number of dimensions."""
        return None if self._rank == -1 else self._rank

    ndim = rank

    @property
    def dtype(self) -> DType | None:
        """The data type."""
        return self._dtype

    @property
    def domain(self) -> IndexDomain | None:
        """The indices of elements.

        Examples
        --------
        >>> schema = Schema(domain=IndexDomain(labels=["x", "y"]))
        >>> schema.update(shape=[100, 200])
        >>> schema.domain
        { "x": [0, 100), "y": [0, 200) }
        """
        return self._domain

    @property
    def chunk_layout(self) -> ChunkLayout:
        """A copy of the constraints on the layout."""
        return copy(self._layout)

    @property
    def codec(self) -> CodecSpec | None:
        """The codec that turns elements into bytes."""
        return self._codec

    @property
    def fill_value(self) -> np.ndarray[Any, Any] | None:
        """The value of elements that were never written, as an array that is broadcast to the domain."""
        return None if self._fill is None else self._fill[0]

    @property
    def dimension_units(self) -> DimensionUnits | None:
        """The unit of each dimension, `None` where it is not known.

        Examples
        --------
        >>> schema = Schema(dimension_units=["3nm", None, ""])
        >>> schema.update(dimension_units=[None, "4nm", None])
        >>> schema.dimension_units
        (Unit(3, "nm"), Unit(4, "nm"), Unit(1, ""))
        """
        if self._rank == -1:
            return None
        return self._units or (None,) * self._rank

    # Constraints, one by one.

    def _set_domain(self, domain: IndexDomain) -> None:
        set_rank(self, domain.rank, "domain")
        merged = domain if self._domain is None else merged_domain(self._domain, domain)
        if self._fill is not None:
            with prefixed("domain is incompatible with fill_value"):
                check_broadcast(self._fill[0].shape, merged.shape)
        self._domain = merged

    def _set_shape(self, shape: tuple[int, ...]) -> None:
        set_rank(self, len(shape), "shape")
        self._set_domain(IndexDomain(shape=shape))

    def _set_layout(self, layout: ChunkLayout) -> None:
        if is_unset(layout):
            return
        if is_unset(self._layout):
            merged = copy(layout)
        else:
            merged = self.chunk_layout
            merge_layout(merged, layout)
        if merged.rank != -1:
            set_rank(self, merged.rank, "chunk_layout")
        self._layout = merged

    def _set_codec(self, codec: CodecSpec) -> None:
        self._codec = codec if self._codec is None else merged_codec(self._codec, codec)

    def _set_fill_array(self, array: np.ndarray[Any, Any], dtype: DType) -> None:
        if self._domain is not None:
            with prefixed("fill_value is incompatible with domain"):
                check_broadcast(array.shape, self._domain.shape)
        if -1 != self._rank < array.ndim:
            raise SpecError(f"Invalid fill_value for rank {self._rank}: {shown(array, dtype)}")
        if self._fill is not None and not _same(self._fill, (array, dtype)):
            there = shown(*self._fill)
            raise SpecError(f"expected the fill_value {there} that the schema has, found {shown(array, dtype)}")
        self._fill = array, dtype

    def _set_units(self, units: DimensionUnits) -> None:
        if units:
            set_rank(self, len(units), "dimension_units")
            self._units = merge_units(self._units, units)

    # Views.

    @property
    def _form(self) -> Form:
        if self._rank == -1 and self._fill is not None and self._fill[0].ndim:
            raise SpecError("a schema of unknown rank whose fill_value has dimensions cannot be indexed")
        if self._rank == -1:
            raise unknown_rank(self)
        return form_of(IndexTransform(IndexDomain(self._rank) if self._domain is None else self._domain))

    def _with_form(self, view: Form) -> Schema:
        """Return the schema of a view.

        >>> schema = Schema(shape=[10, 20], chunk_layout=ChunkLayout(chunk_shape=[4, 4]), dimension_units=["nm", "s"])
        >>> view = schema[2, ::2]
        >>> view.domain, view.chunk_layout.read_chunk.shape, view.dimension_units
        ({ [0, 10) }, (2,), (Unit(2, "s"),))
        """
        schema = self.copy()
        schema._rank = view.rank
        if self._domain is not None:
            schema._domain = domain_of(view)
        schema._layout = layout_of_view(self._layout, view)
        if self._fill is not None:
            with prefixed("Error transforming fill_value"):
                schema._fill = fill_of_view(self._fill[0], view, self._domain), self._fill[1]
        if self._units:
            schema._units = units_of_view(self._units, view)
        return schema

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The constraints as JSON; there are no defaults.

        Examples
        --------
        >>> Schema(shape=[2, 3], dimension_units=["3nm", None]).to_json()["dimension_units"]
        [[3.0, 'nm'], None]
        """
        members: dict[str, Any] = {}
        layout = self._layout.to_json()
        layout.pop("rank", None)
        if layout:
            members["chunk_layout"] = layout
        if self._codec is not None:
            members["codec"] = self._codec.to_json()
        if any(self._units):
            members["dimension_units"] = [None if unit is None else unit.to_json() for unit in self._units]
        if self._domain is not None:
            members["domain"] = self._domain.to_json()
        if self._dtype is not None:
            members["dtype"] = self._dtype.to_json()
        if self._fill is not None:
            members["fill_value"] = fill_json(self._fill[0])
        if self._rank != -1:
            members["rank"] = self._rank
        return members

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            raise TypeError(f"a Schema cannot be compared with {other!r}")
        return all(_same(getattr(self, name), getattr(other, name)) for name in Schema.__slots__)


def unknown_rank(indexed: object) -> SpecError:
    """Return the error that a schema, or a spec, cannot be indexed."""
    return SpecError(f"Cannot perform indexing operations on {type(indexed).__name__} with unspecified rank")


def _same(mine: Any, theirs: Any) -> bool:
    """Return whether two constraints are equal; data types, layouts and units can be compared with others only."""
    if mine is None or theirs is None:
        return mine is theirs
    if isinstance(mine, tuple):
        return len(mine) == len(theirs) and all(map(_same, mine, theirs))
    if isinstance(mine, np.ndarray):
        return bool(mine.dtype == theirs.dtype and np.array_equal(mine, theirs))
    return bool(mine == theirs)


def _units(values: Iterable[Any]) -> DimensionUnits:
    return tuple(value if value is None or isinstance(value, Unit) else Unit(value) for value in values)


# The constraints of a schema for the rest of the package; the class itself has TensorStore's names only.


def schema_of(
    dtype: DType | None,
    rank: int | None,
    domain: IndexDomain | None = None,
    layout: ChunkLayout = _NO_LAYOUT,
    units: DimensionUnits = (),
    codec: CodecSpec | None = None,
    fill: np.ndarray[Any, Any] | None = None,
) -> Schema:
    """Return constraints from parts that are known to be consistent; the fill value is of the data type."""
    schema = object.__new__(Schema)
    schema._rank, schema._dtype, schema._domain = -1 if rank is None else rank, dtype, domain
    schema._layout, schema._units, schema._codec = layout, units, codec
    schema._fill = None if fill is None or dtype is None else (fill, dtype)
    return schema


def is_unconstrained(schema: Schema) -> bool:
    if schema._rank != -1 or schema._dtype is not None or schema._domain is not None:
        return False
    return schema._codec is None and schema._fill is None and is_unset(schema._layout)


def set_rank(schema: Schema, rank: int, named: str = "rank") -> None:
    """Set the number of dimensions, to which `named` leads; -1 has no effect."""
    if rank == -1 and named == "rank":
        return
    if not 0 <= rank <= MAX_RANK:
        raise SpecError(f"Rank {rank} is outside valid range [0, {MAX_RANK}]")
    if schema._rank not in (-1, rank):
        raise SpecError(
            f"Rank specified by {named} ({rank}) does not match existing rank specified by schema ({schema._rank})"
        )
    if schema._fill is not None and schema._fill[0].ndim > rank:
        shape = braces(schema._fill[0].shape)
        raise SpecError(f"expected a rank for fill_value of shape {shape}, found {rank} by {named}")
    schema._rank = rank


def refuse_encoding(schema: Schema, whose: str = "") -> None:
    """Raise if a schema has a codec or a fill value, for elements that have neither."""
    for name in ("fill_value", "codec"):
        if getattr(schema, name) is not None:
            raise SpecError(f"{name} not supported{whose}")


def set_dtype(schema: Schema, dtype: DType) -> None:
    if schema._dtype is not None and schema._dtype != dtype:
        raise SpecError(f"Specified dtype ({dtype.name}) does not match existing value ({schema._dtype.name})")
    schema._dtype = dtype


def without_dtype(schema: Schema) -> Schema:
    """Return the other constraints."""
    others = schema.copy()
    others._dtype = None
    return others


def merge_schema(schema: Schema, other: Schema) -> None:
    set_rank(schema, other._rank)
    if other._dtype is not None:
        set_dtype(schema, other._dtype)
    if other._domain is not None:
        schema._set_domain(other._domain)
    schema._set_layout(other._layout)
    if other._fill is not None:
        schema._set_fill_array(*other._fill)
    if other._codec is not None:
        schema._set_codec(other._codec)
    schema._set_units(other._units)


SCHEMA_ARGUMENTS: Final[dict[str, Argument]] = {
    "rank": Argument(to_index, set_rank, as_integer(0, MAX_RANK)),
    "dtype": Argument(as_dtype, set_dtype, dtype_json),
    "domain": Argument(
        instance_of(IndexDomain), Schema._set_domain, lambda value: domain_of(parse_domain(as_object(value)))
    ),
    "shape": Argument(lambda sizes: tuple(map(to_index, sizes)), Schema._set_shape),
    "chunk_layout": Argument(instance_of(ChunkLayout), Schema._set_layout, layout_from_json),
    "codec": Argument(instance_of(CodecSpec), Schema._set_codec, CodecSpec),
    # Both are converted to the data type of the schema.
    "fill_value": Argument(
        lambda value: partial(fill_from_user, value),
        lambda schema, fill: schema._set_fill_array(*fill(schema._dtype)),
        lambda value: partial(fill_from_json, value),
    ),
    "dimension_units": Argument(_units, Schema._set_units, as_list(or_none(lambda value: Unit(json=value)), MAX_RANK)),
    "schema": Argument(instance_of(Schema), merge_schema),
}
"""The constraints on schemas by keyword, in the order in which they are applied."""

name_keywords(Schema.__init__, list(SCHEMA_ARGUMENTS))
name_keywords(Schema.update, list(SCHEMA_ARGUMENTS))


UNCONSTRAINED: Final = Schema()
"""The schema of a spec that says nothing about the array; never changed."""


def schema_of_base(schema: Schema, transform: IndexTransform) -> Schema:
    """Return the constraints that the array under a view must meet so that the view meets the schema.

    >>> from blizzarr.views import d
    >>> schema_of_base(Schema(shape=[3, 4]), IndexTransform(input_rank=2).T[d[:].translate_by[0, 5]]).domain
    { [-5, -1), [0, 3) }
    """
    view = form_of(transform)
    if schema.rank not in (None, transform.input_rank):
        way = f"{transform.input_rank} -> {transform.output_rank}"
        raise SpecError(f"expected a view of rank {schema.rank} as in the schema, found one of rank {way}")
    parts: dict[str, Any] = {"dtype": schema.dtype, "codec": schema.codec}
    parts["chunk_layout"] = layout_of_base(schema.chunk_layout, view)
    carried: tuple[tuple[str, Callable[[Any, Form], Any]], ...] = (
        ("domain", domain_of_base),
        ("fill_value", fill_of_base),
        ("dimension_units", units_of_base),
    )
    for name, of_base in carried:
        part = getattr(schema, name)
        if part is not None and not (name == "dimension_units" and not any(part)):
            with prefixed(f"Error transforming {name}"):
                parts[name] = of_base(part, view)
    return Schema(rank=transform.output_rank, **parts)


def fill_of(schema: Schema) -> tuple[np.ndarray[Any, Any], DType] | None:
    """Return the fill value of a schema, and its data type; None if there is none."""
    return schema._fill
