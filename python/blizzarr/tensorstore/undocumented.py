"""Writing chunks of an array that has no document."""

from __future__ import annotations

from blizzarr.array import Array
from blizzarr.stores import StoreWrapper

__all__ = ["without_document"]


class _Undocumented(StoreWrapper):
    """Locks of threads alone: those that also exclude other processes are on the document, which need not be there."""

    @property
    def locks(self) -> None:
        """None."""
        return


def without_document(array: Array) -> Array:
    """The array, written without locking its document: only threads of this process exclude each other."""
    return Array(_Undocumented(array.store), array.path, array.metadata)
