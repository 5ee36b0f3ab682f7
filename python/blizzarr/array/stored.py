"""The stored chunks of an array, and the bytes that it takes up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from operator import lt

from blizzarr.errors import UnsupportedOperationError
from blizzarr.formats import chunk_prefix, chunk_store, document_keys, node_prefixes
from blizzarr.model import ArrayMeta, ChunkKeys
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.confined import confined_directory, refuse_out
from blizzarr.stores.keys import is_key
from blizzarr.stores.os_paths import os_path
from blizzarr.stores.requests import each
from blizzarr.stores.wrapper import StoreHandle, unwrapped


def stored_chunks(store: Store, path: str, metadata: ArrayMeta) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Iterate over the stored chunks (or shards) of an array: their keys in `chunk_store`, and positions in the grid.

    Chunks outside of the array's shape are included; an interrupted change of the shape may have left some. In
    directories, so is one of the chunks that cannot be read because a file is in the place of their directory, or a
    directory in their place, also an empty one: they are not missing. In zip files, links are in the way like that.
    """
    prefix = chunk_prefix(path, metadata)
    keys, rank = metadata.chunk_keys, len(metadata.shape)
    # The longest prefix that all of them have, so that documents and nodes beside them are not listed.
    below = prefix + keys.head if keys.head.endswith("/") and metadata.shape else prefix
    kept = confined_directory(store)
    # Elsewhere a key may begin with another one, and so may a key under which no chunk is stored.
    local = None if metadata.storage_transformers else unwrapped(store)
    top = below.rstrip("/")
    is_link = getattr(local, "is_link", lambda key: False)  # of zip files
    is_file = isinstance(local, LocalStore) and top and local.native.kind(os_path(top)) in ("file", "other")
    if is_file or is_link(top):
        yield prefix + keys.key((0,) * rank), (0,) * rank  # nothing is listed below it
        return
    obstructed = None
    in_directories = isinstance(local, LocalStore)
    for key in _keys_and_empty(store, top) if in_directories else chunk_store(store, path, metadata).list(top):
        name = key[len(prefix) :] if key.startswith(prefix) else None
        position = None if name is None else keys.position(name, rank)
        if position is not None:
            yield key, position
            continue
        if kept is not None:
            refuse_out(kept, key)  # chunks behind such a link are not missing
        position = _obstructed(name, keys, rank) if name is not None and (in_directories or is_link(key)) else None
        if position is not None and position != obstructed:
            yield prefix + keys.key(position), position
            obstructed = position


def chunks_inside(store: Store, path: str, metadata: ArrayMeta) -> Iterator[tuple[int, ...]]:
    """Iterate over the positions of the stored chunks (or shards) that are not outside of the array's shape."""
    grid = metadata.chunk_grid.shape(metadata.shape)
    return (position for _, position in stored_chunks(store, path, metadata) if all(map(lt, position, grid)))


def _keys_and_empty(store: Store, prefix: str) -> Iterator[str]:
    """Iterate over the keys below a directory, and the empty directories, with a final slash."""
    listing = store.list_dir(prefix)
    yield from listing.keys
    for inner in listing.prefixes:
        below = _keys_and_empty(store, inner.rstrip("/"))
        yield next(below, inner)
        yield from below


def _obstructed(name: str, keys: ChunkKeys, rank: int) -> tuple[int, ...] | None:
    """Return the position of the chunk in whose place the directory of a key is, or of one below the key; or None."""
    parts = name.split("/")
    above = ("/".join(parts[:count]) for count in range(1, len(parts)))
    below = (name + "/0" * count for count in range(1, rank + 1))
    return next((there for key in (*above, *below) if (there := keys.position(key, rank)) is not None), None)


def stored_bytes(store: Store, path: str, metadata: ArrayMeta) -> int:
    """Return the number of bytes that an array takes up in its store: its documents and its chunks."""
    size = getattr(store, "size", None)
    list_sizes = getattr(unwrapped(store, StoreHandle), "list_sizes", None)

    def listed(prefix: str) -> dict[str, int | None]:
        if list_sizes is not None:
            with suppress(UnsupportedOperationError):
                return {key: length for key, length in list_sizes(prefix) if is_key(key)}
        return dict.fromkeys(store.list(prefix))

    def length(key: str) -> int:
        return (size(key) or 0) if size is not None else len(memoryview(store.get(key) or b""))

    lengths: dict[str, int | None] = dict.fromkeys(document_keys(path, metadata))
    for prefix in node_prefixes(path, metadata):
        lengths |= listed(prefix.rstrip("/"))
    unknown = [key for key, known in lengths.items() if known is None]
    return sum(each(store, length, unknown)) + sum(filter(None, lengths.values()))
