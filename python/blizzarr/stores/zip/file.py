"""A file that many threads read at any place, and one writes at its end."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TypeAlias

from blizzarr import _native
from blizzarr.errors import ConflictError, StoreError
from blizzarr.stores.regular import open_regular

if sys.platform != "win32":
    import fcntl


Row: TypeAlias = tuple[str, int, bytes, int, int, int]
"""A key and where its value lies: the offset of the local record, the name in the file, flags, checksum and length."""


class AppendFile:
    """An open file; if it is open for writing, it is locked against other writers.

    Raise `ConflictError` if another writer has it open.
    """

    def __init__(self, path: Path, descriptor: int, *, writes: bool) -> None:
        self.path = path
        # Only one thread appends, and reads by `pread` leave the position in the file alone.
        self._seek = nullcontext() if hasattr(os, "pread") else threading.Lock()
        self._descriptor = descriptor
        self._natives: list[_native.OpenFile] = []
        # On Windows it is locked by being open for writing.
        if writes and sys.platform != "win32":
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                self.close()
                raise _other_writer(path) from error
            except OSError:
                pass  # a file system without locks: one writer at a time is then up to the user, as the docs say
        status = os.fstat(descriptor)
        self.size = status.st_size
        self._modified = None if writes else status.st_mtime_ns

    @classmethod
    def open(cls, path: Path, *, writes: bool = False) -> AppendFile:
        """Open a file that is there."""
        try:
            descriptor = open_regular(path, os.O_RDWR if writes else os.O_RDONLY)
        except BlockingIOError as error:
            raise _other_writer(path) from error
        return cls(path, descriptor, writes=writes)

    @property
    def is_open(self) -> bool:
        """True until it is closed."""
        return self._descriptor >= 0

    def native(self, rows: Callable[[], Sequence[Row]]) -> _native.OpenFile | None:
        """Return the file for the engine, with these rows; None if it is closed, open for writing, or on Windows."""
        descriptor = self._descriptor
        # A copy of the descriptor of a file that is locked would keep the lock.
        if descriptor < 0 or self._modified is None or sys.platform == "win32":
            return None
        if not self._natives:
            self._natives.append(_native.OpenFile(descriptor, rows()))
        native = self._natives[0]
        if self._descriptor != descriptor:  # it was closed meanwhile, and the copy may be of another file
            self.withdraw()
            return None
        return native

    def withdraw(self) -> None:
        """Take the file away from the engine, which then asks for each value."""
        self._natives.clear()

    def is_unchanged(self) -> bool:
        """Return whether the file at the path is this one, and nobody else has written to it."""
        status = os.stat(self.path)
        return (
            self.is_open
            and os.path.samestat(os.fstat(self._descriptor), status)
            and status.st_size == self.size
            and self._modified in (None, status.st_mtime_ns)
        )

    @property
    def has_name(self) -> bool:
        """True if the file can be opened by some name, at its path or elsewhere."""
        return os.fstat(self._descriptor).st_nlink > 0

    def read_at(self, offset: int, length: int) -> bytes:
        """Read up to `length` bytes from `offset` on; fewer at the end of the file.

        Raise `StoreError` if the file has been closed.
        """
        if not self.is_open:
            raise StoreError("the zip file has been closed", store=str(self.path))
        parts: list[bytes] = []
        while length > 0:
            part = self._pread(min(length, 1 << 30), offset)
            if not part:
                break
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def append(self, *parts: bytes | memoryview) -> None:
        """Write all parts at the end, or nothing if that fails; raise `StoreError` if the file has been closed."""
        if not self.is_open:
            raise StoreError("the zip file has been closed", store=str(self.path))
        with self._seek:
            end = os.lseek(self._descriptor, self.size, os.SEEK_SET)
            try:
                for part in parts:
                    view = memoryview(part).cast("B")
                    while view:
                        view = view[os.write(self._descriptor, view[: 1 << 30]) :]
            except BaseException:
                os.ftruncate(self._descriptor, end)
                raise
            self.size += sum(len(part) for part in parts)

    def cut(self, size: int) -> None:
        """Remove what is behind the first `size` bytes."""
        os.ftruncate(self._descriptor, size)
        self.size = size

    def sync(self) -> None:
        """Wait until everything that was appended would survive a power cut."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file, and release its lock."""
        if self.is_open:
            # Once only: after an error the number may already belong to another file.
            descriptor, self._descriptor = self._descriptor, -1
            self.withdraw()
            os.close(descriptor)

    def _pread(self, length: int, offset: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, length, offset)
        with self._seek:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            return os.read(self._descriptor, length)


def _other_writer(path: Path) -> ConflictError:
    return ConflictError("another writer has this zip file open; close it first", store=str(path))


def sync_directory(path: Path) -> None:
    """Wait until a new name in the directory would survive a power cut, if the system can promise that."""
    if os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # File systems that have nothing to synchronise in a directory say so.
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EOPNOTSUPP):
            raise
    finally:
        os.close(descriptor)
