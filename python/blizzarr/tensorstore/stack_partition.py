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
from blizzarr.indexing.form import ArrayMap, Form, dims_of
from blizzarr.tensorstore.parts import Box, Part, box_within, cut_to, indices_of, parts_by_point, reach


class StackPartition:
    """The boxes of layers, and how a view is divided between them.

    >>> from blizzarr.views import IndexTransform, form_of
    >>> layers = StackPartition([((0, 3),), ((3, 9),)], ((0, 9),))
    >>> view = IndexTransform(input_shape=[9])[2:5]
    >>> [(part.number, part.form.lower, part.form.upper) for part in layers.parts(form_of(view))]
    [(1, (3,), (5,)), (0, (2,), (3,))]
    """

    __slots__ = ("_axes", "_bounds", "_boxes", "_ends", "_row", "_starts")

    def __init__(self, boxes: Sequence[Box], domain: Box | None) -> None:
        self._boxes = boxes
        # Layers that lie side by side, as those of stacks do, are found by where they begin.
        self._row = None if domain is None else _row_of(boxes, domain)
        self._starts = [] if self._row is None else [box[self._row][0] for box in boxes]
        self._ends = [] if self._row is None else [box[self._row][1] for box in boxes]
        # In a row, the layers are alike along all other axes.
        self._axes = (self._row,) if self._row is not None else range(len(boxes[0]) if boxes else 0)
        self._bounds: npt.NDArray[np.int64] | None = None

    def parts(self, form: Form) -> list[Part]:
        """Return the part of a view that each layer has, the last layer first.

        Raise `SpecError` when there are positions that no layer has.
        """
        if 0 in form.shape:
            return []
        extent = [reach(form.maps[axis], form) for axis in self._axes]
        near = self._near(extent)
        boxes = self._boxes
        deciding = []
        for axis, (least, most) in zip(self._axes, extent, strict=True):
            for number in near:
                low, high = boxes[number][axis]
                if least < low or most >= high:
                    deciding.append(axis)
                    break
        if near and not deciding:
            return [Part(near[-1], form, None)]
        if any(isinstance(form.maps[axis], ArrayMap) for axis in deciding):
            return self._by_point(form, near, deciding)
        return list(self._by_box(form, near, deciding))

    def _by_box(self, form: Form, near: Sequence[int], deciding: list[int]) -> Iterator[Part]:
        # Along all other dimensions, each part has everything.
        dims = sorted({dim for axis in deciding for dim in dims_of(form.maps[axis])})
        free: list[Box] = [tuple([(form.lower[dim], form.upper[dim]) for dim in dims])]
        for number in reversed(near):
            box = box_within(form, self._boxes[number], deciding, dims)
            left: list[Box] = []
            for one in free:
                common = tuple(
                    [(max(low, first), min(high, end)) for (low, high), (first, end) in zip(one, box, strict=True)]
                )
                if any(low >= high for low, high in common):
                    left.append(one)
                else:
                    yield cut_to(number, form, common, dims)
                    left.extend(_around(one, common))
            free = left
            if not free:
                return
        first = min(tuple([low for low, _ in one]) for one in free)
        origin = dict(zip(range(form.rank), form.lower, strict=True)) | dict(zip(dims, first, strict=True))
        lost = cut_to(0, form, tuple([(at, at + 1) for at in origin.values()]), range(form.rank)).form
        raise _missing([indices_of(lost, map_).item() for map_ in lost.maps])

    def _by_point(self, form: Form, near: Sequence[int], deciding: list[int]) -> list[Part]:
        indices = {axis: indices_of(form, form.maps[axis]) for axis in deciding}
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
            raise _missing([int(np.broadcast_to(indices_of(form, map_), form.shape)[at]) for map_ in form.maps])
        return parts_by_point(form, owner)

    def _near(self, extent: list[tuple[int, int]]) -> Sequence[int]:
        """Return the layers whose boxes overlap what a view reaches, in their order; some others may be among them."""
        if self._row is not None:
            ((least, most),) = extent
            return range(max(0, bisect_right(self._starts, least) - 1), bisect_right(self._starts, most))
        if self._bounds is None:
            self._bounds = np.array(self._boxes, np.int64).reshape(len(self._boxes), len(extent), 2)
        first, last = np.array(extent, np.int64).reshape(-1, 2).T
        near = ((self._bounds[..., 0] <= last) & (self._bounds[..., 1] > first)).all(1)
        result: list[int] = np.flatnonzero(near).tolist()
        return result


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
