"""Locks for changing the shape of an array, so that two appends do not write to the same place.

Threads of this process exclude each other for every store. Processes exclude each other in local directories, by a
lock on the directory of the array's document, which the system releases when its holder dies; nothing is left behind.
If a format keeps the documents of several arrays in one directory, processes change one of them at a time. For other
stores the change of the document is conditional, so that one of two processes gets a `ConflictError`.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Generator
from contextlib import AbstractContextManager

from blizzarr.errors import ConflictError, StoreError
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.confined import opened
from blizzarr.stores.directory_locks import lock, open_to_lock, release
from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.place import place_of, shared_name
from blizzarr.stores.wrapper import unwrapped

_locks = NamedLocks("changing the shape of an array")

_PAUSE = 0.002

_UNSUPPORTED = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF)
"""The errors of file systems that cannot lock a directory. EBADF is that of NFS, which only locks writable files."""


def exclusive(store: Store, path: str, key: str) -> AbstractContextManager[object]:
    """Return a context manager that holds the lock for changing the shape of the array at `path`.

    `key` is the key of the array's document. Entering it waits until no other thread or process holds the lock.

    Raise `ConflictError` on entering, if this thread holds the lock already: it would wait for itself.
    """
    store = unwrapped(store)
    if not isinstance(store, LocalStore):
        # Two stores may be handles of one place.
        return _locks.sole(shared_name(store, path)).held((place_of(store), path), array=f"/{path}", store=store)
    prefix = key.rpartition("/")[0]
    if store.locking != "required":
        identity = _identity(store, prefix)
        return _locks.sole(identity).held((identity, key), array=f"/{path}", store=store)
    return _Directory(store, path, prefix)


class _Directory:
    """Holds the lock of a directory among threads and processes."""

    # In the class, because Ctrl-C may come before `__init__`, but never before `__del__`.
    _descriptor: int | None = None
    _lock: Generator[None, None, None] | None = None
    """The lock among threads, from right before it is taken; see `SoleLock.hold`."""

    def __init__(self, store: LocalStore, path: str, prefix: str) -> None:
        self._store, self._path, self._prefix = store, path, prefix

    def __enter__(self) -> None:
        try:
            while not self._take():
                self._release()
        except BaseException:
            # Now, not when the error is collected, whose traceback refers to this object: others wait.
            self._release()
            raise

    def _take(self) -> bool:
        """Lock the directory; return False if it was replaced in the meantime, and the new one must be locked."""
        identity = _identity(self._store, self._prefix)
        # For whatever array: a thread cannot have one directory locked twice.
        self._lock = _locks.sole(identity).hold(identity, array=f"/{self._path}", store=self._store)
        next(self._lock)
        self._descriptor = _open(self._store, self._path, self._prefix)
        _lock(self._descriptor, self._store, self._path)
        return _named(os.fstat(self._descriptor)) == identity == _identity(self._store, self._prefix)

    def __exit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        lock, self._lock = self._lock, None
        descriptor, self._descriptor = self._descriptor, None
        try:
            if lock is not None:
                lock.close()
        finally:
            if descriptor is not None:
                _unlock(descriptor)

    # An interrupt between `__enter__` and the block would leave the directory locked.
    __del__ = _release


def _identity(store: LocalStore, prefix: str) -> tuple[int, int] | str:
    """Return device and inode of a directory, which are the same for all paths to it."""
    try:
        if store.links == "follow":
            return _named(os.stat(store.path_of(prefix)))
        with opened(store, prefix) as descriptor:
            return _named(os.fstat(descriptor))
    except OSError:
        return store.path_of(prefix)  # to lock it, or to read the document in it, will fail


def _named(directory: os.stat_result) -> tuple[int, int]:
    return directory.st_dev, directory.st_ino


class _LockedDirectories:
    """Descriptors of directories that are locked, or about to be; a forked child must close them to unlock them."""

    def __init__(self) -> None:
        self.descriptors: set[int] = set()
        # Reentrant, because a signal handler or finalizer may fork or append while this thread holds it.
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


_locked_directories = _LockedDirectories()


def _open(store: LocalStore, path: str, prefix: str) -> int:
    """Open the directory, and return its descriptor, which `_unlock` closes.

    On Windows, where that locks it, wait for other processes.

    Raise `StoreError` if the directory cannot be opened.
    """
    waits = False
    try:
        while True:
            try:
                with _locked_directories.changing:
                    descriptor = open_to_lock(store, store.path_of(prefix), alone=True)
                    _locked_directories.descriptors.add(descriptor)
                return descriptor
            except BlockingIOError:
                waits = waits or _tell(store, path)
                time.sleep(_PAUSE)
    except FileNotFoundError as error:
        raise ConflictError(
            "expected the array that was opened, found nothing: somebody has removed the array; open it again",
            array="/" + path,
            store=str(store),
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot open the array's directory to lock it: {error.strerror or error}",
            errno=error.errno,
            array="/" + path,
            store=str(store),
        ) from error


def _tell(store: LocalStore, path: str) -> bool:
    import logging

    place = f"/{path} in {store}"
    logging.getLogger("blizzarr.locks").info("waiting for %s, which another process changes", place)
    return True


def _lock(descriptor: int, store: LocalStore, path: str) -> None:
    """Lock the directory, waiting for other processes; raise `StoreError` if the file system cannot lock it."""
    try:
        try:
            lock(descriptor, alone=True, wait=False)
        except BlockingIOError:
            _tell(store, path)
            lock(descriptor, alone=True, wait=True)
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
    with _locked_directories.changing:
        if descriptor not in _locked_directories.descriptors:
            # This is a child of the process that locked it.
            return
        _locked_directories.descriptors.remove(descriptor)
        release(descriptor)
