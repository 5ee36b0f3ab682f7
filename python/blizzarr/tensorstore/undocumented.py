"""Writing chunks of an array that has no document."""

from __future__ import annotations

from blizzarr.array import Array
from blizzarr.stores import Store, StoreWrapper

__all__ = ["unlocked", "without_document"]


class _Undocumented(StoreWrapper):
    """Locks of threads alone: those that also exclude other processes are on the document, which need not be there."""

    @property
    def locks(self) -> None:
        """None."""
        return


def without_document(array: Array) -> Array:
    """The array, written without locking its document: only threads of this process exclude each other."""
    return array._in(unlocked(array.store))


def unlocked(store: Store) -> Store:
    """The store, without locks on documents."""
    return _Undocumented(store)
