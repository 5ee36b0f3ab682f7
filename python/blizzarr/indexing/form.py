"""The bare form of a transform, on which everything that makes views works.

Definitions
-----------
A transform maps the *positions* of its domain to elements of an array: for each dimension of that array, an *output
map* says how the index follows from a position.

==========================  =================================================================
``index``                   the same index for all positions
``(dim, offset, stride)``   ``offset + stride * position[dim]``
`ArrayMap`                  ``offset + stride * array[position]``; the array has as many
                            dimensions as the domain, of length 1 where it does not matter
==========================  =================================================================

`Form` is a tuple of the bounds and labels of the domain and of its maps. A domain is a form without maps. The array
of an `ArrayMap` begins at the origin of the domain, whatever that is, so translating a view leaves it alone. Once a
domain is known to be empty for good, arrays would be empty: they are replaced by the index 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.indexing.interval import INT64_MAX, INT64_MIN, UNBOUNDED, Bounds, Interval

IndexArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(slots=True, eq=False)
class ArrayMap:
    """``offset + stride * array[position]``, for values of the array that lie within `bounds`.

    `dims` are the dimensions of the domain that index the array, which has length 1 along all others. Nobody changes
    it; a frozen class would take three times as long to make.
    """

    offset: int
    stride: int
    array: IndexArray
    dims: tuple[int, ...]
    bounds: Bounds = UNBOUNDED

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayMap):
            return NotImplemented
        mine, its = (self.offset, self.stride, self.bounds), (other.offset, other.stride, other.bounds)
        return mine == its and self.array.ndim == other.array.ndim and bool(np.all(self.array == other.array))

    __hash__ = None  # type: ignore[assignment]


Map: TypeAlias = int | tuple[int, int, int] | ArrayMap


class Form(NamedTuple):
    """The bounds (`upper` is exclusive) and labels of a domain, and an output map for each dimension of an array.

    >>> form = Form((0,), (5,), (False,), (True,), ("x",), ((0, 3, 2),))
    >>> print(form.rank, form.shape, form.interval(0))
    1 (5,) [0, 5*)
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    implicit_lower: tuple[bool, ...]
    implicit_upper: tuple[bool, ...]
    labels: tuple[str, ...]
    maps: tuple[Map, ...] = ()

    @property
    def rank(self) -> int:
        """The number of dimensions of the domain."""
        return len(self.lower)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the dimensions of the domain."""
        return tuple([upper - lower for lower, upper in zip(self.lower, self.upper, strict=True)])

    @property
    def is_empty(self) -> bool:
        """True if a dimension has no indices and explicit bounds, so that it never will have any."""
        return is_empty(self.lower, self.upper, self.implicit_lower, self.implicit_upper)

    @property
    def domain(self) -> Form:
        """The domain alone."""
        return Form(*self[:5])

    def interval(self, dim: int) -> Interval:
        """One dimension of the domain."""
        return Interval(self.lower[dim], self.upper[dim], self.implicit_lower[dim], self.implicit_upper[dim])

    def allowed(self, dim: int) -> Bounds:
        """The indices that a dimension allows: an implicit bound counts as infinite."""
        return self.interval(dim).effective

    def take(self, dims: list[int]) -> Form:
        """Some dimensions of the domain, in this order, without maps."""
        return Form.of_dims([(self.interval(dim), self.labels[dim]) for dim in dims])

    @classmethod
    def of_shape(cls, shape: tuple[int, ...]) -> Form:
        """All of an array of this shape, in place: the origin is zero, as everywhere in NumPy."""
        rank = len(shape)
        never = (False,) * rank
        return cls((0,) * rank, shape, never, never, ("",) * rank, identity_maps(rank))

    @classmethod
    def of_dims(cls, dims: list[tuple[Interval, str]]) -> Form:
        """The domain with these intervals and labels."""
        if not dims:
            return cls((), (), (), (), ())
        lower, upper, implicit_lower, implicit_upper = zip(*(interval for interval, _ in dims), strict=True)
        return cls(lower, upper, implicit_lower, implicit_upper, tuple(label for _, label in dims))


def is_empty(
    lower: Sequence[int], upper: Sequence[int], implicit_lower: Sequence[bool], implicit_upper: Sequence[bool]
) -> bool:
    """Return whether a dimension has no indices and explicit bounds, so that it never will have any."""
    for dim, first in enumerate(lower):
        if first == upper[dim] and not (implicit_lower[dim] or implicit_upper[dim]):
            return True
    return False


def dims_of(map_: Map) -> tuple[int, ...]:
    """The dimensions of the domain along which the index may change."""
    if isinstance(map_, int):
        return ()
    return map_.dims if isinstance(map_, ArrayMap) else map_[:1]


@cache
def identity_maps(rank: int) -> tuple[Map, ...]:
    """Return output maps by which each position maps to itself."""
    return tuple((dim, 0, 1) for dim in range(rank))


def without_arrays(form: Form) -> Form:
    """The form with the index 0 in the place of arrays; for domains that are empty."""
    return form._replace(maps=tuple(0 if isinstance(map_, ArrayMap) else map_ for map_ in form.maps))


def fits_64_bits(*numbers: int) -> bool:
    """Return whether all numbers are valid as offsets and strides."""
    return all(INT64_MIN <= number <= INT64_MAX for number in numbers)
