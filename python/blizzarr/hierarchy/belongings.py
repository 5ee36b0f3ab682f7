"""The keys that belong to a node: its documents and chunks, those of the nodes below it, and nothing else.

The directory of a node may hold files of other programs. So keys are recognised by their names: documents of nodes, and
chunks of the arrays that the documents describe.

Files of other programs are never removed. They show that somebody uses the directory for more than this node, perhaps
by mistake; so the removal is refused, unless `config.keep_foreign_files` allows to remove the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from blizzarr.config import config
from blizzarr.errors import BlizzarrError, NodeExistsError
from blizzarr.formats import (
    FORMATS,
    PROGRESS,
    Format,
    StoredNode,
    chunk_prefix,
    chunk_store,
    find_implied,
    find_likely,
    find_many,
    format_of,
    get_many,
    node_of,
    relatives,
)
from blizzarr.hierarchy.documents import read_many
from blizzarr.hierarchy.removal import REMOVAL, Chunks, Removed, chunks_of, read, removal_key, usual
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.chunk_keys import INDEX
from blizzarr.model.names import innermost
from blizzarr.stores import Store
from blizzarr.stores.conditional import as_bytes
from blizzarr.stores.requests import each_call, is_remote

_ORPHAN = re.compile(rf"(?:[^/]+/)+c(?:/{INDEX})+")
"""Chunks in a group that are not of an array with a document: an interrupted removal has left them."""


def chunk_pattern(meta: object) -> re.Pattern[str] | None:
    """Return the pattern of the keys of a node's stored chunks below its prefix; None if it is unknown."""
    if isinstance(meta, GroupMeta):
        return _ORPHAN
    if not isinstance(meta, ArrayMeta):
        return usual("").pattern
    if meta.storage_transformers:
        # Only the transformers know the keys.
        return None
    return meta.chunk_keys.pattern(len(meta.shape))


def own_keys(
    keys: Iterable[str],
    nodes: Mapping[str, object],
    forms: Sequence[Format] | None = None,
    being_removed: Iterable[Chunks] = (),
    documents: Collection[str] | None = None,
) -> tuple[list[str], list[str]]:
    """Return the keys of documents, innermost first, and the keys of chunks; other keys belong to other programs.

    - `keys`: the keys to look through.
    - `nodes`: the metadata of each node by its path; any other value stands for a node that cannot be read.
    - `forms`: the formats whose documents are looked for; by default the newest, and those that may be in one place
      with it.
    - `being_removed`: chunks of arrays whose documents may be gone already.
    - `documents`: the keys of documents among `keys`, if they are known.

    >>> keys = ["a/zarr.json", "a/1", "a/notes.txt", "a/b/zarr.json", "a/b/c/0", "a/b/c/x.png"]
    >>> own_keys(keys, {"a": GroupMeta(), "a/b": "damaged"})
    (['a/b/zarr.json', 'a/zarr.json'], ['a/b/c/0'])
    """
    patterns: dict[str, re.Pattern[str] | None] = {}
    for path, meta in nodes.items():
        # If its document cannot be read, an array may have chunks wherever one of the formats has them.
        prefixes = [chunk_prefix(path, meta)] if isinstance(meta, ArrayMeta) else _prefixes(path, forms)
        patterns.update(dict.fromkeys(prefixes, chunk_pattern(meta)))
    for one in being_removed:
        live = patterns.get(one.prefix)
        patterns[one.prefix] = one.pattern if live is None else re.compile(f"{live.pattern}|{one.pattern.pattern}")
    if documents is None:
        keys = list(keys)
        documents = {key for key in keys if node_of(key, forms) is not None}
    chunks = [
        key
        for key in keys
        if key not in documents and (key.rpartition("/")[2] in (PROGRESS, REMOVAL) or _is_chunk(key, patterns))
    ]
    return sorted(documents, key=lambda key: (-key.count("/"), key)), chunks


def _prefixes(path: str, forms: Sequence[Format] | None) -> list[str]:
    newest = next(iter(FORMATS.values()))
    return [form.chunk_prefix(path) for form in forms or (newest,)]


class Belongings(NamedTuple):
    """The keys of a node and of everything below it, as they are stored."""

    documents: list[str]
    """The keys of documents, innermost first; that of the entry point of the hierarchy last."""
    chunks: list[str]
    """The keys of chunks."""
    foreign: list[str]
    """The names of files of other programs among them."""
    links: tuple[str, ...]
    """Prefixes that are symbolic links: keys below them lie elsewhere."""
    arrays: dict[str, ArrayMeta]
    """The arrays by path whose chunk keys are known, without those behind links."""
    behind: dict[str, ArrayMeta]
    """The arrays by path whose chunk keys are known to their storage transformers only."""
    consolidated: list[str]
    """The paths of the groups that have consolidated metadata, outermost first."""
    prefixes: tuple[str, ...]
    """The prefixes of all keys of the node, except for documents beside them."""
    alone: bool
    """True if nothing else is under the prefixes, so that these may be removed as a whole."""
    removed: Removed
    """The record for a removal, together with those of earlier removals that were interrupted."""
    there: bool
    """True if there is a node, readable or not, or an earlier removal of it was interrupted."""


def belongings(
    store: Store, path: str, implied: bool = False, here: Format | None = None, likely: Format | None = None
) -> Belongings:
    """Return the keys that belong to the node at a path, or to the rest of one that was not removed completely.

    - `implied`: whether a group without a document counts as a node of its format.
    - `here`: the format of a node that was removed; what others have made since is looked for where that node was.
    - `likely`: the format that the node probably has.
    """
    listed: dict[str, list[str]] = {}
    if here is None:
        # Nearly all formats have the keys of a node below this prefix. Far away, it is listed at the same time.
        usual_prefixes = [path + "/"] if path and is_remote(store) else []
        wanted: list[Callable[[], Any]] = [partial(_format, store, path, implied, likely)]
        wanted += [partial(store.list, prefix) for prefix in usual_prefixes]
        here, *keys_below = each_call(store, wanted)
        listed = dict(zip(usual_prefixes, map(list, keys_below), strict=True))
    assert here is not None
    prefixes: Sequence[str] = here.node_prefixes(path)
    in_each = (listed[prefix] if prefix in listed else store.list(prefix) for prefix in prefixes)
    keys = list(dict.fromkeys(key for several in in_each for key in several))
    removed = read(store, path, keys, prefixes)
    is_left = bool(removed.forms)
    for form in removed.forms:
        more = [prefix for prefix in form.node_prefixes(path) if not prefix.startswith(tuple(prefixes))]
        prefixes = [*prefixes, *more]
        keys += [key for several in more for key in store.list(several)]
    forms = tuple(dict.fromkeys(other for each in (here, *removed.forms) for other in relatives(each, path) or (each,)))
    documents_beside = {key for other in forms for key in other.document_keys(path)} | {removal_key(path)}
    beside = sorted(key for key in documents_beside if not key.startswith(tuple(prefixes)))
    keys += [key for key, value in zip(beside, get_many(store, beside), strict=True) if value is not None]
    owners = {key: node_path for key in keys if (node_path := node_of(key, forms)) is not None}
    places = sorted(set(owners.values()))
    nodes = {path: None} | dict(zip(places, _nodes(store, places, list(owners)), strict=True))
    documents, chunks = own_keys(keys, nodes, forms, removed.chunks, owners.keys())
    arrays, behind = {}, {}
    for node_path, meta in nodes.items():
        if isinstance(meta, ArrayMeta):
            arrays[node_path] = meta
        if isinstance(meta, ArrayMeta) and meta.storage_transformers:
            stored = _stored_chunks(store, node_path, meta)
            chunks += stored or ()
            if stored is None:
                behind[node_path] = arrays.pop(node_path)
    if not path and here.entry_key is not None and store.get(here.entry_key) is not None:
        # It goes last: without it there are no nodes.
        keys.append(here.entry_key)
        documents.append(here.entry_key)
    damaged = [node_path for node_path, meta in nodes.items() if isinstance(meta, BlizzarrError)]
    names = {
        *removed.chunks,
        *chunks_of(arrays),
        *(usual(one) for node_path in damaged for one in _prefixes(node_path, forms)),
    }
    removed = Removed(tuple(dict.fromkeys((here, *removed.forms))), tuple(sorted(names)))
    links = _links(store, path + "/" if path else "", (*documents, *chunks))
    # Keys behind links stay in any case, and only the storage transformers know which of theirs are chunks.
    elsewhere = (*links, *(chunk_prefix(node_path, array) for node_path, array in behind.items()))
    candidates = [key for key in keys if not key.startswith(elsewhere)]
    foreign = foreign_files(store, prefixes, candidates, {*documents, *chunks})
    alone = not foreign and not links and all(prefixes) and len(documents) + len(chunks) == len(keys)
    arrays = {
        node_path: meta for node_path, meta in arrays.items() if not chunk_prefix(node_path, meta).startswith(links)
    }
    groups = ((node_path, meta) for node_path, meta in nodes.items() if isinstance(meta, GroupMeta))
    consolidated = [node_path for node_path, meta in groups if meta.consolidated is not None]
    is_there = nodes[path] is not None or is_left or ((likely or here).implicit_groups and bool(documents))
    return Belongings(
        documents, chunks, foreign, links, arrays, behind, consolidated, tuple(prefixes), alone, removed, is_there
    )


def _nodes(
    store: Store, places: Sequence[str], documents: Sequence[str]
) -> list[ArrayMeta | GroupMeta | BlizzarrError | None]:
    """Return what `read_many` does; far away, only these documents, which are all, are asked for."""
    if not is_remote(store):
        return read_many(store, places)
    pairs = zip(documents, get_many(store, documents), strict=True)
    known = {key: as_bytes(value) for key, value in pairs if value is not None}
    results = find_many(store, places, known=known) if known else [None] * len(places)
    return [result.meta if isinstance(result, StoredNode) else result for result in results]


def array_chunks(chunks: Store, path: str, meta: ArrayMeta) -> list[str]:
    """Return the keys of all stored chunks of an array, before storage transformers."""
    prefix, pattern = chunk_prefix(path, meta), meta.chunk_keys.pattern(len(meta.shape))
    return [key for key in chunks.list(prefix) if pattern.fullmatch(key[len(prefix) :])]


def _stored_chunks(store: Store, path: str, meta: ArrayMeta) -> list[str] | None:
    """Return the keys of all chunks of an array as they are stored; None if only the storage transformers know them."""
    from blizzarr.transformers import stored_key

    chunks = chunk_store(store, path, meta)
    stored = [stored_key(chunks, key, store) for key in array_chunks(chunks, path, meta)]
    return None if None in stored else [key for key in stored if key is not None]


def _format(store: Store, path: str, implied: bool, likely: Format | None) -> Format:
    """Return the format of the node at a path; the newest format if it cannot be read."""
    found = find_many(store, [path]) if likely is None else find_likely(store, [path], likely)
    node = found[0] or (find_implied(store, path) if implied else None)
    return format_of(node.meta) if isinstance(node, StoredNode) else next(iter(FORMATS.values()))


def _links(store: Store, prefix: str, keys: Iterable[str]) -> tuple[str, ...]:
    """Return the symbolic links at or below `prefix`: a removal deletes the links, and nothing that they point to."""
    links_of = getattr(store, "linked", None)
    if links_of is None:
        return ()
    inside = {key[: end + 1] for key in keys for end in range(len(prefix) - 1, len(key)) if key[end] == "/"}
    return tuple(links_of(inside))


def _is_chunk(key: str, patterns: Mapping[str, re.Pattern[str] | None]) -> bool:
    """Return whether a key is that of a chunk of the innermost node above it."""
    prefix = innermost(key, patterns)
    pattern = None if prefix is None else patterns[prefix]
    return pattern is not None and pattern.fullmatch(key, len(prefix or "")) is not None


NAMED = 10
"""The number of files that an error names; the others are counted."""

_LITTER = re.compile(r"(\.DS_Store|\._.*|Thumbs\.db|desktop\.ini|\.directory|\.nfs[0-9a-f.]+|\.fuse_hidden[0-9a-f]+)")
"""Files that file managers and network file systems leave behind. They stay, but are no reason to refuse a removal."""


def refuse_foreign_files(store: Store, path: str, foreign: Sequence[str]) -> None:
    """Raise an error if there are files of other programs, unless `config.keep_foreign_files` is set.

    Raise `NodeExistsError`: the text names them.
    """
    wanted = [name for name in foreign if not _LITTER.fullmatch(name.rpartition("/")[2])]
    if not config.keep_foreign_files:
        advice = (
            "move them away, or set config.keep_foreign_files=True, which removes what is ours and leaves them where "
            "they are"
        )
        refuse(store, path, "what arrays and groups are made of", "files that are not ours", wanted, advice)


def refuse(store: Store, path: str, expected: str, found: str, names: Sequence[str], advice: str) -> None:
    """Raise an error if there are names of what is in the way of a removal.

    Raise `NodeExistsError`: the text has the first of the names.
    """
    if names:
        named = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED:,} more" if len(names) > NAMED else "")
        raise NodeExistsError(
            f"expected nothing but {expected}, found {found}: {named}; {advice}", array=f"/{path}", store=str(store)
        )


def foreign_files(store: Store, prefixes: Sequence[str], keys: Collection[str], ours: Collection[str]) -> list[str]:
    """Return the keys that are not among `ours`, and file names below the prefixes that are not valid keys; sorted."""
    others = getattr(store, "others", None)
    unlisted = set() if others is None else {name for prefix in prefixes for name in others(prefix, NAMED + 1)}
    return sorted({*keys}.difference(ours) | unlisted)
