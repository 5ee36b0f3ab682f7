"""Stored arrays of any format as a driver, on top of `blizzarr.Array`.

A field of the elements, or their bytes, are read and written as bytes of elements, in their chunks: what is written
leaves the other fields as they are, whoever writes these at the same time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from blizzarr.array.facts import binding_of
from blizzarr.caching import CachePool, keeping_of
from blizzarr.errors import OutOfBoundsError, SpecError, ViewOutOfBoundsError
from blizzarr.futures import POOL
from blizzarr.indexing import Axes, Lowered, lower_form
from blizzarr.indexing.form import ArrayMap, Form, Map
from blizzarr.indexing.interval import INF
from blizzarr.model import ArrayMeta
from blizzarr.spec.dtype import element_dtype
from blizzarr.spec.metadata.elements import Field
from blizzarr.spec.schema import Schema
from blizzarr.spec.spec_node import SpecNode
from blizzarr.stores import LocalStore, MemoryStore, Store, check_writable
from blizzarr.stores.requests import is_remote
from blizzarr.stores.wrapper import unwrapped
from blizzarr.tensorstore.conversion import fitted, write_now
from blizzarr.tensorstore.driver import (
    KEPT_BYTES,
    Bounds,
    Chunk,
    Driver,
    Elements,
    KvStoreDriver,
    Shared,
    put_into,
    read_now,
)
from blizzarr.tensorstore.gathering import Gathering, result_or_error
from blizzarr.tensorstore.picking import index_arrays, reach
from blizzarr.tensorstore.staging import Staged, Unlocked, staged_in
from blizzarr.tensorstore.stored_array import StoredArray, refuse_missing, resizing, stored_of
from blizzarr.tensorstore.stored_place import StoredPlace
from blizzarr.transactions import StagedStore, Transaction
from blizzarr.transfer import Binding, Order, empty_result, read, write, write_parts
from blizzarr.views import IndexDomain, domain_of

T = TypeVar("T")

_SHARED_BYTES = 1 << 28
"""The size of the pool that the reads of a batch share."""

_LEAST_BYTES = 1 << 14
"""The size that smaller chunks count as where chunks are listed, so that not too many are. So few bytes are decoded
again sooner than they are found again, or decoded in another thread."""

_QUICK_BYTES = 1 << 20
"""The most bytes whose decoding is quicker than handing the work to another thread."""


class StoredArrayDriver(KvStoreDriver):
    """An array in a store."""

    place: ClassVar[type[StoredPlace]] = StoredPlace
    """The class that opens the array again where a driver is unpickled."""

    def __init__(self, array: StoredArray, transaction: Transaction | None = None) -> None:
        self._outside = array
        """The array as everybody else sees it."""
        self._array = array if transaction is None else array.in_store(StagedStore(transaction, array.store))
        """The array as the transaction will leave it."""
        self._looked = time.time()
        """The moment when the metadata was last compared with the stored one."""
        self._kept: dict[Any, tuple[ArrayMeta, Any]] = {}
        self._node = array.node
        self.name = array.node.driver
        self._field = field = array.field
        self.dtype = field.dtype
        # A field without name and shape is the whole element, which is a single value.
        self._by_bytes = bool(field.name or field.shape)
        """True if the bytes of elements are read and written."""
        self.transaction = transaction
        options = array.node.options
        self._write_empty = bool(options.get("store_data_equal_to_fill_value", False))
        self._must_be_stored = not options.get("fill_missing_data_reads", True)

    # Facts that not every user of an array needs

    @cached_property
    def _decodes(self) -> bool:
        """True if decoding takes time, and the chunks are not kept elsewhere."""
        if self._write_empty or self._must_be_stored or self.transaction is not None:
            return False
        meta = self._outside.metadata
        is_packed = not meta.dtype.numpy.hasobject and meta.codecs.is_packed
        return is_packed and keeping_of(self._outside.store) is None

    @cached_property
    def _chunk_shape(self) -> tuple[int, ...]:
        return self._outside.metadata.chunk_shape + self._field.shape

    @cached_property
    def _chunk_bytes(self) -> int:
        meta = self._outside.metadata
        return max(meta.dtype.itemsize * prod(meta.chunk_shape), 1) if not meta.dtype.numpy.hasobject else _QUICK_BYTES

    # Properties

    def _once(self, what: Any, make: Callable[[], T]) -> T:
        """Return what `make` makes of the metadata; it is called again only when these have changed."""
        meta, known = self._array.metadata, self._kept.get(what)
        if known is None or known[0] is not meta:
            known = self._kept[what] = meta, make()
        return known[1]

    @property
    def schema(self) -> Schema:
        array = self._array
        return self._once("schema", lambda: array.constraints.schema_of(array.metadata, array.node.options))

    @property
    def _shape(self) -> tuple[int, ...]:
        """The shape of the elements that the driver has."""
        return self._array.shape + self._field.shape

    @property
    def domain(self) -> IndexDomain:
        array = self._array
        return self._once("domain", lambda: domain_of(array.constraints.form_of(array.metadata, array.field).domain))

    @property
    def store(self) -> Store:
        return self._outside.store

    def node(self, minimal: bool = False) -> SpecNode:
        return self._once(("spec", minimal), lambda: self._array.spec_node(minimal))

    @property
    def pickled_node(self) -> SpecNode:
        return self._array.pickled_node

    # Its elements

    def current(self, form: Form) -> Form:
        self._look()
        return self._as_now(form)

    def _as_now(self, form: Form) -> Form:
        return form if _is_current(form, self._shape) else super().current(form)

    def _look(self) -> None:
        """Take notice of metadata that this process has read or changed since."""
        array, outside = self._array, self._outside.known
        if array.assumed:
            return
        own = array.known.recent()
        if self._looked < array.since:
            self._looked = time.time()
            array.refresh()
        elif own is None and not outside.is_outdated:
            # In a transaction where nobody has read the metadata: as without one.
            array.overtake(outside.recent())
        elif own is None or outside.later_than(array.known):
            # Others have changed what the transaction may have changed, too.
            array.refresh()
        else:
            array.overtake(own)

    def read(self, form: Form, out: Elements | None = None, batch: Shared | None = None) -> Any:
        lowered = lower_form(form, self._shape)
        if self._must_be_stored:
            refuse_missing(self._array, self._on_grid(lowered))
        if not self._by_bytes:
            return self._read(lowered, out, batch)
        raw = self._read(of_bytes(lowered, self._field), None, batch)
        return put_into(out, self._field.decode(raw).reshape(lowered[0]))

    @cached_property
    def gathering(self) -> Gathering | None:
        meta = self._outside.metadata
        alone = self._by_bytes or self._must_be_stored or self.transaction is not None or not self.is_near
        if alone or meta.dtype.numpy.hasobject:
            return None
        # What is in Python may itself read the array, for which it must not wait.
        return None if meta.codecs.calls_python(meta.dtype, meta.chunk_shape) else Gathering()

    def bytes_moved(self, form: Form) -> int:
        return max(super().bytes_moved(form), self._chunk_bytes if self._decodes else 0)

    def read_all(self, reads: Sequence[tuple[Form, Order, Shared | None]]) -> list[Any]:
        """Read several views at once, and return the elements of each, or the error.

        A read is a view, the order of its elements in memory, and what it shares with others.
        """
        results: list[Any] = [None] * len(reads)
        parts: dict[Any, list[tuple[int, Any, Axes, Any]]] = {}
        with suppress(Exception):  # it comes again where each is read by itself
            self._look()
            for number, (form, order, shared) in enumerate(reads):
                shape, axes, _ = lower_form(self._as_now(form), self._shape)
                if axes and 0 not in shape and self.readable:
                    binding = self._binding(self._array) if shared is None else self._shared(shared)
                    since = None if shared is None else shared.get("since")
                    out = empty_result(shape, binding.dtype, order)
                    parts.setdefault(binding.handle, []).append((number, out, axes, since))
        for handle, some in parts.items():
            with suppress(Exception):
                done = handle.read_parts([part[1:] for part in some])
                for (number, out, *_), is_read in zip(some, done, strict=True):
                    results[number] = out if is_read else None
        for number, (form, order, shared) in enumerate(reads):
            if results[number] is None:
                results[number] = result_or_error(read_now, self, form, order, shared)
        return results

    def write_all(self, writes: Sequence[tuple[Form, Elements]]) -> list[Exception | None]:
        """Write several views, one after the other, and return the error of each, or None.

        A write is a view and its elements.
        """
        if len(writes) > 1 and self.writable and not self._array.assumed:
            with suppress(Exception):  # it comes again where each is written by itself
                check_writable(self._array.store, self._array.path)
                views = [self.current(form) for form, _ in writes]
                parts = [
                    (lower_form(view, self._shape), fitted(elements, view))
                    for view, (_, elements) in zip(views, writes, strict=True)
                ]
                write_parts(self._to_write(self._array), parts)
                return [None] * len(writes)
        return [result_or_error(write_now, self, form, elements) for form, elements in writes]

    def _read(self, lowered: Lowered, out: Elements | None, batch: Shared | None) -> Any:
        if self.transaction is not None:
            return self._staged().read(lowered, out)
        binding = self._binding(self._array) if batch is None else self._shared(batch)
        if batch is not None and "since" in batch:
            # Not from the moment of the read on, but from the one when it was asked for.
            handle: Any = binding.handle
            binding = replace(binding, handle=handle.with_options(asked=batch["since"]))
        with self._doing():
            try:
                return read(binding, lowered, out)
            except OutOfBoundsError:
                # Somebody has cut off elements since the array was opened: they read as the fill value.
                return read(binding.beyond(), lowered, out)

    def write(self, form: Form, source: Elements) -> None:
        array = self._array
        check_writable(array.store, array.path)
        lowered = lower_form(form, self._shape)
        if self._by_bytes:
            values, lowered = np.broadcast_to(source, lowered[0]), of_bytes(lowered, self._field)
            source = self._field.encode(values).reshape(lowered[0])
        if self.transaction is not None:
            self._staged().write(lowered, source, self._write_empty)
            return
        if self._array.assumed:
            # Its document may be missing.
            array = array.in_store(Unlocked(array.store))
        with self._doing():
            write(self._to_write(array), lowered, source)

    def _to_write(self, array: StoredArray) -> Binding:
        binding = self._binding(array)
        return Binding(binding.handle, binding.dtype, True, None, binding.lifetime) if self._write_empty else binding

    @cached_property
    def _doing(self) -> Callable[[], AbstractContextManager[None]]:
        """What returns the context in which elements are read and written."""
        return POOL.far_away if is_remote(self.store) else nullcontext

    def _on_grid(self, lowered: Lowered) -> Lowered:
        """Return the part of a selection that is about the grid of chunks, without the dimensions within elements."""
        shape, axes, scalar = lowered
        return shape, axes[: len(self._array.shape)], scalar

    def _binding(self, array: StoredArray) -> Binding:
        return array.binding_by_bytes if self._by_bytes else binding_of(array)

    def _shared(self, batch: Shared) -> Binding:
        """Return the binding of the array with the pool that the reads of a batch, or those in flight, share."""
        array = self._array
        recheck = batch.get("recheck", False)
        if recheck and not self._decodes:
            return self._binding(array)
        # Read after the shape that the caller has gone by, so that what is bound by them is as large, whatever other
        # threads make of the array meanwhile.
        metadata = array.metadata
        arrays: WeakKeyDictionary[StoredArray, dict[Any, tuple[ArrayMeta, Binding]]]
        arrays = batch.setdefault("arrays", WeakKeyDictionary())
        kinds = arrays.setdefault(array, {})
        bound = kinds.get(self._by_bytes)
        if bound is None or bound[0] is not metadata:
            pool = batch.setdefault("pool", CachePool(_SHARED_BYTES))
            bound = kinds[self._by_bytes] = metadata, self._binding(array.cached(pool, recheck=recheck))
        return bound[1]

    def decoded(self, form: Form) -> set[Chunk]:
        if not self._decodes or 0 in form.shape:
            return set()
        # For index arrays, with those between the first and the last.
        ends = [reach(map_, form) for map_ in form.maps]
        sides = zip(ends, self._chunk_shape, strict=True)
        ranges = [range(first // side, last // side + 1) for (first, last), side in sides]
        count = prod(map(len, ranges))
        if count * self._chunk_bytes <= _LEAST_BYTES or count * max(self._chunk_bytes, _LEAST_BYTES) > KEPT_BYTES:
            return set()
        # Equal for all handles of the array.
        store = unwrapped(self._array.store)
        identity = str(store) if isinstance(store, LocalStore) else id(store), self._array.path
        return {(identity, position) for position in product(*ranges)}

    def _staged(self) -> Staged:
        assert self.transaction is not None, "asked before"
        return staged_in(self.transaction, self._outside.store, self._array, self._by_bytes)

    def is_quick(self, form: Form, writes: bool = False) -> bool:
        is_near = self.is_near
        if writes:
            is_near = self.transaction is not None or isinstance(unwrapped(self._outside.store), MemoryStore)
        return is_near and self._is_small(form)

    def _is_small(self, form: Form) -> bool:
        left = _QUICK_BYTES // self._chunk_bytes
        for map_, length in zip(form.maps, self._chunk_shape, strict=True):
            if isinstance(map_, int):
                continue
            count = map_.array.size if isinstance(map_, ArrayMap) else form.upper[map_[0]] - form.lower[map_[0]]
            first, last = reach(map_, form) if count else (0, 0)
            # As many chunks as there are indices, or as there are between the first and the last of them.
            left //= min(count, last // length - first // length + 1) or 1
            if not left:
                return False
        return left > 0

    # Changing it

    def resolve(self, fix_resizable_bounds: bool = False) -> Driver:
        """Return the driver with the shape of the document, or of a cached one that is recent enough."""
        if not self._array.assumed:
            if self.transaction is None:
                self._array.catch_up()
            else:
                self._array.refresh()
            self._looked = time.time()
        return self

    def resize(self, form: Form, inclusive_min: Bounds, exclusive_max: Bounds, modes: frozenset[str]) -> Driver:
        if self._array.assumed:
            raise SpecError("Resize not supported because assume_metadata was specified")
        check_writable(self._array.store, self._array.path)
        resized = resizing(form, inclusive_min, exclusive_max, modes)

        def decide(shape: tuple[int, ...]) -> tuple[int, ...]:
            return resized(shape + self._field.shape)[: len(shape)]

        only = "resize_metadata_only" in modes
        if self.transaction is None:
            self._array.reshape(decide, only)
        else:
            self._outside.reshape_later(self.transaction, decide, only)
            self._array.refresh()
            staged = self._staged()
            if not only:
                staged.shrink(self._array.shape)
        return self

    def storage_statistics(self, form: Form) -> tuple[bool, bool]:
        try:
            lowered = lower_form(form, self._shape)
        except ViewOutOfBoundsError:
            # The array has become smaller: elements that are gone count as not stored, where bounds are implicit.
            lower_form(self.current(form), self._shape)
            lowered = lower_form(form, (INF + 1,) * self.rank)
        return stored_of(self._array, self._on_grid(lowered))

    def with_transaction(self, transaction: Transaction | None) -> Driver:
        made = type(self)(self._outside, transaction)
        made._looked = self._looked
        return made.allowed(self.readable, self.writable)


def _is_current(form: Form, shape: tuple[int, ...]) -> bool:
    """Return whether the implicit bounds of a view agree with this shape; False if that is expensive to tell.

    >>> view = Form((0,), (30,), (False,), (True,), ("",), (5, (0, 0, 1)))
    >>> _is_current(view, (20, 30)), _is_current(view, (20, 40))
    (True, False)
    """
    if True in form.implicit_lower:
        return False
    if True in form.implicit_upper:
        for map_, size in zip(form.maps, shape, strict=True):
            if type(map_) is tuple:
                dim, offset, stride = map_
                if form.implicit_upper[dim] and (stride != 1 or form.upper[dim] + offset != size):
                    return False
    return True


def of_bytes(lowered: Lowered, field: Field) -> Lowered:
    """Return the bytes of a selection of values, whose last axes are those within elements, as a selection of an array
    whose last axis is the bytes of its elements.

    >>> from blizzarr.spec.dtype import DTYPES
    >>> field = Field("a", DTYPES["int16"], shape=(3,), offset=4)
    >>> of_bytes(((5, 3), ((0, 0, 1), (1, 0, 1)), False), field)
    ((5, 6), ((0, 0, 1), (1, 4, 1)), False)
    >>> of_bytes(((5,), ((0, 0, 1), 2), False), field)
    ((5, 2), ((0, 0, 1), (1, 8, 1)), False)
    """
    shape, axes, _ = lowered
    outer, inner = axes[: len(axes) - len(field.shape)], axes[len(axes) - len(field.shape) :]
    size = element_dtype(field.dtype).itemsize
    strides = [prod(field.shape[number + 1 :]) * size for number in range(len(field.shape))]
    offset = field.offset
    moving: list[tuple[Any, int]] = []
    for axis, stride in zip(inner, strides, strict=True):
        if isinstance(axis, int):
            offset += axis * stride
        else:
            moving.append((axis, stride))
    run = _run(moving, shape, size)
    if run is not None:
        dim = len(shape) - len(moving)
        axes = (*outer, (dim, offset + run, 1))
        return (*shape[:dim], prod(shape[dim:]) * size), axes, False
    indices = index_arrays(shape, axes)
    at = sum((stride * along for along, stride in zip(indices[len(outer) :], strides, strict=True)), field.offset)
    at = np.asarray(at)[..., None] + np.arange(size)
    dims = tuple([dim for dim, length in enumerate(at.shape) if length != 1])
    maps: list[Map] = [
        axis if isinstance(axis, int) or len(axis) == 3 else ArrayMap(0, 1, along[..., None], axis[0])
        for axis, along in zip(outer, indices, strict=False)
    ]
    view = Form.of_shape((*shape, size))._replace(maps=(*maps, ArrayMap(0, 1, at, dims)))
    return lower_form(view, (INF + 1,) * len(view.maps))


def _run(moving: list[tuple[Any, int]], shape: tuple[int, ...], size: int) -> int | None:
    """Return the offset of the first byte if the bytes are contiguous in the order of the last dimensions."""
    offset, step = 0, size
    for dim, (axis, stride) in zip(range(len(shape) - 1, -1, -1), reversed(moving), strict=False):
        if len(axis) != 3 or axis[0] != dim or axis[2] * stride != step:
            return None
        offset += axis[1] * stride
        step *= shape[dim]
    return offset
