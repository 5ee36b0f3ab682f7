"""What every node has, asked of its format: documents, keys, children."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from blizzarr.formats.finding import below
from blizzarr.formats.format import Child, Format, Node, Store
from blizzarr.formats.table import FORMATS, format_of, relatives
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.stores import Store as ChunkStore

__all__ = [
    "children",
    "chunk_prefix",
    "chunk_store",
    "document_keys",
    "encode",
    "lock_key",
    "node_of",
    "node_prefixes",
    "write_node",
]


def encode(meta: Node, path: str) -> dict[str, bytes]:
    """The documents of a node; see `Format.encode`."""
    return format_of(meta).encode(meta, path)


def write_node(store: Store, path: str, meta: Node) -> None:
    """Stores the documents of a node; an old node at this path is replaced by the last of them."""
    for key, value in encode(meta, path).items():
        store.set(key, value)


def document_keys(path: str, meta: Node) -> tuple[str, ...]:
    """The keys that documents of this node may have."""
    return format_of(meta).document_keys(path)


def lock_key(path: str, meta: ArrayMeta) -> str:
    """The key that the locks of an array's chunks go by."""
    return format_of(meta).node_keys(path)[0]


def chunk_prefix(path: str, meta: Node) -> str:
    """What the keys of this array's chunks, or of those of the arrays in this group, begin with."""
    return format_of(meta).chunk_prefix(path)


def chunk_store(store: ChunkStore, path: str, meta: ArrayMeta) -> ChunkStore:
    """The store in which an array's chunks have the keys that its grid gives them: through its storage transformers."""
    if not meta.storage_transformers:
        return store
    from blizzarr.transformers import ArrayKeys, wrap

    keys = ArrayKeys.of(chunk_prefix(path, meta), meta.chunk_keys, len(meta.shape))
    return wrap(store, meta.storage_transformers, keys)


def node_prefixes(path: str, meta: Node) -> tuple[str, ...]:
    """What the keys of this node, and of the nodes below it, begin with, but for its documents."""
    return format_of(meta).node_prefixes(path)


def node_of(key: str, forms: Iterable[Format] | None = None) -> str | None:
    """The path of the node that a document with this key belongs to; `None` for other keys.

    By default of one of the formats that live together with the newest.
    """
    newest = next(iter(FORMATS.values()))
    paths = (form.node_of(key) for form in forms or relatives(newest, ""))
    return next((path for path in paths if path is not None), None)


def children(store: Store, path: str, meta: GroupMeta) -> Iterator[Child]:
    """The nodes directly below a group, by name; a damaged one does not hide the others."""
    yield from below(store, [(path, meta)])[0]
