"""Locks on directories, by which processes exclude each other. The system releases those of processes that die."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from blizzarr.stores.confined import open_directory
from blizzarr.stores.local import LocalStore
from blizzarr.stores.os_paths import engine_path

if sys.platform != "win32":
    import fcntl


def open_to_lock(store: LocalStore, directory: str, *, alone: bool) -> int:
    """Return a descriptor of a directory of a store, for `lock` and `release`.

    On Windows, which locks nothing that is open, it is locked by being opened.

    Raise `BlockingIOError` if others hold it then. Raise `OSError` or `StoreError` if it cannot be opened.
    """
    if sys.platform == "win32":
        from blizzarr.stores.windows import open_directory as open_locked

        return open_locked(directory, alone=alone)
    if store.links == "within-root":
        relative = engine_path(os.path.relpath(directory, str(store)))
        return open_directory(store, "" if relative == "." else relative)
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY)


def lock(descriptor: int, *, alone: bool, wait: bool) -> None:
    """Lock an open directory alone, or together with others who do not want it alone.

    Raise `BlockingIOError` if others hold it and it is not to be waited for. Raise `OSError` if the file system cannot
    lock directories.
    """
    if sys.platform != "win32":
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if wait else fcntl.LOCK_NB))


def release(descriptor: int) -> None:
    """Unlock and close a directory."""
    try:
        if sys.platform != "win32":
            # Closing alone would leave it locked as long as a forked child has it open, too.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)
