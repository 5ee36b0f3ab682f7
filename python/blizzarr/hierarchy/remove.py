"""Removing a node: what belongs to it goes, and nothing else.

A directory that a user points us at may hold files that are not ours. So keys are recognised by their names: documents
of nodes, and chunks of the arrays that they describe. Everything else under the path is **kept**, also when an array or
group there is replaced; and unless the user has said so, nothing is removed then (fault row 77).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from blizzarr.errors import UnsupportedOperationError
from blizzarr.formats import (
    FORMATS,
    Format,
    Found,
    chunk_prefix,
    chunk_store,
    find_many,
    format_of,
    node_of,
    relatives,
)
from blizzarr.hierarchy.documents import forget_consolidated, read_many
from blizzarr.hierarchy.foreign_files import foreign_files, refuse_foreign_files
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.stores import Store, check_writable
from blizzarr.transformers import stored_key

__all__ = ["PROGRESS", "chunk_names", "chunk_pattern", "own_keys", "remove_chunks", "remove_node"]

PROGRESS = "blizzarr-copy.json"
"""Beside the document of an array that is being copied: how far the copy has come; see `blizzarr.copying`."""

_USUAL = re.compile(r"c\d*(?:[/.]\d+)*")
"""Chunks where no document says what they look like: never a bare number, which may be anybody's."""


_ORPHAN = re.compile(r"(?:[^/]+/)+c(?:/\d+)+")
"""Chunks in a group where no document says that there is an array: an interrupted removal has left them."""


def chunk_pattern(meta: object) -> re.Pattern[str] | None:
    """What the keys of a node's stored chunks look like, below its own prefix; None when that cannot be said."""
    if isinstance(meta, GroupMeta):
        return _ORPHAN
    if not isinstance(meta, ArrayMeta):
        return _USUAL
    if meta.storage_transformers:
        # Only they know under which keys.
        return None
    return chunk_names(meta)


def chunk_names(meta: ArrayMeta) -> re.Pattern[str]:
    """The names of an array's chunks, below its prefix, as its grid gives them."""
    keys = meta.chunk_keys
    if not meta.shape:
        return re.compile(re.escape(keys.scalar))
    return re.compile(re.escape(keys.head) + re.escape(keys.separator).join([r"\d+"] * len(meta.shape)))


def own_keys(
    keys: Iterable[str], nodes: Mapping[str, object], forms: Sequence[Format] | None = None
) -> tuple[list[str], list[str]]:
    """Of these keys, the documents, innermost first, and the chunks; what is neither is not ours.

    `nodes` has the metadata of each node by its path; anything else there stands for a node that cannot be read.
    `forms` are the formats whose documents are looked for; by default those that the newest lives together with.

    Examples
    --------
    >>> keys = ["a/zarr.json", "a/1", "a/notes.txt", "a/b/zarr.json", "a/b/c/0", "a/b/c/x.png"]
    >>> own_keys(keys, {"a": GroupMeta(), "a/b": "damaged"})
    (['a/b/zarr.json', 'a/zarr.json'], ['a/b/c/0'])
    """
    patterns: dict[str, re.Pattern[str] | None] = {}
    for path, meta in nodes.items():
        # Where no document can be read, chunks may be anywhere that a format would have them.
        prefixes = [chunk_prefix(path, meta)] if isinstance(meta, ArrayMeta) else _prefixes(path, forms)
        patterns.update(dict.fromkeys(prefixes, chunk_pattern(meta)))
    documents: list[str] = []
    chunks: list[str] = []
    for key in keys:
        if node_of(key, forms) is not None:
            documents.append(key)
        elif key.rpartition("/")[2] == PROGRESS or _is_chunk(key, patterns):
            chunks.append(key)
    return sorted(documents, key=lambda key: (-key.count("/"), key)), chunks


def _prefixes(path: str, forms: Sequence[Format] | None) -> list[str]:
    newest = next(iter(FORMATS.values()))
    return [form.chunk_prefix(path) for form in forms or (newest,)]


def remove_node(store: Store, path: str) -> None:
    """Remove the node and everything below it; refused where files that are not ours lie among what would go.

    Documents go before chunks, inner nodes before outer ones: whenever it is interrupted, every array is whole or gone.
    A directory or a store in memory loses all of it in one step, if nothing else lies there. Consolidated metadata in
    the groups above go before all of them.
    """
    prefix = path + "/" if path else ""
    check_writable(store, prefix)
    form = _format(store, path)
    forms = relatives(form, path) or (form,)
    prefixes = form.node_prefixes(path)
    keys = list(dict.fromkeys(key for several in prefixes for key in store.list(several)))
    beside = {key for other in forms for key in other.document_keys(path)}.difference(keys)
    keys += [key for key in beside if store.get(key) is not None]
    places = sorted({place for key in keys if (place := node_of(key, forms)) is not None} | {path})
    nodes = dict(zip(places, read_many(store, places), strict=True))
    documents, chunks = own_keys(keys, nodes, forms)
    behind = {}
    for place, meta in nodes.items():
        if isinstance(meta, ArrayMeta) and meta.storage_transformers:
            stored = _stored_chunks(store, place, meta)
            chunks += stored or ()
            if stored is None:
                behind[place] = meta
    if not path and form.entry_key is not None and store.get(form.entry_key) is not None:
        # The last: without it there are no nodes.
        keys.append(form.entry_key)
        documents.append(form.entry_key)
    if not documents and not chunks:
        return
    links = _links(store, prefix, (*documents, *chunks))
    # What is behind links stays in any case, and only the storage transformers know what they have put where.
    elsewhere = (*links, *(chunk_prefix(place, array) for place, array in behind.items()))
    candidates = [key for key in keys if not key.startswith(elsewhere)]
    foreign = foreign_files(store, prefixes, candidates, {*documents, *chunks})
    refuse_foreign_files(store, path, foreign)
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
    delete_prefix = getattr(store, "delete_prefix", None)
    alone = all(prefixes) and not foreign and len(documents) + len(chunks) == len(keys)
    at_once = alone and bool(getattr(store, "deletes_at_once", False))
    for key in documents:
        if not (at_once and key.startswith(tuple(prefixes))):
            store.delete(key)
    for place, array in behind.items():
        if not chunk_prefix(place, array).startswith(links):
            remove_chunks(store, place, array)
    if delete_prefix is not None and alone:
        for several in prefixes:
            delete_prefix(several)
    else:
        for key in chunks:
            store.delete(key)


def remove_chunks(store: Store, path: str, meta: ArrayMeta) -> None:
    """Remove everything that an array of these metadata would take for its chunks."""
    chunks = chunk_store(store, path, meta)
    keys = _chunks(chunks, path, meta)
    erase_values = getattr(chunks, "erase_values", None)
    if erase_values is not None:
        erase_values(keys)
        return
    for key in keys:
        chunks.delete(key)


def _chunks(chunks: Store, path: str, meta: ArrayMeta) -> list[str]:
    """The keys of all chunks of an array, as it knows them."""
    prefix, pattern = chunk_prefix(path, meta), chunk_names(meta)
    return [key for key in chunks.list(prefix) if pattern.fullmatch(key[len(prefix) :])]


def _stored_chunks(store: Store, path: str, meta: ArrayMeta) -> list[str] | None:
    """The same as they are stored; None where only the storage transformers know what that is."""
    chunks = chunk_store(store, path, meta)
    stored = [stored_key(chunks, key, store) for key in _chunks(chunks, path, meta)]
    return None if None in stored else [key for key in stored if key is not None]


def _format(store: Store, path: str) -> Format:
    """The format of the node at a path; the newest where it cannot be read."""
    found = find_many(store, [path])[0]
    return format_of(found.meta) if isinstance(found, Found) else next(iter(FORMATS.values()))


def _links(store: Store, prefix: str, keys: Iterable[str]) -> tuple[str, ...]:
    """The links at or below `prefix`: they are removed, and nothing behind them (fault row 72)."""
    links_of = getattr(store, "links", None)
    if links_of is None:
        return ()
    inside = {key[: end + 1] for key in keys for end in range(len(prefix) - 1, len(key)) if key[end] == "/"}
    return tuple(links_of(inside))


def _is_chunk(key: str, patterns: Mapping[str, re.Pattern[str] | None]) -> bool:
    """Whether the key is that of a chunk of the innermost node that holds it."""
    end = len(key)
    while end > 0:
        end = key.rfind("/", 0, end - 1) + 1
        if key[:end] in patterns:
            pattern = patterns[key[:end]]
            return pattern is not None and pattern.fullmatch(key[end:]) is not None
    return False
