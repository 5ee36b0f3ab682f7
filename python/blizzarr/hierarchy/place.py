"""Putting a new node into a store."""

from __future__ import annotations

import re
from collections.abc import Callable

from blizzarr.errors import NodeExistsError, NodeTypeError, UnsupportedOperationError
from blizzarr.formats import FORMATS, decode, foreign
from blizzarr.hierarchy.documents import Node, ancestors, fetch, forget_consolidated, put
from blizzarr.hierarchy.remove import DOCUMENTS, chunk_pattern, remove_node
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.names import check_path
from blizzarr.stores import Store, check_writable

__all__ = ["place_node"]


def place_node(
    store: Store, path: str, meta: Node, *, overwrite: bool = False, before: Callable[[], None] | None = None
) -> None:
    """Store a new node, and groups above it where there are none.

    Everything that can be refused is refused before anything changes: a path that may not be, a store that is read
    only, a place that is taken (also by a document that cannot be read, and by chunks of an array that is gone), an
    array among the nodes above. With `overwrite` what is at the path is removed first, see `remove_node`.

    `before` is called when the place is free, right before the documents are stored.
    """
    check_writable(store, path)
    path = check_path(path)
    above = ancestors(path)
    here, *fetched = fetch(store, [path, *above])
    groups: list[GroupMeta | None] = []
    for group, documents in zip(above, fetched, strict=True):
        node = decode(group, documents)
        if isinstance(node, ArrayMeta):
            raise NodeTypeError(
                f"expected a group, found an array: nothing can be below it, like {path!r}", array=f"/{group}"
            )
        groups.append(node)
    taken = _taken(store, path, meta, here)
    if taken is not None and not overwrite:
        what = _foreign(store, path)
        raise NodeExistsError(
            f"something is here already ({taken}){what}; overwrite=True replaces it",
            array=f"/{path}",
            store=str(store),
        )
    new = {
        group: FORMATS[meta.format].encode(GroupMeta(format=meta.format), group)
        for group, node in zip(above, groups, strict=True)
        if node is None
    }
    new[path] = FORMATS[meta.format].encode(meta, path)
    if taken is not None:
        remove_node(store, path)
    if before is not None:
        before()
    _store(store, path, new, overwrite=overwrite)
    # As they are now: somebody may have consolidated while the node was made, without it.
    forget_consolidated(store, path)


def _foreign(store: Store, path: str) -> str:
    """What is at the place, if it is of a format that is not read here: nobody should replace that unawares."""
    prefix = path + "/" if path else ""
    try:
        what = foreign([key[len(prefix) :] for key in store.list_dir(prefix)[0]])
    except UnsupportedOperationError:
        return ""
    return "" if what is None else f", {what}"


def _taken(store: Store, path: str, meta: Node, here: dict[str, bytes]) -> str | None:
    """The key or prefix that says that the place is not free."""
    if here:
        return next(iter(here))
    prefix = path + "/" if path else ""
    try:
        keys, prefixes = store.list_dir(prefix)
    except UnsupportedOperationError:
        return None
    for key in keys:
        if key[len(prefix) :] in DOCUMENTS:
            return key
    if isinstance(meta, ArrayMeta):
        # Without a document these are what an interrupted removal left; the new array would take them for its own.
        pattern = chunk_pattern(meta)
        first = re.compile(("c" if meta.chunk_keys.head else r"\d+") + "/")
        for name in (*keys, *prefixes):
            bare = name[len(prefix) :]
            if (pattern is not None and pattern.fullmatch(bare)) or first.fullmatch(bare):
                return name
    return None


def _store(store: Store, path: str, new: dict[str, dict[str, bytes]], *, overwrite: bool) -> None:
    """Store the documents of the node and of groups above it, outermost first.

    When one fails, those before it go again. Each is stored only where there still is none: of several who make the
    same node, one does, and the others are told.
    """
    done: list[str] = []
    try:
        for place, documents in new.items():
            if put(store, {}, documents):
                done += documents
            elif place == path and overwrite:
                for key, value in documents.items():
                    store.set(key, value)
            else:
                _check_made(store, place, path)
    except (NodeExistsError, NodeTypeError):
        # The groups stay: whoever was faster may have put something into them.
        raise
    except BaseException:
        if getattr(store, "supports_delete", True):
            for key in reversed(done):
                store.delete(key)
        raise


def _check_made(store: Store, place: str, path: str) -> None:
    """What somebody else has just made at `place` may be there when it is a group above `path`."""
    if place == path:
        raise NodeExistsError(
            "somebody else has made it in the meantime; overwrite=True replaces it", array=f"/{path}", store=str(store)
        )
    if isinstance(decode(place, fetch(store, [place])[0]), ArrayMeta):
        raise NodeTypeError(
            f"expected a group, found an array that somebody else has just made; nothing can be below it, as {path!r}",
            array=f"/{place}",
        )
