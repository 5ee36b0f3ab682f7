"""Stores whose chunks functions make, and take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from blizzarr.errors import SpecError, UnsupportedOperationError
from blizzarr.futures import Batch, Future
from blizzarr.spec.binding import Held
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.dtype import DType
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.tensorstore.driver import Driver, Elements, Shared, View
from blizzarr.tensorstore.picking import picked, put
from blizzarr.tensorstore.regions import Box, indices_of, moved, part_in
from blizzarr.views import IndexDomain, IndexTransform, lower
from blizzarr.views.form import Form

if TYPE_CHECKING:
    import asyncio

__all__ = ["VirtualChunkedReadParameters", "VirtualChunkedWriteParameters", "VirtualDriver"]


@dataclass(frozen=True)
class VirtualChunkedReadParameters:
    """What a function that makes chunks is told besides where."""

    if_not_equal: bytes = b""
    """The generation that is known already; nothing is cached here, so none is."""
    staleness_bound: float = -math.inf
    """What was true at this moment, in seconds since 1970, is new enough."""
    batch: Batch | None = None
    """What belongs together with this, if anything does."""


@dataclass(frozen=True)
class VirtualChunkedWriteParameters:
    """What a function that takes chunks is told besides where."""

    if_equal: bytes = b""
    """The generation that the chunk must still have; empty for any."""


ReadFunction = Callable[[IndexDomain, Elements, VirtualChunkedReadParameters], Any]
WriteFunction = Callable[[IndexDomain, Elements, VirtualChunkedWriteParameters], Any]


class VirtualDriver(Driver):
    """Chunks on a grid, each made by a call."""

    name = "virtual_chunked"

    def __init__(
        self,
        functions: tuple[ReadFunction | None, WriteFunction | None],
        domain: IndexDomain,
        dtype: DType,
        layout: ChunkLayout,
        units: tuple[Unit | None, ...],
        resources: dict[str, Held],
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        self._reader, self._writer = functions
        self._domain = domain
        self._layout = layout
        self._units = units
        self._resources = resources
        self._loop = loop
        self.dtype = dtype
        self.readable = self._reader is not None
        self.writable = self._writer is not None
        self._chunks: tuple[int, ...] = tuple(size or 1 for size in layout.read_chunk.shape or ())
        self._origin = tuple(at or 0 for at in layout.grid_origin or (0,) * domain.rank)
        self._order = layout.inner_order or tuple(range(domain.rank))

    @property
    def domain(self) -> IndexDomain:
        """What was given."""
        return self._domain

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The grid."""
        return self._layout.copy()

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """What was given."""
        return self._units

    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """The functions themselves; there is no JSON for them."""
        schema = Schema(dtype=self.dtype, domain=self._domain, chunk_layout=self._layout)
        options = {"functions": (self._reader, self._writer), "loop": self._loop}
        transform = IndexTransform._of(view._form)
        return SpecNode(self.name, schema, transform, options=options, resources=self._resources)

    def read(self, view: View, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Have every chunk made that the view needs; those made by coroutines at the same time."""
        form = view._form
        found = np.empty(form.shape, self.dtype.element_dtype) if out is None else out
        params = VirtualChunkedReadParameters(staleness_bound=time.time(), batch=None if batch is None else Batch())
        made = []
        for box in self._boxes(form):
            part = part_in(form, box)
            if part is not None:
                made.append((part, box, *self._begun(box, params)))
        for part, box, chunk, future in made:
            future.result()
            found[part.where] = picked(chunk, lower(moved(part.form, _origin(box)), chunk.shape))
        return found

    def _begun(self, box: Box, params: VirtualChunkedReadParameters) -> tuple[Elements, Future[Any]]:
        """A chunk that is being made."""
        assert self._reader is not None, "checked before"
        chunk = self._room(box)
        return chunk, Future(self._reader(self._domain_of(box), chunk, params), loop=self._loop)

    def write(self, view: View, source: Elements) -> None:
        """Hand over every chunk of the view; those of which the view is a part are made first."""
        assert self._writer is not None, "checked before"
        form = view._form
        made = []
        for box in self._boxes(form):
            part = part_in(form, box)
            if part is None:
                continue
            if part.covers(box):
                chunk = self._room(box)
                made.append((part, box, chunk, Future.of(None)))
            elif self._reader is None:
                raise SpecError("Write-only virtual chunked view requires chunk-aligned writes")
            else:
                made.append((part, box, *self._begun(box, VirtualChunkedReadParameters())))
        written: list[Future[Any]] = []
        for part, box, chunk, future in made:
            future.result()
            put(chunk, lower(moved(part.form, _origin(box)), chunk.shape), source[part.where])
            done = self._writer(self._domain_of(box), chunk, VirtualChunkedWriteParameters())
            written.append(Future(done, loop=self._loop))
        for future in written:
            future.result()

    def _room(self, box: Box) -> Elements:
        """An array for a chunk, whose elements lie as the layout says; of a whole one that is cut off."""
        lengths = [self._chunks[dim] for dim in self._order]
        whole = np.empty(lengths, self.dtype.element_dtype).transpose(np.argsort(self._order))
        return whole[tuple(slice(0, high - low) for low, high in box)]

    def _domain_of(self, box: Box) -> IndexDomain:
        return IndexDomain(
            inclusive_min=[low for low, _ in box],
            exclusive_max=[high for _, high in box],
            labels=self._domain.labels,
        )

    def _boxes(self, form: Form) -> Iterator[Box]:
        """The chunks that a view may need, cut off where the domain ends."""
        if not prod(form.shape):
            return
        bounds = list(zip(self._domain.inclusive_min, self._domain.exclusive_max, strict=True))
        touched = [
            np.unique((index - at) // length).tolist()
            for index, at, length in zip(indices_of(form), self._origin, self._chunks, strict=True)
        ]
        for cell in product(*touched):
            yield tuple(
                (max(low, at + number * length), min(high, at + (number + 1) * length))
                for number, at, length, (low, high) in zip(cell, self._origin, self._chunks, bounds, strict=True)
            )

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Not known."""
        raise UnsupportedOperationError("Storage statistics not supported")

    def __reduce__(self) -> tuple[Any, ...]:
        functions = self._reader, self._writer
        given = functions, self._domain, self.dtype, self._layout, self._units, self._resources
        return _made_again, given


def _made_again(
    functions: tuple[ReadFunction | None, WriteFunction | None],
    domain: IndexDomain,
    dtype: DType,
    layout: ChunkLayout,
    units: tuple[Unit | None, ...],
    resources: dict[str, Held],
) -> VirtualDriver:
    """With the event loop of this thread, if there is one: loops are not pickled."""
    return VirtualDriver(functions, domain, dtype, layout, units, resources, running_loop())


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs in this thread."""
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _origin(box: Box) -> tuple[int, ...]:
    return tuple(low for low, _ in box)
