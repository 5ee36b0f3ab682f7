"""The terms of a key between brackets, in NumPy's dialect with four differences.

Indices are those of the domain: there are no negative indices that count from the end, and slices beyond the domain are
errors. Slices keep their place: the domain of ``view[5:8]`` is ``[5, 8)``. Arrays of indices pick points of all
dimensions together, as NumPy does, but integers between them do not matter for where the new dimensions go. Slices may
be vectors, ``view[[1, 2]:[5, 9]]`` being ``view[1:5, 2:9]``.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from types import EllipsisType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from blizzarr.errors import SelectionError
from blizzarr.indexing.interval import INT64_MAX, INT64_MIN
from blizzarr.indexing.keys import index_or_array, true_indices
from blizzarr.indexing.layout import Arrays
from blizzarr.json_values import braces
from blizzarr.views.values import index_vector


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


def parse_terms(key: Any, mode: Mode, usage: Usage = Usage.DIRECT) -> Terms:
    """Parse the terms of a key.

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
    return Terms(mode, tuple(terms), scalar, joint, in_place, taken, plain)


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
