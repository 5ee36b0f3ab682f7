"""A zip file as a store."""

from __future__ import annotations

import builtins
import errno
import os
import weakref
import zlib
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal

from blizzarr import _native
from blizzarr.errors import ArchiveError, BlizzarrError, StoreError, UnsupportedOperationError
from blizzarr.fork import in_child
from blizzarr.problems import warn
from blizzarr.stores.base import BaseStore
from blizzarr.stores.failures import failures
from blizzarr.stores.keys import check_key, check_prefix, list_sorted, list_sorted_dir
from blizzarr.stores.locks import SoleLock
from blizzarr.stores.protocol import ByteRange, Listing, Value
from blizzarr.stores.ranges import check_lengths
from blizzarr.stores.zip.archive import Archive

DEFAULT_LIMIT = 1 << 30

_numbers = count()
"""Numbers of opened files, to distinguish versions of values in different ones."""


class ZipStore(BaseStore):
    """The entries of a zip file, stored or deflated; one writer at a time, any number of readers.

    - Nothing is ever removed from the file. `delete` of a key that is there raises `UnsupportedOperationError`, and
      setting a key again appends the new value, which counts from then on; the old one keeps its space in the file.
    - Others see new values after `flush` or `close`, which write the directory at the end of the file. If a writer is
      killed, the file has what the last `flush` listed; opening it again warns that there was more.
    - A new file gets its name with the first `flush` or `close`, not before; with mode ``"w"`` it then replaces an
      existing one, which stays if a ``with`` block over the store ends with an error.
    - Entries that could lead out of the store (``../x``, ``/x``) are skipped, and backslashes in names, which old
      programs for Windows wrote, are read as slashes, both with a warning.
      Entries that cannot be read (links, encrypted, another compression, wrong size or checksum) are an error, never
      missing. So is a directory that does not agree with the file, to which nothing is written.
    - Reading a range of an uncompressed entry reads only that range, and so cannot verify the checksum of the entry.

    Parameters
    ----------
    path
        The file.
    mode
        ``"r"`` to read, ``"a"`` to add (the file is created if missing), ``"w"`` to replace.
    compression
        The compression of new values: ``"stored"`` (none, as chunks are compressed already) or ``"deflated"``.
    limit
        The largest size in bytes of a deflated entry; larger ones are refused.

    Raises
    ------
    ValueError
        If `mode` or `compression` is another one.
    ArchiveError
        If the path is a directory, or the file is not a zip file or a damaged one.
    StoreError
        If the file cannot be opened, or does not exist and is to be read.

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "data.zip")
    >>> with ZipStore(path, mode="w") as store:
    ...     store.set("a/b", b"value")
    >>> ZipStore(path).get("a/b")
    b'value'
    """

    supports_delete = False
    near = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: Literal["r", "a", "w"] = "r",
        *,
        compression: Literal["stored", "deflated"] = "stored",
        limit: int = DEFAULT_LIMIT,
    ) -> None:
        if mode not in ("r", "a", "w"):
            raise ValueError(f"expected mode 'r', 'a' or 'w', found {mode!r}")
        if compression not in ("stored", "deflated"):
            raise ValueError(f"expected compression 'stored' or 'deflated', found {compression!r}")
        self.path = Path(os.path.abspath(os.path.expanduser(os.fsdecode(path))))
        self.read_only = mode == "r"
        self.compression = compression
        self.limit = limit
        self._lock = SoleLock("writing")
        self._sorted: builtins.list[str] = []
        self._number = next(_numbers)
        if os.path.isdir(self.path):
            raise ArchiveError(
                "expected a zip file, found a directory; open it as a directory (in a URL leave '|zip:' away)",
                store=str(self),
                errno=errno.EISDIR,
            )
        with failures("open", "", self):
            self._archive = Archive.open(self.path, mode)
        _open.add(self)
        # Also when the program ends, so that forgetting `close` loses nothing.
        self._finish = weakref.finalize(self, _finish, self._archive)
        if complaints := self._archive.complaints:
            shown = "; ".join(complaints[:5]) + (f"; and {len(complaints) - 5} more" if len(complaints) > 5 else "")
            warn(f"{self.path}: {shown}")

    @property
    def is_current(self) -> bool:
        """True if the file is still the one that is open here, and others have added nothing."""
        return self._archive.is_current

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"ZipStore({str(self.path)!r}{'' if self.read_only else ', writable'})"

    def get(self, key: str) -> Value | None:
        check_key(key)
        with failures("read", key, self):
            return self._archive.read(key, self.limit)

    def get_up_to(self, key: str, limit: int) -> Value | None:
        """Return the value, or the first ``limit + 1`` bytes of one that is longer than `limit`; None if there is none.

        No more than these are decompressed, and the checksum of a longer value is not verified.
        """
        check_key(key)
        with failures("read", key, self):
            return self._archive.read_up_to(key, limit, self.limit)

    def native_file(self) -> _native.OpenFile | None:
        """Return the file for the engine; None where it asks for each value, as of classes that may give other ones."""
        own = all(getattr(type(self), name) is getattr(ZipStore, name) for name in ("get", "get_up_to", "get_ranges"))
        return self._archive.native_file() if own else None

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        check_key(key)
        check_lengths(ranges)
        with failures("read", key, self):
            return self._archive.read_ranges(key, ranges, self.limit)

    def size(self, key: str) -> int | None:
        """Return the length of the value in bytes, without reading it; None if there is no value."""
        entry = self._archive.find(check_key(key))
        return None if entry is None else entry.size

    def version(self, key: str) -> str | None:
        """Return a text that differs between two versions of the value; None if there is no value."""
        entry = self._archive.find(check_key(key))
        return None if entry is None else f"{self._number} {entry.offset}"

    def is_link(self, key: str) -> bool:
        """Return True if the key is a symbolic link, or lies behind one; so it is not missing."""
        return self._archive.link_above(key) is not None

    def set(self, key: str, value: Value) -> None:
        """Append the value; it replaces an earlier one of that key."""
        self._check_writable(check_key(key))
        plain = memoryview(value).cast("B")
        crc = zlib.crc32(plain)
        packed = None
        if self.compression == "deflated":
            stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
            packed = stream.compress(plain) + stream.flush()
        with failures("write", key, self):
            self._lock.alone(partial(self._archive.append, key, plain, crc, packed), key=key, store=self)

    def delete(self, key: str) -> bool:
        """Return False if there is no such key; otherwise raise `UnsupportedOperationError`."""
        self._check_writable(check_key(key))
        if self._archive.find(key) is None:
            return False
        raise UnsupportedOperationError(
            "a zip file cannot delete; copy what you want to keep into a new file", key=key, store=str(self)
        )

    def unlist(self, key: str) -> None:
        """Leave a key out of the directories that are written from now on; its value keeps its space in the file.

        Raises
        ------
        KeyError
            If there is no such key. For other errors see `Store`.
        """
        self._check_writable(check_key(key))
        with failures("write", key, self):
            self._lock.alone(partial(self._archive.unlist, key), key=key, store=self)
            self._sorted = []

    def list(self, prefix: str = "") -> builtins.list[str]:
        self._archive.check_listing(all_keys=True)
        return builtins.list(list_sorted(self._keys(), check_prefix(prefix)))

    def list_dir(self, prefix: str = "") -> Listing:
        self._archive.check_listing(all_keys=False)
        return list_sorted_dir(self._keys(), check_prefix(prefix))

    def flush(self) -> None:
        """Write the directory, and wait until the whole file is on the disk."""
        with failures("write", "", self):
            self._lock.alone(self._archive.flush, store=self)

    def close(self) -> None:
        """Write the directory if anything was set, and close the file; the store cannot be used afterwards."""
        with failures("close", "", self):
            self._lock.alone(self._archive.close, store=self)

    def abandon(self) -> None:
        """Close a new file that was to replace one that is there, and leave that one; do nothing in any other case."""
        self._lock.alone(self._archive.abandon, store=self)

    def give_up(self) -> None:
        """Close the file for good; discard a new one whose directory cannot be written, which is an error."""
        self._finish.detach()
        with failures("close", "", self):
            self._lock.alone(self._archive.finish, store=self)

    def __reduce__(self) -> tuple[object, ...]:
        if not self.read_only and self._archive.is_open:
            reason = "a zip file that is open for writing cannot be pickled; close it first, or open it with mode 'r'"
            raise StoreError(reason, store=str(self))
        return partial(ZipStore, compression=self.compression, limit=self.limit), (str(self.path),)

    def _keys(self) -> builtins.list[str]:
        keys = self._sorted
        # Entries are only ever added, so that as many as before are the same. Without the lock: a signal handler may
        # list while this thread writes.
        if len(keys) != len(self._archive.entries):
            keys = self._sorted = sorted(self._archive.entries)
        return keys


def _finish(archive: Archive) -> None:
    """Close a file that nobody has closed. Python can only print what this raises, so the text says what was lost."""
    try:
        with failures("close", "", archive.path):
            archive.finish()
    except BlizzarrError as error:
        error.reason = f"{error.reason}; what was set since the last flush is lost (call close() to handle that)"
        raise


_open: weakref.WeakSet[ZipStore] = weakref.WeakSet()


def _renew_locks() -> None:
    """Make new locks in a forked child, where no thread would release those that were held."""
    for store in _open:
        store._lock = SoleLock("writing")


in_child(_renew_locks)
