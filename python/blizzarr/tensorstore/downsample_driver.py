"""A downsampled view: each of its elements stands for a block."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from blizzarr.errors import BlizzarrError, NotReadableError, NotWritableError, SpecError, ViewOutOfBoundsError
from blizzarr.indexing.selection import Axis
from blizzarr.json_values import dump
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.drivers.adapters import DOWNSAMPLE_METHODS, blocks_of_view, downsampled_domain
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.through_view import layout_of_view
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.driver import Driver, Elements, Shared, Source, View
from blizzarr.tensorstore.picking import picked
from blizzarr.tensorstore.reduction import check_method, reduce_blocks
from blizzarr.tensorstore.regions import indices_of, within
from blizzarr.tensorstore.store import TensorStore
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.compose import compose
from blizzarr.views.form import ArrayMap, Form, Map
from blizzarr.views.interval import UNBOUNDED

__all__ = ["DownsampleDriver"]


_QUICK = 1 << 16
"""Work on more elements than these is always handed to another thread."""


class _Needed(NamedTuple):
    """The elements that a view of blocks is computed from."""

    part: TensorStore
    edges: list[npt.NDArray[np.int64]] | None
    """Along each dimension the boundaries of the blocks; None if elements are taken as they are."""
    axes: tuple[Axis, ...] | None
    """How the results make up the view; None if they are the view."""


class DownsampleDriver(Driver):
    """A driver whose elements are computed from blocks of another store."""

    name = "downsample"
    writable = False

    def __init__(self, store: TensorStore, factors: tuple[int, ...], method: str) -> None:
        if method not in DOWNSAMPLE_METHODS:
            known = ", ".join(map(dump, DOWNSAMPLE_METHODS))
            raise SpecError(f"Expected one of {known}, but received: {dump(method)}")
        if len(factors) != store.rank:
            raise SpecError(
                f"Number of downsample factors ({len(factors)}) does not match TensorStore rank ({store.rank})"
            )
        if any(factor < 1 for factor in factors):
            shown = ", ".join(map(str, factors))
            raise SpecError(f"Downsample factors {{{shown}}} are not all positive")
        if not store.readable:
            raise NotReadableError("Cannot downsample write-only TensorStore")
        check_method(method, store.dtype)
        self._store = store
        self._factors = factors
        self._method = method
        self._last: tuple[Form, _Needed] | None = None
        self.dtype = store.dtype
        self.readable = True
        self.writable = False
        self.decodes = store._driver.decodes

    @property
    def domain(self) -> IndexDomain:
        """The domain of the store, divided by the factors."""
        return downsampled_domain(self._store._now().domain, self._factors, self._method)

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The layout of the store, as far as chunks consist of whole blocks."""
        rank = self._store.rank
        strided = tuple((dim, 0, factor) for dim, factor in enumerate(self._factors))
        form = IndexTransform(rank)._form._replace(maps=strided)
        return layout_of_view(self._store.chunk_layout, form)

    @property
    def codec(self) -> CodecSpec | None:
        """The codec of the store."""
        return self._store.codec

    @property
    def fill_value(self) -> npt.NDArray[Any] | None:
        """The fill value of the store, if it is the same for all elements."""
        fill = self._store.fill_value
        return fill if fill is None or not fill.ndim else None

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The units of the store, multiplied by the factors."""
        return tuple(
            None if unit is None else unit * factor
            for unit, factor in zip(self._store.dimension_units, self._factors, strict=True)
        )

    @property
    def kvstore(self) -> KvStore | None:
        """The key-value store of the store."""
        return self._store.kvstore

    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """Return the spec of the store, with the factors and the method."""
        base = self._store._driver.said(self._store, minimal)
        return SpecNode(
            "downsample",
            Schema(dtype=self.dtype, rank=self.rank),
            IndexTransform._of(view._form),
            bases=(base,),
            options={"factors": self._factors, "method": self._method},
        )

    def base(self, view: View) -> tuple[Driver, View] | None:
        """The elements of the store that the view stands for; all of it for views with steps or arrays of indices."""
        whole = self._store._now()._form
        part = blocks_of_view(view._form, whole, self._factors)
        return self._store._driver, self._store if part is None else self._store._with_form(compose(whole, part))

    def read(self, view: View, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Read the blocks that are wanted, and make an element of each."""
        form = view._form
        if 0 in form.shape:
            return np.empty(form.shape, self.dtype._element_dtype) if out is None else out
        needed = self._known(form)
        if needed.edges is None:
            return needed.part._driver.read(needed.part, out, batch)
        elements = needed.part._driver.read(needed.part, None, batch)
        if needed.axes is None:
            return reduce_blocks(elements, needed.edges, self._method, self.dtype, out)
        reduced = reduce_blocks(elements, needed.edges, self._method, self.dtype)
        found = picked(reduced, (form.shape, needed.axes, False))
        if out is None:
            return found if found.flags.c_contiguous else np.ascontiguousarray(found).reshape(form.shape)
        out[...] = found
        return out

    def is_quick(self, view: View) -> bool:
        """Return whether few elements are needed, and reading them is quick."""
        form = view._form
        if prod(form.shape) * prod(self._factors) > _QUICK or 0 in form.shape:
            return False
        try:
            needed = self._known(form)
        except BlizzarrError:
            # The read that follows raises it again.
            return False
        # `is_quick` is called just before a read, which needs the same parts.
        self._last = form, needed
        return needed.part._driver.is_quick(needed.part)

    def sources(self, view: View) -> Sequence[Source]:
        """Return the sources of the elements that the blocks consist of."""
        form = view._form
        if 0 in form.shape:
            return ()
        try:
            needed = self._known(form)
        except BlizzarrError:
            # The read that follows raises it again.
            return ()
        self._last = form, needed
        return needed.part._driver.sources(needed.part)

    def _known(self, form: Form) -> _Needed:
        known, self._last = self._last, None
        return known[1] if known is not None and known[0] is form else self._needed(form)

    def _needed(self, form: Form) -> _Needed:
        """Return the elements that a view is computed from, block by block."""
        store = self._store._now()
        whole = store._form
        if self._method == "stride":
            part = form._replace(
                maps=tuple([_times(map_, factor) for map_, factor in zip(form.maps, self._factors, strict=True)])
            )
            simple = not any(isinstance(map_, ArrayMap) for map_ in form.maps)
            return _Needed(store._with_form(within(whole, part) if simple else compose(whole, part)), None, None)
        maps: list[Map] = []
        edges: list[npt.NDArray[np.int64]] = []
        axes: list[Axis] = []
        as_is = form.rank == len(form.maps)
        for dim, (map_, factor) in enumerate(zip(form.maps, self._factors, strict=True)):
            bounds = whole.lower[dim], whole.upper[dim]
            if isinstance(map_, int):
                own: int | ArrayMap
                own, begins = _neighbours(map_, map_, factor, bounds)
                axes.append(0)
            elif isinstance(map_, tuple) and map_[2] in (1, -1):
                along, offset, stride = map_
                one, other = offset + stride * form.lower[along], offset + stride * (form.upper[along] - 1)
                own, begins = _neighbours(min(one, other), max(one, other), factor, bounds)
                axes.append((along, 0, 1) if stride > 0 else (along, abs(other - one), -1))
            else:
                index = indices_of(form._replace(maps=(map_,)))[0]
                blocks, axis = _distinct(map_, index, form)
                first, last = int(blocks[0]), int(blocks[-1])
                if 2 * len(blocks) > last - first:
                    # Those between are read, too, rather than each wanted one alone.
                    own, begins = _neighbours(first, last, factor, bounds)
                    axis = _moved(axis, blocks - first)
                else:
                    own, begins = _scattered(blocks, factor, bounds, dim, len(form.maps))
                axes.append(axis)
            as_is = as_is and axes[-1] == (dim, 0, 1)
            edges.append(begins)
            maps.append((dim, own, 1) if isinstance(own, int) else own)
        rank = len(maps)
        never = (False,) * rank
        sizes = tuple([int(begins[-1]) for begins in edges])
        part = Form((0,) * rank, sizes, never, never, ("",) * rank, tuple(maps))
        return _Needed(store._with_form(within(whole, part)), edges, None if as_is else tuple(axes))

    def write(self, view: View, source: Elements) -> None:
        """Raise: a downsampled view cannot be written."""
        raise NotWritableError("Destination does not support writing.")

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        """Return the driver with the current bounds of the store."""
        return DownsampleDriver(self._store._resolved(fix_resizable_bounds), self._factors, self._method)

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Return how much of the blocks is stored."""
        form = view._form
        whole = self._store._now()._form
        lower, upper = [], []
        for index, factor, low, high in zip(indices_of(form), self._factors, whole.lower, whole.upper, strict=True):
            lower.append(max(int(index.min()) * factor, low))
            upper.append(min((int(index.max()) + 1) * factor, high))
        part = self._store[IndexDomain(inclusive_min=lower, exclusive_max=upper)]
        return part._driver.storage_statistics(part, not_stored, fully_stored)

    @property
    def transaction(self) -> Transaction | None:
        """The transaction of the store."""
        return self._store.transaction

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """Return the driver on the store with a transaction."""
        return DownsampleDriver(self._store.with_transaction(transaction), self._factors, self._method)

    def __reduce__(self) -> tuple[Any, ...]:
        return DownsampleDriver, (self._store, self._factors, self._method)


def _times(map_: Map, factor: int) -> Map:
    """Return a map from the numbers of blocks to their first elements."""
    if isinstance(map_, int):
        return map_ * factor
    if isinstance(map_, ArrayMap):
        return ArrayMap(map_.offset * factor, map_.stride * factor, map_.array, map_.dims, map_.bounds)
    return map_[0], map_[1] * factor, map_[2] * factor


def _neighbours(first: int, last: int, factor: int, bounds: tuple[int, int]) -> tuple[int, npt.NDArray[np.int64]]:
    """Return the first element of adjacent blocks, and the boundaries of the blocks counted from there."""
    low, high = max(first * factor, bounds[0]), min((last + 1) * factor, bounds[1])
    if high <= max(low, last * factor) or low >= (first + 1) * factor:
        raise ViewOutOfBoundsError(
            f"OUT_OF_RANGE: Blocks of {factor} from {first} to {last} are outside valid range "
            f"[{bounds[0]}, {bounds[1]})"
        )
    edges = np.arange(first * factor - low, (last + 1) * factor - low + 1, factor, dtype=np.int64)
    edges[0], edges[-1] = 0, high - low
    return low, edges


def _scattered(
    blocks: npt.NDArray[np.int64], factor: int, bounds: tuple[int, int], dim: int, rank: int
) -> tuple[int | ArrayMap, npt.NDArray[np.int64]]:
    """Return the elements of blocks at any ascending positions, and the boundaries of the blocks among them."""
    first, last = np.maximum(blocks * factor, bounds[0]), np.minimum((blocks + 1) * factor, bounds[1])
    edges = np.concatenate([[0], np.cumsum(last - first)])
    if edges[-1] == last[-1] - first[0]:
        return int(first[0]), edges
    # Each element has the same distance from the first of its block as among the elements that are read.
    elements = np.arange(int(edges[-1])) + np.repeat(first - edges[:-1], last - first)
    extent = [1] * rank
    extent[dim] = len(elements)
    return ArrayMap(0, 1, elements.reshape(extent), (dim,), UNBOUNDED), edges


def _moved(axis: Axis, places: npt.NDArray[np.int64]) -> Axis:
    """Return the axis with positions looked up in `places`, for blocks that are not read in adjacent places."""
    if isinstance(axis, int):
        return int(places[axis])
    if len(axis) == 2:
        return axis[0], places[axis[1]]
    dim, start, sign = axis
    return dim, int(places[start]), sign * int(places[1] - places[0]) if len(places) > 1 else sign


def _distinct(map_: Map, index: npt.NDArray[np.int64], form: Form) -> tuple[npt.NDArray[np.int64], Axis]:
    """Return the blocks along one dimension that a view needs, in ascending order, and how they make up the view."""
    if isinstance(map_, int):
        return index.reshape(-1), 0
    if not isinstance(map_, ArrayMap):
        dim, _, stride = map_
        listed = index.reshape(-1)
        return (listed, (dim, 0, 1)) if stride > 0 else (listed[::-1], (dim, len(listed) - 1, -1))
    distinct, place = np.unique(index, return_inverse=True)
    return distinct, (tuple(range(form.rank)), np.broadcast_to(place.reshape(index.shape), form.shape))
