"""One change of an array's shape at a time, so that two appends do not write their rows to the same place.

Threads of this process exclude each other for every store. Processes exclude each other on local directories, by a
lock on the directory of the array's document that the system drops when its holder dies; nothing is left behind. Where
a format keeps the documents of several arrays in one directory, processes change one of them at a time. For other
stores the change of the document is conditional, so that of two processes one gets a `ConflictError`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from blizzarr.errors import StoreError
from blizzarr.stores import Store
from blizzarr.stores.locks import NamedLocks

__all__ = ["exclusive"]

# By path alone, since two stores may be handles of one place.
_locks = NamedLocks()


@contextmanager
def exclusive(store: Store, path: str, key: str) -> Iterator[None]:
    """Wait until nobody else changes the shape of the array at `path`, and keep others waiting.

    `key` is that of its document.
    """
    root = getattr(store, "root", None)
    with _locks[path]:
        if not isinstance(root, Path) or sys.platform == "win32":
            yield
            return
        import fcntl

        try:
            directory = os.open((root / key).parent, os.O_RDONLY)
        except OSError as error:
            raise StoreError(
                f"cannot open the array's directory to lock it: {error.strerror}",
                errno=error.errno,
                array="/" + path,
                store=str(store),
            ) from error
        try:
            try:
                fcntl.flock(directory, fcntl.LOCK_EX)
            except OSError as error:
                raise StoreError(
                    f"cannot lock the array's directory ({error.strerror}), without which another process could "
                    "append to the same place; change shapes on a file system with locks",
                    errno=error.errno,
                    array="/" + path,
                    store=str(store),
                ) from error
            yield
        finally:
            os.close(directory)
