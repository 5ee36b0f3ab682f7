"""Dividing a view between the layers of a stack: each position belongs to the last layer that contains it.

By box
    What decides between the layers near the view are indices without arrays. Then the positions in a layer are a box of
    the view. From the last layer on, each takes what is left of its box; what is left then is again a few boxes, and no
    position is looked at by itself.
By point
    Arrays of indices decide. The layer of each position along their dimensions is noted, and the positions of one layer
    are picked together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SpecError
from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.tensorstore.parts import Box, Part, box_within, cut_to, indices_of, parts_by_point

__all__ = ["StackPartition"]


class StackPartition:
    """The boxes of layers, and how a view is divided between them.

    Examples
    --------
    >>> from blizzarr.views import IndexTransform
    >>> layers = StackPartition([((0, 3),), ((3, 9),)], ((0, 9),))
    >>> view = IndexTransform(input_shape=[9])[2:5]
    >>> [(part.number, part.form.lower, part.form.upper) for part in layers.parts(view._form)]
    [(1, (3,), (5,)), (0, (2,), (3,))]
    """

    __slots__ = ("_bounds", "_boxes", "_ends", "_row", "_starts")

    def __init__(self, boxes: Sequence[Box], domain: Box | None) -> None:
        self._boxes = boxes
        # Layers that lie side by side, as those of stacks do, are found by where they begin.
        self._row = None if domain is None else _row_of(boxes, domain)
        self._starts = [] if self._row is None else [box[self._row][0] for box in boxes]
        self._ends = [] if self._row is None else [box[self._row][1] for box in boxes]
        self._bounds: npt.NDArray[np.int64] | None = None

    def parts(self, form: Form) -> list[Part]:
        """Return the part of a view that each layer has, the last layer first.

        Raises
        ------
        SpecError
            When there are positions that no layer has.
        """
        if 0 in form.shape:
            return []
        reach = [_reach(map_, form) for map_ in form.maps]
        near = self._near(reach)
        boxes = self._boxes
        deciding = {
            axis
            for axis, (least, most) in enumerate(reach)
            if any(least < boxes[number][axis][0] or most >= boxes[number][axis][1] for number in near)
        }
        if near and not deciding:
            return [Part(near[-1], form, None)]
        if any(isinstance(form.maps[axis], ArrayMap) for axis in deciding):
            return self._by_point(form, near, sorted(deciding))
        return list(self._by_box(form, near))

    def _by_box(self, form: Form, near: Sequence[int]) -> Iterator[Part]:
        free: list[Box] = [tuple(zip(form.lower, form.upper, strict=True))]
        for number in reversed(near):
            box = box_within(form, self._boxes[number])
            left: list[Box] = []
            for one in free:
                common = tuple(
                    (max(low, first), min(high, end)) for (low, high), (first, end) in zip(one, box, strict=True)
                )
                if any(low >= high for low, high in common):
                    left.append(one)
                    continue
                yield cut_to(number, form, common)
                left.extend(_around(one, common))
            free = left
            if not free:
                return
        origin = min(tuple(low for low, _ in one) for one in free)
        lost = cut_to(0, form, tuple((at, at + 1) for at in origin)).form
        raise _missing([index.item() for index in indices_of(lost)])

    def _by_point(self, form: Form, near: Sequence[int], deciding: list[int]) -> list[Part]:
        indices = indices_of(form)
        owner: npt.NDArray[np.int64]
        if self._row is not None:
            index = indices[self._row]
            owner = np.searchsorted(self._starts, index, "right") - 1
            owner = np.where((owner < 0) | (index >= np.array(self._ends)[owner]), -1, owner)
        else:
            owner = np.full(np.broadcast_shapes(*[indices[axis].shape for axis in deciding]), -1, np.int64)
            for number in near:
                inside: npt.NDArray[np.bool_] = np.array(True)
                for axis in deciding:
                    low, high = self._boxes[number][axis]
                    inside = inside & (indices[axis] >= low) & (indices[axis] < high)
                owner[np.broadcast_to(inside, owner.shape)] = number
        missing = np.argwhere(owner < 0)
        if len(missing):
            at = tuple(missing[0].tolist())
            raise _missing([int(np.broadcast_to(index, form.shape)[at]) for index in indices])
        return parts_by_point(form, owner)

    def _near(self, reach: list[tuple[int, int]]) -> Sequence[int]:
        """Return the layers whose boxes overlap what a view reaches, in their order; some others may be among them."""
        if self._row is not None:
            least, most = reach[self._row]
            return range(max(0, bisect_right(self._starts, least) - 1), bisect_right(self._starts, most))
        if self._bounds is None:
            self._bounds = np.array(self._boxes, np.int64).reshape(len(self._boxes), len(reach), 2)
        first, last = np.array(reach, np.int64).reshape(-1, 2).T
        near = ((self._bounds[..., 0] <= last) & (self._bounds[..., 1] > first)).all(1)
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
