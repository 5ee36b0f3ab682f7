"""A driver whose chunks are read and written by functions."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from blizzarr.errors import (
    ChunkFunctionError,
    ConflictError,
    NotReadableError,
    NotWritableError,
    UnsupportedOperationError,
)
from blizzarr.futures import Batch, Future, resolved
from blizzarr.indexing import ArrayMap, Form, Map, lower_form
from blizzarr.spec.chunk_layout import ChunkLayout
from blizzarr.spec.context import Resource
from blizzarr.spec.dtype import DType
from blizzarr.spec.kvstore_values import TimestampedStorageGeneration
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.spec.unit import Unit
from blizzarr.stores.generation import UNKNOWN
from blizzarr.tensorstore.driver import Driver, Elements, Shared, View
from blizzarr.tensorstore.gridded import parts_in_chunks
from blizzarr.tensorstore.parts import Box, Part
from blizzarr.tensorstore.picking import picked, put
from blizzarr.transactions import Outcome, Transaction
from blizzarr.views import IndexDomain, IndexTransform

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True)
class VirtualChunkedReadParameters:
    """The options of a read, the last argument of a function that produces chunks."""

    if_not_equal: bytes = b""
    """The generation that the caller already has; always empty, as chunks are not cached."""
    staleness_bound: float = -math.inf
    """A value from this moment or later is recent enough, in seconds since 1970."""
    batch: Batch | None = None
    """The batch that the read belongs to, if any."""


@dataclass(frozen=True)
class VirtualChunkedWriteParameters:
    """The options of a write, the last argument of a function that consumes chunks."""

    if_equal: bytes = b""
    """The generation that the chunk must still have; empty for no condition."""


def _stamp(told: Any) -> TimestampedStorageGeneration | None:
    """Return the generation that a function returned, or None."""
    if told is None or isinstance(told, TimestampedStorageGeneration):
        return told
    raise ChunkFunctionError(
        "expected None or KvStore.TimestampedStorageGeneration from a function of virtual chunks, which puts elements "
        f"into the array that it is given; found {type(told).__name__}"
    )


_NOTHING: Future[Any] = resolved(None)

_Part = tuple[Elements, npt.NDArray[np.bool_]]
"""Elements of a chunk, and a mask of those that are to be written."""

_ATTEMPTS = 100

ReadFunction = Callable[[IndexDomain, Elements, VirtualChunkedReadParameters], Any]
WriteFunction = Callable[[IndexDomain, Elements, VirtualChunkedWriteParameters], Any]


class VirtualDriver(Driver):
    """A driver of chunks on a grid, each of which is made by a call."""

    name = "virtual_chunked"
    resolves = False

    def __init__(
        self,
        functions: tuple[ReadFunction | None, WriteFunction | None],
        domain: IndexDomain,
        dtype: DType,
        layout: ChunkLayout,
        units: tuple[Unit | None, ...],
        resources: dict[str, Resource],
        loop: asyncio.AbstractEventLoop | None,
        node: SpecNode | None = None,
    ) -> None:
        if node is not None:
            self.name = node.driver
        self._node = node
        self._reader, self._writer = functions
        self._domain = domain
        self._layout = layout
        self._units = units
        self._resources = resources
        self._loop = loop
        self._transaction: Transaction | None = None
        self._identity = object()  # which copies share
        self.dtype = dtype
        self.readable = self._reader is not None
        self.writable = self._writer is not None
        self._chunks: tuple[int, ...] = tuple(size or 1 for size in layout.read_chunk.shape or ())
        self._origin = tuple(at or 0 for at in layout.grid_origin or (0,) * domain.rank)
        self._order = layout.inner_order or tuple(range(domain.rank))

    @property
    def domain(self) -> IndexDomain:
        """The domain that was given."""
        return self._domain

    @property
    def chunk_layout(self) -> ChunkLayout:
        """The grid."""
        return copy(self._layout)

    @property
    def dimension_units(self) -> tuple[Unit | None, ...]:
        """The units that were given."""
        return self._units

    def said(self, view: View, minimal: bool = False) -> SpecNode:
        """Return the spec of the driver that has the functions, or one with the functions themselves and no JSON."""
        if self._node is not None:
            kept = Schema(dtype=self.dtype, rank=self._domain.rank)
            return self._node.altered(schema=kept, transform=IndexTransform._of(view._form))
        schema = Schema(dtype=self.dtype, domain=self._domain, chunk_layout=self._layout)
        options = {"functions": (self._reader, self._writer), "loop": self._loop}
        transform = IndexTransform._of(view._form)
        return SpecNode(self.name, schema, transform, options=options, resources=self._resources)

    def read(self, view: View, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        """Read the chunks that the view needs; coroutines run at the same time."""
        form = view._form
        found = np.empty(form.shape, self.dtype._element_dtype) if out is None else out
        params = VirtualChunkedReadParameters(staleness_bound=time.time(), batch=None if batch is None else Batch())
        changes = self._changes()
        made: list[tuple[Part, Box, _Part | None, Elements, Future[Any]]] = []
        for part, box in self._parts(form):
            changed = None if changes is None else changes.of(box)
            if changed is not None and changed[1].all():
                made.append((part, box, changed, changed[0], _NOTHING))
            else:
                made.append((part, box, changed, *self._begun(box, params)))
        for part, box, changed, chunk, future in made:
            _stamp(future.result())
            if changed is not None and chunk is not changed[0]:
                np.copyto(chunk, changed[0], where=changed[1])
            part.put(found, picked(chunk, lower_form(_moved(part.form, box), chunk.shape)))
        return found

    def _begun(self, box: Box, params: VirtualChunkedReadParameters) -> tuple[Elements, Future[Any]]:
        """Begin to read a chunk; return its buffer and a future."""
        assert self._reader is not None, "checked before"
        chunk = self._room(box)
        returned = self._reader(self._domain_of(box), chunk, params)
        return chunk, _NOTHING if returned is None else Future(returned, loop=self._loop)

    def write(self, view: View, source: Elements) -> None:
        """Write the chunks of the view; those that it covers in part are read first."""
        form, changes = view._form, self._changes()
        gathered = VirtualChanges(self) if changes is None else changes
        touched = {}
        for part, box in self._parts(form):
            if self._transaction is not None:
                self._transaction._need_alone(f"write to {shown_chunk(box)}")
            chunk, mask = touched[box] = gathered.changed(box)
            selected = lower_form(_moved(part.form, box), chunk.shape)
            put(chunk, selected, part.of(source))
            put(mask, selected, np.asarray(True))
        if changes is None:
            for _, error in self._hand_over(list(touched.items())):
                if error is not None:
                    raise error

    def _hand_over(self, todo: list[tuple[Box, _Part]]) -> list[tuple[Box, Exception | None]]:
        """Write chunks, with the elements of a mask replaced in what is read just before; return the error of each, or
        None.
        """
        done: list[tuple[Box, Exception | None]] = []
        for _ in range(_ATTEMPTS):
            begun, written = [], []
            for box, part in todo:
                try:
                    begun.append((box, part, *self._merged(box, part)))
                except Exception as error:
                    done.append((box, error))
            for box, part, chunk, future in begun:
                try:
                    written.append((box, part, self._written(box, part, chunk, future.result())))
                except Exception as error:
                    done.append((box, error))
            todo = []
            for box, part, writing in written:
                failure, told = writing.exception(), None
                if failure is None:
                    try:
                        told = _stamp(writing.result())
                    except ChunkFunctionError as error:
                        failure = error
                if isinstance(failure, Exception) or failure is None:
                    if told is not None and told.generation == UNKNOWN:
                        # Somebody else was faster; elements outside of the mask must stay as they are now.
                        todo.append((box, part))
                    else:
                        done.append((box, failure))
                else:
                    raise failure
            if not todo:
                return done
        conflict = ConflictError(f"somebody else changed it {_ATTEMPTS} times in a row; try again")
        return [*done, *((box, conflict) for box, _ in todo)]

    def _merged(self, box: Box, part: _Part) -> tuple[Elements, Future[Any]]:
        """Return a chunk to be written, and the future of reading it first, where that is needed."""
        chunk, mask = part
        if mask.all():
            return chunk, _NOTHING
        if self._reader is None:
            raise NotReadableError("Write-only virtual chunked view requires chunk-aligned writes")
        return self._begun(box, VirtualChunkedReadParameters())

    def _written(self, box: Box, part: _Part, chunk: Elements, told: Any) -> Future[Any]:
        if self._writer is None:
            raise NotWritableError("INTERNAL: No write function specified to virtual_chunked driver")
        if chunk is not part[0]:
            np.copyto(chunk, part[0], where=part[1])
        stamp = _stamp(told)
        known = UNKNOWN if stamp is None else stamp.generation
        done = self._writer(self._domain_of(box), chunk, VirtualChunkedWriteParameters(if_equal=known))
        return Future(done, loop=self._loop)

    def _changes(self) -> VirtualChanges | None:
        if self._transaction is None:
            return None
        return self._transaction._join(self._identity, lambda: VirtualChanges(self))

    @property
    def transaction(self) -> Transaction | None:
        """The transaction that gathers writes; None if they are passed on at once."""
        return self._transaction

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        """Return a driver of the same functions with a transaction."""
        made = object.__new__(type(self))  # not as it is pickled
        vars(made).update(vars(self), _transaction=transaction)
        return made

    def _room(self, box: Box) -> Elements:
        """Return an array for a chunk in the layout's order; at the edge, a view of a whole one."""
        if self._order == tuple(range(len(box))):
            whole = np.empty(self._chunks, self.dtype._element_dtype)
        else:
            lengths = [self._chunks[dim] for dim in self._order]
            whole = np.empty(lengths, self.dtype._element_dtype).transpose(np.argsort(self._order))
        shape = tuple([high - low for low, high in box])
        return whole if shape == self._chunks else whole[tuple([slice(0, length) for length in shape])]

    def _domain_of(self, box: Box) -> IndexDomain:
        never = (False,) * len(box)
        lower, upper = tuple([low for low, _ in box]), tuple([high for _, high in box])
        return IndexDomain._of(Form(lower, upper, never, never, self._domain.labels))

    def _parts(self, form: Form) -> Iterator[tuple[Part, Box]]:
        """Return the part that a view needs of each chunk."""
        whole = self._domain._form
        return parts_in_chunks(form, self._chunks, self._origin, tuple(zip(whole.lower, whole.upper, strict=True)))

    def storage_statistics(self, view: View, not_stored: bool, fully_stored: bool) -> tuple[bool | None, bool | None]:
        """Raise: virtual chunks have no statistics."""
        raise UnsupportedOperationError("Storage statistics not supported")

    def __reduce__(self) -> tuple[Any, ...]:
        functions = self._reader, self._writer
        given = functions, self._domain, self.dtype, self._layout, self._units, self._resources, self._node
        return _made_again, given


def _made_again(
    functions: tuple[ReadFunction | None, WriteFunction | None],
    domain: IndexDomain,
    dtype: DType,
    layout: ChunkLayout,
    units: tuple[Unit | None, ...],
    resources: dict[str, Resource],
    node: SpecNode | None,
) -> VirtualDriver:
    """Make the driver again with the event loop of this thread, as loops cannot be pickled."""
    return VirtualDriver(functions, domain, dtype, layout, units, resources, running_loop(), node)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, or None."""
    if "asyncio" not in sys.modules:
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _moved(view: Form, box: Box) -> Form:
    """Return the view of a box, whose indices count from its origin."""
    maps: list[Map] = []
    for map_, (at, _) in zip(view.maps, box, strict=True):
        if isinstance(map_, int):
            maps.append(map_ - at)
        elif isinstance(map_, ArrayMap):
            maps.append(replace(map_, offset=map_.offset - at))
        else:
            maps.append((map_[0], map_[1] - at, map_[2]))
    return view._replace(maps=tuple(maps))


class VirtualChanges:
    """The elements that are to be written, by chunks, and which they are."""

    at_once = False

    def __init__(self, driver: VirtualDriver) -> None:
        self._driver = driver
        self._lock = threading.Lock()
        self._chunks: dict[Box, tuple[Elements, npt.NDArray[np.bool_]]] = {}

    def of(self, box: Box) -> tuple[Elements, npt.NDArray[np.bool_]] | None:
        """Return what is to be written to a chunk, or None."""
        return self._chunks.get(box)

    def changed(self, box: Box) -> tuple[Elements, npt.NDArray[np.bool_]]:
        """Return the buffer and mask of what is to be written to a chunk, to be added to."""
        with self._lock:
            if box not in self._chunks:
                chunk = self._driver._room(box)
                self._chunks[box] = chunk, np.zeros(chunk.shape, bool)
            return self._chunks[box]

    def prepare(self) -> None:
        """Do nothing: there are no conditions to check."""

    def commit(self, outcome: Outcome) -> None:
        """Write every chunk; elements that were not written are read first."""
        for box, error in self._driver._hand_over(list(self._chunks.items())):
            if error is None:
                outcome.stored.append(shown_chunk(box))
            else:
                outcome.fail([shown_chunk(box)], error)

    def shown(self) -> list[str]:
        """Return the chunks, as errors show them."""
        return [shown_chunk(box) for box in self._chunks]

    def abort(self) -> None:
        """Forget everything."""
        self._chunks = {}


def shown_chunk(box: Box) -> str:
    """Format a chunk for an error message.

    Examples
    --------
    >>> shown_chunk(((0, 2), (3, 6)))
    'virtual chunk {origin={0, 3}, shape={2, 3}}'
    """
    origin, shape = ", ".join(str(low) for low, _ in box), ", ".join(str(high - low) for low, high in box)
    return f"virtual chunk {{origin={{{origin}}}, shape={{{shape}}}}}"
