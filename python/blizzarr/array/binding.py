"""The engine's handle of an array, made from its metadata when the array is first read or written.

At the end: the codec chains of arrays, and of those whose last axis is the stored bytes of each element. Writing to a
part of that axis is merged into chunks like any other partial write, and leaves the other bytes of each element
unchanged; this is how a field of a struct is written. The bytes are in stored order, without swapping.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from blizzarr import _native
from blizzarr.array.document import watched
from blizzarr.array.objects import ObjectHandle, Prepare
from blizzarr.caching import keeping_of, scalar_of
from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType, Kind
from blizzarr.dtypes.data_type import Swap
from blizzarr.errors import LimitError
from blizzarr.formats import chunk_prefix, chunk_store, lock_key
from blizzarr.model import ArrayMeta
from blizzarr.model.edges import NativeEdges
from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.place import engine_place_of
from blizzarr.transfer import Binding


def bind(store: Store, path: str, metadata: ArrayMeta, *, by_bytes: bool = False, watch: bool = True) -> Binding:
    """Make the engine's handle of an array; with `by_bytes`, the stored bytes of its elements are a last axis.

    Without `watch`, the engine does not look whether the stored document is still that of this array.

    Raise `LimitError` if its elements are longer than `config.element_bytes`.
    """
    try:
        return _bound(store, path, metadata, by_bytes, watch)
    except LimitError as error:
        error.array, error.store = error.array or f"/{path}", error.store or str(store)
        raise


def _bound(store: Store, path: str, metadata: ArrayMeta, by_bytes: bool, watch: bool) -> Binding:
    keys = metadata.chunk_keys
    keeping = keeping_of(store)
    prefix, lock = chunk_prefix(path, metadata), lock_key(path, metadata)
    outside, store = store, chunk_store(store, path, metadata)
    native = getattr(store, "native", None)
    if store is not outside and native is None:
        # A transformer in Python stores chunks under other keys, whose versions the store underneath cannot tell.
        keeping = None
    reached, identity = (store, engine_place_of(store)) if native is None else (native, "")
    locks = store.locks if isinstance(store, StoreWrapper) else None
    dtype = metadata.dtype.numpy
    document = watched(outside, path, metadata, lock) if watch else None

    grid = metadata.chunk_grid
    first, sides = grid.inside(metadata.shape), grid.native
    if by_bytes:
        first = (*first, metadata.dtype.itemsize)
        sides = None if sides is None else [*sides, (metadata.dtype.itemsize, ())]

    def open(prepare: Prepare, shape: tuple[int, ...], sides: list[NativeEdges] | None = sides) -> _native.ArrayHandle:
        return _native.ArrayHandle(
            *(reached, "/" + path, prefix, lock, shape, prepare(first)),
            *(keys.head, keys.separator, keys.scalar, identity, locks),
            cache=None if keeping is None else keeping.native(),
            scalar=None if keeping is None or by_bytes else scalar_of(dtype),
            axes=len(metadata.shape) if by_bytes else None,
            named=outside,
            document=document,
            chains=None if sides is None and not grid.ends_with_array else prepare,
            sides=sides,
            **keys.native,
        )

    if metadata.dtype.kind is Kind.OBJECT:
        objects = ObjectHandle.of(metadata, open, path)
        # What is no array, like 0, stands for an empty one among arrays; zarr-python would read it as itself.
        is_other = objects.codec.name == "numcodecs.vlen-array" and not isinstance(objects.fill, list)
        undefined = metadata.fill_undefined or is_other or None
        return Binding(objects, dtype, undefined, document=document, order=metadata.order)
    lifetime = None if keeping is None else keeping.lifetime
    if by_bytes:
        handle = open(_chains_of(metadata, by_bytes=True), (*metadata.shape, metadata.dtype.itemsize))
        return Binding(handle, np.dtype(np.uint8), metadata.fill_undefined or None, None, lifetime, document)
    handle = open(_chains_of(metadata), metadata.shape)
    # With a check before each read, elements cannot simply be copied out of the pool.
    at_hand = handle.caches and keeping is not None and keeping.recheck is not True
    element = handle.element if at_hand else None
    return Binding(handle, dtype, metadata.fill_undefined or None, element, lifetime, document, metadata.order)


def engine_handle(store: Store, path: str, meta: ArrayMeta) -> Any:
    """Return the engine's handle of an array."""
    handle = bind(store, path, meta).handle
    if isinstance(handle, ObjectHandle):
        handle = handle.tokens().handle
    assert isinstance(handle, _native.ArrayHandle)
    return handle


_LONG_FILL: Final = 4096
"""Codec chains with fill values of this many bytes or more are not kept."""


def is_kept(metadata: ArrayMeta) -> bool:
    """Return whether the elements are short enough that what the engine needs may be kept for many arrays."""
    return metadata.dtype.itemsize < _LONG_FILL


def _chains_of(metadata: ArrayMeta, *, by_bytes: bool = False) -> Prepare:
    """Return the function that prepares the engine's codec chain for chunks of a shape, of elements or of bytes."""
    fill = metadata.dtype.fill_bytes(metadata.fill_value)
    kept = _chain_of_bytes if by_bytes else _chain
    return partial(kept if is_kept(metadata) else kept.__wrapped__, metadata.dtype, fill, metadata.codecs)


@lru_cache(256)
def _chain(dtype: DataType, fill: bytes, codecs: CodecChain, shape: tuple[int, ...]) -> _native.Chain:
    return _native.Chain(shape, dtype.itemsize, fill, dtype.boolean, codecs.steps(dtype, shape))


@lru_cache(64)
def _chain_of_bytes(dtype: DataType, fill: bytes, codecs: CodecChain, shape: tuple[int, ...]) -> _native.Chain:
    steps, swap = _of_bytes(codecs.steps(dtype, shape[:-1]), len(shape) - 1, dtype.itemsize)
    return _native.Chain(shape, 1, _swapped(fill, swap), False, steps)


def swap_of_bytes(metadata: ArrayMeta) -> Swap:
    """Return how the stored bytes of an element differ from those in memory; 0 if they do not."""
    return _of_bytes(metadata.codecs.steps(metadata.dtype, metadata.largest), len(metadata.shape), 1)[1]


def _of_bytes(steps: list[Any], rank: int, itemsize: int) -> tuple[list[Any], Swap]:
    """Return the steps for chunks with one more axis, and the byte swapping that was taken out of them."""
    longer: list[Any] = []
    swap: Swap = 0
    for step in steps:
        name = step[0]
        if name == "transpose":
            longer.append((name, (*step[1], rank)))
        elif name == "bytes":
            swap = step[1]
            longer.append((name, 0))
        elif name == "shard":
            _, shape, inner, index, *rest = step
            inner, swap = _of_bytes(inner, rank, itemsize)
            longer.append((name, (*shape, itemsize), inner, _of_grid(index, rank), *rest))
        else:
            longer.append(step)
    return longer, swap


def _of_grid(steps: list[Any], rank: int) -> list[Any]:
    """Return the steps of a shard index whose grid has one more axis, of length 1, before that of offset and length."""
    return [
        (step[0], (*(axis + (axis == rank) for axis in step[1]), rank)) if step[0] == "transpose" else step
        for step in steps
    ]


def _swapped(element: bytes, swap: Swap) -> bytes:
    """Return the bytes of an element in stored order."""
    if not isinstance(swap, tuple):
        unit = swap or 1
        return b"".join(element[start : start + unit][::-1] for start in range(0, len(element), unit))
    pieces, start = [], 0
    for length, inner in swap:
        run = element[start : start + length]
        size = _unit(inner) or length
        pieces += [_swapped(run[at : at + size], inner) for at in range(0, length, size)]
        start += length
    return b"".join(pieces)


def _unit(swap: Swap) -> int:
    """Return the number of bytes after which the swapping pattern repeats; 0 if nothing is swapped."""
    return sum(length for length, _ in swap) if isinstance(swap, tuple) else swap
