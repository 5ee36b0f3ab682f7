"""NumPy's indexing of views: the terms of a key become a transform into the view.

Steps
-----
1. Each term stands for dimensions of the view, its *taken* ones, and gives new dimensions. A *block* is a term with
   both; dimensions that no term stands for are blocks that stay as they are.
2. Blocks are put in order: behind a view that of the terms, behind a selection of dimensions that of what they take.
   Dimensions of joint arrays come first, or with the first array.
3. New dimensions are counted through the blocks, and output maps follow from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from blizzarr.errors import SelectionError
from blizzarr.views.compose import compose
from blizzarr.views.dim_selection import DimSpec, normalize_dim, normalize_new_dims, normalize_range
from blizzarr.views.form import ArrayMap, Form, IndexArray, Map, without_arrays
from blizzarr.views.interval import Interval, strided_slice
from blizzarr.views.numpy_terms import Arrays, Mode, Slice, Term, Terms, dims_taken, parse_terms
from blizzarr.views.points import index_points
from blizzarr.views.values import MAX_RANK

__all__ = ["index_any", "index_chained", "index_direct", "index_initial"]


@dataclass(slots=True)
class _Block:
    term: Term
    taken: list[int]
    """The dimensions of the view."""
    place: int
    """The position among the blocks."""
    count: int
    """The number of new dimensions."""
    first: int = -1
    """The first of its new dimensions."""
    sliced: tuple[Interval, int] | None = None
    """The interval and stride that a slice makes of its dimension."""


def index_direct(form: Form, key: Any, mode: Mode) -> Form:
    """The form of ``view[key]``, ``view.oindex[key]`` or ``view.vindex[key]``."""
    found = index_points(form, key, mode)
    return index_any(form, key, mode) if found is None else found


def index_any(form: Form, key: Any, mode: Mode) -> Form:
    """Return the same as `index_direct` for any key, by the steps that are described above."""
    terms = parse_terms(key, mode)
    left = form.rank - terms.taken
    if left < 0:
        raise SelectionError(
            f"Indexing expression requires {terms.taken} dimensions, and cannot be applied to a domain "
            f"of rank {form.rank}"
        )
    spread = terms.terms if terms.has_ellipsis else (*terms.terms, Ellipsis)
    blocks: list[_Block] = []
    joint_left = terms.in_place and terms.joint_shape is not None
    at = 0
    for term in spread:
        taken = left if term is Ellipsis else dims_taken(term)
        for block in _blocks(term, list(range(at, at + taken)), terms, joint_left, form):
            block.place = len(blocks)
            blocks.append(block)
        joint_left = joint_left and not isinstance(term, Arrays)
        at += taken
    return compose(form, _laid_out(form, terms, blocks)[0])


def index_chained(form: Form, terms: Terms, dims: list[int]) -> tuple[Form, list[int]]:
    """Index the selected dimensions; the resulting ones are the new selection."""
    terms = _repeated(terms, len(dims))
    return _index_selected(form, terms, dims, list(range(form.rank)))


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
    for place, dim in enumerate(dims):
        if dim in dims[:place]:
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
    joint = terms.joint_shape if count else None
    return Terms(terms.terms * count, terms.mode, terms.usage, False, joint, terms.in_place)


def _index_selected(form: Form, terms: Terms, dims: list[int], middle: list[int]) -> tuple[Form, list[int]]:
    """Index dimensions of the intermediate form, which `middle` maps to those of the view."""
    left = len(dims) - terms.taken - terms.added
    _check_count(terms, left, len(dims))
    selected: list[_Block] = []
    joint_left = terms.in_place and terms.joint_shape is not None
    at = 0
    for term in terms.terms:
        taken = 1 if term is None else left if term is Ellipsis else dims_taken(term)
        own = dims[at : at + taken]
        in_view = [middle[dim] for dim in own if term is not None]
        for index, block in enumerate(_blocks(term, in_view, terms, joint_left, form)):
            block.place = own[index] if own else -1
            selected.append(block)
        joint_left = joint_left and not isinstance(term, Arrays)
        at += taken
    others = [_Block(Ellipsis, [middle[dim]], dim, 1) for dim in range(len(middle)) if dim not in dims]
    inner, joint_dims = _laid_out(form, terms, sorted([*selected, *others], key=lambda block: block.place))
    new_dims = list(joint_dims)
    for block in selected:
        new_dims.extend(range(block.first, block.first + block.count))
    return compose(form, inner), new_dims


def _blocks(term: Term, taken: list[int], terms: Terms, joint_left: bool, form: Form) -> list[_Block]:
    if isinstance(term, EllipsisType):
        return [_Block(term, [dim], 0, 1) for dim in taken]
    if isinstance(term, Arrays):
        if terms.mode is Mode.OINDEX:
            return [_Block(term, taken, 0, len(term.shape))]
        return [_Block(term, taken, 0, len(terms.joint_shape or ()) if joint_left else 0)]
    block = _Block(term, taken, 0, 0 if isinstance(term, int) else 1)
    if isinstance(term, Slice):
        (dim,) = taken
        doing = f"Computing interval slice for dimension {dim}"
        block.sliced = strided_slice(form.interval(dim), term.start, term.stop, term.step, doing)
    return [block]


def _laid_out(form: Form, terms: Terms, blocks: list[_Block]) -> tuple[Form, range]:
    """Return the transform into the view, and the joint dimensions if these come first."""
    joint = terms.joint_shape or ()
    dims: list[tuple[Interval, str]] = []
    front = range(0)
    joint_first = 0
    if not terms.in_place:
        front = range(len(joint))
        dims.extend((Interval(0, length), "") for length in joint)
    rank = len(front) + sum(block.count for block in blocks)
    _check_rank(rank)
    maps: list[Map] = [0] * form.rank
    for block in blocks:
        block.first = len(dims)
        term = block.term
        if isinstance(term, int):
            maps[block.taken[0]] = term
        elif term is None:
            dims.append((Interval(0, 1, True, True), ""))
        elif isinstance(term, Slice) and block.sliced:
            (dim,) = block.taken
            interval, offset = block.sliced
            maps[dim] = (len(dims), offset, term.step)
            dims.append((interval, form.labels[dim]))
        elif isinstance(term, Arrays):
            if terms.mode is Mode.OINDEX:
                dims.extend((Interval(0, length), "") for length in term.shape)
            elif block.count:
                joint_first = block.first
                dims.extend((Interval(0, length), "") for length in joint)
        else:
            (dim,) = block.taken
            maps[dim] = (len(dims), 0, 1)
            dims.append((form.interval(dim), form.labels[dim]))
    for block in blocks:
        if isinstance(block.term, Arrays):
            end = block.first if terms.mode is Mode.OINDEX else joint_first
            end += len(block.term.shape if terms.mode is Mode.OINDEX else joint)
            for dim, array in zip(block.taken, block.term.indices, strict=True):
                maps[dim] = _array_map(array, end, rank)
    inner = Form.of_dims(dims, tuple(maps))
    return without_arrays(inner) if inner.is_empty else inner, front


def _array_map(array: IndexArray, end: int, rank: int) -> ArrayMap:
    """Return the map of an index array whose last dimension is the new one before `end`."""
    first = end - array.ndim
    dims = tuple(first + along for along, length in enumerate(array.shape) if length != 1)
    shape = [1] * rank
    shape[first:end] = array.shape
    return ArrayMap(0, 1, array.reshape(shape), dims)
