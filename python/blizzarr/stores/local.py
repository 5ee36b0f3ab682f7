"""A directory as a store: one file per key."""

from __future__ import annotations

import os
from pathlib import Path

from blizzarr import _native
from blizzarr.errors import StoreError
from blizzarr.stores.native import NativeStore

__all__ = ["LocalStore"]


class LocalStore(NativeStore):
    """A directory of the local file system; the key ``a/b`` is the file ``a/b`` below `root`.

    A value is replaced as a whole: whoever reads, and whoever looks after a crash, finds the old or the new one.
    Nothing is created before the first `set`, the directory itself included.

    Parameters
    ----------
    root
        The directory. It need not exist yet.
    read_only
        Refuse `set` and `delete`.

    Examples
    --------
    >>> import tempfile
    >>> store = LocalStore(tempfile.mkdtemp())
    >>> store.set("a/b", b"value")
    >>> store.get("a/b"), store.get("a/c")
    (b'value', None)
    >>> store.list_dir("a")
    Listing(keys=('a/b',), prefixes=())
    """

    def __init__(self, root: str | os.PathLike[str], *, read_only: bool = False) -> None:
        # Absolute, so that the store means the same place after a change of directory and after pickling.
        self.root = Path(os.path.abspath(os.fspath(root)))
        if self.root.is_file():
            raise StoreError(f"expected a directory, found a file: {self.root}")
        self.read_only = read_only
        self.native = _native.LocalStore(str(self.root))

    def __str__(self) -> str:
        return str(self.root)

    def __repr__(self) -> str:
        return f"LocalStore({str(self.root)!r}{', read_only=True' if self.read_only else ''})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LocalStore):
            return NotImplemented
        return self.root == other.root and self.read_only == other.read_only

    def __hash__(self) -> int:
        return hash((LocalStore, self.root, self.read_only))

    def __reduce__(self) -> tuple[object, ...]:
        return _open_local, (str(self.root), self.read_only)


def _open_local(root: str, read_only: bool) -> LocalStore:
    return LocalStore(root, read_only=read_only)
