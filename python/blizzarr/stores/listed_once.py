"""One listing in place of many, for stores whose every listing of a prefix goes through all keys."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from blizzarr.stores.base import BaseStore
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.keys import check_prefix
from blizzarr.stores.listing import list_sorted_dir
from blizzarr.stores.protocol import Listing, Store
from blizzarr.stores.wrapper import StoreWrapper


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
