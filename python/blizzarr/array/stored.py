"""The stored chunks of an array, and the bytes that it takes up."""

from __future__ import annotations

from collections.abc import Iterator

from blizzarr.formats import chunk_prefix, chunk_store, document_keys, node_prefixes
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store
from blizzarr.stores.confined import confined_directory, refuse_out
from blizzarr.stores.requests import each


def stored_chunks(store: Store, path: str, metadata: ArrayMeta) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Iterate over the stored chunks (or shards) of an array: their keys in `chunk_store`, and positions in the grid.

    Chunks outside of the array's shape are included; an interrupted change of the shape may have left some.
    """
    prefix = chunk_prefix(path, metadata)
    keys = metadata.chunk_keys
    # The longest prefix that all of them have, so that documents and nodes beside them are not listed.
    below = prefix + keys.head if keys.head.endswith("/") and metadata.shape else prefix
    kept = confined_directory(store)
    for key in chunk_store(store, path, metadata).list(below.rstrip("/")):
        position = keys.position(key[len(prefix) :], len(metadata.shape)) if key.startswith(prefix) else None
        if position is not None:
            yield key, position
        elif kept is not None:
            refuse_out(kept, key)  # chunks behind such a link are not missing


def stored_bytes(store: Store, path: str, metadata: ArrayMeta) -> int:
    """Return the number of bytes that an array takes up in its store: its documents and its chunks."""
    size = getattr(store, "size", None)
    prefixes = node_prefixes(path, metadata)
    keys = {key for prefix in prefixes for key in store.list(prefix.rstrip("/"))}

    def length(key: str) -> int:
        return (size(key) or 0) if size is not None else len(memoryview(store.get(key) or b""))

    return sum(each(store, length, keys.union(document_keys(path, metadata))))
