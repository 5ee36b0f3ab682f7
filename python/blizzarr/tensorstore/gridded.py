"""A view divided along a grid of chunks: which chunks it needs, and what of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.tensorstore.parts import Box, Part, box_within, cut_to, indices_of, parts_by_point

_Positions: TypeAlias = tuple[tuple[int, int], int, int, int]
"""The bounds of a chunk along one dimension, the dimension of the view (-1 for none), and its positions in there."""


def parts_in_chunks(
    view: Form, chunks: Sequence[int], origin: Sequence[int], bounds: Box
) -> Iterator[tuple[Part, Box]]:
    """Return the part of a view in each chunk that it needs, and the bounds of the chunk within the domain.

    Parameters
    ----------
    view
        What is wanted.
    chunks, origin
        The lengths of chunks, and where one of them begins.
    bounds
        Where the domain begins and ends.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> view = IndexTransform(input_shape=[20])[3:12:2]
    >>> [(part.where, box) for part, box in parts_in_chunks(view._form, [5], [0], ((0, 20),))]
    [((slice(0, 1, None),), ((0, 5),)), ((slice(1, 4, None),), ((5, 10),)), ((slice(4, 5, None),), ((10, 15),))]
    """
    if 0 in view.shape:
        return
    if any(isinstance(map_, ArrayMap) for map_ in view.maps):
        yield from _listed(view, chunks, origin, bounds)
        return
    axes = [_along(map_, view, *grid) for map_, grid in zip(view.maps, _zipped(chunks, origin, bounds), strict=True)]
    dims = [axis[0][1] for axis in axes if axis and axis[0][1] >= 0]
    if len(set(dims)) < len(dims):
        for cell in product(*axes):
            box = tuple([place[0] for place in cell])
            own = box_within(view, box, range(len(box)), range(view.rank))
            if all(low < high for low, high in own):
                yield cut_to(0, view, own, range(view.rank)), box
        return
    for cell in product(*axes):
        along = [(dim, (low, high)) for _, dim, low, high in cell if dim >= 0]
        yield (
            cut_to(0, view, tuple([positions for _, positions in along]), [dim for dim, _ in along]),
            tuple([place[0] for place in cell]),
        )


def _zipped(chunks: Sequence[int], origin: Sequence[int], bounds: Box) -> Iterator[tuple[int, int, tuple[int, int]]]:
    return zip(chunks, origin, bounds, strict=True)


def _cut(number: int, length: int, at: int, bounds: tuple[int, int]) -> tuple[int, int]:
    return max(bounds[0], at + number * length), min(bounds[1], at + (number + 1) * length)


def _along(map_: Map, view: Form, length: int, at: int, bounds: tuple[int, int]) -> list[_Positions]:
    """Return the parts that a view needs along one dimension of the grid."""
    if isinstance(map_, int):
        return [(_cut((map_ - at) // length, length, at, bounds), -1, 0, 0)]
    assert not isinstance(map_, ArrayMap), "asked before"
    dim, offset, stride = map_
    low, high = view.lower[dim], view.upper[dim]
    one, other = offset + stride * low, offset + stride * (high - 1)
    found: list[_Positions] = []
    for number in range((min(one, other) - at) // length, (max(one, other) - at) // length + 1):
        first, end = at + number * length, at + (number + 1) * length - 1
        if stride < 0:
            first, end = end, first
        begin, stop = max(low, -((offset - first) // stride)), min(high, (end - offset) // stride + 1)
        if begin < stop:
            found.append((_cut(number, length, at, bounds), dim, begin, stop))
    return found


def _listed(view: Form, chunks: Sequence[int], origin: Sequence[int], bounds: Box) -> Iterator[tuple[Part, Box]]:
    """Return the parts of listed positions: those of one chunk are taken together."""
    cells = [
        (indices_of(view, map_) - at) // length for map_, at, length in zip(view.maps, origin, chunks, strict=True)
    ]
    known: list[npt.NDArray[np.int64]] = []
    numbers: npt.NDArray[np.int64] = np.zeros((1,) * view.rank, np.int64)
    for cell in cells:
        # Numbered within the chunks that occur, so that the product stays small.
        distinct, place = np.unique(cell, return_inverse=True)
        known.append(distinct)
        numbers = numbers * len(distinct) + place.reshape(cell.shape)
    # All dimensions are listed.
    for part in reversed(parts_by_point(view, np.broadcast_to(numbers, view.shape))):
        places = np.unravel_index(part.number, [len(distinct) for distinct in known])
        box = tuple(
            _cut(int(distinct[place]), length, at, bound)
            for distinct, place, (length, at, bound) in zip(known, places, _zipped(chunks, origin, bounds), strict=True)
        )
        yield part, box
