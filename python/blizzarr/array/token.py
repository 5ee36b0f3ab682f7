"""Dask tokens: equal for handles of the same array."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress

from blizzarr.formats import encode
from blizzarr.model import ArrayMeta
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.readonly import ReadOnlyStore

_KNOWN: dict[int, tuple[weakref.ref[object], str]] = {}
"""A weak reference and a random name for each store without a place, by `id`, which later objects may reuse."""


def token_of(store: Store, path: str, metadata: ArrayMeta) -> tuple[object, ...]:
    """Return a token that is equal for the same array with the same metadata.

    For directories and zip files it is equal in all processes, for other stores only for the same store object. It does
    not depend on the elements, so results that are cached by it are out of date when the array is written to.
    """
    from blizzarr.stores.zip import ZipStore

    while type(store) is ReadOnlyStore:
        store = store.store
    if isinstance(store, LocalStore | ZipStore):
        location = os.path.realpath(store.root if isinstance(store, LocalStore) else store.path)
    else:
        # Not the contents, which change, nor the address in memory, which later objects may reuse.
        location = _name(store)
    return ("blizzarr.Array", type(store).__qualname__, location, path, sorted(encode(metadata, path).items()))


def _name(store: object) -> str:
    number = id(store)
    known = _KNOWN.get(number)
    if known is not None and known[0]() is store:
        return known[1]
    name = os.urandom(16).hex()
    # A store without weak references cannot be recognised: it gets another name each time.
    with suppress(TypeError):
        _KNOWN[number] = weakref.ref(store, lambda _: _KNOWN.pop(number, None)), name
    return name
