"""Finding the part of a view that lies in a box of what it is a view of."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError, ViewOutOfBoundsError
from blizzarr.views import IndexTransform
from blizzarr.views.compose import compose, index_values
from blizzarr.views.form import ArrayMap, Form, Map
from blizzarr.views.interval import UNBOUNDED

__all__ = ["Box", "Part", "box_within", "cut_to", "indices_of", "listed", "moved", "part_in", "points", "within"]

Box: TypeAlias = tuple[tuple[int, int], ...]
"""A lower and an upper bound for each dimension; the upper one is exclusive."""


def box_within(view: Form, box: Box) -> Box | None:
    """Return the positions of a view that map into a box; None if they are not a box, because of index arrays.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> box_within(IndexTransform(input_shape=[20, 9])[::2, 3]._form, ((5, 11), (0, 4)))
    ((3, 6),)
    """
    found = list(zip(view.lower, view.upper, strict=True))
    for map_, (low, high) in zip(view.maps, box, strict=True):
        if isinstance(map_, ArrayMap):
            return None
        if isinstance(map_, int):
            if not low <= map_ < high:
                return tuple((first, first) for first, _ in found)
            continue
        dim, offset, stride = map_
        first, last = (low, high - 1) if stride > 0 else (high - 1, low)
        # Rounded towards the inside.
        lower, upper = -((offset - first) // stride), (last - offset) // stride + 1
        own = found[dim]
        lower = max(own[0], lower)
        found[dim] = lower, max(lower, min(own[1], upper))
    return tuple(found)


def listed(map_: ArrayMap) -> npt.NDArray[np.int64]:
    """The indices of an array map.

    Raises
    ------
    ViewOutOfBoundsError
        When one is not within the bounds that were known when the view was made.
    """
    if map_.bounds == UNBOUNDED:
        # Looked at before.
        plain = not map_.offset and map_.stride == 1
        return map_.array if plain else map_.offset + map_.stride * map_.array
    try:
        return index_values(map_, UNBOUNDED)
    except OutOfBoundsError as error:
        raise ViewOutOfBoundsError(str(error), index=error.index) from None


def indices_of(view: Form) -> list[npt.NDArray[np.int64]]:
    """Return, for each dimension of the array, the index for every position of the view, as far as it varies.

    Raises
    ------
    ViewOutOfBoundsError
        When an array has an index that is not within its bounds.
    """
    rank = view.rank
    indices: list[Any] = []
    for map_ in view.maps:
        extent = [1] * rank
        if isinstance(map_, int):
            indices.append(np.full(extent, map_))
        elif isinstance(map_, ArrayMap):
            indices.append(listed(map_))
        else:
            dim, offset, stride = map_
            extent[dim] = view.upper[dim] - view.lower[dim]
            indices.append((offset + stride * np.arange(view.lower[dim], view.upper[dim])).reshape(extent))
    return indices


def points(indices: list[npt.NDArray[np.int64]], wanted: npt.NDArray[np.bool_]) -> Form:
    """Return the view of single positions, in one dimension."""
    count = int(np.count_nonzero(wanted))
    maps = tuple(
        ArrayMap(0, 1, np.ascontiguousarray(np.broadcast_to(index, wanted.shape)[wanted]), (0,), UNBOUNDED)
        for index in indices
    )
    return Form((0,), (count,), (False,), (False,), ("",), maps)


class Part(NamedTuple):
    """A part of a view: as a view, where it lies in the whole, and how many positions it has."""

    form: Form
    where: Any
    size: int

    def covers(self, box: Box) -> bool:
        """Return whether the view has every element of a box; False also where that is expensive to tell."""
        if self.size != prod(high - low for low, high in box):
            return False
        # Each element once at most: no arrays of indices, and no dimension that repeats.
        used = {map_[0] for map_ in self.form.maps if isinstance(map_, tuple)}
        repeats = any(dim not in used for dim, length in enumerate(self.form.shape) if length != 1)
        return not repeats and not any(isinstance(map_, ArrayMap) for map_ in self.form.maps)


def cut_to(view: Form, box: Box) -> Form:
    """Restrict a view without index arrays to a box of its own positions."""
    never = (False,) * len(box)
    lower = tuple(low for low, _ in box)
    upper = tuple(high for _, high in box)
    return Form(lower, upper, never, never, view.labels, view.maps)


def part_in(view: Form, box: Box) -> Part | None:
    """Return the part of a view that maps into a box; None if there is none.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> part = part_in(IndexTransform(input_shape=[20])[::2]._form, ((5, 11),))
    >>> part.where, part.size
    ((slice(3, 6, None),), 3)
    """
    own = box_within(view, box)
    if own is not None:
        size = prod(high - low for low, high in own)
        where = tuple(slice(low - first, high - first) for (low, high), first in zip(own, view.lower, strict=True))
        return Part(cut_to(view, own), where, size) if size else None
    indices = indices_of(view)
    wanted = np.ones(view.shape, bool)
    for index, (low, high) in zip(indices, box, strict=True):
        wanted &= (index >= low) & (index < high)
    size = int(np.count_nonzero(wanted))
    return Part(points(indices, wanted), wanted, size) if size else None


def moved(view: Form, origin: tuple[int, ...]) -> IndexTransform:
    """Translate the view of something so that `origin` becomes zero."""
    maps: list[Map] = []
    for map_, at in zip(view.maps, origin, strict=True):
        if isinstance(map_, int):
            maps.append(map_ - at)
        elif isinstance(map_, ArrayMap):
            maps.append(ArrayMap(0, 1, listed(map_) - at, map_.dims, UNBOUNDED))
        else:
            maps.append((map_[0], map_[1] - at, map_[2]))
    return IndexTransform._of(view._replace(maps=tuple(maps)))


def within(view: Form, part: Form) -> Form:
    """Return a part of a view, given that the part maps into the domain of the view.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> within(IndexTransform(input_shape=[9, 8])[::2, 3]._form, IndexTransform(input_shape=[2])._form).maps
    ((0, 0, 2), 3)
    """
    maps: list[Map] = []
    for map_ in view.maps:
        if isinstance(map_, int):
            maps.append(map_)
            continue
        if isinstance(map_, ArrayMap):
            return compose(view, part)
        dim, offset, stride = map_
        inner = part.maps[dim]
        if isinstance(inner, int):
            maps.append(offset + stride * inner)
        elif isinstance(inner, ArrayMap):
            values = listed(inner) if not offset and stride == 1 else offset + stride * listed(inner)
            maps.append(ArrayMap(0, 1, values, inner.dims, UNBOUNDED))
        else:
            maps.append((inner[0], offset + stride * inner[1], stride * inner[2]))
    return part._replace(maps=tuple(maps))
