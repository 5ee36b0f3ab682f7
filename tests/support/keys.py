"""Random selections, good and bad, of all the kinds that NumPy knows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

__all__ = ["basic_keys", "numpy_keys", "orthogonal_keys", "shapes", "values"]

shapes = st.lists(st.integers(0, 6), max_size=5).map(tuple)


def bounds(size: int) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), st.integers(-size - 3, size + 3), st.sampled_from([-(2**70), 2**70, np.int8(1)]))


def slices(size: int) -> st.SearchStrategy[slice]:
    steps = st.one_of(st.none(), st.integers(-4, 4).filter(bool), st.sampled_from([2**70, -(2**70), np.int16(2)]))
    return st.builds(slice, bounds(size), bounds(size), steps)


def good_indices(size: int) -> st.SearchStrategy[int]:
    return st.integers(-size, size - 1)


def integers(size: int) -> st.SearchStrategy[Any]:
    kinds = [int, np.int64, np.array, *([np.int8, lambda index: np.uint8(index % size)] if size <= 128 else [])]
    return st.builds(lambda kind, index: kind(index), st.sampled_from(kinds), good_indices(size))


@st.composite
def index_arrays(draw: st.DrawFn, size: int, points: tuple[int, ...]) -> Any:
    """An array of indices that broadcasts to `points`, as an array of some type or as lists."""
    shape = tuple(draw(st.sampled_from([1, length])) for length in points[draw(st.integers(0, len(points))) :])
    count = math.prod(shape)
    if count and not size:
        shape, count = (0,), 0
    flat = draw(st.lists(good_indices(size), min_size=count, max_size=count)) if count else []
    narrow = [np.int8] if size <= 128 else []
    array = np.array(flat, draw(st.sampled_from([np.int64, np.int32, *narrow]))).reshape(shape)
    if draw(st.booleans()) and array.ndim:
        return array.tolist() if array.size or array.ndim == 1 else array
    return array


@st.composite
def masks(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    flat = draw(st.lists(st.booleans(), min_size=math.prod(shape), max_size=math.prod(shape)))
    mask = np.array(flat, bool).reshape(shape)
    return mask.tolist() if mask.ndim and mask.size and draw(st.booleans()) else mask


def bad_items(size: int) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.sampled_from([1.0, "0", b"0", [1.5], np.array([0.0]), [[0], [0, 0]], object(), {0}, 2**70]),
        st.sampled_from([slice(1.5), slice(None, None, 0), slice("a", None)]),
        st.sampled_from([size, -size - 1, [size], np.array([[0], [-size - 1]]), [True] * (size + 1), [2**64], 1j]),
        st.sampled_from([np.timedelta64(1, "s"), np.array(["a"]), [None], np.array([2**63 + 1], np.uint64)]),
    )


@st.composite
def basic_keys(draw: st.DrawFn, shape: tuple[int, ...], *, newaxis: bool = True) -> Any:
    """Integers, slices, newaxis and an ellipsis: some axes are left out, sometimes there is one too many."""
    items: list[Any] = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        items.append(draw(st.one_of(slices(size), integers(size)) if size else slices(size)))
        if newaxis and draw(st.integers(0, 5)) == 0:
            items.append(None)
    return _finish(draw, items, shape)


def _finish(draw: st.DrawFn, items: list[Any], shape: tuple[int, ...]) -> Any:
    """Perhaps an ellipsis, perhaps a mistake; a lone item perhaps without its tuple."""
    if draw(st.integers(0, 2)) == 0:
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    if draw(st.integers(0, 15)) == 0:
        bad = draw(st.one_of(st.just(Ellipsis), bad_items(max(shape, default=0))))
        items.insert(draw(st.integers(0, len(items))), bad)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@st.composite
def numpy_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """All that may stand in ``array[key]``."""
    if draw(st.integers(0, 3)) == 0:
        return draw(basic_keys(shape))
    points = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    items: list[Any] = []
    axis = 0
    while axis < len(shape) and draw(st.integers(0, 5)):
        size = shape[axis]
        kind = draw(st.integers(0, 9))
        if kind == 0:
            items.append(None)
        elif kind == 1:
            items.append(draw(st.sampled_from([True, False, np.True_, np.array(True)])))
        elif kind <= 3:
            span = draw(st.integers(1, len(shape) - axis))
            items.append(draw(masks(shape[axis : axis + span])))
            axis += span
        else:
            choices = [slices(size), index_arrays(size, points)] + ([integers(size)] if size else [])
            items.append(draw(st.one_of(choices)))
            axis += 1
    return _finish(draw, items, shape)


@st.composite
def orthogonal_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """One integer, slice, list of indices or mask per axis."""
    items = []
    for size in shape:
        points = (draw(st.integers(0, 4)),)
        choices = [slices(size), index_arrays(size, points), masks((size,))] + ([integers(size)] if size else [])
        items.append(draw(st.one_of(choices)))
    return tuple(items)


@st.composite
def values(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """What might be assigned to a selection of this shape: mostly it broadcasts, sometimes it does not."""
    form = draw(st.integers(0, 9))
    if form == 0:
        scalars = [7, -3, 2.75, True, np.float32(1.5), np.int64(-9), 300, 1e300, 2 + 1j, None, "5", np.inf]
        return draw(st.sampled_from(scalars))
    if form == 1:
        shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    lengths = [draw(st.sampled_from([length, length, 1])) for length in shape[draw(st.integers(0, len(shape))) :]]
    if len(lengths) == len(shape):
        lengths = [1] * draw(st.integers(0, 1)) + lengths
    kind = draw(st.sampled_from([np.int64, np.float32, np.uint8, np.complex64, np.int16, np.bool_]))
    return (np.arange(math.prod(lengths)) * 37 - 20).astype(kind).reshape(lengths)
