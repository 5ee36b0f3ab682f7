"""Which part of a view lies in a box of what it is a view of."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.views.form import ArrayMap, Form
from blizzarr.views.interval import UNBOUNDED

__all__ = ["Box", "box_within", "indices_of", "points"]

Box: TypeAlias = tuple[tuple[int, int], ...]
"""A lower and an upper bound for each dimension; the upper one is exclusive."""


def box_within(view: Form, box: Box) -> Box | None:
    """The positions of a view that map into a box; None where these are no box, as there are arrays of indices.

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


def indices_of(view: Form) -> list[npt.NDArray[np.int64]]:
    """For each dimension of what it is a view of, the index for every position of the view, as far as it varies."""
    rank = view.rank
    indices: list[Any] = []
    for map_ in view.maps:
        extent = [1] * rank
        if isinstance(map_, int):
            indices.append(np.full(extent, map_))
        elif isinstance(map_, ArrayMap):
            indices.append(map_.offset + map_.stride * map_.array)
        else:
            dim, offset, stride = map_
            extent[dim] = view.upper[dim] - view.lower[dim]
            indices.append((offset + stride * np.arange(view.lower[dim], view.upper[dim])).reshape(extent))
    return indices


def points(indices: list[npt.NDArray[np.int64]], wanted: npt.NDArray[np.bool_]) -> Form:
    """The view of the wanted positions alone, one after the other."""
    count = int(np.count_nonzero(wanted))
    maps = tuple(
        ArrayMap(0, 1, np.ascontiguousarray(np.broadcast_to(index, wanted.shape)[wanted]), (0,), UNBOUNDED)
        for index in indices
    )
    return Form((0,), (count,), (False,), (False,), ("",), maps)
