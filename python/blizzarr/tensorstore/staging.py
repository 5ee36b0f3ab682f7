"""What a transaction has gathered for one array: the elements that were written, and which they are.

Both are kept as arrays in memory, without codecs, so that the engine reads and writes them through the very selections
that are used for the array. Their chunks are parts of the array's, as a chunk is copied when a part of it is written.
When it is committed, each chunk of the array is written once, and elements of it that were not written are what others
have made of them by then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.api.create import create_array
from blizzarr.array import Array
from blizzarr.array.binding import bind, same_chunks
from blizzarr.array.stored import stored_chunks
from blizzarr.errors import BlizzarrError
from blizzarr.formats import chunk_prefix, document_keys, find_many, forms_again, lock_key
from blizzarr.futures import submit
from blizzarr.indexing import Lowered
from blizzarr.model import ArrayMeta
from blizzarr.spec.status import ConstraintError
from blizzarr.stores import MemoryStore, Store
from blizzarr.tensorstore.parts import parts
from blizzarr.tensorstore.undocumented import unlocked
from blizzarr.transactions import Changes, Operation, Outcome, Transaction, changes_in, watched
from blizzarr.transactions.changes import place_in
from blizzarr.transactions.overlay import Overlay, View, in_range
from blizzarr.transfer import Binding, read, write

__all__ = ["Staged", "do_later", "staged_in"]


def staged_in(
    transaction: Transaction, store: Store, array: Array, *, assumed: bool = False, by_bytes: bool = False
) -> Staged:
    """What this transaction has for an array, which is stored in `store`."""
    changes = changes_in(transaction, store)
    name = place_in(store)[1] + array.path + ("/bytes of elements" if by_bytes else "")

    def make() -> Staged:
        return Staged(changes, store, array, assumed=assumed, by_bytes=by_bytes, repeatable=transaction.repeatable_read)

    found = changes.elements(name, make)
    assert isinstance(found, Staged), "what was made"
    found.adopt(array.metadata).check()
    return found


def do_later(
    transaction: Transaction,
    store: Store,
    path: str,
    meta: ArrayMeta,
    apply: Callable[[Store], None],
    *,
    anew: bool = False,
    checks: bool = False,
) -> None:
    """Change the documents of an array when a transaction is committed; with `anew` it is another one then.

    With `checks` they are not changed, but must be what they are.
    """
    changes = changes_in(transaction, store)
    prefix = place_in(store)[1]
    names = tuple(prefix + key for key in document_keys(path, meta)[:1])
    changes.do(Operation(store, apply, names, prefix + path, checks))
    if anew:
        changes.drop(prefix + path)


class Staged:
    """Elements that are to be written to an array."""

    def __init__(
        self, changes: Changes, store: Store, array: Array, *, assumed: bool, by_bytes: bool, repeatable: bool
    ) -> None:
        self._changes = changes
        self._store = watched(store, changes.watched) if repeatable else store
        self._path = array.path
        self._meta = array.metadata
        self._assumed = assumed
        self._by_bytes = by_bytes
        self._repeatable = repeatable
        self._prefix = place_in(store)[1]
        self.under = self._prefix + self._path
        self._binding: Binding | None = None
        self._write_empty = False
        self._begin()

    def _begin(self) -> None:
        tail = self._tail
        element = np.dtype(np.uint8) if self._by_bytes else self._meta.dtype.numpy
        shape = self._meta.shape + tail
        self._parts = parts(self._meta.write_shape, element.itemsize * prod(tail))
        chunks = self._parts + tail
        self._data = _scratch(shape, chunks, element)
        self._mask = _scratch(shape, chunks, np.dtype(bool))
        self._is_empty = True

    @property
    def _tail(self) -> tuple[int, ...]:
        """The axes behind those of the array: the bytes of elements, where these are written one by one."""
        return (self._meta.dtype.itemsize,) if self._by_bytes else ()

    @property
    def _shape(self) -> tuple[int, ...]:
        """The greatest shape that the array has had."""
        return self._mask.shape[: len(self._meta.shape)]

    def adopt(self, meta: ArrayMeta) -> Staged:
        """The same for other metadata of the array: what was written to one with other chunks is forgotten."""
        if meta is self._meta:
            return self
        if not same_chunks(meta, self._meta):
            self._meta = meta
            self._begin()
        elif any(new > old for new, old in zip(meta.shape, self._shape, strict=True)):
            self._reshape(tuple(map(max, meta.shape, self._shape)))
        self._meta = meta
        self._binding = None
        return self

    def check(self) -> None:
        """Refuse to go on with an array whose documents cannot be told, as a change of them has failed."""
        errors = self._changes.overlay.errors
        if errors:
            for key in document_keys(self._path, self._meta):
                if self._prefix + key in errors:
                    raise errors[self._prefix + key]

    def shrink(self, shape: tuple[int, ...]) -> None:
        """Forget what is outside of a shape."""
        self._reshape(tuple(map(min, shape, self._shape)))

    def _reshape(self, shape: tuple[int, ...]) -> None:
        self._data.resize(shape + self._tail)
        self._mask.resize(shape + self._tail)

    # What is to be

    def _below(self) -> Binding:
        """The array without these elements."""
        prefix = self._prefix + chunk_prefix(self._path, self._meta)
        documents = (self._prefix + key for key in document_keys(self._path, self._meta))
        if self._changes.overlay.touches(prefix, documents):
            return self._bind(self._changes.view(self._store, elements=False), self._meta)
        if self._binding is None:
            self._binding = self._bind(self._store, self._meta)
        return self._binding

    def read(self, lowered: Lowered, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """What is stored, and over it what was written."""
        found: npt.NDArray[Any]
        if self._is_empty:
            found = read(self._below(), lowered, out)
            return found
        mask = read(_bound(self._mask), lowered)
        if mask.all() and mask.size:
            # What is stored need not be looked at.
            found = read(_bound(self._data), lowered, out)
            return found
        found = read(self._below(), lowered, out)
        if mask.any():
            found[mask] = read(_bound(self._data), lowered)[mask]
        return found

    def write(self, lowered: Lowered, source: npt.NDArray[Any], write_empty: bool = False) -> None:
        """Keep what is to be written; with `write_empty` chunks of nothing but the fill value are stored, too."""
        self._write_empty = self._write_empty or write_empty
        write(_bound(self._data), lowered, source)
        write(_bound(self._mask), lowered, True)
        self._is_empty = False
        self._changes.touched(self, self._store)

    def _positions(self) -> list[tuple[int, ...]]:
        if self._is_empty:
            return []
        per_chunk = [length // part for length, part in zip(self._meta.write_shape, self._parts, strict=True)]
        found = stored_chunks(self._mask.store, self._mask.path, self._mask.metadata)
        within = (tuple(index // count for index, count in zip(at, per_chunk, strict=False)) for _, at in found)
        return list(dict.fromkeys(within))

    def names(self) -> dict[str, tuple[int, ...]]:
        """The names of the chunks, as far as keys tell them, and their positions."""
        prefix = self._prefix + chunk_prefix(self._path, self._meta)
        return {prefix + self._meta.chunk_keys.key(position): position for position in self._positions()}

    def made(self, name: str) -> tuple[bytes | None] | None:
        """A chunk as it is to be."""
        position = self.names().get(name)
        if position is None:
            return None
        overlay = Overlay()
        self._put(self._changes.view(self._store, elements=False), overlay, [position])
        return None if name not in overlay.values else (overlay.values[name],)

    def forget(self, least: str, end: str) -> None:
        """Leave out chunks."""
        for name, position in self.names().items():
            if in_range(name, least, end):
                self._mask[self._box(position)] = False

    def put(self, store: Store) -> None:
        """Write all chunks to what is at the same place."""
        assert isinstance(store, View), "what is to be"
        if self._is_empty:
            return
        self._check_current(store)
        self._put(store, store.overlay, self._positions())

    def _put(self, below: View, into: Overlay, positions: list[tuple[int, ...]]) -> None:
        binding = self._written_to(_Twofold(below, into))
        for position in positions:
            self._write_chunk(binding, position)

    def locked(self) -> tuple[Store, str] | None:
        """The store, and the document by which writers exclude each other."""
        return None if self._is_empty else (self._store, lock_key(self._path, self._meta))

    def commit(self, outcome: Outcome) -> None:
        """Write each chunk once."""
        names = self.names()
        if not names:
            return
        try:
            self._check_current(self._store)
        except BlizzarrError as error:
            outcome.fail(list(names), error)
            return
        binding = self._written_to(self._store)
        futures = [(name, submit(partial(self._write_chunk, binding, position))) for name, position in names.items()]
        for name, future in futures:
            failure = future.exception()
            if failure is None:
                outcome.stored.append(name)
            else:
                outcome.fail([name], failure)

    def _written_to(self, store: Store) -> Binding:
        """The array with room for all that was written, which others may have cut off."""
        if self._assumed and not isinstance(store, View):
            store = unlocked(store)
        binding = self._bind(store, self._meta.with_shape(self._shape))
        return Binding(binding.handle, binding.dtype, True) if self._write_empty else binding

    def _bind(self, store: Store, meta: ArrayMeta) -> Binding:
        return bind(store, self._path, meta, by_bytes=self._by_bytes)

    def _check_current(self, store: Store) -> None:
        """Refuse to write chunks of an array that has been replaced, or removed, meanwhile."""
        if self._assumed:
            return
        (found,) = find_many(store, [self._path], forms_again(self._meta))
        if isinstance(found, BlizzarrError):
            raise found
        key = lock_key(self._path, self._meta)
        if found is None or not isinstance(found.meta, ArrayMeta):
            raise ConstraintError(f"Metadata at {key} does not exist")
        if not same_chunks(found.meta, self._meta):
            raise ConstraintError(f"Updated zarr metadata at {key} is incompatible with existing metadata")
        outside = self._written_outside(found.meta.shape)
        if outside is not None:
            raise ConstraintError(
                f"Shape at {key} was made smaller meanwhile, {found.meta.shape}: nowhere to store what was written "
                f"at {outside}"
            )

    def _written_outside(self, shape: tuple[int, ...]) -> tuple[int, ...] | None:
        """The first place in the first chunk that has such where something was written that a shape leaves out."""
        if all(new >= old for new, old in zip(shape, self._shape, strict=True)):
            return None
        for position in self._positions():
            box = self._box(position)
            if all(part.stop <= length for part, length in zip(box, shape, strict=False)):
                continue
            points = np.argwhere(np.asarray(self._mask[box]))[:, : len(shape)]
            for point in points + [part.start for part in box[: len(shape)]]:
                if any(point >= shape):
                    return tuple(map(int, point))
        return None

    def _write_chunk(self, binding: Binding, position: tuple[int, ...]) -> None:
        box = self._box(position)
        mask = np.asarray(self._mask[box])
        if not mask.any():
            return
        lines = _lines(mask)
        axes: list[Any]
        if prod(map(len, lines)) == np.count_nonzero(mask):
            # All combinations of them. Listing each element would take many times the memory of the chunk.
            shape = tuple(map(len, lines))
            axes = [_axis(dim, part.start, at) for dim, (part, at) in enumerate(zip(box, lines, strict=True))]
        else:
            points = np.nonzero(mask)
            shape = points[0].shape
            axes = [((0,), part.start + at) for part, at in zip(box, points, strict=True)]
        lowered = (shape, tuple(axes), False)
        write(binding, lowered, read(_bound(self._data), lowered))

    def _box(self, position: tuple[int, ...]) -> tuple[slice, ...]:
        chunks, shape = self._meta.write_shape, self._shape
        starts = [index * length for index, length in zip(position, chunks, strict=True)]
        box = (slice(at, min(at + length, size)) for at, length, size in zip(starts, chunks, shape, strict=True))
        return (*box, *(slice(0, length) for length in self._tail))


class _Twofold(View):
    """Reads from what is to be, and writes to an overlay."""

    def __init__(self, below: View, into: Overlay) -> None:
        super().__init__(below.base, below.prefix, into, below.seen)
        self._lower = below

    def get(self, key: str) -> Any:
        """What is to be."""
        return self._lower.get(key)

    def get_ranges(self, key: str, ranges: Any) -> Any:
        """Parts of what is to be."""
        return self._lower.get_ranges(key, ranges)


def _lines(mask: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """For each axis, the indices where anything is true."""
    if mask.all():
        return [np.arange(length) for length in mask.shape]
    axes = range(mask.ndim)
    return [np.flatnonzero(mask.any(axis=tuple(other for other in axes if other != axis))) for axis in axes]


def _axis(dim: int, start: int, at: npt.NDArray[np.intp]) -> Any:
    """An axis of a selection: a range of indices, where there is none left out."""
    if at[-1] - at[0] == len(at) - 1:
        return dim, start + int(at[0]), 1
    return (dim,), start + at


def _scratch(shape: tuple[int, ...], chunks: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    meta, documents = _layout(shape, chunks, dtype)
    store = MemoryStore()
    for key, value in documents:
        store.set(key, value)
    return Array(store, "", meta)


@lru_cache(64)
def _layout(
    shape: tuple[int, ...], chunks: tuple[int, ...], dtype: np.dtype[Any]
) -> tuple[ArrayMeta, tuple[tuple[str, bytes], ...]]:
    """What describes such an array, which is made once."""
    store = MemoryStore()
    array = create_array(
        store, shape=shape, chunks=chunks, dtype=dtype, fill_value=None, compressors=None, filters=None
    )
    return array.metadata, tuple((key, bytes(store.get(key) or b"")) for key in store.list())


def _bound(array: Array) -> Binding:
    return array._binding or array._bind()
