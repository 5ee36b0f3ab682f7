"""The metadata document of an array, as the engine compares it with the one that the array was opened with.

An array that was opened may be replaced, cut off, upgraded or removed by somebody else. Nothing is written in the
layout of the old array then, and what is read in it is an error; `rust/core/src/document.rs` says when both compare.
"""

from __future__ import annotations

from blizzarr import _native
from blizzarr.errors import BlizzarrError, ConflictError, UnsupportedOperationError
from blizzarr.formats import StoredNode, find_again, find_likely, find_many, format_of, forms_again, stored_document
from blizzarr.formats.document import Stored
from blizzarr.hierarchy.changing import NodesAbove
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import ancestors
from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.place import engine_place_of
from blizzarr.stores.requests import is_remote


def watched(store: Store, path: str, metadata: ArrayMeta, key: str) -> _native.Document | None:
    """Return the document of an array, which is stored under `key`, for the engine; None if it need not be stored."""
    behind = store
    while getattr(behind, "has_documents", True) and isinstance(behind, StoreWrapper):
        behind = behind.store
    if not getattr(behind, "has_documents", True):
        return None
    native = getattr(store, "native", None)
    known = stored_document(metadata, key)
    decode = _Decode(store, path, metadata, known is not None)
    if native is not None:
        return _native.Document(native, key, known, metadata.shape, decode, True)
    near = getattr(behind, "near", False) is True
    locks = store.locks if isinstance(store, StoreWrapper) else None
    return _native.Document(store, key, known, metadata.shape, decode, near, engine_place_of(store), locks)


class _Decode:
    """Reads and decodes the document of an array; the engine calls it when the bytes are not those that it knows."""

    def __init__(self, store: Store, path: str, metadata: ArrayMeta, has_document: bool) -> None:
        self._store, self._path, self._metadata = store, path, metadata
        self._has_document = has_document

    def __call__(self, key: str) -> tuple[bytes, tuple[int, ...]]:
        """Return the stored document and the shape in it."""
        known = _found_again(self._store, self._path, self._metadata)
        if known is None and not self._has_document and self._needs_none():
            return b"", self._metadata.shape
        known = _same(self._store, self._path, self._metadata, known)
        assert isinstance(known.meta, ArrayMeta)
        self._has_document = True
        return known.documents[key], known.meta.shape

    def _needs_none(self) -> bool:
        """Return whether the array may have no document of its own: if consolidated metadata still list it.

        Other programs leave consolidated metadata stale when they remove an array, so its values must be there, too,
        where it takes no request to look for them.
        """
        source = self._metadata.source
        if not is_remote(self._store) and _has_no_values(self._store, self._path, self._metadata):
            return False
        if source is None or isinstance(source, Stored):
            return True
        names = self._path.split("/")
        for count in range(len(names)):
            group = find_again(self._store, "/".join(names[:count]))
            if group is not None and isinstance(group.meta, GroupMeta) and group.meta.consolidated is not None:
                return "/".join(names[count:]) in group.meta.consolidated
        return False


def _has_no_values(store: Store, path: str, metadata: ArrayMeta) -> bool:
    """Return whether nothing is stored below an array; False if its chunks may lie elsewhere, or cannot be listed."""
    if metadata.storage_transformers:
        return False
    try:
        listing = store.list_dir(format_of(metadata).chunk_prefix(path))
    except UnsupportedOperationError:
        return False
    return not (listing.keys or listing.prefixes)


def find_same(store: Store, path: str, metadata: ArrayMeta, above: NodesAbove | None = None) -> StoredNode:
    """Read the documents of an array that was opened with this metadata; its shape and attributes may have changed.

    In a store that is far away, the nodes above the array are read in the same round of requests, and put into `above`.

    Raise `ConflictError` if it was removed, or replaced by a group or by an array with other chunks, codecs or another
    data type.
    """
    return _same(store, path, metadata, _found_again(store, path, metadata, above))


def _found_again(
    store: Store, path: str, metadata: ArrayMeta, above: NodesAbove | None = None
) -> StoredNode | BlizzarrError | None:
    forms = forms_again(metadata)
    # Of documents in several formats the newest counts, as for whoever opens the array.
    if forms is not None:
        return find_many(store, [path], forms)[0]
    if is_remote(store):
        known, *nodes = find_likely(store, [path, *(() if above is None else ancestors(path))], format_of(metadata))
        if above is not None:
            above += nodes
        return known
    return find_again(store, path)


def _same(store: Store, path: str, metadata: ArrayMeta, known: StoredNode | BlizzarrError | None) -> StoredNode:
    if isinstance(known, BlizzarrError):
        raise known
    check_same(store, path, metadata, None if known is None else known.meta)
    assert known is not None
    return known


def check_same(store: Store, path: str, metadata: ArrayMeta, stored: ArrayMeta | GroupMeta | None) -> None:
    """Check that the array with this metadata is still what is stored; its shape and attributes may differ.

    Raise `ConflictError` if it was removed, or replaced by a group or by an array with other chunks, codecs or another
    data type.
    """
    if stored is None:
        opened, now = _text(metadata), "nothing: somebody has removed the array"
    elif not isinstance(stored, ArrayMeta):
        opened, now = _text(metadata), "a group: somebody has replaced the array"
    elif not (same_chunks(stored, metadata) or (stored.source is not None and stored.source == metadata.source)):
        # The same document may be read in another way since: see `config.v1_order_as_documented`.
        opened, now = _text(metadata, stored), f"({_text(stored, metadata)}): somebody has replaced the array"
        if stored.format != metadata.format:
            now += ", or upgraded it (upgrade() finishes what was interrupted)"
    else:
        return
    raise ConflictError(
        f"expected the array that was opened ({opened}), found {now}; open it again", array="/" + path, store=str(store)
    )


def _text(metadata: ArrayMeta, other: ArrayMeta | None = None) -> str:
    """Return the type and shapes of an array as text, with all else that distinguishes it from another one."""
    facts = _facts(metadata)
    others = facts if other is None else _facts(other)
    differing = [name for name in facts if name not in _ALWAYS and facts[name] != others[name]]
    return ", ".join(f"{name} {facts[name]}" for name in (*_ALWAYS, *differing))


_ALWAYS = ("data type", "shape", "chunks")


def _facts(metadata: ArrayMeta) -> dict[str, str]:
    return {
        "data type": str(metadata.dtype),
        "shape": str(metadata.shape),
        "chunks": metadata.chunks_text,
        "shards": str(metadata.shards_text),
        "format": metadata.format,
        "codecs": ", ".join(map(repr, metadata.codecs.all)),
        "fill value": repr(metadata.fill_value),
        "chunk keys": repr(metadata.chunk_keys),
        "storage transformers": repr(metadata.storage_transformers),
    }


def same_chunks(one: ArrayMeta, other: ArrayMeta) -> bool:
    """Return whether stored chunks have the same keys and meaning in both, so that at most the shape differs."""
    return _meaning(one) == _meaning(other) and one.chunk_grid.has_chunks_of(other.chunk_grid)


def _meaning(meta: ArrayMeta) -> tuple[object, ...]:
    fill = meta.dtype.fill_identity(meta.fill_value)
    return meta.format, meta.dtype, fill, meta.fill_undefined, meta.codecs, meta.chunk_keys, meta.storage_transformers
