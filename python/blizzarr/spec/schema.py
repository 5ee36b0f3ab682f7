"""`Schema`: constraints on an array, given by keywords or JSON, and seen through views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from blizzarr.errors import SpecError
from blizzarr.indexing.form import Form
from blizzarr.json_values import MISSING, expected, plain
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import Argument, apply_arguments, integer, prefixed
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec, as_codec_spec
from blizzarr.spec.constraint import MAX_RANK
from blizzarr.spec.dimension_units import DimensionUnits
from blizzarr.spec.dtype import as_dtype, dtype_json
from blizzarr.spec.fill_value import (
    fill_from_json,
    fill_json,
)
from blizzarr.spec.members import Members, as_integer, as_list
from blizzarr.spec.pretty import pretty
from blizzarr.spec.schema_constraints import SchemaConstraints
from blizzarr.spec.through_view import (
    fill_of_view,
    layout_of_view,
    units_of_view,
)
from blizzarr.spec.unit import as_unit, unit_json
from blizzarr.views import Indexable, IndexDomain, IndexTransform, domain_from_json

_units_json = as_list(lambda value: None if value is None else unit_json(value), MAX_RANK)


class Schema(SchemaConstraints, Indexable):
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

    __slots__ = ()

    def __init__(self, json: Any = MISSING, **constraints: Any) -> None:
        super().__init__()
        if json is not MISSING:
            if constraints:
                raise TypeError("expected JSON or keyword arguments, found both")
            self._read(Members(plain(json)))
        elif constraints:
            apply_arguments(Schema.__init__, self, SCHEMA_ARGUMENTS, constraints)

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

    # Views.

    @property
    def _transform(self) -> IndexTransform | None:
        if self._rank == -1:
            if self._fill is not None and self._fill.ndim:
                raise SpecError(
                    "Cannot apply dimension expression to schema constraints of unknown rank with non-scalar fill_value"
                )
            return None
        return IndexTransform._identity(IndexDomain(self._rank) if self._domain is None else self._domain)

    def _with_transform(self, transform: IndexTransform) -> Schema:
        return self._seen_through(transform)

    def _seen_through(self, transform: IndexTransform) -> Schema:
        """The schema of a view.

        Examples
        --------
        >>> schema = Schema(shape=[10, 20], chunk_layout=ChunkLayout(chunk_shape=[4, 4]), dimension_units=["nm", "s"])
        >>> view = schema[2, ::2]
        >>> view.domain, view.chunk_layout.read_chunk.shape, view.dimension_units
        ({ [0, 10) }, (2,), (Unit(2, "s"),))
        """
        view = transform._form
        self._check_rank(len(view.maps), view)
        found = self.copy()
        found._rank = view.rank
        if self._domain is not None:
            found._domain = transform.domain
        found._layout = layout_of_view(self._layout, view)
        if self._fill is not None:
            with prefixed("Error transforming fill_value"):
                found._fill = fill_of_view(self._fill, view, self._domain)
        if self._units:
            found._units = units_of_view(self._units, view)
        return found

    def _check_rank(self, rank: int, view: Form) -> None:
        if self._rank not in (-1, rank):
            raise SpecError(
                f"Cannot transform schema of rank {self._rank} by index transform of rank "
                f"{view.rank} -> {len(view.maps)}"
            )

    # JSON.

    def _read(self, members: Members) -> None:
        self._rank = members.take("rank", as_integer(0, MAX_RANK), -1)
        self._dtype = members.take("dtype", dtype_json, None)
        members.take("domain", lambda value: self._set_domain(_domain_json(value)), None)
        members.take("chunk_layout", lambda value: self._set_layout(ChunkLayout(value)), None)
        members.take("codec", lambda value: self._set_codec(CodecSpec(value)), None)
        members.take("fill_value", lambda value: self._set_fill_array(*fill_from_json(value, self._dtype)), None)
        members.take("dimension_units", lambda value: self._set_units(_units_json(value)), None)
        members.end()

    def to_json(self, include_defaults: bool = False) -> dict[str, Any]:
        """The constraints as JSON; there are no defaults.

        Examples
        --------
        >>> Schema(shape=[2, 3], dimension_units=["3nm", None]).to_json()["dimension_units"]
        [[3.0, 'nm'], None]
        """
        found: dict[str, Any] = {}
        layout = self._layout.to_json()
        layout.pop("rank", None)
        if layout:
            found["chunk_layout"] = layout
        if self._codec is not None:
            found["codec"] = self._codec.to_json()
        if any(unit is not None for unit in self._units):
            found["dimension_units"] = [None if unit is None else unit.to_json() for unit in self._units]
        if self._domain is not None:
            found["domain"] = self._domain.to_json()
        if self._dtype is not None:
            found["dtype"] = self._dtype.to_json()
        if self._fill is not None:
            found["fill_value"] = fill_json(self._fill)
        if self._rank != -1:
            found["rank"] = self._rank
        return found

    def __repr__(self) -> str:
        try:
            return pretty(self.to_json(), "Schema(", ")")
        except SpecError:
            # Raw bytes have no JSON.
            return "Schema(...)"

    def __reduce__(self) -> tuple[Any, ...]:
        return Schema, (self.to_json(),)


def _domain_json(value: Any) -> IndexDomain:
    if value is None:
        with prefixed("Error parsing index domain from JSON"):
            raise expected(value, "object")
    return domain_from_json(value)


def _as(kind: type) -> Any:
    def convert(value: Any) -> Any:
        if not isinstance(value, kind):
            raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
        return value

    return convert


def _shape(values: Iterable[Any]) -> tuple[int, ...]:
    return tuple(integer(value) for value in values)


def _units(values: Iterable[Any]) -> DimensionUnits:
    return tuple(None if value is None else as_unit(value) for value in values)


SCHEMA_ARGUMENTS: Final[dict[str, Argument]] = {
    "rank": Argument(integer, Schema._set_rank),
    "dtype": Argument(as_dtype, Schema._set_dtype),
    "domain": Argument(_as(IndexDomain), Schema._set_domain),
    "shape": Argument(_shape, Schema._set_shape),
    "chunk_layout": Argument(_as(ChunkLayout), Schema._set_layout),
    "codec": Argument(as_codec_spec, Schema._set_codec),
    "fill_value": Argument(lambda value: value, Schema._set_fill),
    "dimension_units": Argument(_units, Schema._set_units),
    "schema": Argument(_as(Schema), Schema._merge),
}
"""The constraints on schemas by keyword, in the order in which they are applied."""

name_keywords(Schema.__init__, list(SCHEMA_ARGUMENTS))
name_keywords(Schema.update, list(SCHEMA_ARGUMENTS))


UNCONSTRAINED: Final = Schema()
"""The schema of a spec that says nothing about the array; never changed."""
