"""Downsampling methods: one element from each block, equal to TensorStore's result to the bit.

Steps
-----
Along each dimension all blocks have the same length but the first and the last. So the elements fall into at most three
segments per dimension, in which every block has the same shape:

1. for each such segment the elements at one place of all blocks are a slice with a step, or, where a whole block is
   needed at a time, elements are laid out as ``(blocks..., elements of a block)``;
2. elements of a block are taken in C order, so that sums of floats are rounded alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.errors import SpecError
from blizzarr.json_values import dump
from blizzarr.spec.dtype import DType
from blizzarr.transfer import empty_result

Blocks = npt.NDArray[Any]

_NATIVE: Final = frozenset(
    ["bool", "float32", "float64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
)
"""The data types that the engine downsamples; the rest, which are rare, are done here."""


def check_method(method: str, dtype: DType) -> None:
    """Raise if the method does not apply to the data type.

    Examples
    --------
    >>> check_method("median", DType("complex64"))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Downsample method "median" does not support data type "complex64"
    """
    if method in ("stride", "mode"):
        return
    is_object = dtype.name in ("string", "ustring", "json", "char", "byte")
    if is_object or (dtype.name.startswith("complex") and method != "mean"):
        raise SpecError(f'Downsample method "{method}" does not support data type "{dtype.name}"')


def reduce_blocks(
    elements: npt.NDArray[Any],
    starts: list[npt.NDArray[np.int64]],
    method: str,
    dtype: DType,
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any]:
    """Compute one element for each block.

    Parameters
    ----------
    elements
        All elements.
    starts
        For each dimension where the blocks begin, and the length of the dimension at the end.
    method
        How.
    dtype
        The data type.
    out
        Where to put them.

    Examples
    --------
    >>> starts = [np.array([0, 1]), np.array([0, 1, 3])]
    >>> reduce_blocks(np.array([[1, 2, 5]]), starts, "mean", DType("int64"))
    array([[1, 4]])
    """
    shape = tuple([len(edges) - 1 for edges in starts])
    found = empty_result(shape, elements.dtype) if out is None else out
    if dtype.name == "bool" and method in ("median", "mode"):
        method = "mean"
    if shape and dtype.name in _NATIVE:
        # Only where all is side by side.
        made = found if found.flags.c_contiguous else np.empty(shape, elements.dtype)
        # Dimensions of one element change nothing; rows of one element would take long.
        kept = [dim for dim, length in enumerate(elements.shape) if length != 1] or [0]
        side_by_side = np.ascontiguousarray(elements).reshape([elements.shape[dim] for dim in kept])
        room_for = made.reshape([shape[dim] for dim in kept])
        _native.reduce(side_by_side, room_for, [starts[dim] for dim in kept], method, dtype.name)
        if made is not found:
            found[...] = made
        return found
    for segment in product(*(_segments(edges) for edges in starts)):
        target = tuple(slice(first, last) for first, last, _ in segment)
        source = tuple(
            slice(int(edges[first]), int(edges[last])) for (first, last, _), edges in zip(segment, starts, strict=True)
        )
        counts = [last - first for first, last, _ in segment]
        lengths = [length for _, _, length in segment]
        rank = len(segment)
        part = elements[source]
        if method in _BY_PLACE:
            offsets = product(*(range(length) for length in lengths))
            places = [part[tuple(map(slice, at, (None,) * rank, lengths))] for at in offsets]
            found[target] = _BY_PLACE[method](places, dtype)
            continue
        split = part.reshape([size for pair in zip(counts, lengths, strict=True) for size in pair])
        blocks = split.transpose([*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]).reshape(*counts, -1)
        found[target] = _BY_BLOCK[method](blocks, dtype)
    return found


def _segments(edges: npt.NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """Return runs of blocks of one length: the first block, the one after the last, and the length."""
    lengths = np.diff(edges)
    if not len(lengths):
        return
    changes = [0, *(np.flatnonzero(np.diff(lengths)) + 1).tolist(), len(lengths)]
    for first, last in pairwise(changes):
        yield first, last, int(lengths[first])


def _mean(places: list[Blocks], dtype: DType) -> Blocks:
    if dtype.name == "bool" or dtype.name.startswith(("int", "uint")):
        return _rounded(places, dtype)
    count = len(places)
    kind = places[0].dtype if dtype.name in _OWN_SUMS else np.dtype(np.float32)
    with np.errstate(all="ignore"):
        total = np.zeros(places[0].shape, kind)
        for place in places:
            total += place.astype(kind, copy=False)
        if kind.kind == "c":
            # Both parts alone: a division of complex numbers is rounded differently.
            total.real /= count
            total.imag /= count
        else:
            total /= kind.type(count)
        found: Blocks = total.astype(places[0].dtype, copy=False)
    return found


_OWN_SUMS: Final = ("float32", "float64", "complex64", "complex128")


def _rounded(places: list[Blocks], dtype: DType) -> Blocks:
    """Means of integers: rounded to the nearest, and to an even one from halfway."""
    count, kind = len(places), places[0].dtype
    if dtype.name not in ("int64", "uint64"):
        quotient, rest = _divided(_total(places), count)
    else:
        # Sums of 64-bit integers may overflow; those of their halves do not.
        low = _total([place & kind.type(0xFFFFFFFF) for place in places])
        high = _total([place >> kind.type(32) for place in places])
        part, left = _divided(high, count)
        more, rest = _divided((left << 32) + low, count)
        quotient = (part.astype(kind) << kind.type(32)) + more.astype(kind)
    # The quotient is rounded down, so the remainder decides.
    odd = (quotient & quotient.dtype.type(1)).astype(np.int64)
    up = rest * 2 + odd > count
    found: Blocks = (quotient + up.astype(quotient.dtype)).astype(kind)
    return found


def _total(places: list[Blocks]) -> npt.NDArray[np.int64]:
    total = np.zeros(places[0].shape, np.int64)
    for place in places:
        total += place.astype(np.int64, copy=False)
    return total


def _divided(total: npt.NDArray[np.int64], count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    if count & (count - 1) == 0:
        return total >> (count.bit_length() - 1), total & (count - 1)
    return np.divmod(total, count)


def _least(places: list[Blocks], dtype: DType) -> Blocks:
    return _extreme(places, dtype, np.inf, np.less)


def _greatest(places: list[Blocks], dtype: DType) -> Blocks:
    return _extreme(places, dtype, -np.inf, np.greater)


def _extreme(places: list[Blocks], dtype: DType, start: float, before: Callable[[Any, Any], Any]) -> Blocks:
    """Return the least element. Elements that cannot be compared (NaN) never count."""
    if dtype.name == "bool" or dtype.name.startswith(("int", "uint")):
        found = places[0].copy()
    else:
        with np.errstate(all="ignore"):
            found = np.full(places[0].shape, start).astype(places[0].dtype)
    for place in places:
        found = np.where(before(place, found), place, found)
    return found


def _median(blocks: Blocks, dtype: DType) -> Blocks:
    middle = (blocks.shape[-1] - 1) // 2
    kind = _compared(dtype)
    if kind is None:
        found: Blocks = np.partition(blocks, middle, -1)[..., middle]
        return found
    return np.sort(blocks.astype(kind), -1)[..., middle].astype(blocks.dtype)


def _mode(blocks: Blocks, dtype: DType) -> Blocks:
    """Return the most frequent element; of several, the first in order."""
    if blocks.dtype.hasobject:
        return _mode_of_objects(blocks)
    if dtype.name in ("char", "byte"):
        if blocks.dtype.itemsize != 1:
            return blocks[..., 0]
        return _mode(np.ascontiguousarray(blocks).view(np.uint8), DType("uint8")).view(blocks.dtype)
    kind = _compared(dtype)
    ordered = np.sort(blocks if kind is None else blocks.astype(kind), -1)
    count = ordered.shape[-1]
    run = np.ones(ordered.shape, np.int64)
    for place in range(1, count):
        same = ordered[..., place] == ordered[..., place - 1]
        run[..., place] = np.where(same, run[..., place - 1] + 1, 1)
    # The longest run ends at the first place where its length is reached.
    best = np.argmax(run, -1)[..., None]
    return np.take_along_axis(ordered, best, -1)[..., 0].astype(blocks.dtype)


def _mode_of_objects(blocks: Blocks) -> Blocks:
    found = np.empty(blocks.shape[:-1], object)
    for position in np.ndindex(found.shape):
        same: dict[Any, list[Any]] = {}
        for element in blocks[position]:
            same.setdefault(_place_of(element), []).append(element)
        most = max(map(len, same.values()))
        found[position] = same[min(place for place, elements in same.items() if len(elements) == most)][0]
    return found


def _place_of(value: Any) -> tuple[int, Any]:
    """Return the sorting key of a JSON value: null, booleans, numbers, objects, arrays, strings, in this order."""
    if isinstance(value, str | bytes):
        return 5, value
    if isinstance(value, dict | list):
        return (3 if isinstance(value, dict) else 4), dump(value)
    return (0, 0) if value is None else (1 if isinstance(value, bool) else 2, value)


def _compared(dtype: DType) -> np.dtype[Any] | None:
    """Return the data type as which elements are compared; None if NumPy can sort their own."""
    if dtype.numpy_dtype.isbuiltin == 1:
        return None
    return np.dtype(np.int8) if dtype.name.startswith("int") else np.dtype(np.float32)


def _first(places: list[Blocks], dtype: DType) -> Blocks:
    return places[0]


_BY_PLACE: Final[dict[str, Callable[[list[Blocks], DType], Blocks]]] = {
    "mean": _mean,
    "min": _least,
    "max": _greatest,
    "stride": _first,
}
"""Methods that take the elements at one place of all blocks at a time."""

_BY_BLOCK: Final[dict[str, Callable[[Blocks, DType], Blocks]]] = {"median": _median, "mode": _mode}
"""Methods that need all elements of a block, which are along the last dimension."""
