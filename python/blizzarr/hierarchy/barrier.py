"""A barrier between those who change nodes and those who list them for consolidated metadata, in local directories.

Changes hold a lock on the directory at the top of the hierarchy together. Consolidation takes it alone for the moment
in which it marks its group, so that each change is either over by then, or begins afterwards and removes the mark.
The system releases the locks of processes that die.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from blizzarr.errors import ConflictError
from blizzarr.hierarchy.top import top_directory
from blizzarr.stores import LocalStore, Store, StoreWrapper
from blizzarr.stores.confined import open_directory

_PATIENCE: Final = 10.0
"""The seconds for which consolidation waits until no change is going on."""
_PAUSE: Final = 0.002

_this_thread = threading.local()
"""Has `marks` while this thread holds the lock alone; a signal handler or finalizer in it would wait for itself."""


def directory_behind(store: Store) -> LocalStore | None:
    """Return the directory behind the wrappers of a store; None for other stores."""
    while isinstance(store, StoreWrapper):
        store = store.store
    return store if isinstance(store, LocalStore) else None


@contextmanager
def together(store: LocalStore, top: str) -> Iterator[bool]:
    """Hold the lock together with other changes; what is yielded is whether there is one.

    There is none where locks between processes are not wanted (`LocalStore.locking`), where the directory does not
    exist yet, and where the file system cannot lock it.

    Raise `ConflictError` if this thread is just marking a group: it would wait for itself.
    """
    if getattr(_this_thread, "marks", False):
        raise ConflictError(
            "this thread is consolidating metadata, and a signal handler, finalizer or store that was called meanwhile "
            "changes a node; let it do so afterwards",
            store=str(store),
        )
    descriptor = _opened(store, top)
    try:
        yield descriptor is not None and _lock(descriptor, alone=False)
    finally:
        _close(descriptor)


@contextmanager
def nobody_changing(store: Store, path: str) -> Iterator[None]:
    """Wait until no change is going on in the hierarchy around a group, and let none begin within the block.

    Raise `ConflictError` if changes went on for 10 seconds.
    """
    behind = directory_behind(store)
    if behind is None:
        yield
        return
    descriptor = _opened(behind, top_directory(behind, f"{path}/any" if path else "any"))
    try:
        deadline = time.monotonic() + _PATIENCE
        while descriptor is not None and not _lock(descriptor, alone=True):
            if time.monotonic() > deadline:
                raise ConflictError(
                    f"other writers have been changing the hierarchy for {_PATIENCE:.0f} seconds; try again when they "
                    "are done",
                    array=f"/{path}",
                    store=str(store),
                )
            time.sleep(_PAUSE)
        _this_thread.marks = descriptor is not None
        yield
    finally:
        _this_thread.marks = False
        _close(descriptor)


def _opened(store: LocalStore, top: str) -> int | None:
    if store.locking != "required" or sys.platform == "win32":
        return None
    try:
        if store.links == "within-root":
            relative = os.path.relpath(top, str(store))
            return open_directory(store, "" if relative == "." else relative)
        return os.open(top, os.O_RDONLY)
    except OSError:
        # It does not exist, or may be entered but not read.
        return None


def _lock(descriptor: int, *, alone: bool) -> bool:
    """Lock the directory, and return True; False if it cannot be locked, or if others hold a lock to be held alone."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
    except BlockingIOError:
        return False
    except OSError:
        # Network file systems lock no directories: changes then look for marks once more at their end.
        return alone
    return True


def _close(descriptor: int | None) -> None:
    if descriptor is None:
        return
    try:
        import fcntl

        # Closing alone would leave it locked as long as a forked child has it open, too.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    except OSError:
        pass
    finally:
        os.close(descriptor)
