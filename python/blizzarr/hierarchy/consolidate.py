"""Copying the metadata of everything below a group into the group's own documents.

1. The document of the group is marked. Whoever changes a node below the group from now on removes the mark.
2. The nodes are read.
3. Their metadata is stored if the mark is still there, and otherwise all of this is repeated.

So metadata that is stored was right at that moment, and whoever dies on the way leaves at most a mark, which means
nothing to readers.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from blizzarr.errors import BlizzarrError, ConflictError, NodeNotFoundError, NodeTypeError
from blizzarr.formats import encode, find_again, find_implied, format_of, mark_of, marked, new_mark, unmarked
from blizzarr.hierarchy.barrier import nobody_changing
from blizzarr.hierarchy.changing import changing, withdraw
from blizzarr.hierarchy.documents import Node, put
from blizzarr.hierarchy.members import read_members
from blizzarr.model import GroupMeta
from blizzarr.stores import Store, check_writable
from blizzarr.stores.conditional import try_discard, try_replace, with_version
from blizzarr.stores.requests import is_remote

_ATTEMPTS = 10


def consolidate(store: Store, path: str, meta: GroupMeta) -> None:
    """Store the metadata of all nodes below a group in the documents of the group.

    Raise `BlizzarrError` if a member cannot be read; nothing changes then. Raise `NodeTypeError` if there are nodes of
    another format, which readers would take for nodes of this one. Raise `NodeNotFoundError` if the group was removed
    in the meantime. Raise `ConflictError` if others kept changing nodes below the group.
    """
    check_writable(store, path)
    # An error in a member, or of a format without consolidated metadata, is raised before anything changes. Far away,
    # to take off the mark takes less time than to read all members twice.
    encode(meta.with_consolidated({} if is_remote(store) else _below(store, path, meta)), path)
    for _ in range(_ATTEMPTS):
        with nobody_changing(store, path):
            group = _mark(store, path)
        if group is None:
            continue
        try:
            below = _below(store, path, group.meta)
            with changing(store, path, likely=format_of(meta)):
                if _publish(store, path, group, below):
                    return
        except BlizzarrError:
            with suppress(BlizzarrError):
                _unmark(store, group)
            raise
    withdraw(store, [path])
    raise ConflictError(
        f"other writers changed nodes below it {_ATTEMPTS} times in a row; try again when they are done",
        array=f"/{path}",
        store=str(store),
    )


class _Group(NamedTuple):
    """A group whose document was marked."""

    meta: GroupMeta
    documents: dict[str, bytes]
    """The documents as they are stored, with the mark."""
    key: str
    """The key of the document that makes the group."""
    before: bytes | None
    """The document as it was; `None` if there was none."""


def _mark(store: Store, path: str) -> _Group | None:
    """Mark the document that makes a group; return None if others have just changed it."""
    node = find_again(store, path) or find_implied(store, path)
    if node is None or not isinstance(node.meta, GroupMeta):
        raise NodeNotFoundError(
            "expected the group that was opened; it was removed, or replaced by an array",
            array=f"/{path}",
            store=str(store),
        )
    bare = encode(node.meta.with_consolidated(None), path)
    key = list(bare)[-1]
    before = node.documents.get(key)
    value = with_version(store, marked(bare[key] if before is None else before, new_mark()))
    done = put(store, node.documents, {key: value})
    return _Group(node.meta, {**node.documents, key: value}, key, before) if done else None


def _unmark(store: Store, group: _Group) -> None:
    """Restore the document of a group, unless somebody has changed it."""
    value = group.documents[group.key]
    if group.before is not None:
        try_replace(store, group.key, value, group.before)
    elif getattr(store, "supports_delete", True):
        try_discard(store, group.key, value)


def _publish(store: Store, path: str, group: _Group, below: dict[str, Node]) -> bool:
    """Store the metadata of the nodes below a group; return False if one of them has changed since it was marked."""
    new = encode(group.meta.with_consolidated(below), path)
    bare = encode(group.meta.with_consolidated(None), path)
    value = group.documents[group.key]
    beside = {key: marked(new[key], mark_of(value) or b"") for key in new if key not in bare}
    if not beside:
        return bool(put(store, group.documents, {group.key: unmarked(new[group.key])}))
    # In a document of its own it counts only as long as the mark is there, but other programs do not know that.
    return bool(put(store, group.documents, beside)) and store.get(group.key) == value


def _below(store: Store, path: str, meta: GroupMeta) -> dict[str, Node]:
    """Return the metadata of all nodes below the group, as it is stored now."""
    children = read_members(store, path, meta.with_consolidated(None), None)
    for child in children:
        if child.error is not None:
            raise _named(child.error, child.name)
    nodes = {child.name: child.meta for child in children if child.meta is not None}
    others = [name for name, node in nodes.items() if format_of(node).zarr_format != format_of(meta).zarr_format]
    if others:
        found = f"found {others[0]!r} in {nodes[others[0]].format}, and {len(others) - 1:,} more of other formats"
        raise NodeTypeError(
            f"expected nodes of one format to consolidate, as the group is in {meta.format}, {found}; upgrade these",
            array="/" + path,
            store=str(store),
        )
    return {name: node.with_consolidated(None) if isinstance(node, GroupMeta) else node for name, node in nodes.items()}


def _named(error: BlizzarrError, name: str) -> BlizzarrError:
    error.add_note(f"member {name!r} cannot be read, so the hierarchy cannot be consolidated")
    return error
