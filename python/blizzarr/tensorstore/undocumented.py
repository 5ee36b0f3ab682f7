"""Chunks of an array that need not have a document."""

from __future__ import annotations

from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.handle import StoreHandle
from blizzarr.tensorstore.opened_array import OpenedArray


class _Undocumented(StoreHandle):
    """A store of arrays that are not compared with their documents."""

    has_documents = False


class _Unlocked(StoreWrapper):
    """A store whose locks exclude threads only: those against processes are on the document, which may be missing."""

    has_documents = False

    @property
    def locks(self) -> None:
        """None: documents are not locked."""
        return


def without_document(array: OpenedArray) -> OpenedArray:
    """Return the array without locks on its document: only threads of this process exclude each other."""
    return array.in_store(unlocked(array.store))


def undocumented(store: Store) -> Store:
    """Return the store for arrays that are not compared with their documents."""
    return _Undocumented(store)


def unlocked(store: Store) -> Store:
    """Return the store without locks on documents."""
    return _Unlocked(store)
