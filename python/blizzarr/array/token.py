"""What tells an array from all others, for who keeps results by what they were made from (dask)."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress

from blizzarr.formats import encode
from blizzarr.model import ArrayMeta
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.readonly import ReadOnlyStore

__all__ = ["token_of"]

_KNOWN: dict[int, tuple[weakref.ref[object], str]] = {}
"""By the number of an object that has a name, which it keeps for its life; numbers are used again."""


def token_of(store: Store, path: str, metadata: ArrayMeta) -> tuple[object, ...]:
    """The same for the same array of a directory or zip file, in any process; elsewhere, of the same store object.

    Elements have no part in it: what is kept by it is out of date when the array is written to.
    """
    from blizzarr.stores.zip import ZipStore

    while type(store) is ReadOnlyStore:
        store = store.store
    if isinstance(store, LocalStore | ZipStore):
        place = os.path.realpath(store.root if isinstance(store, LocalStore) else store.path)
    else:
        # Never the contents, nor where they are in memory: another store may be there tomorrow.
        place = _name(store)
    return ("blizzarr.Array", type(store).__qualname__, place, path, sorted(encode(metadata, path).items()))


def _name(store: object) -> str:
    number = id(store)
    known = _KNOWN.get(number)
    if known is not None and known[0]() is store:
        return known[1]
    name = os.urandom(16).hex()
    # What cannot be referred to cannot be known again: it has another name each time.
    with suppress(TypeError):
        _KNOWN[number] = weakref.ref(store, lambda _: _KNOWN.pop(number, None)), name
    return name
