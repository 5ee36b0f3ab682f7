"""Opening places: the store that a node of a spec means, and the path in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from blizzarr.errors import StoreError, UnsupportedOperationError
from blizzarr.json_values import quote
from blizzarr.spec.context import value_of
from blizzarr.spec.kvstore_node import KvNode
from blizzarr.spec.places import PLACES
from blizzarr.spec.status import raise_no_directory
from blizzarr.stores.local import LocalStore
from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.protocol import Store

if TYPE_CHECKING:
    from blizzarr.stores.zip import ZipStore


class Opened(NamedTuple):
    """A store, and the path in it; keys are below both."""

    store: Store
    path: str


def open_place(node: KvNode) -> Opened:
    """Return the store of a bound node, rooted so that keys that continue its path are keys of the store.

    Examples
    --------
    >>> from blizzarr.spec.binding import bind
    >>> from blizzarr.spec.context import Context
    >>> from blizzarr.spec.kvstore_json import kvstore_from_json
    >>> open_place(bind(kvstore_from_json("file:///data/a"), Context()))[1]
    'a'
    """
    if node.driver == "file":
        # A key may continue the last name of the path: the store is that of the directory around it.
        directory, slash, name = node.path.rpartition("/")
        return Opened(_directory(node, directory + slash), name)
    return Opened(_store(node), _inside(node))


def open_directory(node: KvNode) -> Opened:
    """Return the store of a bound node and the path in it, a directory whether it ends with a slash or not."""
    if node.driver == "file":
        return Opened(_directory(node, node.path), "")
    return Opened(_store(node), _inside(node).rstrip("/"))


def _inside(node: KvNode) -> str:
    """Return the path in the store, which is a whole bucket or server: paths of URLs begin with a slash."""
    return node.path.removeprefix("/") if node.driver == "http" else node.path


def _store(node: KvNode) -> Store:
    if PLACES[node.driver].is_remote:
        from blizzarr.spec.remote_places import open_remote

        return open_remote(node)
    if node.driver == "memory":
        store: Store = value_of(node.resources, "memory_key_value_store")
        return store
    return _zip(node)


def _directory(node: KvNode, path: str) -> LocalStore:
    locks = value_of(node.resources, "file_io_locking")["mode"]
    try:
        return LocalStore(
            path or ".",
            durability="full" if value_of(node.resources, "file_io_sync") else None,
            locking="threads" if locks in ("none", "non_atomic") else None,
        )
    except StoreError as error:
        raise_no_directory(error)
        raise


_archives: dict[str, ZipStore] = {}
"""The zip files that this process has open: one store for each file, as only one may write it."""

_locks = NamedLocks()


def _archive(path: str) -> ZipStore:
    """Return the store of this zip file as it is now."""
    from blizzarr.stores.zip import ZipStore

    with _locks[path]:
        store = _archives.get(path)
        if store is None or not store.is_current:
            store = _archives[path] = ZipStore(path, "a")
        return store


def _zip(node: KvNode) -> ZipStore:
    base = node.base
    if base is None or base.driver != "file":
        where = "nowhere" if base is None else f"in a place of the driver {quote(base.driver)}"
        raise UnsupportedOperationError(f"this release opens zip files in directories, found one {where}")
    return _archive(os.path.abspath(base.path))
