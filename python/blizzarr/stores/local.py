"""A directory as a store: one file per key."""

from __future__ import annotations

import builtins
import errno
import os
import stat
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from blizzarr import _native
from blizzarr.config import config
from blizzarr.durability import Durability
from blizzarr.errors import PathError, StoreError
from blizzarr.stores.keys import check_key, check_prefix
from blizzarr.stores.native import NativeStore
from blizzarr.stores.os_paths import IS_UTF8, advice_on_encoding, engine_path, os_path

if TYPE_CHECKING:
    from pathlib import Path

Links = Literal["follow", "within-root"]
"""The rule for symbolic links below the root of a directory."""


class LocalStore(NativeStore):
    """A directory of the local file system; the key ``a/b`` is the file ``a/b`` below `root`.

    Values are replaced atomically: every reader finds the old value or the new one, also after a process was killed
    (for power cuts, see `durability`). Nothing is created before the first `set`, not even the directory itself.

    Parameters
    ----------
    root
        The directory. It need not exist yet.
    read_only
        Refuse `set` and `delete`.
    durability
        The durability of everything that is written through this store: ``"none"``, ``"ordered"`` or ``"full"``; see
        `blizzarr.durable`. With None, it is `config.durability` at the time of the write.
    locking
        The locks that writers of a chunk, document or shape hold, so that no write is lost. ``"required"``: against
        every thread and process on this machine, and on other machines if the file system supports it; a file system
        without locks is an error. ``"threads"``: only against threads of this process, if you know that no other
        process writes to the same chunks. With None, it is `config.locking`, by default ``"required"``.
    links
        Where symbolic links below `root` may lead. ``"follow"``: anywhere; for directories that only people you trust
        can write to. ``"within-root"``: not out of `root`, which may itself be a link. Nothing outside is read,
        written, listed, locked or removed, even if others create links meanwhile; a link that leads out is an error
        that names it. Relative links that stay inside are followed. It needs Linux 5.6; elsewhere it is an error.

    Raises
    ------
    StoreError
        If `root` is a file.
    PathError
        If the path of `root` is not in UTF-8.
    UnsupportedOperationError
        If the system cannot keep links within the root.
    ValueError
        If `durability`, `locking` or `links` has another value.

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

    native: _native.LocalStore

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        read_only: bool = False,
        durability: Durability | None = None,
        locking: Literal["required", "threads"] | None = None,
        links: Links = "follow",
    ) -> None:
        # Absolute, so that the store means the same place after a change of directory and after pickling.
        path = self.given = root if type(root) is str else os.fsdecode(root)
        # Most paths begin at the root and are normal already; the functions of `os.path` take longer to say so.
        is_normal = path.startswith(os.sep) and not ("//" in path or "/." in path or path.endswith("/") or os.altsep)
        self._root = path if is_normal else os.path.abspath(os.path.expanduser(path))
        self.read_only = read_only
        self.durability: Durability | None = durability
        self._locking: Literal["required", "threads"] = config.locking if locking is None else locking
        self._links: Links = links
        self.facts: tuple[str, str, str] = (self._root, self._locking, links)
        """What tells two stores apart, besides `read_only`."""
        try:
            # Without a call in most processes: stores are made often.
            text = self._root if IS_UTF8 else engine_path(self._root)
            self.native = _native.LocalStore(text, durability, self._locking, links)
        except UnicodeEncodeError:
            raise PathError(f"expected a path in UTF-8, found {self._root!r}; {advice_on_encoding()}") from None
        if self.native.is_blocked:
            from blizzarr.stores.other_files import as_no_directory

            raise StoreError(f"expected a directory, found {as_no_directory(self._root)}", errno=errno.ENOTDIR)

    @property
    def root(self) -> Path:
        """The directory, as an absolute path."""
        from pathlib import Path

        return Path(self._root)

    def path_of(self, key: str) -> str:
        """Return the path of a key or prefix for the functions of `os`."""
        return os.path.join(self._root, os_path(key))

    @property
    def locking(self) -> Literal["required", "threads"]:
        """The locks that writers hold: ``"required"`` or ``"threads"``."""
        return self._locking

    @property
    def links(self) -> Links:
        """The rule for symbolic links: ``"follow"`` or ``"within-root"``."""
        return self._links

    def link_many(self, pairs: Sequence[tuple[str, str]]) -> builtins.list[bool]:
        """Make the second key of each pair a hard link to the file of the first; return which of them were made.

        No file is ever changed in place, so a link is as good as a copy. No links are made for symbolic links, nor in a
        store with ``links="within-root"``: copy those. That the file system cannot link is no error.
        """
        for key, other in pairs:
            check_key(key)
            self._check_writable(check_key(other))
        return self.native.link_many(pairs)

    def flush(self) -> None:
        """Wait until everything that was stored so far, with any durability, would survive a power cut.

        This synchronises the whole file system, so it may also wait for the writes of other programs.
        """
        self.native.flush()

    def leftovers(self, prefix: str = "") -> builtins.list[str]:
        """Return the names of temporary files that writers left when they died. They are never keys."""
        return self.native.leftovers(check_prefix(prefix))

    def sweep(self, prefix: str = "") -> builtins.list[str]:
        """Remove the leftovers of dead writers, and return their names; those of running writers stay."""
        prefix = check_prefix(prefix)
        self._check_writable(prefix)
        return self.native.sweep(prefix)

    def linked(self, prefixes: Iterable[str]) -> builtins.list[str]:
        """Return the prefixes that are symbolic links, so that everything below them lies elsewhere; sorted."""
        return sorted(prefix for prefix in prefixes if prefix and self._is_link(prefix.rstrip("/")))

    def _is_link(self, prefix: str) -> bool:
        if self._links == "follow":
            return os.path.islink(self.path_of(prefix))
        above, _, name = prefix.rpartition("/")
        descriptor = self.native.open_directory(above)
        if descriptor is None:
            return False
        try:
            return stat.S_ISLNK(os.lstat(os_path(name), dir_fd=descriptor).st_mode)
        except OSError:
            return False  # nothing there, or a name that cannot be
        finally:
            os.close(descriptor)

    def __str__(self) -> str:
        return self._root

    def __repr__(self) -> str:
        more = ", read_only=True" if self.read_only else ""
        if self._locking != "required":
            more += f", locking={self._locking!r}"
        if self._links != "follow":
            more += f", links={self._links!r}"
        return f"LocalStore({self._root!r}{more})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LocalStore):
            return NotImplemented
        return self.facts == other.facts and self.read_only == other.read_only

    def __hash__(self) -> int:
        return hash((LocalStore, *self.facts, self.read_only))

    def __reduce__(self) -> tuple[object, ...]:
        again = partial(
            LocalStore, read_only=self.read_only, durability=self.durability, locking=self._locking, links=self._links
        )
        # In bytes, since another process may have another locale.
        return again, (os.fsencode(self._root),)
