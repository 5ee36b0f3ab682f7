"""Recording a manifest of a node, and comparing a node with its manifest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Literal, NamedTuple

from blizzarr.config import config
from blizzarr.distributing import Progress, Tally, Workers, batches, spread
from blizzarr.errors import ConflictError, StoreError
from blizzarr.formats import StoredNode, chunk_prefix, find_many, read_node
from blizzarr.hierarchy.belongings import belongings
from blizzarr.recording.manifest import Manifest
from blizzarr.stores import Store
from blizzarr.stores.requests import at_once
from blizzarr.stores.threads import Threads

AHEAD = 256
"""The number of objects per batch, and between two progress reports."""


def digests(
    store: Store, keys: Sequence[str], progress: Progress | None = None, workers: Workers | None = None
) -> Iterator[tuple[str, str | StoreError | None]]:
    """Yield each key with the SHA-256 of its value, `None` if there is no value, or the error if it cannot be read."""
    advance = Tally(progress, len(keys))
    for batch in spread(workers, partial(_digests, store), batches(keys, AHEAD), advance):
        yield from batch


def _digests(
    store: Store, keys: Sequence[str], advance: Callable[[int], object]
) -> list[tuple[str, str | StoreError | None]]:
    def one(key: str) -> tuple[str, str | StoreError | None]:
        try:
            value = store.get(key)
        except StoreError as error:
            return key, error
        return key, None if value is None else hashlib.sha256(value).hexdigest()

    threads = config.threads or os.cpu_count() or 1
    with Threads(at_once(store, otherwise=threads)) as pool:
        digests = list(pool.map(one, keys))
    advance(len(keys))
    return digests


class Difference(NamedTuple):
    """An object that differs from the manifest."""

    kind: Literal["changed", "missing", "new", "unreadable"]
    key: str
    error: StoreError | None = None


def record(store: Store, path: str, progress: Progress | None = None, workers: Workers | None = None) -> Manifest:
    """Record the checksums of all stored objects of a node and of everything below it: documents and chunks.

    Raise `NodeNotFoundError` if there is no node at the path. Raise `StoreError` if an object cannot be read: a
    manifest without it would not tell that it is missing.
    """
    read_node(store, path)
    keys, below = _keys(store, path)
    sums: dict[str, str] = {}
    for key, digest in digests(store, keys, progress, workers):
        if isinstance(digest, StoreError):
            raise digest
        # An object that was deleted since the listing does not belong to the node any more.
        if digest is not None:
            sums[key.removeprefix(below or "")] = digest
    return Manifest(path, below is not None, datetime.now(UTC).isoformat(timespec="seconds"), sums)


def compare(
    store: Store, path: str, manifest: Manifest, progress: Progress | None = None, workers: Workers | None = None
) -> Iterator[Difference]:
    """Yield the objects that changed, appeared or vanished since the manifest was recorded.

    The node may have been moved since, unless the manifest has keys of the store instead of relative names.

    Raise `ConflictError` if the manifest was recorded for another node.
    """
    is_readable = True
    try:
        stored, below = _keys(store, path)
    except StoreError:
        # The document of the node is no file, or cannot be read; nor can what is new be told from other files.
        is_readable, stored, below = False, [], f"{path}/" if path else ""
    if not manifest.relative and not (is_readable and isinstance(find_many(store, [path])[0], StoredNode)):
        # Only the damaged document of the node would tell that its keys have nothing in common.
        below = None
    if manifest.relative != (below is not None) or (below is None and manifest.node != path):
        raise ConflictError(
            f"expected a manifest of this node, found one of /{manifest.node}, with other keys; record it again",
            array="/" + path,
            store=str(store),
        )
    expected = {(below or "") + name: digest for name, digest in manifest.digests.items()}
    for key, digest in digests(store, sorted(expected.keys() | set(stored)), progress, workers):
        if isinstance(digest, StoreError):
            yield Difference("unreadable", key, digest)
        elif digest is None:
            # Otherwise it was created and deleted since the listing.
            if key in expected:
                yield Difference("missing", key)
        elif key not in expected:
            yield Difference("new", key)
        elif digest != expected[key]:
            yield Difference("changed", key)


def _keys(store: Store, path: str) -> tuple[list[str], str | None]:
    """Return the sorted keys of everything that belongs to a node, and their common prefix, or `None` without one."""
    things = belongings(store, path)
    # All keys below arrays count whose storage transformers do not tell the stored ones.
    behind = (key for inner, meta in things.behind.items() for key in store.list(chunk_prefix(inner, meta)))
    keys = sorted({*things.documents, *things.chunks, *behind})
    below = things.prefixes[0] if len(things.prefixes) == 1 else None
    return keys, below if below is not None and all(key.startswith(below) for key in keys) else None
