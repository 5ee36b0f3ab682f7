"""NumPy's keys, in three dialects: their items are counted from the ends of the axes, and laid out as all keys are.

The dialects differ only in the meaning of index arrays, and in where their dimensions go in the result:

===============  ============================================  ==================================================
dialect          several arrays                                their dimensions
===============  ============================================  ==================================================
`NUMPY`          are broadcast together and pick points        in place if all arrays and integers are neighbours,
                                                               else first
`VECTORISED`     are broadcast together and pick points        first
`ORTHOGONAL`     pick independently, each along its own axis   in place, each
===============  ============================================  ==================================================

A mask with n dimensions stands for n axes and acts like the n arrays of ``mask.nonzero()``. A mask without dimensions
stands for no axis: it acts like an array of length 1 (true) or 0 (false) that indexes nothing.

At the end, one function for each way to select, which lowers a key to the engine's axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import partial
from typing import Any, Final

import numpy as np

from blizzarr._native import lower_basic
from blizzarr.errors import SelectionError
from blizzarr.indexing.form import Form, IndexArray
from blizzarr.indexing.keys import (
    Blocks,
    Item,
    as_items,
    axes_taken,
    block_slice,
    in_bounds,
    index_in_bounds,
    mask_indices,
    slice_in_bounds,
)
from blizzarr.indexing.layout import Arrays, lay_out
from blizzarr.indexing.selection import Lowered, lower_form


class Dialect(Enum):
    """The meaning of arrays of indices; see the table in the module's docstring."""

    NUMPY = "numpy"
    VECTORISED = "vectorised"
    ORTHOGONAL = "orthogonal"


def selection_of(key: Any, form: Form, dialect: Dialect = Dialect.NUMPY) -> Form:
    """Return the selection that a key makes from another one, which has the origin zero, as all that come from here.

    Raise `SelectionError` if the key is not one that NumPy allows, or its arrays do not broadcast together. Raise
    `OutOfBoundsError` if an index is outside the selection.

    >>> whole = Form.of_shape((10, 4))
    >>> selection_of((3, slice(None, None, -1)), whole).maps
    (3, (0, 3, -1))
    >>> [selection_of((slice(5), [2, 0, 0]), whole, dialect).shape for dialect in Dialect]
    [(5, 3), (3, 5), (5, 3)]
    """
    shape = form.shape
    items = as_items(key, len(shape))
    in_place = dialect is not Dialect.VECTORISED and _are_neighbours(items)
    terms: list[Any] = []
    dims: list[Any] = []
    arrays: list[Arrays] = []
    axis = 0
    for item in spread(items, len(shape)):
        dims.append(axis)
        if item is None:
            terms.append(None)
        elif isinstance(item, slice):
            start, step, count = slice_in_bounds(item, shape[axis], axis)
            terms.append((0, count, False, False, start, step))
        elif isinstance(item, int):
            terms.append(index_in_bounds(item, shape[axis], axis))
        else:
            arrays.append(_arrays(item, shape, axis))
            terms.append(arrays[-1])
            dims[-1] = range(axis, axis + axes_taken(item))
        axis += axes_taken(item)
    joint = None if dialect is Dialect.ORTHOGONAL else _broadcast(arrays)
    return lay_out(form, terms, dims, joint, 0 if in_place else -1)


def _arrays(item: Any, shape: tuple[int, ...], axis: int) -> Arrays:
    """Return the index arrays of an item, checked: one for each axis that an array or mask stands for."""
    if item.dtype != bool:
        indices: tuple[IndexArray, ...] = (in_bounds(item, shape[axis], axis),)
    elif item.ndim:
        indices = mask_indices(item, shape, axis)
    else:
        return Arrays((), (int(item),))
    return Arrays(indices, indices[0].shape)


def _are_neighbours(items: Sequence[Item]) -> bool:
    """Return whether the arrays and integers are adjacent. As in NumPy, newaxis or an empty `...` separates them."""
    places = [position for position, item in enumerate(items) if isinstance(item, int | np.ndarray)]
    return not places or places[-1] - places[0] + 1 == len(places)


def spread(items: list[Item], rank: int) -> list[Item]:
    """Replace the ellipsis by full slices."""
    left = rank - sum(map(axes_taken, items))
    gap = next(position for position, item in enumerate(items) if item is Ellipsis)
    return [*items[:gap], *[slice(None)] * left, *items[gap + 1 :]]


def _broadcast(arrays: Sequence[Arrays]) -> tuple[int, ...]:
    shapes = {array.shape for array in arrays}
    if len(shapes) == 1:
        return shapes.pop()
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        found = " ".join(str(array.shape) for array in arrays)
        raise SelectionError(
            f"expected index arrays that broadcast together, found shapes {found}; "
            "use oindex to pick along each axis on its own"
        ) from None


def _lower(key: Any, shape: tuple[int, ...], dialect: Dialect) -> Lowered:
    short = lower_basic(key, shape)
    if short is not None:
        return short
    own_shape, axes, _ = lower_form(selection_of(key, Form.of_shape(shape), dialect), shape)
    # NumPy gives a scalar for integers alone, and an array without dimensions as soon as there is an ellipsis.
    scalar = not own_shape and not any(item is Ellipsis for item in (key if isinstance(key, tuple) else (key,)))
    return own_shape, axes, scalar


numpy_style: Final = partial(_lower, dialect=Dialect.NUMPY)
"""Lowers a key of ``array[key]``: anything that NumPy allows."""
orthogonal: Final = partial(_lower, dialect=Dialect.ORTHOGONAL)
"""Lowers a key of ``array.oindex[key]``: the outer product of the items, each along its own axis."""
vectorised: Final = partial(_lower, dialect=Dialect.VECTORISED)
"""Lowers a key of ``array.vindex[key]``: points, whose dimensions come first."""


def basic(key: Any, shape: tuple[int, ...]) -> Lowered:
    """Lower a key of integers, slices, `...` and `newaxis` only."""
    if any(isinstance(item, np.ndarray) for item in as_items(key, len(shape))):
        raise SelectionError(
            "expected integers, slices and '...' for a basic selection, found an array of indices; "
            "use array[...], array.oindex[...] or array.vindex[...]",
            index=key,
        )
    return numpy_style(key, shape)


def mask(key: Any, shape: tuple[int, ...]) -> Lowered:
    """Lower a mask that has the shape of the array."""
    array = np.asarray(key)
    if array.dtype != bool or array.shape != shape:
        raise SelectionError(
            f"expected a mask of booleans with the shape {shape} of the array, "
            f"found an array of {array.dtype} with shape {array.shape}",
            index=key,
        )
    return vectorised(array, shape)


def coordinate(key: Any, shape: tuple[int, ...]) -> Lowered:
    """Lower coordinates: for each axis an array of indices, or an integer, all broadcast together."""
    items = tuple(item for item in as_items(key, len(shape)) if item is not Ellipsis)
    for item in items:
        if not isinstance(item, int | np.ndarray) or (isinstance(item, np.ndarray) and item.dtype == bool):
            raise SelectionError(f"expected integers or arrays of integers as coordinates, found {item!r}", index=key)
    if len(items) != len(shape):
        raise SelectionError(
            f"expected coordinates for each of the {len(shape)} axes, found them for {len(items)}; add the rest",
            index=key,
        )
    return vectorised(items, shape)


def block(key: Any, shape: tuple[int, ...], edges: Sequence[Blocks]) -> Lowered:
    """Lower a key of block positions in a grid: integers and slices, which select whole blocks.

    An integer keeps its axis, because a block has a length.

    >>> from blizzarr.model.edges import Edges
    >>> block((1, slice(1, None)), (10, 4), (Edges.even(3), Edges([(1, 1), (3, 1)])))[1]
    ((0, 3, 1), (1, 1, 1))
    """
    items = as_items(key, len(shape))
    slices = [
        block_slice(item, blocks, size, axis)
        for axis, (item, blocks, size) in enumerate(zip(spread(items, len(shape)), edges, shape, strict=True))
    ]
    return numpy_style(tuple(slices), shape)
