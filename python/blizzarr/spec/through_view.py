"""The parts of the schema of a view, and constraints on a view turned into constraints on its base.

For each dimension of the store, the *output*, a view has a map. Only maps of one dimension, the *input*, carry
constraints over, and towards the view only those whose input no other map has (`_one_to_one`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.indexing.form import ArrayMap, Form, Map, identity_maps
from blizzarr.indexing.interval import INF, Interval, affine_range
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, carried, order_in
from blizzarr.spec.grid import Rule, Vector
from blizzarr.spec.json_array import check_broadcast, unbroadcast
from blizzarr.spec.unit import DimensionUnits
from blizzarr.views import IndexDomain, domain_of, form_of
from blizzarr.views.compose import indices_of
from blizzarr.views.values import MAX_RANK


def _one_to_one(view: Form) -> set[int]:
    used: set[int] = set()
    shared: set[int] = set()
    for map_ in view.maps:
        if isinstance(map_, tuple):
            (shared if map_[0] in used else used).add(map_[0])
        elif isinstance(map_, ArrayMap):
            shared.update(map_.dims)
    return used - shared


# Layouts.


def layout_of_view(layout: ChunkLayout, view: Form) -> ChunkLayout:
    if layout.rank <= 0 or (layout.rank == view.rank and view.maps == identity_maps(view.rank)):
        return copy(layout)
    _check_rank(layout.rank, len(view.maps), view)
    order = order_in(layout)
    order = None if order is None or not view.rank else _order_of_view(order, view)
    return carried(layout, view.rank, order, partial(_of_view, view, _one_to_one(view)))


def layout_of_base(layout: ChunkLayout, view: Form) -> ChunkLayout:
    """Return the layout that the base of a view must have for the view to have this one."""
    if layout.rank <= 0:
        return copy(layout)
    _check_rank(layout.rank, view.rank, view)
    order = order_in(layout)
    order = None if order is None else _order_of_base(order, view)
    return carried(layout, len(view.maps), order, partial(_of_base, view))


def _check_rank(rank: int, expected: int, view: Form) -> None:
    if rank != expected:
        raise SpecError(f"expected a view of constraints of rank {rank}, found {view.rank} -> {len(view.maps)}")


_Link: TypeAlias = tuple[int, int, tuple[int, int, int]]
"""A dimension on this side of a view, one on the other side, and the map that connects them."""


def _carried(
    vector: Vector, links: list[_Link], size: int, convert: Callable[[Any, int, int], Any], name: str, way: str
) -> Vector:
    """Return constraints on the other side of a view, which has so many dimensions."""
    values: list[Any] = [None] * size
    for one, other, (_, offset, stride) in links:
        if (value := vector.values[one]) is not None:
            doing = f"Error transforming {name} {value} by offset {offset} and stride {stride}, "
            with prefixed(doing + way.format(one, other)):
                values[other] = convert(value, offset, stride)
    return Vector(tuple(values), frozenset(other for one, other, _ in links if one in vector.hard))


def _of_view(view: Form, alone: set[int], vector: Vector, rule: Rule, name: str) -> Vector:
    links = [(output, dim, map_) for dim, output, map_ in _links(view) if dim in alone]
    return _carried(vector, links, view.rank, rule.to_input, name, "output dimension {} -> input dimension {}")


def _of_base(view: Form, vector: Vector, rule: Rule, name: str) -> Vector:
    links, rank = _links(view), len(view.maps)
    carried = _carried(vector, links, rank, rule.to_output, name, "input dimension {} -> output dimension {}")
    # TensorStore looks at the constraints after it has replaced them, if there are as many: those that are gone by then
    # are left out without a word.
    left = carried.values if rank == view.rank else vector.values
    for dim in sorted(vector.hard - {dim for dim, _, _ in links}):
        if left[dim] is not None:
            raise SpecError(f"Error transforming {name}: No output dimension corresponds to input dimension {dim}")
    return carried


def _links(view: Form) -> list[_Link]:
    """Return each dimension of a view with the one of the store that follows from it."""
    maps = enumerate(view.maps)
    return [(map_[0], output, map_) for output, map_ in maps if isinstance(map_, tuple) and map_[2]]


def _order_of_view(order: Sequence[int], view: Form) -> tuple[int, ...]:
    first = [MAX_RANK] * view.rank
    for position, output in enumerate(order):
        map_ = view.maps[output]
        if isinstance(map_, tuple):
            first[map_[0]] = min(first[map_[0]], position)
    return tuple(sorted(range(view.rank), key=lambda dim: (first[dim], dim)))


def _order_of_base(order: Sequence[int], view: Form) -> tuple[int, ...]:
    def position(output: int) -> int:
        map_ = view.maps[output]
        return order.index(map_[0]) if isinstance(map_, tuple) else MAX_RANK

    return tuple(sorted(range(len(view.maps)), key=lambda output: (position(output), output)))


# Units.

_UNIT: Final = Rule(
    0, bool, None, lambda unit, offset, stride: unit / abs(stride), lambda unit, offset, stride: unit * abs(stride)
)


def units_of_view(units: DimensionUnits, view: Form) -> DimensionUnits:
    """Return the units of a view; those of strided dimensions are multiplied by the stride.

    >>> from blizzarr.spec.unit import Unit
    >>> from blizzarr.views import IndexTransform
    >>> units_of_view((Unit("4nm"),), form_of(IndexTransform(input_shape=[9])[::2]))
    (Unit(8, "nm"),)
    """
    if not any(units) and len(units) == len(view.maps):
        return (None,) * view.rank
    return _of_view(view, _one_to_one(view), Vector(units), _UNIT, "dimension_units").values


def units_of_base(units: DimensionUnits, view: Form) -> DimensionUnits:
    """Return the units that the base of a view must have for the view to have these."""
    links = _links(view)
    used = {dim for dim, _, _ in links}
    for dim, unit in enumerate(units):
        if unit is not None and dim not in used:
            raise SpecError(f"No output dimension corresponds to input dimension {dim} with unit {unit}")
    return _carried(Vector(units), links, len(view.maps), _UNIT.to_output, "dimension_units", "").values


def _single_maps(view: Form, what: str) -> Iterator[tuple[int, int, int]]:
    """Yield the maps of a view, through which constraints of this kind are given: each of one dimension, its own."""
    used: set[int] = set()
    for map_ in view.maps:
        if not isinstance(map_, tuple):
            kind = "array" if isinstance(map_, ArrayMap) else "constant"
            raise SpecError(f"a {what} cannot be given through a view with a {kind} output index map")
        if map_[0] in used:
            raise SpecError(f"a {what} cannot be given through a view that has a dimension of the array twice")
        used.add(map_[0])
        yield map_


# Domains.


def domain_of_base(domain: IndexDomain, view: Form) -> IndexDomain:
    """Return the domain that the base of a view must have for the view to have this one."""
    dims: list[tuple[Interval, str]] = []
    for output, (dim, offset, stride) in enumerate(_single_maps(view, "domain")):
        interval = form_of(domain).interval(dim)
        if (interval.lower, interval.upper) != (-INF, INF + 1) and abs(stride) != 1:
            raise SpecError("a finite domain cannot be given through a view with steps")
        with prefixed(f"Error computing range of output dimension {output} from input dimension {dim}"):
            lower, upper = affine_range(interval.bounds, offset, stride)
        implicit = interval.implicit_lower, interval.implicit_upper
        dims.append((Interval(lower, upper, *(implicit if stride > 0 else reversed(implicit))), domain.labels[dim]))
    return domain_of(Form.of_dims(dims))


# Fill values.


def fill_of_view(fill: np.ndarray[Any, Any], view: Form, domain: IndexDomain | None) -> np.ndarray[Any, Any]:
    """Return the fill value of a view; `domain` is that of its base.

    >>> from blizzarr.views import IndexTransform
    >>> fill_of_view(np.arange(5), form_of(IndexTransform(input_shape=[5])[1::2]), IndexDomain(shape=[5]))
    array([1, 3])
    """
    if not fill.ndim:
        return fill
    skipped = len(view.maps) - fill.ndim
    positions: list[Any] = []
    for size, (output, map_) in zip(fill.shape, list(enumerate(view.maps))[skipped:], strict=True):
        if size == 1:
            positions.append(np.zeros((1,) * view.rank, int))
            continue
        along = _positions(map_, view, size)
        origin = int(along.min()) if domain is None else domain.origin[output]
        if domain is None:
            check_broadcast((size,), (int(along.max()) - origin + 1,))
        positions.append(along - origin)
    return unbroadcast(fill[tuple(positions)])


def _positions(map_: Map, view: Form, size: int) -> np.ndarray[Any, Any]:
    """Return the indices of a map for all positions of the view; all of an array whose origin is not known."""
    if isinstance(map_, tuple) and (view.lower[map_[0]] == -INF or view.upper[map_[0]] == INF + 1):
        dim, _, stride = map_
        shape = tuple([size if other == dim else 1 for other in range(view.rank)])
        return indices_of(Form.of_shape(shape), (dim, 0, stride))
    return indices_of(view, map_)


def fill_of_base(fill: np.ndarray[Any, Any], view: Form) -> np.ndarray[Any, Any]:
    """Return the fill value that the base of a view must have for the view to have this one."""
    added = view.rank - fill.ndim
    fill = fill.reshape((1,) * added + fill.shape)
    maps = list(_single_maps(view, "fill value"))
    if any(abs(stride) != 1 for _, _, stride in maps):
        raise SpecError("a fill value cannot be given through a view with steps")
    order = [dim for dim, _, _ in maps]
    for dim, size in enumerate(fill.shape):
        if size != 1 and dim not in order:
            raise SpecError(
                f"expected a fill value that is the same along dimension {dim - added}, as the view adds it"
            )
    fill = fill[tuple(slice(None) if dim in order else 0 for dim in range(view.rank))]
    fill = np.transpose(fill, [sorted(order).index(dim) for dim in order])
    return np.flip(fill, tuple([axis for axis, (_, _, stride) in enumerate(maps) if stride < 0]))
