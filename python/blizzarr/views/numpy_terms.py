"""The terms of a key between brackets, in NumPy's dialect with four differences.

Indices are those of the domain: there are no negative indices that count from the end, and slices beyond the domain are
errors. Slices keep their place: the domain of ``view[5:8]`` is ``[5, 8)``. Arrays of indices pick points of all
dimensions together, as NumPy does, but integers between them do not matter for where the new dimensions go. Slices may
be vectors, ``view[[1, 2]:[5, 9]]`` being ``view[1:5, 2:9]``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SelectionError
from blizzarr.views.form import IndexArray
from blizzarr.views.interval import INT64_MAX, INT64_MIN
from blizzarr.views.values import index_vector

__all__ = ["Arrays", "Mode", "Slice", "Term", "Terms", "Usage", "parse_terms"]


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


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of integers or None; the step is known."""

    start: int | None
    stop: int | None
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Index arrays of one shape: a single one, or those that stand for a mask, one for each of its dimensions."""

    indices: tuple[IndexArray, ...]
    shape: tuple[int, ...]
    is_mask: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Arrays):
            return NotImplemented
        mine, its = (self.is_mask, self.shape), (other.is_mask, other.shape)
        return (
            mine == its
            and len(self.indices) == len(other.indices)
            and all(map(np.array_equal, self.indices, other.indices))
        )

    __hash__ = None  # type: ignore[assignment]


Term: TypeAlias = int | Slice | EllipsisType | Arrays | None


@dataclass(frozen=True, slots=True)
class Terms:
    """A key: its terms, the shape that its joint arrays have together (None without arrays), and where it goes."""

    terms: tuple[Term, ...]
    mode: Mode
    usage: Usage
    scalar: bool
    """One term for all selected dimensions."""
    joint_shape: tuple[int, ...] | None
    in_place: bool
    """The dimensions of joint arrays stand where the first array stands, rather than first."""

    @property
    def taken(self) -> int:
        """The number of dimensions of the view that the terms consume, without the ellipsis."""
        return sum(dims_taken(term) for term in self.terms)

    @property
    def added(self) -> int:
        """The number of dimensions of length 1 that are added."""
        return self.terms.count(None)

    @property
    def has_ellipsis(self) -> bool:
        """True if there is an ellipsis."""
        return any(term is Ellipsis for term in self.terms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Terms):
            return NotImplemented
        mine, its = (self.mode, self.usage, self.scalar), (other.mode, other.usage, other.scalar)
        return mine == its and self.terms == other.terms

    __hash__ = None  # type: ignore[assignment]


def dims_taken(term: Term) -> int:
    """Return the number of dimensions of the view that a term consumes."""
    if isinstance(term, Arrays):
        return len(term.indices)
    return 0 if term is None or term is Ellipsis else 1


def parse_terms(key: Any, mode: Mode, usage: Usage = Usage.DIRECT) -> Terms:
    """Parse the terms of a key.

    Raises
    ------
    SelectionError
        For what is no index.
    TypeError
        For slices with bounds that are no integers.
    """
    terms: list[Term] = []
    scalar = not isinstance(key, tuple)
    joint: tuple[int, ...] | None = None
    in_place = mode is Mode.DEFAULT
    interrupted = False
    ellipsis = False
    for item in key if isinstance(key, tuple) else (key,):
        found = _terms_of(item)
        for term in found:
            if isinstance(term, Arrays):
                if not term.indices and usage is not Usage.DIRECT:
                    if mode is Mode.OINDEX:
                        raise SelectionError(
                            "Zero-rank bool array incompatible with outer indexing of a dimension selection"
                        )
                    in_place = False
                scalar = scalar and not term.shape and not term.is_mask
                if mode is not Mode.OINDEX:
                    joint = _broadcast(term.shape, joint or ())
                    in_place = in_place and not interrupted
            elif not isinstance(term, int):
                if term is Ellipsis:
                    if ellipsis:
                        raise SelectionError("An index can only have a single ellipsis (`...`)")
                    ellipsis, scalar = True, False
                elif term is None and usage is Usage.CHAINED:
                    raise SelectionError("tensorstore.newaxis (`None`) not valid in chained indexing operations")
                interrupted = joint is not None
        if isinstance(item, slice):
            interrupted = joint is not None
            scalar = scalar and _is_plain(item)
        terms.extend(found)
    return Terms(tuple(terms), mode, usage, scalar, joint, in_place)


def _terms_of(item: Any) -> list[Term]:
    if item is Ellipsis or item is None:
        return [item]
    if isinstance(item, slice):
        return list(_slices(item))
    if type(item) is int or not isinstance(item, bool | np.bool_ | np.ndarray):
        try:
            index = operator.index(item)
        except TypeError:
            pass
        else:
            if INT64_MIN <= index <= INT64_MAX:
                return [index]
    return [_arrays(item)]


def _is_plain(item: slice) -> bool:
    return all(
        _is_simple(bound) or not isinstance(_vector(bound), tuple) for bound in (item.start, item.stop, item.step)
    )


def _is_simple(bound: Any) -> bool:
    return bound is None or (type(bound) is int and INT64_MIN <= bound <= INT64_MAX)


def _vector(bound: Any) -> int | tuple[int | None, ...] | None:
    try:
        return index_vector(bound)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def _slices(item: slice) -> list[Slice]:
    """Parse a slice, or one for each element of its vectors."""
    if _is_simple(item.start) and _is_simple(item.stop) and _is_simple(item.step):
        return [Slice(item.start, item.stop, 1 if item.step is None else item.step)]
    vectors = {name: _vector(getattr(item, name)) for name in ("start", "stop", "step")}
    first: str | None = None
    for name, vector in vectors.items():
        if isinstance(vector, tuple):
            other = vectors[first] if first else vector
            if isinstance(other, tuple) and len(other) != len(vector):
                raise SelectionError(
                    f"{name}={_shown(vector)} (rank {len(vector)}) is incompatible with "
                    f"{first}={_shown(other)} (rank {len(other)})"
                )
            first = name
    count = 1
    if first:
        longest = vectors[first]
        count = len(longest) if isinstance(longest, tuple) else 1
    spread = [vector if isinstance(vector, tuple) else (vector,) * count for vector in vectors.values()]
    return [Slice(start, stop, 1 if step is None else step) for start, stop, step in zip(*spread, strict=True)]


def _shown(vector: Sequence[int | None]) -> str:
    return "[" + ",".join(map(str, vector)) + "]"


def _arrays(item: Any) -> Arrays:
    found: npt.NDArray[Any] = np.asarray(item)
    if found.size == 0 and not isinstance(item, np.ndarray):
        found = found.astype(np.int64)
    if found.dtype == bool:
        if found.ndim == 0:
            return Arrays((), (int(found),), is_mask=True)
        indices = tuple(along.astype(np.int64, copy=False) for along in found.nonzero())
        return Arrays(indices, indices[0].shape, is_mask=True)
    if found.dtype.kind not in "iu":
        if isinstance(item, np.ndarray):
            raise SelectionError("Arrays used as indices must be of integer (or boolean) type")
        raise SelectionError(
            "Only integers, slices (`:`), ellipsis (`...`), tensorstore.newaxis (`None`) and integer or boolean arrays "
            "are valid indices"
        )
    # Along a dimension that was broadcast all indices are the same.
    once = found[tuple(slice(0, 1 if step == 0 else None) for step in found.strides)]
    # A copy: the caller may change the array afterwards.
    return Arrays((np.array(once.astype(np.int64, casting="safe", copy=False)),), found.shape)


def _broadcast(shape: tuple[int, ...], joint: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(shape), len(joint))
    longer = [1] * (rank - len(joint)) + list(joint)
    for along, length in enumerate(shape, rank - len(shape)):
        if length != 1:
            if longer[along] not in (1, length):
                raise SelectionError(f"Incompatible index array shapes: {_braced(shape)} vs {_braced(longer)}")
            longer[along] = length
    return tuple(longer)


def _braced(shape: Sequence[int]) -> str:
    return "{" + ", ".join(map(str, shape)) + "}"
