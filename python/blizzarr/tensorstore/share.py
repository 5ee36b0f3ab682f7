"""The share of one layer in a view: a part of the view, and where it lies in the whole."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from blizzarr.tensorstore.regions import Box, cut_to, listed
from blizzarr.views.form import ArrayMap, Form, Map
from blizzarr.views.interval import UNBOUNDED

__all__ = ["Place", "Share", "picked_shares", "share_of_box"]


class Place(NamedTuple):
    """Where the positions of a share lie in the view if they are listed one by one: their dimensions come first and are
    indexed together.
    """

    order: tuple[int, ...]
    points: tuple[npt.NDArray[np.int64], ...]


class Share(NamedTuple):
    """A part of a view: the number of its layer, the part as a view, and where it lies; None if it is everything."""

    number: int
    form: Form
    where: tuple[slice, ...] | Place | None

    def of(self, elements: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the elements of the whole view that belong to the part."""
        where = self.where
        if where is None:
            return elements
        if isinstance(where, Place):
            return elements.transpose(where.order)[where.points]
        return elements[where]

    def put(self, elements: npt.NDArray[Any], found: npt.NDArray[Any]) -> None:
        """Put the elements of the part in their places among those of the whole view."""
        where = self.where
        if isinstance(where, Place):
            elements.transpose(where.order)[where.points] = found
        else:
            elements[... if where is None else where] = found


def share_of_box(number: int, form: Form, box: Box) -> Share:
    """Return the share that has a box of positions of a view without index arrays."""
    where = tuple([slice(low - at, high - at) for (low, high), at in zip(box, form.lower, strict=True)])
    return Share(number, cut_to(form, box), where)


def picked_shares(form: Form, dims: tuple[int, ...], numbers: npt.NDArray[np.int64]) -> list[Share] | None:
    """Return the shares of layers whose numbers depend on some dimensions; None if an index array mixes these with
    others.

    The positions along these dimensions are listed, and become the first dimension of each part.
    """
    rest = tuple(dim for dim in range(form.rank) if dim not in dims)
    shape = form.shape
    numbers = np.broadcast_to(
        numbers.reshape([length for dim, length in enumerate(numbers.shape) if dim in dims]),
        [shape[dim] for dim in dims],
    )
    for map_ in form.maps:
        if isinstance(map_, ArrayMap) and not set(dims).isdisjoint(map_.dims) and not set(map_.dims) <= set(dims):
            return None
    flat = numbers.reshape(-1)
    order = np.argsort(flat, kind="stable")
    # After sorting, positions of one layer are adjacent.
    places = np.unravel_index(order, numbers.shape)
    sorted_maps = [_sorted(map_, form, dims, rest, places) for map_ in form.maps]
    present, first = np.unique(flat[order], return_index=True)
    ends = [*first[1:].tolist(), len(order)]
    column = (-1,) + (1,) * len(rest)
    never = (False,) * (1 + len(rest))
    labels = ("",) * (1 + len(rest))
    lower, upper = tuple([form.lower[dim] for dim in rest]), tuple([form.upper[dim] for dim in rest])
    shares = []
    for number, begin, end in zip(present.tolist(), first.tolist(), ends, strict=True):
        maps: list[Map] = []
        for one in sorted_maps:
            if isinstance(one, ArrayMap) and one.dims == (0,):
                own = one.array[begin:end].reshape(column)
                maps.append(ArrayMap(one.offset, one.stride, own, (0,), one.bounds))
            else:
                maps.append(one)
        part = Form((0, *lower), (end - begin, *upper), never, never, labels, tuple(maps))
        shares.append(Share(number, part, Place((*dims, *rest), tuple([place[begin:end] for place in places]))))
    return shares[::-1]


def _sorted(
    map_: Map,
    form: Form,
    dims: tuple[int, ...],
    rest: tuple[int, ...],
    places: tuple[npt.NDArray[np.int64], ...],
) -> Map:
    """Return a map over listed positions, whose dimension comes first."""
    if isinstance(map_, int):
        return map_
    if isinstance(map_, tuple):
        dim, offset, stride = map_
        if dim in rest:
            return 1 + rest.index(dim), offset, stride
        return ArrayMap(0, 1, offset + stride * (form.lower[dim] + places[dims.index(dim)]), (0,), UNBOUNDED)
    if set(map_.dims) <= set(dims):
        # All positions are checked here, so that the parts need no checks.
        array = listed(map_).reshape([map_.array.shape[dim] for dim in dims])
        at = tuple([np.int64(0) if length == 1 else one for length, one in zip(array.shape, places, strict=True)])
        return ArrayMap(0, 1, np.broadcast_to(array[at], (len(places[0]),)), (0,), UNBOUNDED)
    array = map_.array.reshape((1, *[map_.array.shape[dim] for dim in rest]))
    own = tuple([1 + rest.index(dim) for dim in map_.dims])
    return ArrayMap(map_.offset, map_.stride, array, own, map_.bounds)
