"""Storing a new node."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, TypeVar

from blizzarr.config import config
from blizzarr.errors import BlizzarrError, NodeExistsError, NodeTypeError, PathError, UnsupportedOperationError
from blizzarr.formats import (
    LIKELY_OF_GROUPS,
    Format,
    StoredNode,
    chunk_store,
    documents_among,
    encode,
    find_again,
    find_implied,
    find_likely,
    find_many,
    format_of,
    get_many,
    is_implicit,
    made_of,
    node_of,
    relatives,
)
from blizzarr.hierarchy.changing import NodesAbove, changing
from blizzarr.hierarchy.documents import Node, put
from blizzarr.hierarchy.removal import REMOVAL, removal_key
from blizzarr.hierarchy.remove import remove_left_over, remove_node
from blizzarr.hierarchy.root_above import refuse_below_array
from blizzarr.model import ArrayMeta, GroupMeta
from blizzarr.model.chunk_keys import INDEX
from blizzarr.model.names import ancestors, check_path
from blizzarr.stores import Listing, Replaced, Store, check_writable
from blizzarr.stores.conditional import as_bytes, try_discard, with_version
from blizzarr.stores.requests import alongside, each, each_call, is_remote

N = TypeVar("N", bound=Node)
T = TypeVar("T")

_ANY_NAME: Final = ContextVar("any_name", default=False)
_ATTEMPTS: Final = 100
"""How often a place is cleared where other writers keep making nodes."""

_REMOVED = "{}: an interrupted removal left chunks here"


def format_above(store: Store, path: str) -> Format | None:
    """Return the format of the nearest group above a path; None if there is none."""
    above = ancestors(check_path(path))[::-1]
    # Far away, all of them are read at once.
    far = is_remote(store)
    nodes = find_likely(store, above, LIKELY_OF_GROUPS) if far else (find_again(store, group) for group in above)
    for node in nodes:
        if isinstance(node, BlizzarrError):
            raise node
        if node is not None:
            return format_of(node.meta)
    return None


def find_or_create(find: Callable[[], T | None], create: Callable[[], T]) -> T:
    """Return what `find` returns, or what `create` does if that is None.

    Somebody else may create the node between the two; then it is found.

    Raise `NodeExistsError` if `create` raises it, and still nothing is found.
    """
    result = find()
    if result is not None:
        return result
    try:
        return create()
    except NodeExistsError:
        result = find()
        if result is None:
            raise
        return result


def place_node(
    store: Store,
    path: str,
    meta: N,
    *,
    overwrite: bool = False,
    before: Callable[[], None] | None = None,
    copied: bool = False,
    then: Callable[[N], object] | None = None,
) -> N:
    """Store a new node, and the missing groups above it, and return the node as it will be read back.

    All conditions are checked before anything changes.

    Raise `NodeExistsError` if there is something at the path and not `overwrite`: a node, a document that cannot be
    read, or chunks of an array that is gone; or if files of other programs would have to be removed, or a new array
    would hide the members of a group without a document. Raise `NodeTypeError` if there is an array above the path, or
    above the directory of the store, or a group of another format above the path. Raise `PathError` if the path may not
    be used, or a new name is reserved. Raise `ReadOnlyError` if the store was opened for reading. Raise `StoreError` if
    the store fails.

    - `store`, `path`: the store, and the path of the node in it.
    - `meta`: the metadata of the node.
    - `overwrite`: first remove what is at the path, see `remove_node`.
    - `before`: called when the place is free, right before the documents are stored.
    - `copied`: true if names are those of other nodes, and may be reserved ones.
    - `then`: called with the node when it is stored; far away, while the groups above are read again. If there is an
      array above by then, it is for the caller to remove the node, and what this has stored.
    """
    check_writable(store, path)
    form = format_of(meta)
    path = check_path(path, form.name_problem)
    above = ancestors(path)
    (here, *nodes_above), listings = _look(store, path, meta)
    for group, there in zip(above, nodes_above, strict=True):
        _check_above(store, group, there, path, form)
    if (*nodes_above, here)[0] is None:
        refuse_below_array(store)
    taken = _taken(store, path, meta, here, listings)
    if taken is not None and not overwrite:
        raise NodeExistsError(
            f"something is here already ({taken}); overwrite=True replaces it", array=f"/{path}", store=str(store)
        )
    missing = {group for group, there in zip(above, nodes_above, strict=True) if there is None}
    if not copied and not config.reserved_names and not _ANY_NAME.get():
        _refuse_reserved(form, missing if here is not None else {*missing, path})
    new: dict[str, dict[str, bytes]] = {
        group: encode(GroupMeta(format=meta.format), group) for group in form.groups_above(path) if group in missing
    }
    new[path] = {key: with_version(store, value) for key, value in encode(meta, path).items()}
    stored = made_of(new[path], meta, path)
    with changing(store, path, nodes_above, form) as after:
        for attempt in range(_ATTEMPTS):
            if taken is not None or attempt:
                remove_node(store, path, likely=form)
                if isinstance(meta, ArrayMeta):
                    remove_left_over(store, path, meta)
            if before is not None:
                before()
            # Groups of the draft count only with its entry document. If another writer has just made it, it is used.
            for key, value in () if any(nodes_above) else form.entry_documents().items():
                put(store, {}, {key: value})
            try:
                _store(store, path, new)
            except NodeExistsError:
                # Chunks of what another writer has just made must not get the new document: remove them, too.
                if not overwrite or attempt == _ATTEMPTS - 1:
                    raise
            else:
                break
        far, then = (then, None) if is_remote(store) else (None, then)
        with alongside(store, lambda: after.extend(_above_again(store, path, meta, None if far else new[path]))):
            if far is not None:
                far(stored)
    if then is not None:
        then(stored)
    return stored


@contextmanager
def any_name() -> Iterator[None]:
    """Allow new nodes with reserved names within a ``with`` block, in this thread alone."""
    token = _ANY_NAME.set(True)
    try:
        yield
    finally:
        _ANY_NAME.reset(token)


def _refuse_reserved(form: Format, new: set[str]) -> None:
    for path in new:
        reason = form.reserved(path.rpartition("/")[2]) if path else None
        if reason is not None:
            advice = "such names are read, and blizzarr.config.set(reserved_names=True) allows new ones"
            raise PathError(f"{path!r} is no path of a new node: {reason}; {advice}")


def _look(store: Store, path: str, meta: Node) -> tuple[NodesAbove, dict[str, Listing] | None]:
    """Return the nodes at a path and above it, and the listings of `_list_place` if they have been made."""
    form, above = format_of(meta), ancestors(path)
    if not is_remote(store):
        return find_many(store, [path, *above], absent=True), None
    look: Callable[[], Any] = partial(_list_place, store, path, form)
    if form.entry_key is not None:
        nodes, listings = each_call(store, (partial(find_many, store, [path, *above], absent=True), look))
        return nodes, listings
    # If something is there after all, the listing is made in vain, which would take long where all chunks are beside
    # the document.
    is_flat = isinstance(meta, ArrayMeta) and meta.chunk_keys.separator != "/"
    first = partial(find_many, store, [path], [form]) if is_flat else look
    result, nodes_above = each_call(store, (first, partial(find_likely, store, above, form)))
    if is_flat and result[0] is not None:
        return [*result, *nodes_above], None
    listings = look() if is_flat else result
    # The listings show documents of all formats but the draft, of which no group is above then.
    there = (
        documents_among(path, [key for keys, _ in listings.values() for key in keys]) if listings is not None else []
    )
    if listings is None or (there and not path):
        return [*find_many(store, [path], absent=True), *nodes_above], listings
    pairs = zip(there, get_many(store, there), strict=True)
    known = {key: as_bytes(value) for key, value in pairs if value is not None}
    return [*(find_many(store, [path], known=known) if known else [None]), *nodes_above], listings


def _above_again(store: Store, path: str, meta: Node, documents: dict[str, bytes] | None) -> NodesAbove:
    """Make groups above a new node again that another writer, who missed the node, has removed in the meantime.

    Return the nodes above; none if one was made: another may have been consolidated before that.

    Raise `NodeTypeError` if an array has taken the place of one. Then the documents of the node that are given are
    removed again.
    """
    form = format_of(meta)
    if not (wanted := form.groups_above(path)):
        return []
    above = ancestors(path)
    now = find_likely(store, above, form)
    gone = [group for group, there in zip(above, now, strict=True) if there is None and group in wanted]
    try:
        for group, there in zip(above, now, strict=True):
            if isinstance(there, StoredNode) and isinstance(there.meta, ArrayMeta):
                _check_above(store, group, there, path, form)
        _store(store, path, {group: encode(GroupMeta(format=meta.format), group) for group in gone})
    except NodeTypeError:
        _take_back(store, documents or {})
        raise
    return [] if gone else now


def _check_above(store: Store, group: str, there: StoredNode | BlizzarrError | None, path: str, form: Format) -> None:
    """Raise `NodeTypeError` unless a node above a path is a group of the format of the new node."""
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
            f"expected a group of format {form.name}, like the new node {path!r}, found one of {there.meta.format}: "
            f"a group cannot hold members of another format; pass zarr_format={there.meta.format!r} or omit it",
            array=f"/{group}",
            store=str(store),
        )


def _list_place(store: Store, path: str, form: Format) -> dict[str, Listing] | None:
    """Return what is directly under each prefix of a new node; None if the store cannot list."""
    try:
        prefixes = [*dict.fromkeys((path + "/" if path else "", form.chunk_prefix(path)))]
        return dict(zip(prefixes, each(store, store.list_dir, prefixes), strict=True))
    except UnsupportedOperationError:
        return None


def _taken(
    store: Store,
    path: str,
    meta: Node,
    here: StoredNode | BlizzarrError | None,
    listings: dict[str, Listing] | None = None,
) -> str | None:
    """Return a key or prefix by which the place is not free, perhaps with a remark; None if it is free.

    `listings` are those of `_list_place`, if they have been made.
    """
    if isinstance(here, StoredNode):
        if not here.documents:
            return _taken_by_implicit(store, path, meta, here)
        return next(iter(here.documents)) + " of a group, and all that is below it" * isinstance(here.meta, GroupMeta)
    if here is not None:
        return here.key or f"/{path}"
    form = format_of(meta)
    listings = listings or _list_place(store, path, form)
    if listings is None:
        return None
    for keys, _ in listings.values():
        for key in keys:
            if node_of(key, relatives(form, path) or (form,)) == path and not _is_left(store, key, encode(meta, path)):
                return key
            if key.rpartition("/")[2] == REMOVAL:
                return _REMOVED.format(key)
    if isinstance(meta, ArrayMeta):
        if any(inner for _, inner in listings.values()) and find_implied(store, path) is not None:
            raise NodeExistsError(
                "arrays or groups are below this path, although no document makes it a group, and an array here would "
                "hide them; choose another path, or remove each of them first",
                array=f"/{path}",
                store=str(store),
            )
        # Chunks without a document are left from an interrupted removal; the new array would read them as its own.
        prefix = form.chunk_prefix(path)
        pattern = meta.chunk_keys.pattern(len(meta.shape))
        head = meta.chunk_keys.head.rstrip("/")
        first = re.compile((re.escape(head) if meta.chunk_keys.head.endswith("/") else head + INDEX) + "/")
        keys, inner = chunk_store(store, path, meta).list_dir(prefix) if meta.storage_transformers else listings[prefix]
        for name in (*keys, *inner):
            bare = name[len(prefix) :]
            if pattern.fullmatch(bare) or first.fullmatch(bare):
                return name
    return None


def _is_left(store: Store, key: str, documents: dict[str, bytes]) -> bool:
    """Return whether this document, not the last, is one that an interrupted creation of the same node has left."""
    return key in [*documents][:-1] and store.get(key) == documents[key]


def _taken_by_implicit(store: Store, path: str, meta: Node, here: StoredNode) -> str | None:
    """Return the prefix of the nodes that imply a group here; None if the new node may take the place of the group."""
    form = format_of(here.meta)
    if store.get(removal_key(path)) is not None:
        return _REMOVED.format(removal_key(path))
    if here.meta.format == meta.format and (isinstance(meta, GroupMeta) or not is_implicit(store, form, path)):
        return None
    return form.listing_prefix(path)


def _store(store: Store, path: str, new: dict[str, dict[str, bytes]]) -> None:
    """Store the documents of the node and of the groups above it, outermost first.

    If one cannot be stored, those before it are removed again. Each is stored only if there is still none: if several
    writers make the same node, one of them succeeds, and the others get an error.
    """
    done: dict[str, bytes] = {}
    try:
        for node_path, documents in new.items():
            if _put_all(store, documents):
                done |= documents
                continue
            mine = documents.items() if node_path == path else ()
            left = {key: value for key, value in mine if _is_left(store, key, documents)}
            if left and put(store, left, documents):
                continue
            _check_made(store, node_path, path)
    except (NodeExistsError, NodeTypeError):
        # The groups stay: the writer that was faster may have put nodes into them.
        raise
    except BaseException:
        _take_back(store, done)
        raise


def _put_all(store: Store, documents: dict[str, bytes]) -> Replaced:
    """Store the documents of one node as `put` does; after an error, none of several stays."""
    try:
        return put(store, {}, documents)
    except BaseException:
        if len(documents) > 1:
            _take_back(store, documents)
        raise


def _take_back(store: Store, documents: dict[str, bytes]) -> None:
    """Remove documents after an error, unless the store cannot delete; what other writers have stored stays.

    The own document of a node is stored last, and goes first.
    """
    if getattr(store, "supports_delete", True):
        for key, value in reversed(documents.items()):
            with suppress(BlizzarrError):
                try_discard(store, key, value)


def _check_made(store: Store, made: str, path: str) -> None:
    """Accept a node that another writer has just made at `made` only if it is a group above `path`."""
    if made == path:
        raise NodeExistsError(
            "another writer made it in the meantime; overwrite=True replaces it", array=f"/{path}", store=str(store)
        )
    there = find_again(store, made)
    if there is not None and isinstance(there.meta, ArrayMeta):
        raise NodeTypeError(
            f"expected a group, found an array that another writer just made; nothing can be below it, as {path!r}",
            array=f"/{made}",
        )
