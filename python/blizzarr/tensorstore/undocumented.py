"""Chunks of an array that need not have a document."""

from __future__ import annotations

from blizzarr.array import Array
from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.wrapper import StoreHandle


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


def without_document(array: Array) -> Array:
    """Return the array without locks on its document: only threads of this process exclude each other."""
    return array._in(unlocked(array.store))


def undocumented(store: Store) -> Store:
    """Return the store for arrays that are not compared with their documents."""
    return _Undocumented(store)


def unlocked(store: Store) -> Store:
    """Return the store without locks on documents."""
    return _Unlocked(store)
