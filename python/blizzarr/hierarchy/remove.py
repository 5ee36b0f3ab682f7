"""Removing a node: what belongs to it goes, and nothing else.

A directory that a user points us at may hold files that are not ours. So keys are recognised by their names: documents
of nodes, and chunks of the arrays that they describe. Everything else under the path is **kept**, also when an array or
group there is replaced (fault row 77).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from blizzarr.errors import UnsupportedOperationError
from blizzarr.hierarchy.documents import forget_consolidated, read_many
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.stores import Store, check_writable

__all__ = ["DOCUMENTS", "PROGRESS", "chunk_pattern", "own_keys", "remove_node"]

DOCUMENTS = frozenset({"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"})
"""Names of the documents of all formats that were ever written beside a node's chunks or children."""

PROGRESS = "blizzarr-copy.json"
"""Beside the document of an array that is being copied: how far the copy has come; see `blizzarr.copying`."""

_USUAL = re.compile(r"c(?:[/.]\d+)*")
"""Chunks where no document says what they look like: never a bare number, which may be anybody's."""


def chunk_pattern(meta: object) -> re.Pattern[str] | None:
    """What the keys of a node's chunks look like, below its own prefix; None for a group."""
    if isinstance(meta, GroupMeta):
        return None
    if not isinstance(meta, ArrayMeta):
        return _USUAL
    keys = meta.chunk_keys
    if not meta.shape:
        return re.compile(re.escape(keys.scalar))
    return re.compile(re.escape(keys.head) + re.escape(keys.separator).join([r"\d+"] * len(meta.shape)))


def own_keys(keys: Iterable[str], nodes: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Of these keys, the documents, innermost first, and the chunks; what is neither is not ours.

    `nodes` has the metadata of each node by its path; anything else there stands for a node that cannot be read.

    Examples
    --------
    >>> keys = ["a/zarr.json", "a/1", "a/notes.txt", "a/b/zarr.json", "a/b/c/0", "a/b/c/x.png"]
    >>> own_keys(keys, {"a": GroupMeta(), "a/b": "damaged"})
    (['a/b/zarr.json', 'a/zarr.json'], ['a/b/c/0'])
    """
    patterns = {path: chunk_pattern(meta) for path, meta in nodes.items()}
    documents: list[str] = []
    chunks: list[str] = []
    for key in keys:
        name = key.rpartition("/")[2]
        if name in DOCUMENTS:
            documents.append(key)
        elif name == PROGRESS or _is_chunk(key, patterns):
            chunks.append(key)
    return sorted(documents, key=lambda key: (-key.count("/"), key)), chunks


def remove_node(store: Store, path: str) -> None:
    """Remove the node and everything below it.

    Documents go before chunks, inner nodes before outer ones: whenever it is interrupted, every array is whole or gone,
    and removing what is left goes on from there. Consolidated metadata in the groups above go before all of them.
    """
    prefix = path + "/" if path else ""
    check_writable(store, prefix)
    keys = list(store.list(prefix))
    places = sorted({key.rpartition("/")[0] for key in keys if key.rpartition("/")[2] in DOCUMENTS} | {path})
    documents, chunks = own_keys(keys, dict(zip(places, read_many(store, places), strict=True)))
    if not documents and not chunks:
        return
    links = _links(store, prefix, (*documents, *chunks))
    documents, chunks = ([key for key in several if not key.startswith(links)] for several in (documents, chunks))
    if not getattr(store, "supports_delete", True):
        raise UnsupportedOperationError(
            "this kind of store cannot delete, so nothing in it can be removed or replaced",
            key=(documents or chunks)[0],
            store=str(store),
            direction="delete",
        )
    # First, since an array that is listed there and has no chunks any more would read as fill value.
    forget_consolidated(store, path)
    for link in links:
        store.delete_prefix(link)  # type: ignore[attr-defined]  # stores with links have it
    for key in documents:
        store.delete(key)
    delete_prefix = getattr(store, "delete_prefix", None)
    if delete_prefix is not None and prefix and len(documents) + len(chunks) == len(keys):
        delete_prefix(prefix)
    else:
        for key in chunks:
            store.delete(key)


def _links(store: Store, prefix: str, keys: Iterable[str]) -> tuple[str, ...]:
    """The links at or below `prefix`: they are removed, and nothing behind them (fault row 72)."""
    links_of = getattr(store, "links", None)
    if links_of is None:
        return ()
    inside = {key[: end + 1] for key in keys for end in range(len(prefix) - 1, len(key)) if key[end] == "/"}
    return tuple(links_of(inside))


def _is_chunk(key: str, patterns: Mapping[str, re.Pattern[str] | None]) -> bool:
    """Whether the key is that of a chunk of the innermost node that holds it."""
    parent = key
    while parent:
        parent = parent.rpartition("/")[0]
        if parent in patterns:
            pattern = patterns[parent]
            return pattern is not None and pattern.fullmatch(key[len(parent) + 1 :] if parent else key) is not None
    return False
