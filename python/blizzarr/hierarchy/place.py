"""Putting a new node into a store."""

from __future__ import annotations

import re
from collections.abc import Callable

from blizzarr.errors import BlizzarrError, NodeExistsError, NodeTypeError, UnsupportedOperationError
from blizzarr.formats import (
    Format,
    Found,
    chunk_store,
    encode,
    find_again,
    find_many,
    foreign,
    format_of,
    is_implicit,
    node_of,
    relatives,
)
from blizzarr.hierarchy.belongings import chunk_names
from blizzarr.hierarchy.documents import Node, ancestors, forget_consolidated, put
from blizzarr.hierarchy.removal import REMOVAL, removal_key
from blizzarr.hierarchy.remove import remove_left_over, remove_node
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.chunk_keys import INDEX
from blizzarr.model.names import check_path
from blizzarr.stores import Store, check_writable

__all__ = ["format_above", "place_node"]

_REMOVED = "{}: somebody was interrupted who removed what was here"


def format_above(store: Store, path: str) -> Format | None:
    """The format of the nearest group above a path; None where there is none."""
    for above in reversed(ancestors(check_path(path))):
        found = find_again(store, above)
        if found is not None:
            return format_of(found.meta)
    return None


def place_node(
    store: Store, path: str, meta: Node, *, overwrite: bool = False, before: Callable[[], None] | None = None
) -> None:
    """Store a new node, and groups above it where there are none.

    Everything that can be refused is refused before anything changes: a path that may not be, a store that is read
    only, a place that is taken (also by a document that cannot be read, and by chunks of an array that is gone), an
    array among the nodes above, groups above of another format. With `overwrite` what is at the path is removed first,
    see `remove_node`.

    `before` is called when the place is free, right before the documents are stored.
    """
    check_writable(store, path)
    form = format_of(meta)
    path = check_path(path, form.name_problem)
    above = ancestors(path)
    here, *found = find_many(store, [path, *above])
    for group, there in zip(above, found, strict=True):
        _check_above(store, group, there, path, form)
    taken = _taken(store, path, meta, here)
    if taken is not None and not overwrite:
        what = _foreign(store, path)
        raise NodeExistsError(
            f"something is here already ({taken}){what}; overwrite=True replaces it",
            array=f"/{path}",
            store=str(store),
        )
    missing = {group for group, there in zip(above, found, strict=True) if there is None}
    new: dict[str, dict[str, bytes]] = {
        group: encode(GroupMeta(format=meta.format), group) for group in form.groups_above(path) if group in missing
    }
    new[path] = encode(meta, path)
    if taken is not None:
        remove_node(store, path)
        if isinstance(meta, ArrayMeta):
            remove_left_over(store, path, meta)
    if before is not None:
        before()
    for key, value in form.entry_documents().items():
        # One that is there, or that somebody else has just made, is as good.
        put(store, {}, {key: value})
    _store(store, path, new, overwrite=overwrite)
    # As they are now: somebody may have consolidated while the node was made, without it.
    forget_consolidated(store, path)


def _check_above(store: Store, group: str, there: Found | BlizzarrError | None, path: str, form: Format) -> None:
    """A node above a path must be a group, of the format of what will be there."""
    if isinstance(there, BlizzarrError):
        raise there
    if there is None:
        return
    if isinstance(there.meta, ArrayMeta):
        raise NodeTypeError(
            f"expected a group, found an array: nothing can be below it, like {path!r}", array=f"/{group}"
        )
    if there.meta.format != form.name:
        raise NodeTypeError(
            f"expected a group of format {form.name}, like what is to be made at {path!r}, found one of "
            f"{there.meta.format}, which readers of that format would look into in vain; "
            f"say zarr_format={there.meta.format!r}, or nothing",
            array=f"/{group}",
            store=str(store),
        )


def _foreign(store: Store, path: str) -> str:
    """What is at the place, if it is of a format that is not read here: nobody should replace that unawares."""
    prefix = path + "/" if path else ""
    try:
        what = foreign([key[len(prefix) :] for key in store.list_dir(prefix)[0]])
    except UnsupportedOperationError:
        return ""
    return "" if what is None else f", {what}"


def _taken(store: Store, path: str, meta: Node, here: Found | BlizzarrError | None) -> str | None:
    """The key or prefix that says that the place is not free."""
    if isinstance(here, Found):
        return next(iter(here.documents)) if here.documents else _taken_by_implicit(store, path, meta, here)
    if here is not None:
        return here.key or f"/{path}"
    form = format_of(meta)
    prefixes = dict.fromkeys((path + "/" if path else "", form.chunk_prefix(path)))
    try:
        listings = {prefix: store.list_dir(prefix) for prefix in prefixes}
    except UnsupportedOperationError:
        return None
    for keys, _ in listings.values():
        for key in keys:
            if node_of(key, relatives(form, path) or (form,)) == path:
                return key
            if key.rpartition("/")[2] == REMOVAL:
                return _REMOVED.format(key)
    if isinstance(meta, ArrayMeta):
        # Without a document these are what an interrupted removal left; the new array would take them for its own.
        prefix = form.chunk_prefix(path)
        pattern = chunk_names(meta)
        head = meta.chunk_keys.head.rstrip("/")
        first = re.compile((re.escape(head) if meta.chunk_keys.head.endswith("/") else head + INDEX) + "/")
        keys, inner = chunk_store(store, path, meta).list_dir(prefix) if meta.storage_transformers else listings[prefix]
        for name in (*keys, *inner):
            bare = name[len(prefix) :]
            if pattern.fullmatch(bare) or first.fullmatch(bare):
                return name
    return None


def _taken_by_implicit(store: Store, path: str, meta: Node, here: Found) -> str | None:
    """The prefix below which there is what makes a group here, unless a group of the same format may join it."""
    form = format_of(here.meta)
    if store.get(removal_key(path)) is not None:
        return _REMOVED.format(removal_key(path))
    if here.meta.format == meta.format and (isinstance(meta, GroupMeta) or not is_implicit(store, form, path)):
        return None
    return form.listing_prefix(path)


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
    there = find_again(store, place)
    if there is not None and isinstance(there.meta, ArrayMeta):
        raise NodeTypeError(
            f"expected a group, found an array that somebody else has just made; nothing can be below it, as {path!r}",
            array=f"/{place}",
        )
