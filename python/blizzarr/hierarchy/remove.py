"""Removing the keys that belong to a node, and nothing else.

Everything else under the path is **kept**, also when an array or group is replaced. With such files, the removal is
refused unless `config.keep_foreign_files` is set: a mistyped path must not cost a directory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import Any

from blizzarr.errors import ConflictError, NodeNotFoundError, UnsupportedOperationError
from blizzarr.formats import (
    FORMATS,
    PROGRESS,
    Format,
    chunk_prefix,
    chunk_store,
    find_likely,
    find_many,
    is_vacant,
    node_of,
)
from blizzarr.hierarchy.belongings import Belongings, array_chunks, belongings, refuse, refuse_foreign_files
from blizzarr.hierarchy.changing import NodesAbove, changing, withdraw
from blizzarr.hierarchy.removal import REMOVAL, record, removal_key
from blizzarr.model import ArrayMeta
from blizzarr.model.names import ancestors, join
from blizzarr.stores import Store, check_writable
from blizzarr.stores.base import BaseStore
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.requests import delete_many, each, each_call, is_remote
from blizzarr.stores.wrapper import unwrapped

_ROUNDS = 10
LOCKED = 100
"""The most documents that are locked at once while everything that belongs to them is removed in one step."""


def remove_node(
    store: Store, path: str, *, implied: bool = False, required: str | None = None, likely: Format | None = None
) -> None:
    """Remove the node at a path and everything below it.

    Documents are removed before chunks, and inner nodes before outer ones: whenever this is interrupted, each array is
    complete or gone. In a directory or in memory everything is removed in one step, if nothing else is there. The
    consolidated metadata of the groups above is removed first.

    Raise `NodeExistsError` if files of other programs are among the keys, or arrays and groups lie below an array; then
    nothing is removed. Raise `ReadOnlyError` if the store was opened for reading. Raise `UnsupportedOperationError` if
    the store cannot delete. Raise `StoreError` if the store fails.

    - `implied`: whether a group without a document counts. It must not where somebody replaces what may be there: a
      mistyped path to a folder of hierarchies must not cost them.
    - `required`: the name of a member that must be there, or the rest of it; otherwise raise `NodeNotFoundError`.
    - `likely`: the format that the node and the groups above it probably have.
    """
    check_writable(store, path + "/" if path else "")
    look: Callable[[], Any] = partial(belongings, store, path, implied, likely=likely)
    requests = [look] if likely is None or not is_remote(store) else [look, _looking_above(store, path, likely)]
    things, *read = each_call(store, requests)
    above: NodesAbove | None = read[0] if read else None
    if required is not None and not things.there:
        raise NodeNotFoundError(f"there is no member {required!r} to remove", array=f"/{path}", store=str(store))
    if not things.documents and not things.chunks:
        return
    refuse_foreign_files(store, path, things.foreign)
    if path in things.arrays or path in things.behind:
        # In a document of the array itself the other spelling of a draft may see a node below.
        places = [{form.node_of(key) for form in FORMATS.values()} for key in things.documents]
        below = sorted(
            node_path
            for node_path in {one for each in places if path not in each for one in each}
            if node_path is not None and (not path or node_path.startswith(f"{path}/"))
        )
        # Somebody has put the array above them by mistake.
        advice = "move them away, or remove each by itself"
        refuse(
            store, path, "chunks below an array", "arrays or groups", [f"/{node_path}" for node_path in below], advice
        )
    _remove_what_is_there(store, path, things, above)
    for _ in range(_ROUNDS):
        if path in things.arrays or path in things.behind:
            _refuse_successor(store, path, things.removed.forms[0])
            return
        # Members that others made after the listing.
        things = belongings(store, path, here=things.removed.forms[0])
        if not things.documents:
            return
        _remove_what_is_there(store, path, things)


def _refuse_successor(store: Store, path: str, form: Format) -> None:
    """Raise `ConflictError` if another writer has created a node here before the last chunk was gone.

    Chunks of the new node may have been taken for those of the old one.
    """
    # Far away, one listing shows that there is nothing, but in the draft.
    is_listed = is_remote(store) and path and form.entry_key is None
    if getattr(store, "deletes_at_once", False) or (is_listed and is_vacant(store, path)):
        return
    if find_many(store, [path], absent=True)[0] is not None:
        raise ConflictError(
            "another writer created it anew while it was removed, and may have lost chunks by that: look at them",
            array=f"/{path}",
            store=str(store),
        )


def _remove_what_is_there(store: Store, path: str, things: Belongings, above: NodesAbove | None = None) -> None:
    documents, chunks = ([key for key in keys if not key.startswith(things.links)] for keys in things[:2])
    chunks = [key for key in chunks if key.rpartition("/")[2] != REMOVAL]
    if not getattr(store, "supports_delete", True):
        raise UnsupportedOperationError(
            "this kind of store cannot delete, so nothing in it can be removed or replaced",
            key=(*things.documents, *things.chunks)[0],
            store=str(store),
            direction="delete",
        )
    form = things.removed.forms[0]
    with changing(store, path, above, form) as after:
        after += _remove(store, path, things, documents, chunks)


def _looking_above(store: Store, path: str, form: Format) -> Callable[[], NodesAbove]:
    """Return the call that reads the groups above a path whose consolidated metadata may list a node of this format."""
    return partial(find_likely, store, ancestors(path), form, others=False)


def _remove(store: Store, path: str, things: Belongings, documents: list[str], chunks: list[str]) -> NodesAbove:
    """Remove the documents and chunks; return the nodes above as they are afterwards, if the store is far away."""
    for link in things.links:
        store.delete_prefix(link)  # type: ignore[attr-defined]  # stores with links have it
    delete_prefix = getattr(store, "delete_prefix", None)
    at_once = things.alone and len(documents) <= LOCKED and bool(getattr(store, "deletes_at_once", False))
    together = [key for key in documents if at_once and key.startswith(things.prefixes)]
    in_one_step = (
        delete_prefix is not None and things.alone and len(together) == len(documents) and len(things.prefixes) == 1
    )
    recorded = bool(documents and chunks) and not in_one_step
    if not in_one_step:
        # First, because an array that is listed there without chunks would read as the fill value.
        withdraw(store, things.consolidated)
    written = recorded and record(store, path, things.removed)

    def delete(key: str) -> None:
        with nobody_writing(store, [key]):
            store.delete(key)

    # The documents of inner nodes go first, and those of one node go one after the other.
    steps = sorted((key for key in documents if key not in together), key=_step)
    for _, several in groupby(steps, _step):
        each(store, delete, several)
    in_bulk = delete_prefix is not None and things.alone and (not recorded or _in_bulk(store))
    prefixes = sorted(things.prefixes, key=removal_key(path).startswith)  # the record last
    wanted: list[Callable[[], Any]] = [partial(store.get, removal_key(path)) if written else bool]
    wanted.append(_looking_above(store, path, things.removed.forms[0]) if is_remote(store) else list)
    is_listed = in_bulk and getattr(store, "object_client", None) is not None
    if is_listed:
        wanted += [partial(store.list, prefix) for prefix in prefixes]
    left, above, *below = each_call(store, wanted)
    if left is None:
        # Who creates a node here goes on by the record, and removes it: what there is now belongs to that node.
        return above
    for array_path, array in things.behind.items():
        if not chunk_prefix(array_path, array).startswith(things.links):
            remove_chunks(store, array_path, array)
    if is_listed:
        # Chunks that were stored after the first listing are among them; documents are those of nodes made since.
        others = (key for keys in below for key in keys if node_of(key, FORMATS.values()) is None)
        delete_many(store, [key for key in others if key != removal_key(path)])
    elif in_bulk and delete_prefix is not None:
        with nobody_writing(store, together):
            for prefix in prefixes:
                delete_prefix(prefix)
    else:
        delete_many(store, chunks)
        for array_path, array in things.arrays.items():
            # Chunks that were stored after the listing; without the documents, nobody stores any more.
            remove_chunks(store, array_path, array)
    records = {key for key in things.chunks if key.rpartition("/")[2] == REMOVAL and not key.startswith(things.links)}
    # In the draft, those of copies are below no prefix of their nodes.
    copies = {join(node, PROGRESS) for key in documents if (node := node_of(key, things.removed.forms)) is not None}
    records |= {key for key in copies if not key.startswith(things.prefixes)}
    for key in records | ({removal_key(path)} if recorded else set()):
        store.delete(key)
    return above


def _step(key: str) -> tuple[int, str]:
    return -key.count("/"), key.rpartition("/")[2]


def _in_bulk(store: Any) -> bool:
    """Return whether the store has a `delete_prefix` of its own; the fallback deletes the record among the others."""
    store = unwrapped(store)
    method = getattr(type(store.target if isinstance(store, ForeignStore) else store), "delete_prefix", None)
    return method is not None and method is not BaseStore.delete_prefix


@contextmanager
def nobody_writing(store: Store, documents: Sequence[str]) -> Iterator[None]:
    """Hold the locks of these documents, so that nobody stores a chunk of their arrays in the meantime.

    Writers that waited find that the documents are gone, and raise an error. Stores whose documents cannot be locked
    exclude nobody.
    """
    native = getattr(store, "native", None) or getattr(store, "locks", None)
    if native is None or not documents:
        yield
        return
    locks = native.lock_for_deletion(documents)
    try:
        yield
    finally:
        locks.release()


def remove_left_over(store: Store, path: str, meta: ArrayMeta) -> None:
    """Remove chunks without a document, which an interrupted removal left in the place of a new array.

    Raise `NodeExistsError` if there are nodes among them: the blocks of an N5 dataset called ``0`` have names that
    blocks of an array above it would have, too.
    """
    if not array_chunks(chunk_store(store, path, meta), path, meta):
        return
    prefix = chunk_prefix(path, meta)
    below = (key[len(prefix) :] for key in store.list(prefix))
    nodes = sorted(key for key in below if "/" in key and key.rpartition("/")[2] in _DOCUMENTS)
    advice = "remove them first, or choose another place"
    refuse(store, path, "what an array that is gone has left", "arrays or groups", nodes, advice)
    remove_chunks(store, path, meta)


_DOCUMENTS = frozenset(key.rpartition("/")[2] for form in FORMATS.values() for key in form.document_keys("node"))


def remove_chunks(store: Store, path: str, meta: ArrayMeta) -> None:
    """Remove all keys that an array with this metadata would read as its chunks."""
    chunks = chunk_store(store, path, meta)
    keys = array_chunks(chunks, path, meta)
    erase_values = getattr(chunks, "erase_values", None)
    if erase_values is not None:
        erase_values(keys)
        return
    each(chunks, chunks.delete, keys)
