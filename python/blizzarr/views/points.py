"""The fast path for index arrays: lists and arrays of integers among integers, slices and `...`.

Like `basic`, it answers only where nothing is out of the ordinary, and knows no errors: any other key goes the long
way, which decides the meaning of all keys. Tests prove that the two agree.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from blizzarr.views.form import ArrayMap, Form, IndexArray, Map, fits_64_bits
from blizzarr.views.interval import INF, Bounds
from blizzarr.views.numpy_terms import Mode
from blizzarr.views.values import MAX_RANK

__all__ = ["index_points"]

_Became: TypeAlias = int | tuple[int, int, int] | tuple[IndexArray, int]
"""The fate of a dimension: an index, (dim, offset, stride), or an index array and the dimension after its last."""


def index_points(form: Form, key: Any, mode: Mode) -> Form | None:
    """Return the form of ``view[key]`` (or ``oindex``, ``vindex``); None unless the key is ordinary and valid.

    Examples
    --------
    >>> form = Form((0, 0), (5, 6), (False,) * 2, (False,) * 2, ("", ""), ((0, 0, 1), (1, 0, 1)))
    >>> index_points(form, ([3, 4], [0, 5]), Mode.DEFAULT).upper
    (2,)
    >>> index_points(form, (slice(2, 4), [0, 1, 5]), Mode.VINDEX).upper
    (3, 4)
    """
    terms = _terms(key, len(form.lower), mode)
    if terms is None:
        return None
    items, joint, in_place = terms
    lower: list[int] = []
    upper: list[int] = []
    implicit_lower: list[bool] = []
    implicit_upper: list[bool] = []
    labels: list[str] = []

    def add_lengths(shape: tuple[int, ...]) -> int:
        """Add new dimensions for index arrays, and return the first."""
        first = len(lower)
        lower.extend([0] * len(shape))
        upper.extend(shape)
        implicit_lower.extend([False] * len(shape))
        implicit_upper.extend([False] * len(shape))
        labels.extend([""] * len(shape))
        return first

    joint_first = None if in_place or mode is Mode.OINDEX else add_lengths(joint)
    became: list[_Became] = []
    for dim, item in enumerate(items):
        first, end = form.lower[dim], form.upper[dim]
        if type(item) is int:
            if not first <= item < end:
                return None
            became.append(item)
        elif type(item) is slice:
            implicit = [form.implicit_lower[dim], form.implicit_upper[dim]]
            start, stop = item.start, item.stop
            if item.step is not None and item.step != 1:
                return None
            if start is not None:
                if type(start) is not int or not first <= start < INF:
                    return None
                first, implicit[0] = start, False
            if stop is not None:
                if type(stop) is not int or not stop <= end or stop >= INF:
                    return None
                end, implicit[1] = stop, False
            if first >= end:
                return None
            became.append((len(lower), 0, 1))
            lower.append(first)
            upper.append(end)
            implicit_lower.append(implicit[0])
            implicit_upper.append(implicit[1])
            labels.append(form.labels[dim])
        else:
            shape = item.shape if mode is Mode.OINDEX else joint
            if mode is Mode.OINDEX or joint_first is None:
                joint_first = add_lengths(shape)
            became.append((item, joint_first + len(shape)))
    if len(lower) > MAX_RANK:
        return None
    maps = _composed(form, became, len(lower))
    if maps is None:
        return None
    return Form(tuple(lower), tuple(upper), tuple(implicit_lower), tuple(implicit_upper), tuple(labels), maps)


def _terms(key: Any, rank: int, mode: Mode) -> tuple[list[Any], tuple[int, ...], bool] | None:
    """Return the term of each dimension (index arrays as copies), the common shape of the arrays, and whether they stay
    in place.
    """
    items = list(key) if type(key) is tuple else [key]
    joint: tuple[int, ...] | None = None
    in_place = mode is Mode.DEFAULT
    interrupted = False
    spread: int | None = None
    for place, item in enumerate(items):
        kind = type(item)
        if kind is list or kind is np.ndarray:
            array = _plain_array(item)
            if array is None:
                return None
            items[place] = array
            if joint is None or joint == array.shape:
                joint = array.shape
            elif mode is not Mode.OINDEX:
                try:
                    joint = np.broadcast_shapes(joint, array.shape)
                except ValueError:
                    return None
            in_place = in_place and not interrupted
        elif kind is slice or item is Ellipsis:
            interrupted = joint is not None
            if item is Ellipsis:
                if spread is not None:
                    return None
                spread = place
        elif kind is not int:
            return None
    if joint is None or len(items) - (spread is not None) > rank:
        return None
    left = rank - len(items) + (spread is not None)
    gap = len(items) if spread is None else spread
    items[gap : gap + (spread is not None)] = [slice(None)] * left
    return items, joint, in_place


def _composed(form: Form, became: list[_Became], rank: int) -> tuple[Map, ...] | None:
    """Return the output maps of the indexed dimensions."""
    maps: list[Map] = []
    for map_ in form.maps:
        if isinstance(map_, ArrayMap):
            return None
        if isinstance(map_, int):
            maps.append(map_)
            continue
        own, offset, stride = map_
        now = became[own]
        if isinstance(now, int):
            index = offset + stride * now
            if not fits_64_bits(index):
                return None
            maps.append(index)
        elif len(now) == 3:
            # Slices here have neither steps nor offsets.
            maps.append((now[0], offset, stride))
        else:
            maps.append(_array_map(now[0], now[1], offset, stride, form.interval(own).effective, rank))
    return tuple(maps)


def _plain_array(item: Any) -> IndexArray | None:
    """Return our own copy of an index array; None unless it has more than one index and an ordinary data type."""
    array = np.array(item) if type(item) is list else item
    if array.dtype.kind == "b" and array.ndim == 1:
        # A mask stands for the positions at which it is true.
        (array,) = array.nonzero()
        return array if array.size > 1 else None
    if array.dtype.kind != "i" or array.ndim == 0 or array.size < 2 or 0 in array.strides:
        return None
    return array if type(item) is list and array.dtype == np.int64 else np.array(array, np.int64)


def _array_map(array: IndexArray, end: int, offset: int, stride: int, bounds: Bounds, rank: int) -> ArrayMap:
    first = end - array.ndim
    dims = tuple([first + along for along, length in enumerate(array.shape) if length != 1])
    if array.ndim != rank:
        array = array.reshape((1,) * first + array.shape + (1,) * (rank - end))
    return ArrayMap(offset, stride, array, dims, bounds)
