"""The engine's handle of an array, made from its metadata when the array is first read or written."""

from __future__ import annotations

from typing import Any

import numpy as np

from blizzarr import _native
from blizzarr.array.document import watched
from blizzarr.array.element_bytes import chains_of
from blizzarr.array.objects import ObjectHandle, Prepare
from blizzarr.caching.keeping import keeping_of, scalar_of
from blizzarr.dtypes import Kind
from blizzarr.errors import LimitError
from blizzarr.formats import chunk_prefix, chunk_store, lock_key
from blizzarr.model import ArrayMeta
from blizzarr.model.edges import NativeEdges
from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.place import place_of
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
    reached, identity = (store, place_of(store)) if native is None else (native, "")
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
        handle = open(chains_of(metadata, by_bytes=True), (*metadata.shape, metadata.dtype.itemsize))
        return Binding(handle, np.dtype(np.uint8), metadata.fill_undefined or None, None, lifetime, document)
    handle = open(chains_of(metadata), metadata.shape)
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
