"""NumPy's indexing of views: the terms of a key between brackets, and which dimensions they stand for.

The dialect has four differences. Indices are those of the domain: there are no negative indices that count from the
end, and slices beyond the domain are errors. Slices keep their place: the domain of ``view[5:8]`` is ``[5, 8)``. Arrays
of indices pick points of all dimensions together, as NumPy does, but integers between them do not matter for where the
new dimensions go. Slices may be vectors, ``view[[1, 2]:[5, 9]]`` being ``view[1:5, 2:9]``.

Behind a view, terms stand for its dimensions one after the other (`index_direct`). Behind a selection of dimensions
they stand for the selected ones, and new dimensions are in the order of what the terms stand for (`index_initial`,
`index_chained`). What becomes of the view then is the same for all keys: see `blizzarr.indexing.layout`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from blizzarr.errors import SelectionError
from blizzarr.indexing.form import Form
from blizzarr.indexing.interval import INT64_MAX, INT64_MIN
from blizzarr.indexing.keys import index_or_array, true_indices
from blizzarr.indexing.layout import WHOLE, Arrays, dims_made, lay_out, sliced
from blizzarr.json_values import braces
from blizzarr.views.dim_selection import DimSpec, normalize_dim, normalize_new_dims, normalize_range
from blizzarr.views.values import MAX_RANK, index_vector


class Mode(Enum):
    """The meaning of index arrays; see `blizzarr.indexing.dialect`."""

    DEFAULT = ""
    OINDEX = ".oindex"
    VINDEX = ".vindex"


class Usage(Enum):
    """The position of a key in an expression."""

    DIRECT = 0
    """Behind a view."""
    INITIAL = 1
    """First behind the selection of dimensions."""
    CHAINED = 2
    """Behind another operation of a dimension expression."""


Term: TypeAlias = int | slice | EllipsisType | Arrays | None
"""A slice consists of integers and None, and its step is known."""


class Terms(NamedTuple):
    """A key: its terms, and what follows from them."""

    mode: Mode
    terms: tuple[Term, ...]
    scalar: bool
    """One term for all selected dimensions."""
    joint_shape: tuple[int, ...] | None
    """The shape that joint arrays have together; None without arrays."""
    in_place: bool
    """The dimensions of joint arrays stand where the first array stands, rather than first."""
    taken: int
    """The number of dimensions of the view that the terms consume, without the ellipsis."""
    plain: bool
    """There are only indices and slices."""

    @property
    def added(self) -> int:
        """The number of dimensions of length 1 that are added."""
        return sum(term is None for term in self.terms)

    @property
    def has_ellipsis(self) -> bool:
        return any(term is Ellipsis for term in self.terms)


def dims_taken(term: Term) -> int:
    """Return the number of dimensions of the view that a term consumes."""
    if isinstance(term, Arrays):
        return len(term.indices)
    return 0 if term is None or term is Ellipsis else 1


def parse_terms(key: Any, mode: Mode, usage: Usage) -> Terms:
    return Terms(mode, *_parsed(key, mode, usage))


def _parsed(
    key: Any, mode: Mode, usage: Usage
) -> tuple[tuple[Term, ...], bool, tuple[int, ...] | None, bool, int, bool]:
    """Parse the terms of a key, as a bare tuple, which takes less time to make than `Terms`.

    Raise `SelectionError` for what is no index.
    Raise `TypeError` for slices with bounds that are no integers.
    """
    terms: list[Term] = []
    scalar = not isinstance(key, tuple)
    joint: tuple[int, ...] | None = None
    in_place = mode is Mode.DEFAULT
    interrupted = False
    ellipsis = False
    plain, is_direct = True, usage is Usage.DIRECT
    taken = 0
    for item in (key,) if scalar else key:
        kind = type(item)
        if kind is int and INT64_MIN <= item <= INT64_MAX:
            terms.append(item)
            taken += 1
        elif kind is slice:
            start, stop, step = item.start, item.stop, item.step
            if (
                (start is None or type(start) is int)
                and (stop is None or type(stop) is int)
                and (step is None or type(step) is int)
            ):
                # The step is written out where keys are compared.
                terms.append(item if step or is_direct else _with_step(item))
                taken += 1
            else:
                slices, alone = _slices(item)
                terms += slices
                taken += len(slices)
                scalar = scalar and alone
            interrupted = joint is not None
        elif item is Ellipsis or item is None:
            plain = False
            if item is Ellipsis:
                if ellipsis:
                    raise SelectionError("An index can only have a single ellipsis (`...`)")
                ellipsis, scalar = True, False
            elif usage is Usage.CHAINED:
                raise SelectionError("tensorstore.newaxis (`None`) not valid in chained indexing operations")
            terms.append(item)
            interrupted = joint is not None
        else:
            term = _index_or_arrays(item)
            terms.append(term)
            if isinstance(term, int):
                taken += 1
                continue
            plain = False
            taken += len(term.indices)
            if not term.indices and usage is not Usage.DIRECT:
                if mode is Mode.OINDEX:
                    raise SelectionError(
                        "Zero-rank bool array incompatible with outer indexing of a dimension selection"
                    )
                in_place = False
            scalar = scalar and not term.shape and not term.is_mask
            if mode is not Mode.OINDEX:
                joint = term.shape if joint is None else _broadcast(term.shape, joint)
                in_place = in_place and not interrupted
    return tuple(terms), scalar, joint, in_place, taken, plain


def _with_step(item: slice) -> slice:
    return slice(item.start, item.stop, 1 if item.step is None else item.step)


def _slices(item: slice) -> tuple[list[slice], bool]:
    """Parse a slice, or one for each element of its vectors; return whether it has no vectors, too."""
    vectors = {"start": _vector(item.start), "stop": _vector(item.stop), "step": _vector(item.step)}
    given = {name: vector for name, vector in vectors.items() if isinstance(vector, tuple)}
    lengths = {name: len(vector) for name, vector in given.items()}
    for names in pairwise(given):
        if lengths[names[0]] != lengths[names[1]]:
            first, second = (f"{name}=[{','.join(map(str, given[name]))}] (rank {lengths[name]})" for name in names)
            raise SelectionError(f"expected vectors of one length in a slice: {second} is incompatible with {first}")
    count = max(lengths.values(), default=1)
    spread = [vector if isinstance(vector, tuple) else (vector,) * count for vector in vectors.values()]
    return [_with_step(slice(*bounds)) for bounds in zip(*spread, strict=True)], not lengths


def _vector(bound: Any) -> int | tuple[int | None, ...] | None:
    try:
        return index_vector(bound)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def _index_or_arrays(item: Any) -> int | Arrays:
    result = index_or_array(item)
    if isinstance(result, int):
        return result
    if isinstance(item, np.ndarray) and item.dtype == np.uint64:
        raise TypeError("expected indices of a type that fits into 64 bits with a sign, found uint64; use .astype(int)")
    if result.dtype == bool:
        if result.ndim == 0:
            return Arrays((), (int(result),), is_mask=True)
        indices = true_indices(result)
        return Arrays(indices, indices[0].shape, is_mask=True)
    if 0 in result.strides:
        # Along a dimension that was broadcast all indices are the same.
        once = result[tuple([slice(0, 1 if step == 0 else None) for step in result.strides])]
        return Arrays((np.array(once),), result.shape)
    # A copy: the caller may change the array afterwards.
    return Arrays((result if type(item) is list else np.array(result),), result.shape)


def _broadcast(shape: tuple[int, ...], joint: tuple[int, ...]) -> tuple[int, ...]:
    if shape == joint:
        return shape
    try:
        return np.broadcast_shapes(shape, joint)
    except ValueError:
        raise SelectionError(
            "expected index arrays that broadcast together. Incompatible index array shapes: "
            f"{braces(shape)} vs {braces(joint)}"
        ) from None


def index_direct(form: Form, key: Any, mode: Mode) -> Form:
    """The form of ``view[key]``, ``view.oindex[key]`` or ``view.vindex[key]``.

    >>> index_direct(Form.of_shape((5, 6)), (3, slice(2, 6, 2)), Mode.DEFAULT).maps
    (3, (0, 0, 2))
    """
    terms, _, joint, in_place, taken, plain = _parsed(key, mode, Usage.DIRECT)
    rank = len(form.lower)
    left = rank - taken
    if left < 0:
        raise SelectionError(
            f"Indexing expression requires {taken} dimensions, and cannot be applied to a domain of rank {rank}"
        )
    if plain:
        return lay_out(form, terms + (WHOLE,) * left if left else terms)
    items: list[Any] = []
    dims: list[Any] = []
    dim = 0
    for term in terms if Ellipsis in terms else (*terms, Ellipsis):
        if term is Ellipsis:
            items += [WHOLE] * left
            dims += range(dim, dim + left)
            dim += left
            continue
        items.append(term)
        taken = dims_taken(term)
        dims.append(range(dim, dim + taken) if isinstance(term, Arrays) else dim)
        dim += taken
    common = None if mode is Mode.OINDEX else joint or ()
    if common is None or len(items) + len(common) > MAX_RANK:
        _check_rank(len(common or ()) + sum([dims_made(item, common, False) for item in items]))
    return lay_out(form, items, dims, common, 0 if in_place else -1)


def index_chained(form: Form, terms: Terms, dims: list[int]) -> tuple[Form, list[int]]:
    """Index the selected dimensions; the resulting ones are the new selection."""
    return _index_selected(form, _repeated(terms, len(dims)), dims, list(range(form.rank)))


def index_initial(form: Form, terms: Terms, specs: Sequence[DimSpec]) -> tuple[Form, list[int]]:
    """Index the dimensions of a selection; those that stand for `newaxis` are added."""
    rank = form.rank
    if terms.scalar and terms.added == 1:
        dims = normalize_new_dims(specs, rank)
        middle_rank = rank + len(dims)
        named: list[int | str] = list(dims)
    else:
        middle_rank = rank + terms.added
        named = []
        for spec in specs:
            if isinstance(spec, tuple):
                named.extend(normalize_range(spec, middle_rank))
            elif isinstance(spec, str):
                normalize_dim(spec, form.labels)
                named.append(spec)
            else:
                named.append(normalize_dim(spec, [""] * middle_rank))
    _check_rank(middle_rank)
    _check_once([dim for dim in named if isinstance(dim, int)])
    terms = _repeated(terms, len(named))
    taken = len(named) - terms.taken - terms.added
    _check_count(terms, taken, len(named))

    new: set[int] = set()
    at = 0
    for term in terms.terms:
        if term is None:
            dim = named[at]
            if isinstance(dim, str):
                raise SelectionError("Dimensions specified by label cannot be used with newaxis")
            new.add(dim)
        at += 1 if term is None else taken if term is Ellipsis else dims_taken(term)
    # For each intermediate dimension, the dimension of the view; -1 for new ones.
    left = iter(range(rank))
    middle = [-1 if dim in new else next(left) for dim in range(middle_rank)]
    numbered = [middle.index(form.labels.index(dim)) if isinstance(dim, str) else dim for dim in named]
    _check_once(numbered)
    return _index_selected(form, terms, numbered, middle)


def _check_once(dims: list[int]) -> None:
    for position, dim in enumerate(dims):
        if dim in dims[:position]:
            raise SelectionError(f"Dimension {dim} specified more than once")


def _check_rank(rank: int) -> None:
    if rank > MAX_RANK:
        raise SelectionError(f"Rank {rank} is outside valid range [0, {MAX_RANK}]")


def _check_count(terms: Terms, left: int, selected: int) -> None:
    if left < 0 or (left and not terms.has_ellipsis):
        raise SelectionError(
            f"Indexing expression requires {terms.taken + terms.added} dimensions but selection has "
            f"{selected} dimensions"
        )


def _repeated(terms: Terms, count: int) -> Terms:
    """Repeat a single term for all selected dimensions."""
    if not terms.scalar:
        return terms
    return terms._replace(
        terms=terms.terms * count,
        scalar=False,
        joint_shape=terms.joint_shape if count else None,
        taken=terms.taken * count,
    )


def _index_selected(form: Form, terms: Terms, dims: list[int], middle: list[int]) -> tuple[Form, list[int]]:
    """Index dimensions of the intermediate form, which `middle` maps to those of the view."""
    left = len(dims) - terms.taken - terms.added
    _check_count(terms, left, len(dims))
    joint = None if terms.mode is Mode.OINDEX else terms.joint_shape or ()
    # Each term after its place among all dimensions, and with the dimension of the view that it stands for.
    placed: list[tuple[int, Any, Any]] = []
    at = 0
    for term in terms.terms:
        if term is Ellipsis:
            placed += [(dim, WHOLE, middle[dim]) for dim in dims[at : at + left]]
            at += left
        elif isinstance(term, Arrays):
            own = dims[at : at + len(term.indices)]
            placed.append((own[0] if own else -1, term, [middle[dim] for dim in own]))
            at += len(own)
        else:
            dim = middle[dims[at]]
            placed.append((dims[at], sliced(form, dim, term) if isinstance(term, slice) else term, dim))
            at += 1
    others = [(dim, WHOLE, middle[dim]) for dim in range(len(middle)) if dim not in dims]
    order = sorted(enumerate([*placed, *others]), key=lambda each: each[1][0])
    arrays = [number for number, (_, term, _) in order if isinstance(term, Arrays)]
    holder = arrays.index(min(arrays)) if arrays and terms.in_place else -1
    rank = 0 if holder >= 0 else len(joint or ())
    new_dims = list(range(rank))
    made: dict[int, range] = {}
    for number, (_, term, _) in order:
        count = dims_made(term, joint, holder >= 0 and number == arrays[holder])
        made[number] = range(rank, rank + count)
        rank += count
    _check_rank(rank)
    for number in range(len(placed)):
        new_dims += made[number]
    items, stands_for = [term for _, (_, term, _) in order], [dim for _, (_, _, dim) in order]
    return lay_out(form, items, stands_for, joint, holder), new_dims
