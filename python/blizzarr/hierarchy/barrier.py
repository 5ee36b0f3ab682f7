"""A barrier between those who change nodes and those who list them for consolidated metadata, in local directories.

Changes hold a lock on the directory at the top of the hierarchy together. Consolidation takes it alone for the moment
in which it marks its group, so that each change is either over by then, or begins afterwards and removes the mark.
The system releases the locks of processes that die.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from blizzarr.errors import ConflictError
from blizzarr.hierarchy.top import top_directory
from blizzarr.stores import LocalStore, Store, StoreWrapper
from blizzarr.stores.directory_locks import lock, open_to_lock, release

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
    descriptor = _locked(store, top, alone=False)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            release(descriptor)


@contextmanager
def nobody_changing(store: Store, path: str) -> Iterator[None]:
    """Wait until no change is going on in the hierarchy around a group, and let none begin within the block.

    Raise `ConflictError` if changes went on for 10 seconds.
    """
    behind = directory_behind(store)
    if behind is None:
        yield
        return
    top = top_directory(behind, f"{path}/any" if path else "any")
    try:
        descriptor = _locked(behind, top, alone=True)
    except BlockingIOError as error:
        raise ConflictError(
            f"other writers have been changing the hierarchy for {_PATIENCE:.0f} seconds; try again when they are done",
            array=f"/{path}",
            store=str(store),
        ) from error
    try:
        _this_thread.marks = descriptor is not None
        yield
    finally:
        _this_thread.marks = False
        if descriptor is not None:
            release(descriptor)


def _locked(store: LocalStore, top: str, *, alone: bool) -> int | None:
    """Return a descriptor of the directory, which is locked; None if it cannot be.

    Raise `BlockingIOError` if it is wanted alone, and others have held it for 10 seconds.
    """
    if store.locking != "required":
        return None
    deadline = time.monotonic() + _PATIENCE
    while True:
        descriptor = None
        try:
            descriptor = open_to_lock(store, top, alone=alone)
            lock(descriptor, alone=alone, wait=not alone)
            return descriptor
        except BaseException as error:
            if descriptor is not None:
                release(descriptor)
            if not isinstance(error, OSError):
                raise
            if not isinstance(error, BlockingIOError):
                # It does not exist, or may be entered but not read, or is in a network file system, which locks no
                # directories: changes then look for marks once more at their end.
                return None
            if alone and time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE)
