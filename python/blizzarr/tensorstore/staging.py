"""The elements of one array that a transaction has gathered.

When it is committed, each chunk of the array is written once, and elements of it that were not written are what others
have made of them by then. Elements of a chunk go as soon as the chunk is made of them.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.array.binding import bind
from blizzarr.array.document import same_chunks
from blizzarr.errors import BlizzarrError, ChunkError, ConstraintError
from blizzarr.formats import chunk_prefix, chunk_store, document_keys, find_many, format_of, forms_again, lock_key
from blizzarr.futures import POOL, do_all, nothing_left, submit
from blizzarr.indexing import Lowered
from blizzarr.model import ArrayMeta
from blizzarr.stores import MemoryStore, Store, StoreWrapper
from blizzarr.stores.requests import is_remote
from blizzarr.tensorstore.picking import product_of
from blizzarr.tensorstore.stored_array import StoredArray
from blizzarr.tensorstore.write_buffer import ChunkBuffer, WriteBuffer
from blizzarr.transactions import Changes, Outcome, Transaction, changes_in, watched
from blizzarr.transactions.overlay import Overlay, View, in_range, place_in
from blizzarr.transfer import Binding, read, write, write_parts

Names = dict[str, list[tuple[int, ...]]]
"""The names of stored values, with the positions of the chunks in each."""

_TOGETHER = 16
"""The number of chunks that several threads encode at the same time."""

_TOGETHER_BYTES = 1 << 26
"""The size in bytes of the chunks that one call stores."""

_SMALL = 1 << 15
"""The size in bytes below which encoding a chunk takes less time than handing it to another thread."""


def staged_in(transaction: Transaction, store: Store, array: StoredArray, by_bytes: bool) -> Staged:
    """Return the elements that a transaction has gathered for an array, which is stored in `store`."""
    changes = changes_in(transaction, store)
    name = place_in(store)[1] + array.path + ("/bytes of elements" if by_bytes else "")
    if part := format_of(array.metadata).part:
        name += f"/{part}"
    repeatable = transaction.repeatable_read
    result = changes.elements(name, lambda: Staged(changes, store, array, by_bytes=by_bytes, repeatable=repeatable))
    assert isinstance(result, Staged), "what was made"
    result.adopt(array.metadata).check()
    return result


class Unlocked(StoreWrapper):
    """A store without locks on documents, which may be missing: only threads of this process exclude each other."""

    has_documents = False

    @property
    def locks(self) -> None:
        return


class Staged:
    """The elements that are to be written to an array."""

    def __init__(self, changes: Changes, store: Store, array: StoredArray, *, by_bytes: bool, repeatable: bool) -> None:
        self._changes = changes
        self._base = store
        self._store = watched(store, changes.watched) if repeatable else store
        self._path = array.path
        self._meta = array.metadata
        self._assumed = array.assumed
        self._by_bytes = by_bytes
        self._prefix = place_in(store)[1]
        self.under = self._prefix + self._path
        self._binding: Binding | None = None
        self._write_empty = False
        self._begin()

    def _begin(self) -> None:
        dtype = np.dtype(np.uint8) if self._by_bytes else self._meta.dtype.numpy
        self.buffer = WriteBuffer(self._meta.write_shape + self._tail, dtype)
        self._chunk_bytes = prod(self.buffer.chunk_shape) * dtype.itemsize
        self._shape = self._meta.shape
        """The greatest shape that the array has had."""
        self._final: set[str] = set()
        """The names of chunks that are final, whatever others store."""

    @property
    def _tail(self) -> tuple[int, ...]:
        """The axes after those of the array: the bytes of elements, where these are written one by one."""
        return (self._meta.dtype.itemsize,) if self._by_bytes else ()

    def adopt(self, meta: ArrayMeta) -> Staged:
        """Use other metadata of the array; elements are forgotten if its chunks are different."""
        if meta is self._meta:
            return self
        if not same_chunks(meta, self._meta):
            self._meta = meta
            self._begin()
        else:
            self._shape = tuple(map(max, meta.shape, self._shape))
        self._meta = meta
        self._binding = None
        return self

    def check(self) -> None:
        """Raise if the documents of the array are unknown, as a change of them has failed."""
        errors = self._changes.overlay(self.under).errors
        if errors:
            for key in document_keys(self._path, self._meta):
                if self._prefix + key in errors:
                    raise errors[self._prefix + key]

    def shrink(self, shape: tuple[int, ...]) -> None:
        self._shape = tuple(map(min, shape, self._shape))
        for position, chunk in list(self.buffer.chunks.items()):
            if not chunk.cut(self._within(position, shape)):
                del self.buffer.chunks[position]

    def _within(self, position: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return where a shape ends, counted from the beginning of a chunk."""
        starts = self._start(position)
        return (*(length - start for length, start in zip(shape, starts, strict=False)), *self._tail)

    def _start(self, position: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([index * length for index, length in zip(position, self.buffer.chunk_shape, strict=True)])

    # The elements as they will be

    def _below(self) -> Binding:
        prefix = self._prefix + chunk_prefix(self._path, self._meta)
        documents = (self._prefix + key for key in document_keys(self._path, self._meta))
        if self._changes.overlay(self.under).touches(prefix, documents):
            return self._bind(self._changes.view(self._store, self.under, elements=False), self._meta)
        if self._binding is None:
            # The document is compared when the transaction is committed, and may be part of it.
            self._binding = self._bind(self._store, self._meta, watch=False)
        return self._binding

    def read(self, lowered: Lowered, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Read a selection as the transaction will leave it."""
        return self.buffer.read(lowered, lambda out: self._read_below(lowered, out), out)

    def _read_below(self, lowered: Lowered, out: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
        try:
            return read(self._below(), lowered, out)
        except ChunkError:
            # The damaged chunk may be one of those that the transaction replaces as a whole.
            overlay = self._changes.overlay(self.under).copy()
            for name, positions in self.names().items():
                if not self._meta.chunk_keys.share_values and all(map(self._replaces, positions)):
                    overlay.values[name] = None
            return read(self._bind(View(self._store, self._prefix, overlay), self._meta), lowered, out)

    def _replaces(self, position: tuple[int, ...]) -> bool:
        """Return whether all elements of a chunk were written that lie in the array."""
        ends = map(min, self._within(position, self._meta.shape), self.buffer.chunk_shape)
        return self.buffer.chunks[position].covers([(0, end) for end in ends])

    def write(self, lowered: Lowered, source: npt.NDArray[Any], write_empty: bool = False) -> None:
        """Keep elements to be written; with `write_empty`, chunks that contain only the fill value are stored, too."""
        self._write_empty = self._write_empty or write_empty
        self.buffer.write(lowered, source)
        self._changes.check_alone(self._store, self.names)

    def names(self) -> Names:
        """Return the names of the stored values, as far as keys give them, with the positions of their chunks."""
        prefix = self._prefix + chunk_prefix(self._path, self._meta)
        key, rank = self._meta.chunk_keys.value_key, len(self._meta.shape)
        result: Names = {}
        for position in list(self.buffer.chunks):
            result.setdefault(prefix + key(position[:rank]), []).append(position)
        return result

    def made(self, name: str) -> tuple[bytes | None] | None:
        """Return a stored value as the transaction will leave it, in a tuple; None if it does not change."""
        if not name.startswith(self._prefix + chunk_prefix(self._path, self._meta)):
            return None
        positions = self.names().get(name)
        if positions is None:
            return None
        overlay = Overlay()
        self._put(self._changes.view(self._store, self.under, elements=False), overlay, positions)
        return None if name not in overlay.values else (overlay.values[name],)

    def forget(self, least: str, end: str) -> None:
        """Forget the chunks in values of a range of names."""
        for name, positions in self.names().items():
            if in_range(name, least, end):
                for position in positions:
                    del self.buffer.chunks[position]

    def put(self, store: Store, into: MemoryStore) -> list[str]:
        """Write all chunks on top of the values of `store`: to it, or to `into`; return the names of the latter."""
        assert isinstance(store, View), "what is to be"
        names = self.names()
        if not names:
            return []
        self._check_current(store)
        if chunk_store(into, self._path, self._meta) is not into or self._meta.chunk_keys.share_values:
            # A store that renames keys does not tell their names.
            self._put(store, store.overlay, list(self.buffer.chunks))
            return []
        # Writers want the document that they lock; it is not taken along.
        into.set(lock_key(self._path, self._meta), b"")
        binding = self._written_to(into, watch=False)
        left = [(name, position) for name, (position,) in names.items() if name not in self._final]
        for first in range(0, len(left), _TOGETHER):
            some = left[first : first + _TOGETHER]
            for name, position in some:
                chunk = self.buffer.chunks[position]
                if chunk.data is None:
                    # The chunk was computed from a value that others have replaced since.
                    lowered, where = self._lowered(position, chunk)
                    chunk.fill(where, read(binding, lowered))
                if chunk.is_whole:
                    self._final.add(name)
                    continue
                value = store.get(name)
                if value is None:
                    into.delete(name)
                else:
                    into.set(name, value)
            do_all([partial(self._move, binding, [position]) for _, position in some], self._chunk_bytes < _SMALL)
        return list(names)

    def _put(self, below: View, into: Overlay, positions: list[tuple[int, ...]]) -> None:
        """Write chunks on top of the values of one view, to the overlay of another one."""
        self._write(self._written_to(View(below, below.prefix, into)), positions)

    def _write(self, binding: Binding, positions: list[tuple[int, ...]]) -> None:
        """Write chunks at once, so that a value that several of them share is replaced once."""
        parts = []
        for position in positions:
            chunk = self.buffer.chunks[position]
            lowered, where = self._lowered(position, chunk)
            if prod(lowered[0]):
                parts.append((lowered, chunk.take(where)))
        if len(parts) == 1:
            write(binding, *parts[0])
        elif parts:
            write_parts(binding, parts)

    def _move(self, binding: Binding, positions: list[tuple[int, ...]]) -> None:
        """Write chunks, and release their elements."""
        self._write(binding, positions)
        for position in positions:
            self.buffer.chunks[position].data = None

    def locked(self) -> tuple[Store, str] | None:
        """Return the store, and the document by which writers exclude each other."""
        return None if not self.buffer.chunks else (self._store, lock_key(self._path, self._meta))

    def commit(self, outcome: Outcome) -> None:
        """Write each chunk once."""
        names = self.names()
        if not names:
            return
        store = self._changes.guarded(self._base)
        try:
            self._check_current(store)
        except BlizzarrError as error:
            outcome.fail(list(names), error)
            return
        binding = self._written_to(store)
        if is_remote(store):
            move = POOL.far_away()(self._move)
        else:
            move, names = self._move, self._move_together(binding, names, outcome)
        with nothing_left() as futures:
            for positions in names.values():
                submit(partial(move, binding, positions), futures)
            for name, future in zip(names, futures, strict=True):
                failure = future.exception()
                if failure is None:
                    outcome.stored.append(name)
                else:
                    outcome.fail([name], failure)

    def _move_together(self, binding: Binding, names: Names, outcome: Outcome) -> Names:
        """Write many chunks in one call; return those that are to be written one by one, each with its own error."""
        left: Names = {}
        named = list(names.items())
        most = max(1, _TOGETHER_BYTES // self._chunk_bytes)
        for first in range(0, len(named), most):
            some = named[first : first + most]
            try:
                self._move(binding, [position for _, positions in some for position in positions])
            except Exception:
                left.update(some)
            else:
                outcome.stored += [name for name, _ in some]
        return left

    def _written_to(self, store: Store, watch: bool = True) -> Binding:
        """Return the binding of the array in the shape that has all written elements, even if others have shrunk it."""
        if self._assumed and not isinstance(store, View):
            store = Unlocked(store)
        binding = self._bind(store, self._meta.with_shape(self._shape), watch)
        return Binding(binding.handle, binding.dtype, True) if self._write_empty else binding

    def _bind(self, store: Store, meta: ArrayMeta, watch: bool = True) -> Binding:
        return bind(store, self._path, meta, by_bytes=self._by_bytes, watch=watch)

    def _check_current(self, store: Store) -> None:
        """Raise if the array has been replaced, or removed, since the chunks were written."""
        if self._assumed:
            return
        (result,) = find_many(store, [self._path], forms_again(self._meta))
        if isinstance(result, BlizzarrError):
            raise result
        key = lock_key(self._path, self._meta)
        if result is None or not isinstance(result.meta, ArrayMeta):
            raise ConstraintError(f"Metadata at {key} does not exist")
        if not same_chunks(result.meta, self._meta):
            raise ConstraintError(f"Updated zarr metadata at {key} is incompatible with existing metadata")
        outside = self._written_outside(result.meta.shape)
        if outside is not None:
            raise ConstraintError(
                f"Shape at {key} was made smaller meanwhile, {result.meta.shape}: nowhere to store what was written "
                f"at {outside}"
            )

    def _written_outside(self, shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the first written position outside of a shape, in the first chunk that has one."""
        if all(new >= old for new, old in zip(shape, self._shape, strict=True)):
            return None
        for position, chunk in list(self.buffer.chunks.items()):
            outside = chunk.first_outside(self._within(position, shape))
            if outside is not None:
                indices = zip(outside, self._start(position), strict=True)
                return tuple([index + start for index, start in indices][: len(shape)])
        return None

    def _lowered(self, position: tuple[int, ...], chunk: ChunkBuffer) -> tuple[Lowered, Any]:
        """Return the written part of a chunk as a selection of the array, and its key in the chunk."""
        lines, is_product = chunk.written_lines()
        axes: list[Any] = []
        box: list[slice] = []
        for dim, (start, line) in enumerate(zip(self._start(position), lines, strict=True)):
            if isinstance(line, range):
                axes.append((dim, start + line.start, 1))
                box.append(slice(line.start, line.stop, 1))
            else:
                axes.append(((dim if is_product else 0,), start + line))
        if not is_product:
            return ((len(lines[0]),), tuple(axes), False), tuple(lines)
        return (tuple(map(len, lines)), tuple(axes), False), tuple(box) if len(box) == len(lines) else product_of(lines)
