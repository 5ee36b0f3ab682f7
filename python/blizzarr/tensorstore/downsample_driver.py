"""A view with fewer elements, each of which stands for a block."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.errors import SpecError
from blizzarr.indexing.transform import Axis
from blizzarr.json_values import dump
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.codec_spec import CodecSpec
from blizzarr.spec.drivers.adapters import DOWNSAMPLE_METHODS, downsampled_domain
from blizzarr.spec.kvstore import KvStore
from blizzarr.spec.schema import Schema
from blizzarr.spec.seen import layout_seen
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.driver import Driver, Elements, Shared, View
from blizzarr.tensorstore.picking import picked
from blizzarr.tensorstore.reduction import check_method, reduce_blocks
from blizzarr.tensorstore.regions import indices_of
from blizzarr.tensorstore.store import TensorStore
from blizzarr.transactions import Transaction
from blizzarr.views import IndexDomain, IndexTransform
from blizzarr.views.compose import compose
from blizzarr.views.form import ArrayMap, Form, Map
from blizzarr.views.interval import UNBOUNDED

__all__ = ["DownsampleDriver"]


class DownsampleDriver(Driver):
    """What a store has, in blocks."""

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
            raise SpecError("Cannot downsample write-only TensorStore")
        check_method(method, store.dtype)
        self._store = store
        self._factors = factors
        self._method = method
        self.dtype = store.dtype
        self.readable = True
        self.writable = False

    @property
    def domain(self) -> IndexDomain:
        """That of the store, divided."""
        return downsampled_domain(self._store._now().domain, self._factors, self._method)

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The chunks of the store, as far as they are whole blocks."""
        rank = self._store.rank
        strided = tuple((dim, 0, factor) for dim, factor in enumerate(self._factors))
        form = IndexTransform(rank)._form._replace(maps=strided)
        return layout_seen(self._store.chunk_layout, form)

    @property
    def codec(self) -> CodecSpec | None:
        """That of the store."""
        return self._store.codec

    @property
    def fill_value(self) -> npt.NDArray[Any] | None:
        """That of the store, if it is the same for all elements."""
        fill = self._store.fill_value
        return fill if fill is None or not fill.ndim else None

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """Those of the store, larger by the factors."""
        return tuple(
            None if unit is None else unit * factor
            for unit, factor in zip(self._store.dimension_units, self._factors, strict=True)
        )

    @property
    def kvstore(self) -> KvStore | None:
        """That of the store."""
        return self._store.kvstore

    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """The store, the factors and the method."""
        base = self._store.driver.said(self._store, minimal)
        return SpecNode(
            "downsample",
            Schema(dtype=self.dtype, rank=self.rank),
            IndexTransform._of(view._form),
            bases=(base,),
            options={"factors": self._factors, "method": self._method},
        )

    def base(self, view: View) -> tuple[Driver, View] | None:
        """The elements of the store that the view stands for; all of it for views with steps or arrays of indices."""
        form = view._form
        whole = self._store._now()._form
        lower, upper = list(form.lower), list(form.upper)
        maps: list[Map] = []
        for map_, factor, low, high in zip(form.maps, self._factors, whole.lower, whole.upper, strict=True):
            if not isinstance(map_, tuple) or map_[2] != 1 or any(map_[0] == other[0] for other in maps):  # type: ignore[index]
                return self._store.driver, self._store
            dim, offset, _ = map_
            lower[dim] = max(form.lower[dim] * factor, low - offset * factor)
            upper[dim] = min(form.upper[dim] * factor, high - offset * factor)
            maps.append((dim, offset * factor, 1))
        never = (False,) * form.rank
        part = Form(tuple(lower), tuple(upper), never, never, form.labels, tuple(maps))
        return self._store.driver, self._store._with_form(compose(whole, part))

    def read(self, view: View, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Read the blocks that are wanted, and make an element of each."""
        form = view._form
        store = self._store._now()
        if not np.prod(form.shape):
            return np.empty(form.shape, self.dtype.element_dtype) if out is None else out
        whole = store._form
        wanted: list[npt.NDArray[np.int64]] = []
        axes: list[Axis] = []
        for map_, index in zip(form.maps, indices_of(form), strict=True):
            distinct, axis = _distinct(map_, index, form)
            wanted.append(distinct)
            axes.append(axis)
        maps: list[Map] = []
        starts, sizes = [], []
        for dim, (blocks, factor) in enumerate(zip(wanted, self._factors, strict=True)):
            low, high = whole.lower[dim], whole.upper[dim]
            if self._method == "stride":
                first, last = blocks * factor, blocks * factor + 1
            else:
                first = np.maximum(blocks * factor, low)
                last = np.minimum((blocks + 1) * factor, high)
            edges = np.concatenate([[0], np.cumsum(last - first)])
            starts.append(edges)
            sizes.append(int(edges[-1]))
            if edges[-1] == last[-1] - first[0]:
                maps.append((dim, int(first[0]), 1))
            else:
                listed = np.concatenate([np.arange(one, end) for one, end in zip(first, last, strict=True)])
                extent = [1] * len(self._factors)
                extent[dim] = len(listed)
                maps.append(ArrayMap(0, 1, listed.reshape(extent), (dim,), UNBOUNDED))
        rank = len(sizes)
        never = (False,) * rank
        needed = Form((0,) * rank, tuple(sizes), never, never, ("",) * rank, tuple(maps))
        part = store._with_form(compose(whole, needed))
        reduced = reduce_blocks(part.driver.read(part, None, batch), starts, self._method, self.dtype)
        found = picked(reduced, (form.shape, tuple(axes), False))
        if out is None:
            return found if found.flags.c_contiguous else np.ascontiguousarray(found).reshape(form.shape)
        out[...] = found
        return out

    def write(self, view: View, source: Elements) -> None:
        """Cannot be done."""
        raise SpecError("Destination does not support writing.")

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        """The bounds that the store has now."""
        return DownsampleDriver(self._store._resolved(fix_resizable_bounds), self._factors, self._method)

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """What is stored of the blocks."""
        form = view._form
        whole = self._store._now()._form
        lower, upper = [], []
        for index, factor, low, high in zip(indices_of(form), self._factors, whole.lower, whole.upper, strict=True):
            lower.append(max(int(index.min()) * factor, low))
            upper.append(min((int(index.max()) + 1) * factor, high))
        part = self._store[IndexDomain(inclusive_min=lower, exclusive_max=upper)]
        return part.driver.storage_statistics(part, not_stored, fully_stored)

    @property
    def transaction(self) -> Transaction | None:
        """That of the store."""
        return self._store.transaction

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """The store with a transaction."""
        return DownsampleDriver(self._store.with_transaction(transaction), self._factors, self._method)

    def __reduce__(self) -> tuple[Any, ...]:
        return DownsampleDriver, (self._store, self._factors, self._method)


def _distinct(map_: Map, index: npt.NDArray[np.int64], form: Form) -> tuple[npt.NDArray[np.int64], Axis]:
    """The blocks along one dimension that a view needs, in rising order, and how they make up the view."""
    if isinstance(map_, int):
        return index.reshape(-1), 0
    if not isinstance(map_, ArrayMap):
        dim, _, stride = map_
        listed = index.reshape(-1)
        return (listed, (dim, 0, 1)) if stride > 0 else (listed[::-1], (dim, len(listed) - 1, -1))
    distinct, place = np.unique(index, return_inverse=True)
    return distinct, (tuple(range(form.rank)), np.broadcast_to(place.reshape(index.shape), form.shape))
