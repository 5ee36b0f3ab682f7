"""Operations on selected dimensions: each takes a form and dimension numbers, and returns new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, TypeAlias

from blizzarr.errors import OutOfBoundsError, SelectionError
from blizzarr.indexing.form import ArrayMap, Form, Map, fits_64_bits, without_arrays
from blizzarr.indexing.interval import FINITE, INF, Interval, shift
from blizzarr.indexing.layout import permute, through
from blizzarr.json_values import braces
from blizzarr.views.dim_selection import DimSpec, normalize_dims, normalize_range
from blizzarr.views.values import check_unique

Step: TypeAlias = tuple[Form, list[int]]

Vector: TypeAlias = int | tuple[int | None, ...] | None


class Translation(Enum):
    """The kinds of translation: to an index, by an offset, or back by an offset."""

    TO = "to"
    BY = "by"
    BACKWARD_BY = "backward_by"


def _spread(vector: Vector, count: int) -> tuple[int | None, ...]:
    if not isinstance(vector, tuple):
        return (vector,) * count
    if not vector:
        # As TensorStore has it: no vector at all is the number 0.
        return (0,) * count
    if len(vector) != count:
        raise SelectionError(f"Number of dimensions ({count}) does not match number of indices ({len(vector)})")
    return vector


_ORDINARY = 2**58
"""Numbers that are smaller can be added without a thought."""


def translate(form: Form, dims: list[int], vector: Vector, kind: Translation) -> Step:
    """Translate dimensions; each index still means the same element."""
    lower, upper = list(form.lower), list(form.upper)
    moved = [0] * form.rank
    for dim, by in zip(dims, _spread(vector, len(dims)), strict=True):
        if by is None:
            continue
        if form.lower[dim] > -_ORDINARY and form.upper[dim] < _ORDINARY and -_ORDINARY < by < _ORDINARY:
            if kind is Translation.TO:
                by -= lower[dim]
            elif kind is Translation.BACKWARD_BY:
                by = -by
            lower[dim] += by
            upper[dim] += by
            moved[dim] = by
            continue
        old = form.interval(dim).bounds
        if kind is Translation.TO:
            if not FINITE.contains(by):
                raise OutOfBoundsError(f"OUT_OF_RANGE: Origin {by} is outside valid range {FINITE}", index=by)
            if old.lower == -INF:
                raise SelectionError(f"Interval {old} is not bounded below")
            by -= old.lower
        elif kind is Translation.BACKWARD_BY:
            by = -by
        lower[dim], upper[dim] = shift(old, by)
        moved[dim] = by
    maps = tuple([_translated(map_, moved, output) for output, map_ in enumerate(form.maps)])
    return Form(tuple(lower), tuple(upper), *form[2:5], maps), dims


def _translated(map_: Map, moved: list[int], output: int) -> Map:
    if not isinstance(map_, tuple):
        return map_
    dim, offset, step = map_
    offset -= moved[dim] * step
    if not -_ORDINARY < offset < _ORDINARY and not fits_64_bits(offset):
        raise SelectionError(f"Integer overflow computing output offset for dimension {output}.")
    return dim, offset, step


def stride(form: Form, dims: list[int], vector: Vector) -> Step:
    """Keep the indices that are multiples of a step, and divide them by it."""
    intervals = [form.interval(dim) for dim in range(form.rank)]
    steps = [1] * form.rank
    for dim, step in zip(dims, _spread(vector, len(dims)), strict=True):
        step = 1 if step is None else step
        doing = f"Applying stride to input dimension {dim}"
        if step == 0:
            raise SelectionError(f"{doing}: Stride must be non-zero")
        try:
            intervals[dim] = intervals[dim].source(0, step)
        except SelectionError as error:
            raise SelectionError(f"{doing}: {error}") from None
        steps[dim] = step
    new = Form.of_dims(list(zip(intervals, form.labels, strict=True)))
    result = through(form, [(dim, 0, step) for dim, step in enumerate(steps)], *new[:5])
    # Along dimensions of length 1, nothing is indexed any more.
    maps = tuple(
        replace(map_, dims=tuple(dim for dim in map_.dims if new.upper[dim] - new.lower[dim] != 1))
        if isinstance(map_, ArrayMap)
        else map_
        for map_ in result.maps
    )
    return result._replace(maps=maps), dims


def add_labels(form: Form, dims: list[int], labels: Sequence[str]) -> Step:
    if len(labels) != len(dims):
        raise SelectionError(f"Number of dimensions ({len(dims)}) does not match number of labels ({len(labels)}).")
    new = list(form.labels)
    for dim, label in zip(dims, labels, strict=True):
        new[dim] = label
    check_unique(new, SelectionError)
    return form._replace(labels=tuple(new)), dims


def mark_implicit(form: Form, dims: list[int], lower: bool | None, upper: bool | None) -> Step:
    """Make bounds implicit or explicit; None leaves them."""
    for implicit in (False, True):
        if implicit not in (lower, upper):
            continue
        if implicit:
            _check_not_indexing(form, dims)
        marked: dict[str, Any] = {
            name: tuple(implicit if dim in dims else old for dim, old in enumerate(getattr(form, name)))
            for name, wanted in (("implicit_lower", lower), ("implicit_upper", upper))
            if wanted is implicit
        }
        form = form._replace(**marked)
        if not implicit and form.is_empty:
            form = without_arrays(form)
    return form, dims


def _check_not_indexing(form: Form, dims: list[int]) -> None:
    for output, map_ in enumerate(form.maps):
        for dim in dims:
            if isinstance(map_, ArrayMap) and dim in map_.dims:
                raise SelectionError(
                    f"Cannot mark input dimension {dim} as having implicit bounds because it indexes the index array "
                    f"map for output dimension {output}"
                )


def take_diagonal(form: Form, dims: list[int]) -> Step:
    """Keep the positions whose indices along all these dimensions are equal, as a single dimension that comes first."""
    others = [dim for dim in range(form.rank) if dim not in dims]
    lower = max([form.lower[dim] for dim in dims], default=-INF)
    upper = max([lower, min([form.upper[dim] for dim in dims], default=INF + 1)])
    diagonal = Interval(
        lower, upper, all(form.implicit_lower[dim] for dim in dims), all(form.implicit_upper[dim] for dim in dims)
    )
    rest = [(form.interval(dim), form.labels[dim]) for dim in others]
    new = Form.of_dims([(diagonal, ""), *rest])
    renamed = dict.fromkeys(dims, 0) | {dim: position for position, dim in enumerate(others, 1)}
    return through(form, [(renamed[dim], 0, 1) for dim in range(form.rank)], *new[:5], constants=False), [0]


def added(form: Form, dim: int, at: int) -> Form:
    """The form with a new dimension, of which `at` is the only index."""
    lower, upper, implicit_lower, implicit_upper, labels = form[:5]
    return through(
        form,
        [(own + (own >= dim), 0, 1) for own in range(form.rank)],
        (*lower[:dim], at, *lower[dim:]),
        (*upper[:dim], at + 1, *upper[dim:]),
        (*implicit_lower[:dim], False, *implicit_lower[dim:]),
        (*implicit_upper[:dim], False, *implicit_upper[dim:]),
        (*labels[:dim], "", *labels[dim:]),
        constants=False,
    )


def transpose(form: Form, specs: Sequence[DimSpec] | None) -> Form:
    """Return the form with its dimensions in the order of the specs; reversed if there are none."""
    if specs is None:
        return permute(form, range(form.rank)[::-1])
    dims = normalize_dims(specs, form.labels, SelectionError, distinct=False)
    if sorted(dims) != list(range(form.rank)):
        raise SelectionError(
            f"Source dimension list {braces(dims)} is not a valid dimension permutation for rank {form.rank}"
        )
    return permute(form, dims)


def move(form: Form, dims: list[int], specs: Sequence[DimSpec]) -> Step:
    """Move the selected dimensions to the positions of the specs, or next to each other from a single one on."""
    rank = form.rank
    if len(specs) == 1 and isinstance(specs[0], int):
        if not dims:
            return form, dims
        (first,) = normalize_dims(specs, [""] * (rank - len(dims) + 1))
        targets = list(range(first, first + len(dims)))
    else:
        raw: list[int] = []
        for spec in specs:
            if isinstance(spec, str):
                raise SelectionError("Target dimensions cannot be specified by label")
            raw.extend(normalize_range(spec, rank) if isinstance(spec, tuple) else [spec])
        if len(raw) != len(dims):
            raise SelectionError(
                f"Number of selected dimensions ({len(dims)}) must equal number of target dimensions ({len(raw)})"
            )
        targets = []
        for dim in raw:
            (target,) = normalize_dims([dim], [""] * rank)
            if target in targets:
                raise SelectionError(f"Target dimension {target} occurs more than once")
            targets.append(target)
    order = [-1] * rank
    for dim, target in zip(dims, targets, strict=True):
        order[target] = dim
    others = iter(dim for dim in range(rank) if dim not in dims)
    return permute(form, [next(others) if dim == -1 else dim for dim in order]), targets
