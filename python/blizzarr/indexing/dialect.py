"""From a key to a `Selection`, in three dialects: one walk over the items of the key.

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
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

from blizzarr.errors import SelectionError
from blizzarr.indexing.keys import Item, as_items, axes_taken, in_bounds, index_in_bounds, mask_indices, slice_in_bounds
from blizzarr.indexing.selection import ConstantMap, IndexArray, IndexArrayMap, OutputMap, Selection, StridedMap

__all__ = ["Dialect", "selection_of"]


class Dialect(Enum):
    """The meaning of arrays of indices; see the table in the module's docstring."""

    NUMPY = "numpy"
    VECTORISED = "vectorised"
    ORTHOGONAL = "orthogonal"


def selection_of(key: Any, shape: tuple[int, ...], dialect: Dialect = Dialect.NUMPY) -> Selection:
    """Return the selection that a key makes from an array of this shape.

    Raises
    ------
    SelectionError
        If the key is not one that NumPy allows, or its arrays do not broadcast together.
    OutOfBoundsError
        If an index is outside the array.

    Examples
    --------
    >>> selection_of((3, slice(None, None, -1)), (10, 4))
    Selection(shape=(4,), outputs=(ConstantMap(index=3), StridedMap(dim=0, start=3, step=-1)))
    >>> [selection_of((slice(5), [2, 0, 0]), (10, 4), dialect).shape for dialect in Dialect]
    [(5, 3), (3, 5), (5, 3)]
    """
    items = as_items(key, len(shape))
    in_place = dialect is not Dialect.VECTORISED and _are_neighbours(items)
    items = _spread(items, len(shape))
    arrays = _index_arrays(items, shape)
    joint = _broadcast([array for own in arrays for array in own]) if dialect is not Dialect.ORTHOGONAL else ()

    domain: list[int] = []
    outputs: list[OutputMap] = []
    # The domain dimension where those of the index arrays begin, once they have their place.
    first: int | None = None
    if any(arrays) and dialect is not Dialect.ORTHOGONAL and not in_place:
        first = 0
        domain.extend(joint)
    for item, own in zip(items, arrays, strict=True):
        axis = len(outputs)
        if item is None:
            domain.append(1)
        elif isinstance(item, slice):
            start, step, count = slice_in_bounds(item, shape[axis], axis)
            outputs.append(StridedMap(len(domain), start, step))
            domain.append(count)
        else:
            if dialect is Dialect.ORTHOGONAL:
                joint = _broadcast(own)
                first = len(domain)
                domain.extend(joint)
            elif first is None and any(arrays):
                first = len(domain)
                domain.extend(joint)
            if isinstance(item, int):
                outputs.append(ConstantMap(index_in_bounds(item, shape[axis], axis)))
            elif axes_taken(item):
                outputs.extend(_indexed(array, (first or 0) + len(joint)) for array in own)
    return Selection(tuple(domain), tuple(outputs))


def _are_neighbours(items: Sequence[Item]) -> bool:
    """Return whether the arrays and integers are adjacent. As in NumPy, newaxis or an empty `...` separates them."""
    places = [place for place, item in enumerate(items) if isinstance(item, int | np.ndarray)]
    return not places or places[-1] - places[0] + 1 == len(places)


def _spread(items: list[Item], rank: int) -> list[Item]:
    """Replace the ellipsis by full slices."""
    left = rank - sum(map(axes_taken, items))
    gap = next(place for place, item in enumerate(items) if item is Ellipsis)
    return [*items[:gap], *[slice(None)] * left, *items[gap + 1 :]]


def _index_arrays(items: Sequence[Item], shape: tuple[int, ...]) -> list[tuple[IndexArray, ...]]:
    """Return the index arrays of each item, checked: none, or one for each axis that an array or mask stands for."""
    found: list[tuple[IndexArray, ...]] = []
    axis = 0
    for item in items:
        if not isinstance(item, np.ndarray):
            found.append(())
        elif item.dtype != bool:
            found.append((in_bounds(item, shape[axis], axis),))
        elif item.ndim:
            found.append(mask_indices(item, shape, axis))
        else:
            found.append((np.zeros(int(item), np.int64),))
        axis += axes_taken(item)
    return found


def _broadcast(arrays: Sequence[IndexArray]) -> tuple[int, ...]:
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


def _indexed(array: IndexArray, end: int) -> OutputMap:
    """Return the output map for an index array whose last dimension is domain dimension ``end - 1``."""
    # Along a dimension where the array has length 1 the index stays the same, however long the domain is.
    dims = tuple(end - array.ndim + along for along, length in enumerate(array.shape) if length != 1)
    if len(dims) < array.ndim:
        array = array.reshape([length for length in array.shape if length != 1])
    return IndexArrayMap(dims, array) if dims else ConstantMap(int(array))
