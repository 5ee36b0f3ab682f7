"""The changes that resizing a view asks of the array under it."""

from __future__ import annotations

from typing import NamedTuple

from blizzarr.errors import ConstraintError, SpecError
from blizzarr.indexing.form import ArrayMap, Form
from blizzarr.indexing.interval import Bounds, affine_range


class _Demand(NamedTuple):
    """The new bounds of one dimension of the array, and the old ones that it must have; None demands nothing."""

    lower: int | None = None
    upper: int | None = None
    was_lower: int | None = None
    was_upper: int | None = None


def new_shape(
    view: Form,
    shape: tuple[int, ...],
    inclusive_min: tuple[int | None, ...] | None,
    exclusive_max: tuple[int | None, ...] | None,
    modes: frozenset[str],
) -> tuple[int, ...]:
    """Return the shape of an array that begins at zero, for which a view of it has the new bounds.

    Raise `SpecError` when the view has bounds that cannot be changed.
    Raise `ConstraintError` when more would change than the view shows, or not in the way that was asked for.

    >>> from blizzarr.views import IndexTransform
    >>> view = IndexTransform(input_shape=[4, 6], implicit_upper_bounds=[True, True])
    >>> new_shape(view.T._form, (4, 6), None, (9, None), frozenset())
    (4, 9)
    """
    rank = view.rank
    lower = inclusive_min if inclusive_min is not None else (None,) * rank
    upper = exclusive_max if exclusive_max is not None else (None,) * rank
    if len(lower) != rank or len(upper) != rank:
        raise SpecError(f"inclusive_min and exclusive_max must have rank {rank}")
    for dim in range(rank):
        for new, implicit, which in (
            (lower[dim], view.implicit_lower[dim], "lower"),
            (upper[dim], view.implicit_upper[dim], "upper"),
        ):
            if new is not None and not implicit:
                raise SpecError(
                    f"Invalid resize request for input dimension {dim}: Cannot change explicit {which} bound"
                )
    if all(new is None for new in (*lower, *upper)):
        return shape
    demands = _demands(view, lower, upper, "resize_tied_bounds" in modes)
    if all(demand.lower is None and demand.upper is None for demand in demands):
        # Dimensions of the view that no dimension of the array belongs to.
        return shape
    return tuple(
        _checked(dim, size, demand, modes) for dim, (size, demand) in enumerate(zip(shape, demands, strict=True))
    )


def _demands(view: Form, lower: tuple[int | None, ...], upper: tuple[int | None, ...], tied: bool) -> list[_Demand]:
    asked = {dim for dim in range(view.rank) if lower[dim] is not None or upper[dim] is not None}
    if not tied:
        inputs = [map_[0] for map_ in view.maps if isinstance(map_, tuple)]
        for dim in sorted(asked):
            if inputs.count(dim) > 1:
                raise SpecError(
                    f"Input dimension {dim} corresponds to a diagonal but `resize_tied_bounds` was not specified"
                )
    demands = []
    for output, map_ in enumerate(view.maps):
        if isinstance(map_, int):
            demands.append(_Demand() if tied else _Demand(was_lower=map_, was_upper=map_ + 1))
            continue
        if isinstance(map_, ArrayMap):
            if not tied:
                raise SpecError(
                    f"Output dimension {output} has index array map but `resize_tied_bounds` was not specified"
                )
            demands.append(_Demand())
            continue
        dim, offset, stride = map_
        if dim in asked and abs(stride) != 1:
            raise SpecError(
                f"Output dimension {output} depends on resized input dimension {dim} with non-unit stride of {stride}"
            )
        demand = _Demand()
        if not tied:
            low, high = affine_range(Bounds(view.lower[dim], view.upper[dim]), offset, stride)
            open_low, open_high = view.implicit_lower[dim], view.implicit_upper[dim]
            if stride < 0:
                open_low, open_high = open_high, open_low
            demand = _Demand(was_lower=None if open_low else low, was_upper=None if open_high else high)
        first, last = lower[dim], upper[dim]
        if stride > 0:
            low_bound, high_bound = (None if bound is None else bound + offset for bound in (first, last))
        else:
            low_bound, high_bound = (None if bound is None else offset - bound + 1 for bound in (last, first))
        demands.append(_Demand(low_bound, high_bound, demand.was_lower, demand.was_upper))
    return demands


def _checked(dim: int, size: int, demand: _Demand, modes: frozenset[str]) -> int:
    """Return the new length of a dimension of the array; raise if it must not change like this."""
    for had, wanted, is_lower in ((0, demand.was_lower, True), (size, demand.was_upper, False)):
        if wanted is None or wanted == had:
            continue
        low, high = (had, wanted) if is_lower else (wanted, had)
        lead = f"Resize operation would also affect output dimension {dim} over the"
        if low < high:
            raise ConstraintError(f"{lead} interval [{low}, {high}) but `resize_tied_bounds` was not specified")
        raise ConstraintError(f"{lead} out-of-bounds interval [{high}, {low})")
    if demand.lower not in (None, 0):
        raise ConstraintError(
            f"Cannot change inclusive lower bound of output dimension {dim}, which is fixed at 0, to {demand.lower}"
        )
    new = size if demand.upper is None else max(0, demand.upper)
    change = f"output dimension {dim} from [0, {size}) to [0, {new})"
    if "shrink_only" in modes and new > size:
        raise ConstraintError(f"Resize operation would expand {change} but `shrink_only` was specified")
    if "expand_only" in modes and new < size:
        raise ConstraintError(f"Resize operation would shrink {change} but `expand_only` was specified")
    return new
