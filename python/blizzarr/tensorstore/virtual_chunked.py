"""`virtual_chunked`: a store whose elements are made by functions, chunk by chunk."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from blizzarr.errors import ChunkFunctionError, ConflictError, NotReadableError, SpecError
from blizzarr.futures import Batch, Future, at_once, resolved
from blizzarr.indexing import Form, Lowered, lower_form
from blizzarr.indexing.interval import INF
from blizzarr.indexing.layout import shifted
from blizzarr.json_values import braces
from blizzarr.keywords import name_keywords
from blizzarr.spec.arguments import apply_arguments, prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, chunk_constraints, grid_of, order_in, origin_in
from blizzarr.spec.context import Context, resource_of
from blizzarr.spec.dtype import element_dtype
from blizzarr.spec.kvstore_access import TimestampedStorageGeneration
from blizzarr.spec.layout_solver import choose_shape
from blizzarr.spec.schema import SCHEMA_ARGUMENTS, Schema, refuse_encoding, schema_of
from blizzarr.spec.spec_node import SpecNode
from blizzarr.stores.generation import UNKNOWN
from blizzarr.tensorstore.driver import Driver, Elements, Shared
from blizzarr.tensorstore.opening import OPENERS
from blizzarr.tensorstore.picking import Key, Pieces, Position, reach
from blizzarr.tensorstore.store import TensorStore, store_of
from blizzarr.tensorstore.write_buffer import ChunkBuffer, WriteBuffer, replace
from blizzarr.transactions import Outcome, Transaction, participant, require_one_step
from blizzarr.views import IndexDomain, domain_of, form_of, transform_of

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


def _stamp(answer: Any) -> TimestampedStorageGeneration | None:
    """Return the generation that a function returned, or None."""
    if answer is None or isinstance(answer, TimestampedStorageGeneration):
        return answer
    raise ChunkFunctionError(
        "expected None or KvStore.TimestampedStorageGeneration from a function of virtual chunks, which puts elements "
        f"into the array that it is given; found {type(answer).__name__}"
    )


_NOTHING: Future[Any] = resolved(None)

_ATTEMPTS = 100

_Changed = tuple[Position, ChunkBuffer]
"""A chunk, and what is to be written to it."""

ReadFunction = Callable[[IndexDomain, Elements, VirtualChunkedReadParameters], Any]
WriteFunction = Callable[[IndexDomain, Elements, VirtualChunkedWriteParameters], Any]


class VirtualDriver(Driver):
    """A driver of chunks on a grid, each of which is made by a call.

    - `functions`: what reads and what writes a chunk.
    - `schema`: the constraints on the array, whose layout is completed.
    - `node`: the spec of the driver that has these functions, if that is another one.
    """

    name = "virtual_chunked"
    resolves = False

    def __init__(
        self,
        functions: tuple[ReadFunction | None, WriteFunction | None],
        schema: Schema,
        resources: dict[str, Any],
        loop: Any,
        node: SpecNode | None = None,
    ) -> None:
        if schema.rank is None:
            raise SpecError("rank must be specified")
        if schema.dtype is None:
            raise SpecError("dtype must be specified")
        refuse_encoding(schema)
        if node is not None:
            self.name = node.driver
        self._node = node
        self._reader, self._writer = functions
        given = schema.domain or IndexDomain(schema.rank)
        # There is nothing stored from which implicit bounds would be found.
        domain = IndexDomain(labels=given.labels, inclusive_min=given.inclusive_min, exclusive_max=given.exclusive_max)
        self._domain = domain
        self._layout = layout = _layout(schema.chunk_layout, domain)
        self._units = schema.dimension_units or (None,) * domain.rank
        self._resources = resources
        self._loop = loop
        self._identity = object()  # which copies share
        self.dtype = schema.dtype
        self.readable = self._reader is not None
        self.writable = self._writer is not None
        self.chunk_shape: tuple[int, ...] = tuple(size or 1 for size in layout.read_chunk.shape or ())
        self._origin = tuple(at or 0 for at in layout.grid_origin or (0,) * domain.rank)
        self._order = layout.inner_order or tuple(range(domain.rank))

    @property
    def schema(self) -> Schema:
        return schema_of(self.dtype, self.rank, None, self._layout, self._units)

    def spec_of(self, form: Form, minimal: bool = False) -> SpecNode:
        """Return the spec of the driver that has the functions, or one with the functions themselves and no JSON."""
        if self._node is not None:
            kept = Schema(dtype=self.dtype, rank=self._domain.rank)
            return self._node.altered(schema=kept, transform=transform_of(form))
        schema = Schema(dtype=self.dtype, domain=self._domain, chunk_layout=self._layout)
        options = {"functions": (self._reader, self._writer), "loop": self._loop}
        transform = transform_of(form)
        return SpecNode(self.name, schema, transform, options=options, resources=self._resources)

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Elements:
        result = np.empty(form.shape, element_dtype(self.dtype)) if out is None else out
        params = VirtualChunkedReadParameters(staleness_bound=time.time(), batch=None if batch is None else Batch())
        changes = self._changes()
        selected, first = self._on_grid(form)
        pieces = Pieces(selected, self.chunk_shape, first)
        begun: list[tuple[Key, Any, ChunkBuffer | None, Elements | None, Future[Any]]] = []
        for position, where, index in pieces:
            changed = None if changes is None else changes.chunks.get(position)
            if changed is not None and changed.covers(self._within(position)):
                begun.append((where, index, changed, None, _NOTHING))
            else:
                begun.append((where, index, changed, *self._begun(position, params)))
        elements = pieces.arranged(result)
        for where, index, changed, chunk, future in begun:
            _stamp(future.result())
            if chunk is not None:
                elements[index] = chunk[where]
            if changed is not None:
                replace(elements, index, changed.written(where), changed.take(where))
        pieces.put_back(elements, result)
        return result

    def _begun(self, position: Position, params: VirtualChunkedReadParameters) -> tuple[Elements, Future[Any]]:
        """Begin to read a chunk; return its buffer and a future."""
        assert self._reader is not None, "checked before"
        chunk = self._room()
        returned = self._reader(self._chunk_domain(position), self._inside(chunk, position), params)
        return chunk, _NOTHING if returned is None else Future(returned, loop=self._loop)

    def write(self, form: Form, source: Elements) -> None:
        changes = self._changes()
        buffer = VirtualChanges(self) if changes is None else changes
        selected, first = self._on_grid(form)
        buffer.write(selected, source, first)
        if changes is None:
            for _, error in self.hand_over(list(buffer.chunks.items())):
                if error is not None:
                    raise error
        elif self.transaction is not None:
            for step in buffer.shown():
                require_one_step(self.transaction, f"write to {step}")

    def hand_over(self, todo: list[_Changed]) -> list[tuple[Position, Exception | None]]:
        """Write chunks, each on top of what is read just before; return the error of each, or None."""
        done: list[tuple[Position, Exception | None]] = []
        for _ in range(_ATTEMPTS):
            # Chunks are read, and then written, at the same time, if the functions return futures.
            reading = [at_once(self._begun_below, position, changed) for position, changed in todo]
            writing = [at_once(self._written, *chunk, read) for chunk, read in zip(todo, reading, strict=True)]
            again = []
            for (position, changed), write in zip(todo, writing, strict=True):
                try:
                    stamp = _stamp(write.result().result())
                except Exception as error:
                    done.append((position, error))
                    continue
                if stamp is not None and stamp.generation == UNKNOWN:
                    # Somebody else was faster; elements that were not written must stay as they are now.
                    again.append((position, changed))
                else:
                    done.append((position, None))
            if not again:
                return done
            todo = again
        conflict = ConflictError(f"somebody else changed it {_ATTEMPTS} times in a row; try again")
        return [*done, *((position, conflict) for position, _ in todo)]

    def _begun_below(self, position: Position, changed: ChunkBuffer) -> tuple[Elements, Future[Any]]:
        """Begin to read a chunk that is written in part; return its buffer and a future."""
        if changed.covers(self._within(position)):
            return self._room(), _NOTHING
        if self._reader is None:
            raise NotReadableError("Write-only virtual chunked view requires chunk-aligned writes")
        return self._begun(position, VirtualChunkedReadParameters())

    def _written(
        self, position: Position, changed: ChunkBuffer, read: Future[tuple[Elements, Future[Any]]]
    ) -> Future[Any]:
        """Begin to write a chunk on top of what is read; return a future."""
        chunk, future = read.result()
        stamp = _stamp(future.result())
        assert self._writer is not None, "checked before"
        assert changed.data is not None, "something was written"
        np.copyto(chunk, changed.data, where=changed.written_mask())
        params = VirtualChunkedWriteParameters(if_equal=UNKNOWN if stamp is None else stamp.generation)
        done = self._writer(self._chunk_domain(position), self._inside(chunk, position), params)
        return Future(done, loop=self._loop)

    def _changes(self) -> VirtualChanges | None:
        if self.transaction is None:
            return None
        return participant(self.transaction, self._identity, lambda: VirtualChanges(self))

    # Chunks

    def _on_grid(self, form: Form) -> tuple[Lowered, Position]:
        """Return a view as a selection whose indices count from a chunk of the grid, and that chunk."""
        rank = len(self.chunk_shape)
        first: Position = (0,) * rank
        if 0 not in form.shape:
            grid = zip(form.maps, self._origin, self.chunk_shape, strict=True)
            first = tuple([(reach(map_, form)[0] - origin) // length for map_, origin, length in grid])
        return lower_form(shifted(form, [-start for start in self._start(first)]), (INF + 1,) * rank), first

    def _start(self, position: Position) -> list[int]:
        grid = zip(position, self.chunk_shape, self._origin, strict=True)
        return [number * length + origin for number, length, origin in grid]

    def _within(self, position: Position) -> tuple[tuple[int, int], ...]:
        """Return the part of a chunk that is in the domain."""
        form = form_of(self._domain)
        bounds = zip(self._start(position), self.chunk_shape, form.lower, form.upper, strict=True)
        return tuple([(max(low - start, 0), min(high - start, length)) for start, length, low, high in bounds])

    def _inside(self, chunk: Elements, position: Position) -> Elements:
        """Return the elements of a chunk that are in the domain."""
        # The ellipsis keeps a single element an array, which functions fill.
        key: Any = (*[slice(*ends) for ends in self._within(position)], ...)
        return chunk[key]

    def _chunk_domain(self, position: Position) -> IndexDomain:
        box = list(zip(self._start(position), self._within(position), strict=True))
        lower, upper = (tuple([start + ends[end] for start, ends in box]) for end in (0, 1))
        return domain_of(form_of(self._domain)._replace(lower=lower, upper=upper))

    def _room(self) -> Elements:
        """Return an array for a chunk in the layout's order."""
        lengths = [self.chunk_shape[dim] for dim in self._order]
        return np.empty(lengths, element_dtype(self.dtype)).transpose(np.argsort(self._order))

    def shown_chunk(self, position: Position) -> str:
        """Format a chunk for an error message."""
        domain = self._chunk_domain(position)
        return f"virtual chunk {{origin={braces(domain.origin)}, shape={braces(domain.shape)}}}"

    def __getstate__(self) -> dict[str, Any]:
        # Event loops cannot be pickled.
        return self.__dict__ | {"_loop": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _loop=running_loop())


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, or None."""
    if "asyncio" not in sys.modules:
        return None
    import asyncio

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class VirtualChanges(WriteBuffer):
    """The elements that are to be written, by chunks."""

    at_once = False

    def __init__(self, driver: VirtualDriver) -> None:
        super().__init__(driver.chunk_shape, element_dtype(driver.dtype))
        self._driver = driver

    def prepare(self) -> None:
        """Do nothing: there are no conditions to check."""

    def commit(self, outcome: Outcome) -> None:
        """Write every chunk; elements that were not written are read first."""
        for position, error in self._driver.hand_over(list(self.chunks.items())):
            if error is None:
                outcome.stored.append(self._driver.shown_chunk(position))
            else:
                outcome.fail([self._driver.shown_chunk(position)], error)

    def shown(self) -> list[str]:
        return [self._driver.shown_chunk(position) for position in self.chunks]

    def abort(self) -> None:
        self.chunks = {}


def virtual_chunked(
    read_function: ReadFunction | None = None,
    write_function: WriteFunction | None = None,
    *,
    loop: asyncio.AbstractEventLoop | None = None,
    context: Context | None = None,
    transaction: Transaction | None = None,
    **constraints: Any,
) -> TensorStore:
    """Make a store whose chunks are produced, and consumed, by functions.

    Parameters
    ----------
    read_function
        Called with the domain of a chunk, an array to fill, and `VirtualChunkedReadParameters`. If it returns a future
        or coroutine, that is waited for. Without this function, the store cannot be read.
    write_function
        Called with the domain of a chunk, its elements, and `VirtualChunkedWriteParameters`. Without this function, the
        store cannot be written.
    loop
        The event loop that runs coroutines; by default, that of this thread.
    context
        What is shared with others.
    transaction
        The transaction that gathers what is written; the functions are called when it is committed.
    **constraints
        The arguments of `Schema`: ``dtype``, and ``shape`` or ``domain``, are required; ``chunk_layout`` is optional.

    Examples
    --------
    >>> import numpy as np
    >>> def squares(domain, array, _):
    ...     array[...] = np.arange(domain.inclusive_min[0], domain.exclusive_max[0]) ** 2
    >>> virtual_chunked(squares, dtype="int64", shape=[10**12])[10**6 : 10**6 + 3].read().result()
    array([1000000000000, 1000002000001, 1000004000004])
    """
    if read_function is None and write_function is None:
        raise SpecError("Must specify `read_function`, `write_function`, or both")
    schema = Schema()
    apply_arguments(virtual_chunked, schema, SCHEMA_ARGUMENTS, constraints)
    here = context or Context()
    resources = {name: resource_of(here, name) for name in ("data_copy_concurrency", "cache_pool")}
    driver = VirtualDriver((read_function, write_function), schema, resources, loop or running_loop())
    return store_of(driver if transaction is None else driver.with_transaction(transaction))


name_keywords(virtual_chunked, [name for name in SCHEMA_ARGUMENTS if name not in ("codec", "fill_value")])


def _layout(asked: ChunkLayout, domain: IndexDomain) -> ChunkLayout:
    """Return the requested layout with everything that it leaves open chosen."""
    codec_shape = grid_of(asked, "codec").shape
    if any(codec_shape.values[dim] for dim in codec_shape.hard):
        raise SpecError("codec_chunk_shape not supported")
    bounds = [form_of(domain).interval(dim).bounds for dim in range(domain.rank)]
    with prefixed("Failed to compute chunk grid"):
        shape = choose_shape(chunk_constraints(asked), bounds)
    # The usual origin is in the first chunk of positive indices.
    usual = [low % side if low > -INF else 0 for low, side in zip(domain.inclusive_min, shape, strict=True)]
    given = origin_in(asked) or (None,) * domain.rank
    origin = [at if at is not None else low for at, low in zip(given, usual, strict=True)]
    return ChunkLayout(
        grid_origin=origin, chunk_shape=list(shape), inner_order=list(order_in(asked) or range(domain.rank))
    )


OPENERS["virtual_chunked"] = lambda node, request: store_of(
    VirtualDriver(node.options["functions"], node.schema, dict(node.resources), node.options["loop"])
)
