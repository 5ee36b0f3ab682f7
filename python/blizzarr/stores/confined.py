"""Listing the directories of a local store with what is in them besides files.

Below a root that no link may lead out of, they are reached by file descriptors instead of paths.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from blizzarr.stores.local import LocalStore
from blizzarr.stores.os_paths import engine_path, os_path
from blizzarr.stores.protocol import Store
from blizzarr.stores.regular import kind_of
from blizzarr.stores.wrapper import unwrapped

OUT = "a link that leads out of the root"

_KINDS = {"out": OUT, None: "a link that leads nowhere", "other": "a device, FIFO or socket"}


class Entry(NamedTuple):
    """A name in a directory, and what it is after links are followed."""

    name: str
    is_link: bool
    is_file: bool
    is_directory: bool
    what: str
    """A description of what is neither a file nor a directory; empty if it is gone."""


def confined_directory(store: Store) -> LocalStore | None:
    """Return the directory behind a store, if no link may lead out of it; otherwise None."""
    behind = unwrapped(store)
    return behind if isinstance(behind, LocalStore) and behind.links == "within-root" else None


def refuse_out(store: LocalStore, key: str) -> None:
    """Raise `StoreError` if a key that was listed is a link out of the root, perhaps to a directory."""
    if store.native.kind(os_path(key)) == "out":
        with opened(store, key):
            return


def open_directory(store: LocalStore, prefix: str) -> int:
    """Return a descriptor of the directory of a prefix, which the caller must close.

    Raise `FileNotFoundError` if there is no such directory. Raise `StoreError` if a link on the way leads out of the
    root; the text names the link.
    """
    descriptor = store.native.open_directory(prefix.rstrip("/"))
    if descriptor is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), prefix)
    return descriptor


@contextmanager
def opened(store: LocalStore, prefix: str) -> Iterator[int]:
    """Open the directory of a prefix for the length of a block; see `open_directory`."""
    descriptor = open_directory(store, prefix)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def scanned(store: LocalStore, prefix: str) -> Iterator[tuple[os.stat_result, Iterator[Entry]]]:
    """Open the directory of a prefix for the length of a block; what is yielded is its status, and what is in it.

    Links are followed, unless they lead out of a root that none may lead out of.
    """
    if store.links == "within-root":
        with opened(store, prefix) as descriptor, os.scandir(descriptor) as found:
            yield os.fstat(descriptor), (_within_root(store, prefix, entry) for entry in found)
    else:
        directory = store.path_of(prefix)
        with os.scandir(directory) as found:
            yield os.stat(directory), map(_entry, found)


def _within_root(store: LocalStore, prefix: str, entry: os.DirEntry[str]) -> Entry:
    if not entry.is_symlink():
        return _entry(entry)
    kind = store.native.kind(os_path(prefix) + entry.name)
    return Entry(engine_path(entry.name), True, kind == "file", kind == "directory", _KINDS.get(kind, ""))


def _entry(entry: os.DirEntry[str]) -> Entry:
    try:
        is_file = entry.is_file()
        is_directory = not is_file and entry.is_dir()
    except OSError:
        # A link in a loop, for one.
        is_file = is_directory = False
    what = "" if is_file or is_directory else _what(entry)
    return Entry(engine_path(entry.name), entry.is_symlink(), is_file, is_directory, what)


def _what(entry: os.DirEntry[str]) -> str:
    try:
        return kind_of(entry.stat().st_mode)
    except OSError:
        return _KINDS[None] if entry.is_symlink() else ""
