"""The result of `TensorStore.storage_statistics`."""

from __future__ import annotations

from typing import Any

__all__ = ["StorageStatistics"]


class StorageStatistics:
    """Whether none and whether all of a view is stored; None for what was not asked.

    Examples
    --------
    >>> StorageStatistics(not_stored=True)
    TensorStore.StorageStatistics(not_stored=True, fully_stored=None)
    """

    __slots__ = ("fully_stored", "not_stored")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, *, not_stored: bool | None = None, fully_stored: bool | None = None) -> None:
        self.not_stored = not_stored
        self.fully_stored = fully_stored

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StorageStatistics):
            return NotImplemented
        return (self.not_stored, self.fully_stored) == (other.not_stored, other.fully_stored)

    def __repr__(self) -> str:
        return f"TensorStore.StorageStatistics(not_stored={self.not_stored}, fully_stored={self.fully_stored})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self.not_stored, self.fully_stored)


StorageStatistics.__qualname__ = "TensorStore.StorageStatistics"


def _made(not_stored: bool | None, fully_stored: bool | None) -> StorageStatistics:
    return StorageStatistics(not_stored=not_stored, fully_stored=fully_stored)
