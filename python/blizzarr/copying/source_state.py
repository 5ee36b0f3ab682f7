"""The state of a source when its copy began; a resumed copy must find the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from blizzarr.array import Array
from blizzarr.copying.stored import stored_objects
from blizzarr.formats import chunk_prefix, chunk_store, encode
from blizzarr.stores import LocalStore, MemoryStore, Store, StoreWrapper


def source_state(source: Array | npt.NDArray[Any], positions: list[tuple[int, ...]] | None) -> str | None:
    """Return a digest of the source's documents and of the size and time of each stored object; None for NumPy arrays.

    Directories and stores in memory have sizes and times (or versions) without reading anything; for other stores only
    the documents count. `positions` are the positions of the stored objects, if they have been listed already.
    """
    digest = hashlib.sha256()
    if not isinstance(source, Array):
        file = getattr(source, "filename", None) if isinstance(source, np.memmap) else None
        return None if file is None else hashlib.sha256(_stamp(os.fspath(file))).hexdigest()[:32]
    meta = source.metadata
    for key, document in sorted(encode(meta, source.path).items()):
        digest.update(key.encode() + b"\0" + document)
    stamp = _stamps(chunk_store(source.store, source.path, meta))
    if stamp is not None:
        prefix = chunk_prefix(source.path, meta)
        for position in stored_objects(source) or [] if positions is None else positions:
            key = prefix + meta.chunk_keys.key(position)
            digest.update(key.encode() + b"\0" + stamp(key))
    return digest.hexdigest()[:32]


def _stamps(store: Store) -> Callable[[str], bytes] | None:
    """Return a function from keys to bytes that change with the value; None if the store would have to read values."""
    while isinstance(store, StoreWrapper):
        store = store.store
    if isinstance(store, MemoryStore):
        version = store.version
        return lambda key: version(key) or b""
    if isinstance(store, LocalStore):
        # Not `version`, which also changes with the owner of a file, and is missing for files that were just written.
        root = store.root
        return lambda key: _stamp(os.path.join(root, key))
    return None


def _stamp(file: str) -> bytes:
    try:
        status = os.stat(file)
    except OSError:  # nothing there, or what is an error of the store where it is read
        return b""
    return f"{status.st_size} {status.st_mtime_ns}".encode()
