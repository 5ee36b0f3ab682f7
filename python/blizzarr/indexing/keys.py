"""The items of a key: each is one of five kinds, or raises an error that says what is wrong with it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.errors import OutOfBoundsError, SelectionError
from blizzarr.indexing.form import IndexArray

Item: TypeAlias = int | slice | EllipsisType | npt.NDArray[Any] | None
"""An index, a slice, `...`, `newaxis`, or an array: of integers (64 bit, not without dimensions) or a mask."""


def as_items(key: Any, rank: int) -> list[Item]:
    """Split a key into its items, with exactly one ellipsis: if the key has none, one is added at the end.

    Raise `SelectionError` if an item is not an index, slice or array, or if there are two ellipses or more indices than
    axes.
    """
    items = [_item(item) for item in (key if isinstance(key, tuple) else (key,))]
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise SelectionError(
            f"expected at most one ellipsis (...) in the index, found {ellipses}; write ':' for single axes", index=key
        )
    taken = sum(axes_taken(item) for item in items)
    if taken > rank:
        raise SelectionError(
            f"expected at most {_count(rank, 'index', 'indices')} for an array with {_count(rank, 'axis', 'axes')}, "
            f"found {taken}; leave some out",
            index=key,
        )
    return items if ellipses else [*items, Ellipsis]


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def axes_taken(item: Item) -> int:
    """Return the number of array axes that an item stands for."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, np.ndarray) and item.dtype == bool else 1


def _item(item: Any) -> Item:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    index = index_or_array(item)
    return int(index) if isinstance(index, np.ndarray) and index.ndim == 0 and index.dtype != bool else index


def index_or_array(item: Any) -> int | npt.NDArray[Any]:
    """Return an index, an array of indices of 64 bits, or a mask, which may have no dimensions: ``array(True)``.

    Raise `SelectionError` if the item is none of these.
    """
    if type(item) is not list and not isinstance(item, np.ndarray):
        if isinstance(item, bool | np.bool_):
            return np.array(bool(item))
        if not hasattr(item, "__array__") and not isinstance(item, Sequence):
            try:
                return operator.index(item)
            except TypeError:
                raise _not_an_index(item) from None
        if isinstance(item, str | bytes):
            raise _not_an_index(item)
    try:
        array = np.asarray(item)
    except (ValueError, OverflowError):
        raise _not_an_index(item) from None
    kind = array.dtype.kind
    if kind == "b":
        return array
    if array.size == 0 and not hasattr(item, "dtype"):
        # NumPy makes an empty list float64, but takes it as an empty index.
        return array.astype(np.int64)
    if kind == "u":
        if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise SelectionError(f"expected indices below 2**63, found {array.max()}", index=array.max())
    elif kind != "i":
        raise _not_an_index(item)
    return array.astype(np.int64, copy=False)


def _not_an_index(item: Any) -> SelectionError:
    found = f"an array of {item.dtype}" if isinstance(item, np.ndarray) and item.ndim else f"{item!r:.80}"
    advice = ""
    if isinstance(item, float | np.floating) or (isinstance(item, np.ndarray) and item.dtype.kind == "f"):
        advice = "; convert floats with int() or .astype(int)"
    elif isinstance(item, list):
        advice = "; a list must hold only integers or only booleans, in rows of one length"
    elif isinstance(item, str):
        advice = f"; the name of a field is a key by itself: array[{item!r:.80}]"
    return SelectionError(
        "expected integers, slices (:), ellipsis (...), newaxis (None) and arrays of integers or booleans as indices, "
        f"found {found}{advice}",
        index=item,
    )


def index_in_bounds(index: int, size: int, axis: int) -> int:
    """Count an index from the start of the axis; raise `OutOfBoundsError` if the index is outside."""
    if not -size <= index < size:
        raise OutOfBoundsError(index=index, axis=axis, size=size)
    return index + size if index < 0 else index


def in_bounds(indices: IndexArray, size: int, axis: int) -> IndexArray:
    """Count all indices from the start of the axis; raise `OutOfBoundsError` if an index is outside."""
    # As unsigned integers, negative indices are larger than any size: one comparison settles the usual case.
    if indices.size == 0 or int(indices.view(np.uint64).max()) < size:
        return indices
    wrong = indices[(indices < -size) | (indices >= size)]
    if wrong.size:
        raise OutOfBoundsError(index=int(wrong[0]), axis=axis, size=size)
    return np.where(indices < 0, indices + size, indices)


def slice_in_bounds(item: slice, size: int, axis: int) -> tuple[int, int, int]:
    """Return start, step and count of a slice, which as everywhere in Python stops at the end of the axis.

    Raise `SelectionError` if the slice has step 0, or bounds that are not integers.
    """
    try:
        start, stop, step = item.indices(size)
    except (TypeError, ValueError):
        raise SelectionError(
            f"expected a slice of integers with a step other than 0 for axis {axis}, found {item!r}",
            index=item,
            axis=axis,
            size=size,
        ) from None
    count = len(range(start, stop, step))
    # The step of a slice with fewer than two elements may not fit into 64 bits.
    return start, step if count > 1 else 1, count


def mask_indices(mask: npt.NDArray[np.bool_], shape: Sequence[int], axis: int) -> tuple[IndexArray, ...]:
    """Return the indices of the true elements of a mask over the axes from `axis` on, one array per axis.

    Raise `SelectionError` if the shape of the mask is not that of these axes.
    """
    for along, (length, size) in enumerate(zip(mask.shape, shape[axis:], strict=False)):
        if length != size:
            raise SelectionError(
                f"expected a mask of length {size} for axis {axis + along}, found {length}; "
                f"the mask has shape {mask.shape}, the array {tuple(shape)}",
                index=mask,
                axis=axis + along,
                size=size,
            )
    return true_indices(mask)


def true_indices(mask: npt.NDArray[np.bool_]) -> tuple[IndexArray, ...]:
    """Return `mask.nonzero()`, which NumPy finds much sooner in one dimension than in several."""
    indices = np.flatnonzero(mask)
    along = (indices,) if mask.ndim == 1 else np.unravel_index(indices, mask.shape)
    return tuple(numbers.astype(np.int64, copy=False) for numbers in along)


class Blocks(Protocol):
    """The blocks along one axis of a grid."""

    def count(self, size: int, /) -> int:
        """Return the number of blocks that hold elements of an axis of this size."""

    def start(self, block: int, /) -> int:
        """Return the first element of a block; for the number of blocks, where the last one ends."""


def block_slice(item: Item, edges: Blocks, size: int, axis: int) -> slice:
    """Turn the position of a block, or a slice of positions, into a slice of elements.

    Raise `SelectionError` if the item is not an integer or a slice with step 1. Raise `OutOfBoundsError` if the
    position is outside the grid.
    """
    blocks = edges.count(size)
    if isinstance(item, slice):
        start, _, count = slice_in_bounds(item, blocks, axis)
        if item.step is not None and operator.index(item.step) != 1:
            raise SelectionError(
                f"expected a slice of blocks with step 1 for axis {axis}, found step {item.step}", index=item, axis=axis
            )
        return slice(edges.start(start), min(edges.start(start + count), size))
    if isinstance(item, int):
        if not -blocks <= item < blocks:
            raise OutOfBoundsError(
                f"block {item} is out of bounds for axis {axis} with {blocks} blocks",
                index=item,
                axis=axis,
                size=blocks,
            )
        start = item % blocks
        return slice(edges.start(start), min(edges.start(start + 1), size))
    raise SelectionError(
        f"expected an integer or a slice to pick blocks along axis {axis}, found {item!r:.80}", index=item, axis=axis
    )
