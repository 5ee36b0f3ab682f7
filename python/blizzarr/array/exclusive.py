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
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from blizzarr.errors import StoreError
from blizzarr.stores import LocalStore, Store, StoreWrapper
from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.within import open_directory, opened

__all__ = ["exclusive"]

_locks = NamedLocks()

_UNSUPPORTED = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF)
"""What file systems say that cannot lock a directory. The last one: NFS, where only files open for writing can be."""


@contextmanager
def exclusive(store: Store, path: str, key: str) -> Iterator[None]:
    """Wait until nobody else changes the shape of the array at `path`, and keep others waiting.

    `key` is that of its document.
    """
    while isinstance(store, StoreWrapper):
        store = store.store
    if not isinstance(store, LocalStore):
        # By path alone, since two stores may be handles of one place.
        with _locks[path]:
            yield
        return
    prefix = key.rpartition("/")[0]
    with _locks[_place(store, prefix)]:
        if store.locking != "required" or sys.platform == "win32":
            yield
            return
        descriptor = _lock(store, path, prefix)
        try:
            yield
        finally:
            _unlock(descriptor)


def _place(store: LocalStore, prefix: str) -> str:
    """Which directory it is, however it is reached."""
    if store.links == "follow":
        return os.path.realpath(store.root / prefix)
    try:
        with opened(store, prefix) as descriptor:
            return os.readlink(f"/proc/self/fd/{descriptor}")
    except FileNotFoundError:
        return str(store.root / prefix)  # which fails when it is to be locked


class _Held:
    """Directories that are locked, or about to be. A forked child has them open, too, and would keep them locked."""

    def __init__(self) -> None:
        self.descriptors: set[int] = set()
        self.changing = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=lambda: self.changing.acquire(),
                after_in_parent=lambda: self.changing.release(),
                after_in_child=self._forget,
            )

    def _forget(self) -> None:
        self.changing = threading.Lock()
        for descriptor in self.descriptors:
            os.close(descriptor)
        self.descriptors = set()


_held = _Held()


def _open(store: LocalStore, prefix: str) -> int:
    if store.links == "follow":
        return os.open(store.root / prefix, os.O_RDONLY)
    return open_directory(store, prefix)


def _lock(store: LocalStore, path: str, prefix: str) -> int:
    """The directory, open and locked."""
    import fcntl

    try:
        with _held.changing:
            descriptor = _open(store, prefix)
            _held.descriptors.add(descriptor)
    except OSError as error:
        raise StoreError(
            f"cannot open the array's directory to lock it: {error.strerror}",
            errno=error.errno,
            array="/" + path,
            store=str(store),
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        _unlock(descriptor)
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
    except BaseException:
        # Ctrl-C while waiting.
        _unlock(descriptor)
        raise
    return descriptor


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
