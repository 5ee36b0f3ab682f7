"""What arrays and groups have in common: a place in a store."""

from __future__ import annotations

from blizzarr.stores import Store

__all__ = ["Node"]


class Node:
    """Where a node is."""

    __slots__ = ("_path", "_store")

    _store: Store
    _path: str

    @property
    def store(self) -> Store:
        """Where it is stored."""
        return self._store

    @property
    def path(self) -> str:
        """Its place in the store, like ``a/b``; empty for the root."""
        return self._path

    @property
    def name(self) -> str:
        """Its path with a slash in front, like ``/a/b``."""
        return "/" + self._path

    @property
    def basename(self) -> str:
        """The last part of its path."""
        return self._path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading only."""
        return bool(getattr(self._store, "read_only", False))
