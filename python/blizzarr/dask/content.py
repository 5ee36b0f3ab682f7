"""Names that differ if the elements of an array do."""

from __future__ import annotations

from math import prod
from typing import Any, Final
from uuid import uuid4

from dask.base import tokenize

from blizzarr.array import Array
from blizzarr.array.stored import stored_chunks
from blizzarr.stores import LocalStore, MemoryStore
from blizzarr.stores.generation import unwrapped

_CHUNKS: Final = 10_000
"""The largest number of chunks whose versions are compared: about as long as it takes Dask to make as many tasks."""


def content_token(array: Array, *more: Any) -> str:
    """Return a text that is equal for the same array only as long as nobody writes to it.

    It is made of the version of each stored chunk: in a directory device, inode, time and size of a file. It is never
    equal to another one for large arrays, in the first seconds after a write to a file, whose time may be that of the
    next write, and in stores that do not tell versions without a request for each.
    """
    store, metadata = unwrapped(array.store), array.metadata
    known = isinstance(store, LocalStore | MemoryStore) and not metadata.storage_transformers
    if not known or metadata.chunk_keys.share_values or prod(metadata.chunk_grid.shape(array.shape)) > _CHUNKS:
        return uuid4().hex
    keys = sorted(key for key, _ in stored_chunks(store, array.path, metadata))
    versions = [(key, store.version(key)) for key in keys]  # type: ignore[attr-defined]
    return str(tokenize(array, versions, *more))
