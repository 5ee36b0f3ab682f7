"""The metadata document of an array, as the engine compares it with the one that the array was opened with.

An array that was opened may be replaced, cut off, upgraded or removed by somebody else. Nothing is written in the
layout of the old array then, and what is read in it is an error; `rust/core/src/document.rs` says when both compare.
"""

from __future__ import annotations

from functools import partial

from blizzarr import _native
from blizzarr.errors import BlizzarrError, ConflictError
from blizzarr.formats import Found, find_again, find_many, format_of, stored_document
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.place import place_of

__all__ = ["find_same", "same_chunks", "watched"]


def watched(store: Store, path: str, metadata: ArrayMeta, key: str) -> _native.Document | None:
    """Return the document of an array, which is stored under `key`, for the engine; None if it need not be stored."""
    behind = store
    while getattr(behind, "has_documents", True) and isinstance(behind, StoreWrapper):
        behind = behind.store
    if not getattr(behind, "has_documents", True):
        return None
    native = getattr(store, "native", None)
    known, decode = stored_document(metadata, key), partial(_decode, store, path, metadata)
    if native is not None:
        return _native.Document(native, key, known, metadata.shape, decode, True)
    near = getattr(behind, "near", False) is True
    locks = store.locks if isinstance(store, StoreWrapper) else None
    return _native.Document(store, key, known, metadata.shape, decode, near, place_of(store), locks)


def _decode(store: Store, path: str, metadata: ArrayMeta, key: str) -> tuple[bytes, tuple[int, ...]]:
    """Return the stored document of an array and the shape in it."""
    known = find_same(store, path, metadata)
    assert isinstance(known.meta, ArrayMeta)
    return known.documents[key], known.meta.shape


def find_same(store: Store, path: str, metadata: ArrayMeta) -> Found:
    """Read the documents of an array that was opened with this metadata; its shape and attributes may have changed.

    Raises
    ------
    ConflictError
        If it was removed, or replaced by a group or by an array with other chunks, codecs or another data type.
    """
    known = find_many(store, [path], [format_of(metadata)])[0] or find_again(store, path)
    if isinstance(known, BlizzarrError):
        raise known
    if known is None:
        opened, now = _text(metadata), "nothing: somebody has removed the array"
    elif not isinstance(known.meta, ArrayMeta):
        opened, now = _text(metadata), "a group: somebody has replaced the array"
    elif not same_chunks(known.meta, metadata):
        opened, now = _text(metadata, known.meta), f"({_text(known.meta, metadata)}): somebody has replaced the array"
    else:
        return known
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
        "chunks": str(metadata.chunk_shape),
        "shards": str(metadata.shard_shape),
        "format": metadata.format,
        "codecs": ", ".join(map(repr, metadata.codecs.all)),
        "fill value": repr(metadata.fill_value),
        "chunk keys": repr(metadata.chunk_keys),
    }


def same_chunks(one: ArrayMeta, other: ArrayMeta) -> bool:
    """Return whether stored chunks have the same keys and meaning in both, so that at most the shape differs."""
    return (
        (one.chunk_grid is other.chunk_grid or one.chunk_grid == other.chunk_grid)
        and (one.chunk_keys is other.chunk_keys or one.chunk_keys == other.chunk_keys)
        and one.storage_transformers == other.storage_transformers
        and (one.dtype is other.dtype or one.dtype == other.dtype)
        and (one.codecs is other.codecs or one.codecs == other.codecs)
        and (
            one.fill_value is other.fill_value
            or one.dtype.fill_identity(one.fill_value) == other.dtype.fill_identity(other.fill_value)
        )
        and one.fill_undefined == other.fill_undefined
        and one.format == other.format
    )
