"""A barrier between those who change nodes and those who list them for consolidated metadata, in local directories.

Changes hold a lock on the directory at the top of the hierarchy together. Consolidation takes it alone for the moment
in which it marks its group, so that each change is either over by then, or begins afterwards and removes the mark.
The system releases the locks of processes that die.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from blizzarr.errors import ConflictError
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.directory_locks import lock, open_to_lock, release
from blizzarr.stores.os_paths import engine_path
from blizzarr.stores.wrapper import unwrapped

_PATIENCE: Final = 10.0
"""The seconds for which consolidation waits until no change is going on."""
_PAUSE: Final = 0.002

_this_thread = threading.local()
"""Has `marks` while this thread holds the lock alone; a signal handler or finalizer in it would wait for itself."""


def directory_behind(store: Store) -> LocalStore | None:
    """Return the directory behind the wrappers of a store; None for other stores."""
    behind = unwrapped(store)
    return behind if isinstance(behind, LocalStore) else None


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


def top_directory(store: LocalStore, path: str) -> str:
    """Return the directory of the outermost group above a node, or that of the store if no group is above.

    A store that nothing may lead out of ends at its root; others do not, as the node ``a/b`` of ``data.zarr`` is also
    the root of ``data.zarr/a/b``.
    """
    root = str(store)
    directory = store.path_of(path) if path else root
    top = None
    while (above := os.path.dirname(directory)) != directory and (len(above) >= len(root) or store.links == "follow"):
        directory = above
        if _exists(f"{directory}/zarr.json") or _exists(f"{directory}/.zgroup"):
            top = directory
        elif len(directory) < len(root):
            break
    return root if top is None or len(top) > len(root) else top


def _exists(path: str) -> bool:
    # Not `os.path.exists`, whose errors take twice as long: each change of a node comes here, and mostly finds nothing.
    return os.access(path, os.F_OK)


def from_top(store: Store, behind: LocalStore, path: str) -> tuple[Store, str, str]:
    """Return a store that reaches the whole hierarchy, the path of the node there, and the directory at the top.

    `behind` is the directory behind the wrappers of `store`.
    """
    top = top_directory(behind, path)
    if len(top) >= len(str(behind)):
        return store, path, top
    node = engine_path(os.path.relpath(behind.path_of(path), top)).replace(os.sep, "/")
    return LocalStore(top, durability=behind.durability, locking=behind.locking), node, top
