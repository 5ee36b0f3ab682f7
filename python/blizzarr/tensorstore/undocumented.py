"""Writing chunks of an array that has no document."""

from __future__ import annotations

from blizzarr.array import Array
from blizzarr.stores import Store, StoreWrapper

__all__ = ["unlocked", "without_document"]


class _Undocumented(StoreWrapper):
    """A store whose locks exclude threads only: those against processes are on the document, which may be missing."""

    @property
    def locks(self) -> None:
        """None: documents are not locked."""
        return


def without_document(array: Array) -> Array:
    """Return the array without locks on its document: only threads of this process exclude each other."""
    return array._in(unlocked(array.store))


def unlocked(store: Store) -> Store:
    """Return the store without locks on documents."""
    return _Undocumented(store)
