"""NumPy's indexing of views: which dimensions the terms of a key stand for.

Behind a view, terms stand for its dimensions one after the other (`index_direct`). Behind a selection of dimensions
they stand for the selected ones, and new dimensions are in the order of what the terms stand for (`index_initial`,
`index_chained`). What becomes of the view then is the same for all keys: see `blizzarr.indexing.layout`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blizzarr.errors import SelectionError
from blizzarr.indexing.form import Form
from blizzarr.indexing.layout import WHOLE, Arrays, dims_made, lay_out, sliced
from blizzarr.views.dim_selection import DimSpec, normalize_dim, normalize_new_dims, normalize_range
from blizzarr.views.numpy_terms import Mode, Terms, dims_taken, parse_terms
from blizzarr.views.values import MAX_RANK


def index_direct(form: Form, key: Any, mode: Mode) -> Form:
    """The form of ``view[key]``, ``view.oindex[key]`` or ``view.vindex[key]``.

    >>> index_direct(Form.of_shape((5, 6)), (3, slice(2, 6, 2)), Mode.DEFAULT).maps
    (3, (0, 0, 2))
    """
    _, terms, _, joint, in_place, taken, plain = parse_terms(key, mode)
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
