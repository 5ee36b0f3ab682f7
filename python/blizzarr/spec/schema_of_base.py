"""Constraints on a view, turned into constraints on what it is a view of."""

from __future__ import annotations

from blizzarr.errors import SpecError
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.schema import Schema
from blizzarr.spec.through_view import domain_of_base, fill_of_base, layout_of_base, units_of_base
from blizzarr.views import IndexTransform


def schema_of_base(schema: Schema, transform: IndexTransform) -> Schema:
    """Return the constraints that the array under a view must meet so that the view meets the schema.

    Examples
    --------
    >>> from blizzarr.views import d
    >>> schema_of_base(Schema(shape=[3, 4]), IndexTransform(input_rank=2).T[d[:].translate_by[0, 5]]).domain
    { [-5, -1), [0, 3) }
    """
    view = transform._form
    if schema.rank not in (None, transform.input_rank):
        raise SpecError(
            f"Cannot inverse transform schema of rank {schema.rank} by index transform of rank "
            f"{transform.input_rank} -> {transform.output_rank}"
        )
    under = Schema(rank=transform.output_rank)
    if schema.dtype is not None:
        under.update(dtype=schema.dtype)
    under._merge(Schema(chunk_layout=layout_of_base(schema.chunk_layout, view)))
    if schema.domain is not None:
        with prefixed("Error transforming domain"):
            under._merge(Schema(domain=domain_of_base(schema.domain, view)))
    if schema.fill_value is not None:
        with prefixed("Error transforming fill_value"):
            fill = fill_of_base(schema.fill_value, view)
        under.update(fill_value=fill)
    if schema.codec is not None:
        under.update(codec=schema.codec)
    units = schema.dimension_units
    if units is not None and any(unit is not None for unit in units):
        with prefixed("Error transforming dimension_units"):
            under._merge(Schema(dimension_units=units_of_base(units, view)))
    return under
