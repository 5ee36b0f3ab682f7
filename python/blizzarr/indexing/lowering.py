"""One function for each way to select: checks the key, and lowers it to the engine's axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from blizzarr._native import lower_basic
from blizzarr.errors import SelectionError
from blizzarr.indexing.dialect import Dialect, selection_of, spread
from blizzarr.indexing.form import Form
from blizzarr.indexing.keys import Blocks, as_items, block_slice
from blizzarr.indexing.selection import Lowered, lower_form


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
