"""Reading the documents of many nodes at once, and changing those of one node while others do the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from blizzarr.errors import BlizzarrError, ConflictError, NodeNotFoundError, UnknownOutcomeError
from blizzarr.formats import (
    StoredNode,
    document_keys,
    encode,
    find_again,
    find_implied,
    find_likely,
    find_many,
    format_of,
    made_of,
    unmarked,
)
from blizzarr.formats.document import Stored
from blizzarr.hierarchy.changing import NodesAbove, changing, looking_above
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import ancestors
from blizzarr.stores import Replaced, Store, check_writable
from blizzarr.stores.conditional import Versioned, try_discard, try_replace, with_version
from blizzarr.stores.requests import is_remote

Node: TypeAlias = ArrayMeta | GroupMeta
N = TypeVar("N", ArrayMeta, GroupMeta)

_ATTEMPTS = 100
_UNKNOWN = (
    "the answer to a change of its metadata may have been lost, and others have changed them since, so it is not known "
    "whether this change was stored: refresh(), and look"
)


def read_many(store: Store, paths: Sequence[str]) -> list[Node | BlizzarrError | None]:
    """Return for each path the metadata of its node, None if there is none, or the error if it cannot be read."""
    if not paths:
        return []
    return [result.meta if isinstance(result, StoredNode) else result for result in find_many(store, paths)]


def revise(
    store: Store,
    path: str,
    change: Callable[[N], N],
    known: StoredNode | None = None,
    above: NodesAbove | None = None,
    *,
    opened: Node | None = None,
    repeatable: bool = True,
    then: Callable[[N], object] | None = None,
) -> N:
    """Change a node's metadata as it is stored now, not as it was when the node was opened.

    The documents are read, changed, and replaced only if nobody else has changed them in the meantime; otherwise all of
    this is repeated. So changes to different attributes, or to an attribute and the shape, are both kept. Consolidated
    metadata in the groups above, which would be stale, is removed.

    Raise `NodeNotFoundError` if there is no node any more. Raise `ConflictError` if others changed the documents at
    every attempt. Raise `UnknownOutcomeError` if it is not known whether the change was stored, as an answer was lost.

    - `store`, `path`: the store, and the path of the node in it.
    - `change`: returns the new metadata for the stored one. It may be called more than once; if it raises an error,
      nothing changes.
    - `known`, `above`: the node, and the nodes above it, as they were just read, to save reading them if they have not
      changed since.
    - `opened`: the node as its handle knows it. If that says which version of the document it is, and no group is above
      it, nothing is read at first: the store refuses the change if there is another version by now.
    - `repeatable`: whether the change may be taken for made if the documents that it leads to are stored, whoever
      stored them.
    - `then`: called with the new metadata when it is stored; far away, while the groups above are read again.

    The result is the new metadata, as it was stored.
    """
    check_writable(store, path)
    doubtful: tuple[dict[str, bytes], N] | None = None
    # A change that fails, or changes nothing, says nothing before the node was read.
    unread = False
    if known is None and opened is not None and not path and is_remote(store):
        known = versioned(store, path, opened)
        unread = known is not None
    given = opened if known is None else known.meta
    likely = None if given is None else format_of(given)
    if known is None and is_remote(store):
        # Far away, the node is read together with the groups above it.
        paths = [path, *ancestors(path)]
        here, *above = find_many(store, paths) if likely is None else find_likely(store, paths, likely)
        known = here if isinstance(here, StoredNode) else None
    stored: N | None = None
    with changing(store, path, above, likely) as after:
        for _ in range(_ATTEMPTS):
            node, known = known or find_again(store, path) or find_implied(store, path), None
            if node is None:
                raise NodeNotFoundError(
                    "it was removed, or replaced by something else, since it was opened",
                    array=f"/{path}",
                    store=str(store),
                )
            try:
                changed = change(node.meta)  # type: ignore[arg-type]  # `change` raises for another kind of node
            except (ConflictError, KeyError) as error:
                if unread:
                    unread = False
                    continue
                if doubtful is not None:
                    if repeatable and node.documents == doubtful[0]:
                        stored = doubtful[1]
                        break
                    # What is in the way may be this change itself.
                    raise UnknownOutcomeError(_UNKNOWN, array=f"/{path}", store=str(store)) from error
                raise
            new = encode(changed, path)
            if isinstance(changed, GroupMeta) and changed.consolidated is None:
                # Consolidated metadata that is being made has a copy of the group's own attributes.
                new = {key: unmarked(value) for key, value in new.items()}
            if unread and new == node.documents:
                unread = False
                continue
            unread = False
            new = {key: with_version(store, value) for key, value in new.items()}
            done = put(store, node.documents, new)
            if done and discard(store, node.documents, new):
                # What knows its version need not be read before the next change.
                stored = made_of(new, changed, path) if Versioned in map(type, new.values()) else changed
                break
            if done is None:
                doubtful = new, changed
        if stored is not None and then is not None and is_remote(store):
            with looking_above(store, path, after, likely):
                then(stored)
            then = None
    if stored is not None:
        if then is not None:
            then(stored)
        return stored
    if doubtful is not None:
        raise UnknownOutcomeError(_UNKNOWN, array=f"/{path}", store=str(store))
    raise ConflictError(
        f"other writers changed its metadata {_ATTEMPTS} times in a row; try again", array=f"/{path}", store=str(store)
    )


def versioned(store: Store, path: str, meta: Node) -> StoredNode | None:
    """Return a node as it was read or stored, if it has a single document whose version is known."""
    keys = document_keys(path, meta)
    raw = meta.source.raw.get(keys[0].rpartition("/")[2]) if isinstance(meta.source, Stored) else None
    if len(keys) != 1 or type(raw) is not Versioned or not raw.version:
        return None
    node = find_many(store, [path], known={keys[0]: raw})[0]
    return node if isinstance(node, StoredNode) else None


def put(store: Store, old: dict[str, bytes], new: dict[str, bytes]) -> Replaced:
    """Store the documents that differ; return False if the stored one is no longer that in `old`, or not missing.

    None if that is so, but it may be the new one that was in the way.
    """
    for key, value in new.items():
        if old.get(key) != value and not (done := try_replace(store, key, old.get(key), value)):
            return done
    return True


def discard(store: Store, old: dict[str, bytes], new: dict[str, bytes]) -> bool:
    """Remove the documents that are not in `new`; return False if the stored one is no longer that in `old`."""
    return all(try_discard(store, key, value) for key, value in old.items() if key not in new)
