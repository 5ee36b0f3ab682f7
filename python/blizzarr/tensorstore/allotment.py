"""Assigning each position of a view to a layer: the last one that contains it.

Ways
----
row
    The layers lie side by side along one dimension, as those of stacks do: the layer is found by where it begins.
boxes
    The positions in a layer are a box of the view. From the last layer on each takes what is left of its box; what is
    left then is again a few boxes, and no position is looked at by itself.
points
    There are arrays of indices: the layer of each position is noted, and those of one layer are picked together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SpecError
from blizzarr.tensorstore.regions import Box, box_within, cut_to, indices_of, listed
from blizzarr.tensorstore.share import Share, picked_shares, share_of_box
from blizzarr.views.form import ArrayMap, Form, Map

__all__ = ["Allotment"]

_FEW = 12
"""Up to this number, layers are examined one by one."""


class Allotment:
    """The boxes of layers, and how a view is divided between them.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> layers = Allotment([((0, 3),), ((3, 9),)], ((0, 9),))
    >>> view = IndexTransform(input_shape=[9])[2:5]
    >>> [(share.number, share.form.lower, share.form.upper) for share in layers.shares(view._form)]
    [(1, (3,), (5,)), (0, (2,), (3,))]
    """

    __slots__ = ("_boxes", "_ends", "_highs", "_lows", "_row", "_starts")

    def __init__(self, boxes: Sequence[Box], domain: Box | None) -> None:
        self._boxes = boxes
        self._row = None if domain is None else _row_of(boxes, domain)
        self._starts: list[int] = []
        self._ends: list[int] = []
        if self._row is not None:
            self._starts = [box[self._row][0] for box in boxes]
            self._ends = [box[self._row][1] for box in boxes]
        self._lows: npt.NDArray[np.int64] | None = None
        self._highs: npt.NDArray[np.int64] | None = None

    def shares(self, form: Form) -> list[Share]:
        """Return the share that each layer has in a view, the last layer first.

        Raises
        ------
        SpecError
            When there are positions that no layer has.
        """
        shape = form.shape
        if 0 in shape:
            return []
        found = None if self._row is None else self._in_row(form, self._row)
        if found is not None:
            return found
        if any(isinstance(map_, ArrayMap) for map_ in form.maps):
            return self._of_points(form)
        return list(self._of_boxes(form))

    def _in_row(self, form: Form, axis: int) -> list[Share] | None:
        """Return the shares on the fast path: layers in a row; None unless every position surely has a layer."""
        map_ = form.maps[axis]
        starts, ends = self._starts, self._ends
        if isinstance(map_, int):
            number = bisect_right(starts, map_) - 1
            return [Share(number, form, None)] if number >= 0 and map_ < ends[number] else None
        if isinstance(map_, ArrayMap):
            index = listed(map_)
            numbers = np.searchsorted(starts, index, "right") - 1
            if np.any(numbers < 0) or np.any(index >= np.array(ends)[numbers]):
                return None
            return picked_shares(form, map_.dims, numbers)
        dim, offset, stride = map_
        low, high = form.lower[dim], form.upper[dim]
        least, most = _reach(map_, form)
        first, last = bisect_right(starts, least) - 1, bisect_right(starts, most) - 1
        if first < 0 or most >= ends[last]:
            return None
        if first == last:
            return [Share(first, form, None)]
        if any(isinstance(other, ArrayMap) and dim in other.dims for other in form.maps):
            return None
        shares = []
        left = high - low
        around = (slice(None),) * dim
        for number in range(last, first - 1, -1):
            one, end = starts[number], ends[number] - 1
            if stride < 0:
                one, end = end, one
            begin = max(low, -((offset - one) // stride))
            stop = min(high, (end - offset) // stride + 1)
            if begin >= stop:
                continue
            left -= stop - begin
            part = form._replace(
                lower=(*form.lower[:dim], begin, *form.lower[dim + 1 :]),
                upper=(*form.upper[:dim], stop, *form.upper[dim + 1 :]),
            )
            shares.append(Share(number, part, (*around, slice(begin - low, stop - low))))
        return None if left else shares

    def _of_boxes(self, form: Form) -> Iterator[Share]:
        free: list[Box] = [tuple(zip(form.lower, form.upper, strict=True))]
        for number in reversed(self._near(form)):
            box = box_within(form, self._boxes[number])
            assert box is not None, "there are no arrays of indices"
            left: list[Box] = []
            for one in free:
                common = tuple(
                    (max(low, first), min(high, end)) for (low, high), (first, end) in zip(one, box, strict=True)
                )
                if any(low >= high for low, high in common):
                    left.append(one)
                    continue
                yield share_of_box(number, form, common)
                left.extend(_around(one, common))
            free = left
            if not free:
                return
        origin = min(tuple(low for low, _ in one) for one in free)
        raise _missing([index.item() for index in indices_of(cut_to(form, tuple((at, at + 1) for at in origin)))])

    def _of_points(self, form: Form) -> list[Share]:
        shape = form.shape
        indices = indices_of(form)
        owner = np.full(shape, -1, np.int64)
        for number in self._near(form):
            wanted: npt.NDArray[np.bool_] = np.ones((1,) * len(shape), bool)
            for index, (low, high) in zip(indices, self._boxes[number], strict=True):
                wanted = wanted & (index >= low) & (index < high)
            owner[np.broadcast_to(wanted, shape)] = number
        missing = owner < 0
        if missing.any():
            at = tuple(np.argwhere(missing)[0])
            raise _missing([int(np.broadcast_to(index, shape)[at]) for index in indices])
        shares = picked_shares(form, tuple(range(len(shape))), owner)
        assert shares is not None, "all dimensions are picked"
        return shares

    def _near(self, form: Form) -> Sequence[int]:
        """Return the layers whose boxes overlap the view, in their order."""
        if len(self._boxes) <= _FEW:
            return range(len(self._boxes))
        if self._lows is None or self._highs is None:
            bounds = np.array(self._boxes, np.int64).reshape(len(self._boxes), -1, 2)
            self._lows, self._highs = bounds[..., 0], bounds[..., 1]
        least, most = np.array([_reach(map_, form) for map_ in form.maps], np.int64).reshape(-1, 2).T
        near = ((self._lows <= most) & (self._highs > least)).all(1)
        found: list[int] = np.flatnonzero(near).tolist()
        return found


def _reach(map_: Map, form: Form) -> tuple[int, int]:
    """Return the smallest and the largest index of a view that is not empty."""
    if isinstance(map_, int):
        return map_, map_
    if isinstance(map_, ArrayMap):
        offset, stride, first, last = map_.offset, map_.stride, int(map_.array.min()), int(map_.array.max())
    else:
        dim, offset, stride = map_
        first, last = form.lower[dim], form.upper[dim] - 1
    one, other = offset + stride * first, offset + stride * last
    return (one, other) if stride > 0 else (other, one)


def _row_of(boxes: Sequence[Box], domain: Box) -> int | None:
    """Return the dimension along which boxes lie in a row, if each spans the whole domain in the others."""
    if not boxes:
        return None
    first = boxes[0]
    differing = [dim for dim, bounds in enumerate(domain) if any(box[dim] != bounds for box in boxes)]
    if len(differing) > 1 or not first:
        return None
    axis = differing[0] if differing else 0
    for one, other in pairwise(boxes):
        if one[axis][1] > other[axis][0]:
            return None
    return axis


def _around(box: Box, hole: Box) -> Iterator[Box]:
    """Return disjoint boxes that together are a box without another one in it."""
    rest = list(box)
    for dim, ((low, high), (first, end)) in enumerate(zip(box, hole, strict=True)):
        for one in ((low, first), (end, high)):
            if one[0] < one[1]:
                yield (*rest[:dim], one, *rest[dim + 1 :])
        rest[dim] = (first, end)


def _missing(origin: list[int]) -> SpecError:
    shown = ", ".join(map(str, origin))
    return SpecError(f'Cell with origin={{{shown}}} missing layer mapping in "stack" driver')
