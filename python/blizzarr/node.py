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
        """The store that the node is in."""
        return self._store

    @property
    def path(self) -> str:
        """The path of the node in its store, like ``a/b``; empty for the root."""
        return self._path

    @property
    def name(self) -> str:
        """The path with a slash in front, like ``/a/b``."""
        return "/" + self._path

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self._path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """Whether the node was opened for reading only."""
        return bool(getattr(self._store, "read_only", False))
