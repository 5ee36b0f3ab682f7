"""Making a manifest of what is stored, and comparing what is stored with one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from blizzarr.errors import ConflictError, StoreError
from blizzarr.formats import chunk_prefix, read_node
from blizzarr.hierarchy.belongings import Belongings, belongings
from blizzarr.recording.digests import Told, digests
from blizzarr.recording.manifest import Manifest
from blizzarr.stores import Store

__all__ = ["Difference", "compare", "record"]


class Difference(NamedTuple):
    """An object that is not what it was."""

    kind: Literal["changed", "missing", "new", "unreadable"]
    key: str
    error: StoreError | None = None


def record(store: Store, path: str, progress: Told | None = None) -> Manifest:
    """The checksums of everything that belongs to the node at a path, documents and chunks, as it is stored.

    Raises
    ------
    NodeNotFoundError
        When there is none.
    StoreError
        When something cannot be read: a manifest without it would not tell.
    """
    read_node(store, path)
    keys, below = _keys(store, path)
    found: dict[str, str] = {}
    for key, digest in digests(store, keys, progress):
        if isinstance(digest, StoreError):
            raise digest
        # What has been deleted meanwhile did not belong to it at the end.
        if digest is not None:
            found[key.removeprefix(below or "")] = digest
    return Manifest(path, below is not None, datetime.now(UTC).isoformat(timespec="seconds"), found)


def compare(store: Store, path: str, manifest: Manifest, progress: Told | None = None) -> Iterator[Difference]:
    """What is not as it was when the manifest was made.

    The node may be at another path than then, unless the manifest has the keys of a store.

    Raises
    ------
    ConflictError
        When the manifest is that of another node.
    """
    stored, below = _keys(store, path)
    if manifest.relative != (below is not None) or (below is None and manifest.node != path):
        raise ConflictError(
            f"expected a manifest of this node, found one of /{manifest.node}, with other keys; record it again",
            array="/" + path,
            store=str(store),
        )
    expected = {(below or "") + name: digest for name, digest in manifest.digests.items()}
    for key, digest in digests(store, sorted(expected.keys() | set(stored)), progress):
        if isinstance(digest, StoreError):
            yield Difference("unreadable", key, digest)
        elif digest is None:
            # Neither was one that has come and gone meanwhile.
            if key in expected:
                yield Difference("missing", key)
        elif key not in expected:
            yield Difference("new", key)
        elif digest != expected[key]:
            yield Difference("changed", key)


def _keys(store: Store, path: str) -> tuple[list[str], str | None]:
    """The keys of all that belongs to a node, sorted, and the prefix that all have; None where they have none."""
    found = belongings(store, path)
    keys = sorted({*found.documents, *found.chunks, *_behind(store, found)})
    below = found.prefixes[0] if len(found.prefixes) == 1 else None
    return keys, below if below is not None and all(key.startswith(below) for key in keys) else None


def _behind(store: Store, found: Belongings) -> Iterator[str]:
    """Where only storage transformers know what they have stored, everything that is stored there is theirs."""
    for path, meta in found.behind.items():
        yield from (key for key in store.list(chunk_prefix(path, meta)))
