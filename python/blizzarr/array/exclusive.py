"""One change of an array's shape at a time, so that two appends do not write their rows to the same place.

Threads of this process exclude each other for every store. Processes exclude each other on local directories, by a
lock on the directory of the array's document that the system drops when its holder dies; nothing is left behind. Where
a format keeps the documents of several arrays in one directory, processes change one of them at a time. For other
stores the change of the document is conditional, so that of two processes one gets a `ConflictError`.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from contextlib import AbstractContextManager, suppress

from blizzarr.errors import StoreError
from blizzarr.stores import LocalStore, Store, StoreWrapper
from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.within import open_directory, opened

__all__ = ["exclusive"]

_locks = NamedLocks()

_UNSUPPORTED = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF)
"""What file systems say that cannot lock a directory. The last one: NFS, where only files open for writing can be."""


def exclusive(store: Store, path: str, key: str) -> AbstractContextManager[object]:
    """Wait until nobody else changes the shape of the array at `path`, and keep others waiting.

    `key` is that of its document.
    """
    while isinstance(store, StoreWrapper):
        store = store.store
    if not isinstance(store, LocalStore):
        # By path alone, since two stores may be handles of one place.
        return _locks[path]
    prefix = key.rpartition("/")[0]
    if store.locking != "required" or sys.platform == "win32":
        return _locks[_identity(store, prefix)]
    return _Directory(store, path, prefix)


class _Directory:
    """A directory that is locked for a while, among threads and processes."""

    __slots__ = ("_descriptor", "_lock", "_path", "_prefix", "_store")

    _descriptor: int | None
    _lock: threading.RLock | None
    """The lock among threads, while this has it."""

    def __init__(self, store: LocalStore, path: str, prefix: str) -> None:
        self._store, self._path, self._prefix = store, path, prefix
        self._descriptor = self._lock = None

    def __enter__(self) -> None:
        try:
            while not self._take():
                self._release()
        except BaseException:
            # At once, not when the error goes, whose traceback has this: others wait.
            self._release()
            raise

    def _take(self) -> bool:
        """Whether it is locked now; whoever waited may have waited for a directory that is in no place any more."""
        descriptor = self._descriptor = _open(self._store, self._path, self._prefix)
        identity = _named(os.fstat(descriptor))
        lock = _locks[identity]
        lock.acquire()
        self._lock = lock
        _lock(descriptor, self._store, self._path)
        return _identity(self._store, self._prefix) == identity

    def __exit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        lock, self._lock = self._lock, None
        descriptor, self._descriptor = self._descriptor, None
        try:
            if lock is not None:
                lock.release()
        finally:
            if descriptor is not None:
                _unlock(descriptor)

    # What was interrupted between being entered and the block is not left.
    __del__ = _release


def _identity(store: LocalStore, prefix: str) -> tuple[int, int] | str:
    """Which directory it is, however it is reached."""
    try:
        if store.links == "follow":
            return _named(os.stat(f"{store}/{prefix}"))
        with opened(store, prefix) as descriptor:
            return _named(os.fstat(descriptor))
    except FileNotFoundError:
        return f"{store}/{prefix}"  # which fails when its document is to be read


def _named(directory: os.stat_result) -> tuple[int, int]:
    return directory.st_dev, directory.st_ino


class _Held:
    """Directories that are locked, or about to be. A forked child has them open, too, and would keep them locked."""

    def __init__(self) -> None:
        self.descriptors: set[int] = set()
        # Reentrant, as what handles a signal, or is collected, may fork or append while this thread has it.
        self.changing = threading.RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self.changing.acquire(),
                after_in_parent=lambda: self.changing.release(),
                after_in_child=self._forget,
            )

    def _forget(self) -> None:
        self.changing = threading.RLock()
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = set()


_held = _Held()


def _open(store: LocalStore, path: str, prefix: str) -> int:
    """The directory, open to be locked; for `_unlock` to close."""
    try:
        with _held.changing:
            follows = store.links == "follow"
            descriptor = os.open(f"{store}/{prefix}", os.O_RDONLY) if follows else open_directory(store, prefix)
            _held.descriptors.add(descriptor)
    except OSError as error:
        raise StoreError(
            f"cannot open the array's directory to lock it: {error.strerror}",
            errno=error.errno,
            array="/" + path,
            store=str(store),
        ) from error
    return descriptor


def _lock(descriptor: int, store: LocalStore, path: str) -> None:
    """Wait until no other process has the directory locked."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        advice = ""
        if error.errno in _UNSUPPORTED:
            advice = (
                ": this file system cannot lock directories. If no other process writes here, say so: "
                "LocalStore(root, locking='threads')"
            )
        raise StoreError(
            f"cannot lock the array's directory ({error.strerror}), without which another process could "
            f"append to the same place{advice}",
            errno=error.errno,
            array="/" + path,
            store=str(store),
        ) from error


def _unlock(descriptor: int) -> None:
    import fcntl

    with _held.changing:
        if descriptor not in _held.descriptors:
            # This is a child of the process that locked it.
            return
        _held.descriptors.remove(descriptor)
        try:
            # Closing alone would not unlock what a child has open, too, until it has forgotten it.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)
