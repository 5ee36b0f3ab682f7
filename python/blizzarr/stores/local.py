"""A directory as a store: one file per key."""

from __future__ import annotations

import builtins
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from blizzarr import _native
from blizzarr.errors import StoreError
from blizzarr.stores.keys import check_key
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
        self._root = os.path.abspath(os.fspath(root))
        mode = _mode(self._root)
        if mode is not None and not stat.S_ISDIR(mode):
            raise StoreError(f"expected a directory, found a file: {self._root}")
        self.read_only = read_only
        self.native = _native.LocalStore(self._root)

    @property
    def root(self) -> Path:
        """The directory, as an absolute path."""
        return Path(self._root)

    def link(self, key: str, other: str) -> bool:
        """Give the file of a key a second name, as another key; False where this file system cannot.

        As no value is ever changed in place, the two are as good as copies.
        """
        self._check_writable(check_key(other))
        old, new = self.root / check_key(key), self.root / other
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            os.link(old, new)
        except FileExistsError:
            return os.path.samefile(old, new)
        except OSError:
            # Whatever stands against it, the value can still be copied, or says what is wrong when it is.
            return False
        return True

    def links(self, prefixes: Iterable[str]) -> builtins.list[str]:
        """Those of the prefixes that are symbolic links: what is below them lies elsewhere."""
        return sorted(
            prefix for prefix in prefixes if prefix and os.path.islink(os.path.join(self._root, prefix.rstrip("/")))
        )

    def __str__(self) -> str:
        return self._root

    def __repr__(self) -> str:
        return f"LocalStore({self._root!r}{', read_only=True' if self.read_only else ''})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LocalStore):
            return NotImplemented
        return self._root == other._root and self.read_only == other.read_only

    def __hash__(self) -> int:
        return hash((LocalStore, self._root, self.read_only))

    def __reduce__(self) -> tuple[object, ...]:
        return _open_local, (self._root, self.read_only)


def _mode(path: str) -> int | None:
    """What is there, as `os.stat` says; None when nothing is."""
    try:
        return os.stat(path).st_mode
    except OSError:
        return None


def _open_local(root: str, read_only: bool) -> LocalStore:
    return LocalStore(root, read_only=read_only)
