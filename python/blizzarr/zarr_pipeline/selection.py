"""From the pieces that zarr-python has cut a selection into, one for each chunk, back to the whole selection.

A piece says which elements of a chunk (`chunk_selection`) are at which places of the result (`out_selection`).
zarr-python makes them in three forms:

=============  =================================================  =============================================
form           ``chunk_selection``                                ``out_selection``
=============  =================================================  =============================================
basic, blocks  integers and slices                                a slice for each slice
orthogonal     also arrays, masks, or all arrays of `numpy.ix_`   a slice or an array for each axis that is kept
points, masks  an array of one dimension for each axis            one slice or array
=============  =================================================  =============================================

In the first two, the pieces are the product of what there is along each axis, so that each axis is put together by
itself. Pieces in any other form are left to zarr-python: `whole` returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from blizzarr.indexing.form import IndexArray
from blizzarr.indexing.selection import Axes, Axis
from blizzarr.model.edges import Edges

Piece: TypeAlias = tuple[Any, Any, Any, Any, bool]
"""The place of a chunk in the store, its specification, `chunk_selection`, `out_selection`, and whether it is whole."""

Places: TypeAlias = Callable[[Piece], tuple[int, ...]]
"""Returns the position of a piece's chunk in the grid."""

Whole: TypeAlias = tuple[tuple[int, ...], Axes]
"""The shape of the result, and the axes for the engine."""


def whole(
    pieces: Sequence[Piece], edges: tuple[Edges, ...], place_of: Places, dropped: tuple[int, ...] = ()
) -> Whole | None:
    """Return the selection that was cut into these pieces; None if they are in no known form.

    - `pieces`: at least one piece.
    - `edges`: the lengths of the chunks along each axis.
    - `place_of`: returns the position of a piece's chunk in the grid.
    - `dropped`: the axes that have arrays of one index although the result has no such axis.

    >>> one = (0, None, (slice(1, 4, 1), 2), (slice(0, 3),), False)
    >>> other = (1, None, (slice(0, 2, 1), 2), (slice(3, 5),), False)
    >>> whole([one, other], (Edges.even(4), Edges.even(5)), lambda piece: (piece[0], 1))
    ((5,), ((0, 1, 1), 7))
    """
    _, _, items, outs, _ = pieces[0]
    if type(items) is not tuple or len(items) != len(edges):
        return None
    if type(outs) is not tuple:
        return _points(pieces, edges, place_of)
    if all(type(item) is slice or isinstance(item, int | np.integer) for item in items):
        return _basic(pieces, edges, place_of)
    return _orthogonal(pieces, edges, place_of, dropped)


def chunks_of(shape: tuple[int, ...], axes: Axes, chunk: tuple[int, ...]) -> int:
    """Return the most chunks of this shape in which the elements of a selection can be.

    >>> chunks_of((5,), ((0, 1, 1), 7), (4, 5)), chunks_of((3, 2), ((0, 18, -9), (1, 4, 1)), (4, 5))
    (2, 6)
    """
    most = 1
    for axis, size in zip(axes, chunk, strict=True):
        match axis:
            case (dim, int(start), step):
                length = shape[dim]
                end = start + step * (length - 1)
                most *= length if abs(step) >= size else abs(end // size - start // size) + 1
            case (_, indices):
                most *= len(indices)
    return min(most, prod(shape))


def _basic(pieces: Sequence[Piece], edges: tuple[Edges, ...], place_of: Places) -> Whole | None:
    """Put slices and integers together from the first piece and the last, which have the ends along every axis."""
    first, last = pieces[0], pieces[-1]
    outs, last_outs = first[3], last[3]
    if type(last[2]) is not tuple or type(last_outs) is not tuple:
        return None
    shape: list[int] = []
    axes: list[Axis] = []
    count = 1
    ends = zip(first[2], last[2], place_of(first), place_of(last), edges, strict=True)
    for item, last_item, position, last_place, along in ends:
        if type(item) is not slice:
            if position != last_place or (item is not last_item and item != last_item):
                return None
            axes.append(along.start(position) + int(item))
            continue
        dim = len(shape)
        if dim >= len(last_outs) or type(last_outs[dim]) is not slice or type(last_item) is not slice:
            return None
        start, step, length = along.start(position) + int(item.start), int(item.step or 1), int(last_outs[dim].stop)
        # The last index of the whole slice has to be the last one of the last piece.
        end = start + step * (length - 1)
        end_of_last = int(last_item.start) + (int(last_item.stop) - 1 - int(last_item.start)) // step * step
        if outs[dim].start != 0 or length < 1 or end != along.start(last_place) + end_of_last:
            return None
        count *= last_place - position + 1 if step == 1 else along.visited(start, step, length)
        axes.append((dim, start, step if length > 1 else 1))
        shape.append(length)
    if count != len(pieces) or len(shape) != len(outs):
        return None
    return tuple(shape), tuple(axes)


def _orthogonal(
    pieces: Sequence[Piece], edges: tuple[Edges, ...], place_of: Places, dropped: tuple[int, ...]
) -> Whole | None:
    """Put each axis together by itself, from the first piece of each of its chunks."""
    rank = len(edges)
    kept = [axis for axis in range(rank) if axis not in dropped]
    # For each axis, by the position of a chunk along it: the indices, and their places in the result.
    along: list[dict[int, tuple[IndexArray, Any]]] = [{} for _ in edges]
    for piece in pieces:
        _, _, items, outs, _ = piece
        if type(items) is not tuple or len(items) != rank or type(outs) is not tuple or len(outs) != len(kept):
            return None
        outs_of = dict(zip(kept, outs, strict=True))
        for axis, position in enumerate(place_of(piece)):
            if position not in along[axis]:
                indices = _indices(items[axis], axis, rank)
                if indices is None:
                    return None
                along[axis][position] = indices + edges[axis].start(position), outs_of.get(axis)
    if prod(map(len, along)) != len(pieces):
        return None
    shape: list[int] = []
    axes: list[Axis] = []
    for axis, parts in enumerate(along):
        if axis in dropped:
            ((indices, _),) = parts.values()
            if indices.size != 1:
                return None
            axes.append(int(indices[0]))
            continue
        joined = _joined([*parts.values()])
        if joined is None or not joined.size:
            return None
        axes.append(_strided(len(shape), joined))
        shape.append(joined.size)
    return tuple(shape), tuple(axes)


def _points(pieces: Sequence[Piece], edges: tuple[Edges, ...], place_of: Places) -> Whole | None:
    """Put points together, which are in one list, ordered by their chunks."""
    items = [piece[2] for piece in pieces]
    for of_one in items:
        if type(of_one) is not tuple or len(of_one) != len(edges):
            return None
        if any(type(item) is not np.ndarray or item.ndim != 1 or item.dtype.kind != "i" for item in of_one):
            return None
    lengths = [len(of_one[0]) for of_one in items]
    firsts = [[along.start(at) for along, at in zip(edges, place_of(piece), strict=True)] for piece in pieces]
    firsts_of = np.repeat(np.array(firsts, dtype=np.int64), lengths, axis=0)
    outs = [piece[3] for piece in pieces]
    order: IndexArray | None = None
    if all(type(out) is slice for out in outs):
        starts = np.cumsum([0, *lengths])
        if any(
            out.start != start or out.stop != stop for out, start, stop in zip(outs, starts, starts[1:], strict=False)
        ):
            return None
    elif all(type(out) is np.ndarray for out in outs):
        order = np.concatenate(outs)
        if order.size != len(firsts_of):
            return None
    else:
        return None
    axes: list[Axis] = []
    for axis in range(len(edges)):
        indices = np.concatenate([of_one[axis] for of_one in items]) + firsts_of[:, axis]
        placed = indices if order is None else _placed(indices, order)
        if placed is None:
            return None
        axes.append(((0,), placed))
    return (len(firsts_of),), tuple(axes)


def _indices(item: Any, axis: int, rank: int) -> IndexArray | None:
    """Return what a piece selects along one axis as indices in its chunk."""
    if type(item) is slice:
        return np.arange(int(item.start), int(item.stop), int(item.step or 1), dtype=np.int64)
    if type(item) is not np.ndarray:
        return None
    if item.ndim == rank and item.shape[axis] == item.size:
        # As `numpy.ix_` makes them.
        item = item.reshape(-1)
    if item.ndim != 1:
        return None
    return item.nonzero()[0] if item.dtype == bool else item.astype(np.int64, copy=False)


def _joined(parts: Sequence[tuple[IndexArray, Any]]) -> IndexArray | None:
    """Return the indices of all parts, each at its places; None if these are not all places up to the last."""
    indices = np.concatenate([part for part, _ in parts])
    places = [np.arange(out.start, out.stop) if type(out) is slice else np.asarray(out).reshape(-1) for _, out in parts]
    order = np.concatenate(places)
    return _placed(indices, order) if order.size == indices.size else None


def _placed(indices: IndexArray, order: IndexArray) -> IndexArray | None:
    """Return the indices in this order, a permutation; None if it is none."""
    placed = np.full(indices.size, -1, np.int64)
    if order.size and (order.min() < 0 or order.max() >= indices.size):
        return None
    placed[order] = indices
    return None if indices.size and placed.min() < 0 else placed


def _strided(dim: int, indices: IndexArray) -> Axis:
    """Return the indices as a start and a step if they are one."""
    if indices.size == 1:
        return dim, int(indices[0]), 1
    steps = np.diff(indices)
    step = int(steps[0])
    return (dim, int(indices[0]), step) if step and (steps == step).all() else ((dim,), indices)
