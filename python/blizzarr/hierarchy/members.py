"""Reading the members of a group, with one listing and one batch of documents per level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock

from blizzarr.errors import BlizzarrError
from blizzarr.formats import Child, below, format_of
from blizzarr.formats.consolidated import Consolidated
from blizzarr.hierarchy.documents import Node
from blizzarr.model import GroupMeta
from blizzarr.model.names import join
from blizzarr.stores.base import BaseStore
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.keys import check_prefix, list_sorted_dir
from blizzarr.stores.protocol import Listing, Store
from blizzarr.stores.wrapper import StoreWrapper


def member_names(store: Store, path: str, meta: GroupMeta) -> list[str]:
    """Return the names of the members, sorted, including members that cannot be read."""
    if meta.consolidated is not None:
        return sorted({name.partition("/")[0] for name in meta.consolidated})
    return [child.name for child in below(store, [(path, meta)])[0]]


def read_members(store: Store, path: str, meta: GroupMeta, max_depth: int | None = 0) -> list[Child]:
    """Return the members by path relative to the group, each group right before its members.

    A member that cannot be read is in the list, too, with the error in place of its metadata.

    - `store`, `path`, `meta`: the group.
    - `max_depth`: the number of levels to go below the members; None for all levels.
    """
    if meta.consolidated is not None:
        members = [*_entries(meta, max_depth)]
    else:
        if max_depth != 0:
            store = listed_once(store, format_of(meta).listing_prefix(path) or "")
        members = []
        level: Sequence[tuple[str, GroupMeta]] = [("", meta)]
        depth = 0
        while level and (max_depth is None or depth <= max_depth):
            inner = below(store, [(join(path, name), group) for name, group in level])
            children = [
                child._replace(name=f"{name}/{child.name}") if name else child
                for (name, _), several in zip(level, inner, strict=True)
                for child in several
            ]
            members += children
            level = [(child.name, child.meta) for child in children if isinstance(child.meta, GroupMeta)]
            depth += 1
    return sorted(members, key=lambda child: child.name.split("/"))


def _entries(meta: GroupMeta, max_depth: int | None) -> Iterator[Child]:
    copies = meta.consolidated
    assert copies is not None
    for name in copies:
        if max_depth is not None and name.count("/") > max_depth:
            continue
        try:
            node, notices = copies.decode(name) if isinstance(copies, Consolidated) else (copies[name], ())
            yield Child(name, node, notices=notices)
        except BlizzarrError as error:
            yield Child(name, None, error)


def consolidated_below(consolidated: Mapping[str, Node], path: str) -> Mapping[str, Node]:
    """Return the part of a group's consolidated metadata that is below a group in it."""
    if isinstance(consolidated, Consolidated):
        return consolidated.below(path)  # without decoding any of them
    start = path + "/"
    return {name[len(start) :]: node for name, node in consolidated.items() if name.startswith(start)}


def listed_once(store: Store, prefix: str) -> Store:
    """Return the store, or one that lists all keys under the prefix once and answers `list_dir` from that.

    >>> from blizzarr.stores import LocalStore, MappingStore
    >>> listed_once(MappingStore({"a/b/c": b""}), "a/").list_dir("a/b/").keys
    ('a/b/c',)
    >>> type(listed_once(LocalStore("/"), "")).__name__
    'LocalStore'
    """
    behind = store
    while isinstance(behind, StoreWrapper) and type(behind).list_dir is StoreWrapper.list_dir:
        behind = behind.store
    if isinstance(behind, ForeignStore):
        through_all = not behind.has_list_dir
    else:
        through_all = getattr(type(behind), "list_dir", None) is BaseStore.list_dir
    return _ListedOnce(store, prefix) if through_all else store


class _ListedOnce(StoreWrapper):
    def __init__(self, store: Store, prefix: str) -> None:
        super().__init__(store)
        self._prefix = prefix
        self._keys: Sequence[str] | None = None
        self._listing = Lock()

    def list_dir(self, prefix: str = "") -> Listing:
        prefix = check_prefix(prefix)
        if not prefix.startswith(self._prefix):
            return super().list_dir(prefix)
        with self._listing:
            if self._keys is None:
                self._keys = sorted(self.store.list(self._prefix))
        return list_sorted_dir(self._keys, prefix)
