"""Choosing chunk shapes from constraints: explicit sizes, aspect ratios, and the approximate number of elements.

Definitions
-----------
A side that no constraint gives is ``ratio * factor``, at least 1 and at most the size of the domain. The *factor* is
common to all such sides; it is searched for by bisection, until the number of elements is next to what is wanted: of
the logarithm while the bounds are far apart, then of the factor. Where chunks are read in parts, each side that is read
divides the side that is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, nextafter, prod, sqrt
from sys import float_info
from typing import Final

import numpy as np

from blizzarr.errors import SpecError
from blizzarr.indexing.interval import INF, Bounds
from blizzarr.spec.grid import GridConstraints, Vector

DEFAULT_ELEMENTS: Final = 1024 * 1024
"""The approximate number of elements of a chunk if there is no constraint."""
_MOST: Final = (1 << 63) - 1
_LONGEST: Final = nextafter(2.0**62, 0.0)
"""No side is longer: it would not fit an index."""
_GREATEST: Final = float_info.max / 4
_STEPS: Final = 100
"""The most steps of the search."""
_SEARCHED: Final = 1_000_000
"""The greatest distance from a size in which a divisor is searched."""
_AT_FIRST: Final = 64
"""The number of distances that are tried first."""

Adjust = Callable[[int, int], int]


def choose_shape(grid: GridConstraints, domain: Sequence[Bounds]) -> tuple[int, ...]:
    """Choose the shape of the chunks of one grid.

    >>> choose_shape(GridConstraints(Vector.unset(2), Vector.unset(2)), [Bounds(0, 300), Bounds(0, 100_000)])
    (300, 3495)
    """
    sides, _ = _given(grid.shape, domain)
    return tuple(_completed(sides, grid, domain, None))


def choose_read_write_shapes(
    read: GridConstraints, write: GridConstraints, domain: Sequence[Bounds]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Choose the shapes of the read chunks and of the write chunks.

    >>> def grid(elements):
    ...     return GridConstraints(Vector.unset(3), Vector((2.0, 1.0, 1.0)), Vector((elements,)))
    >>> domain = [Bounds(0, 1000), Bounds(0, 2000), Bounds(0, 3000)]
    >>> choose_read_write_shapes(grid(2_000_000), grid(1_000_000_000), domain)
    ((200, 100, 100), (1000, 1000, 1000))
    """
    outer, outer_hard = _given(write.shape, domain)
    inner, inner_hard = _given(read.shape, domain)
    for dim, (short, long) in enumerate(zip(inner, outer, strict=True)):
        if not short or not long or long % short == 0:
            continue
        if dim not in inner_hard:
            inner[dim] = nearest_divisor(long, short)
        elif dim not in outer_hard:
            outer[dim] = nearest_multiple(short, long)
        else:
            raise SpecError(f"dimension {dim}: chunks of {long} that are written cannot be read in parts of {short}")

    def divides(dim: int, size: int) -> int:
        return nearest_divisor(outer[dim], size) if outer[dim] else size

    inner = _completed(inner, read, domain, divides if any(outer) else None)
    outer = _completed(outer, write, domain, lambda dim, size: nearest_multiple(inner[dim], size))
    return tuple(inner), tuple(outer)


def _given(shape: Vector, domain: Sequence[Bounds]) -> tuple[list[int], frozenset[int]]:
    """Return the sides that constraints give, 0 for the others, and which of them are hard."""
    if not shape.values:
        return [0] * len(domain), frozenset()
    sides = []
    for dim, (side, bounds) in enumerate(zip(shape.values, domain, strict=True)):
        if side == -1:
            if not _is_finite(bounds):
                raise SpecError(f"Cannot match chunk size for dimension {dim} to unbounded domain {bounds}")
            side = max(1, bounds.upper - bounds.lower)
        sides.append(side or 0)
    return sides, shape.hard


def _completed(sides: list[int], grid: GridConstraints, domain: Sequence[Bounds], adjust: Adjust | None) -> list[int]:
    """Return all sides: those that are 0 follow from the aspect ratio and the wanted number of elements."""
    if all(sides):
        return sides
    ratio = [float(part or 1) for part in grid.aspect_ratio.values or (None,) * len(sides)]
    (asked,) = grid.elements.values
    wanted = DEFAULT_ELEMENTS if asked is None else asked
    open_sides = [dim for dim, side in enumerate(sides) if not side]
    greatest = max(ratio[dim] for dim in open_sides)
    ratio = [part / greatest or float_info.min for part in ratio]
    longest = [
        min(float(wanted), max(1.0, float(bounds.upper - bounds.lower)) if _is_finite(bounds) else inf, _LONGEST)
        for bounds in domain
    ]

    def shape_of(factor: float) -> list[int]:
        shape = sides.copy()
        for dim in open_sides:
            side = max(1, int(min(ratio[dim] * factor, longest[dim])))
            shape[dim] = side if adjust is None else adjust(dim, side)
        return shape

    def elements_of(factor: float) -> int:
        return min(prod(shape_of(factor)), _MOST)

    # Half of the step that changes the fastest growing side by one element, so that rounding is harmless.
    step = max(min(1.0 / ratio[dim] for dim in open_sides) / 2, float_info.min)
    return shape_of(_factor(elements_of, wanted, step, max(longest[dim] / ratio[dim] for dim in open_sides)))


def _factor(elements_of: Callable[[float], int], wanted: int, step: float, most: float) -> float:
    """Return a factor that gives `wanted` elements; if the search finds none, one that gives fewer.

    Which of several such factors is found, and whether one is, depends on where the search looks. So this looks where
    TensorStore 0.1.86 does, whose compiled search is not the one in its published sources.
    """
    least, most = step, min(most, _GREATEST) * 2
    most_elements = elements_of(most)
    if most_elements < wanted and most * most < inf:
        # Every side is at its limit, and stays there while the search, none of whose steps overflows, comes nearer.
        return most
    for _ in range(_STEPS):
        if least + step >= most:
            break
        far_apart = most > 4.0 * least
        middle = sqrt(least * most) if far_apart else least + (most - least) / 2.0
        if not least < middle < most:
            break
        elements = elements_of(middle)
        if elements >= wanted:
            most, most_elements = middle, elements
        if elements <= wanted:
            least = middle
    return most if most_elements == wanted else least


def nearest_divisor(dividend: int, wanted: int) -> int:
    """Return the divisor nearest to a number, of two the smaller.

    >>> nearest_divisor(100, 30), nearest_divisor(100, 500), nearest_divisor(12, 5)
    (25, 100, 4)
    """
    if wanted >= dividend:
        return dividend
    start, end = 0, _AT_FIRST
    while start < _SEARCHED:
        # Most divisors are near: each time twice as many are tried.
        offsets = np.arange(start, end)
        below = (offsets < wanted) & (dividend % np.maximum(wanted - offsets, 1) == 0)
        divides = below | (dividend % (wanted + offsets) == 0)
        if divides.any():
            first = int(divides.argmax())
            return wanted - start - first if below[first] else wanted + start + first
        start, end = end, min(2 * end, _SEARCHED)
    return dividend


def nearest_multiple(divisor: int, wanted: int) -> int:
    """Return the multiple nearest to a number, of two the smaller, but not 0.

    >>> nearest_multiple(10, 25), nearest_multiple(10, 26), nearest_multiple(10, 3)
    (20, 30, 10)
    """
    if wanted < divisor:
        return divisor
    lower = wanted // divisor * divisor
    upper = lower + divisor
    return upper if upper < INF and wanted - lower > upper - wanted else lower


def _is_finite(bounds: Bounds) -> bool:
    return bounds.lower > -INF and bounds.upper <= INF
