"""Listing directories below a root that no link may lead out of, by file descriptors instead of paths."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from blizzarr.stores.local import LocalStore
from blizzarr.stores.protocol import Store
from blizzarr.stores.regular import kind_of
from blizzarr.stores.wrapper import unwrapped

OUT = "a link that leads out of the root"

_KINDS = {
    "out": OUT,
    None: "a link that leads nowhere",
    "other": "a device, FIFO or socket",
}


class Entry(NamedTuple):
    """A name in a directory, and what it is after links are followed."""

    name: str
    is_link: bool
    is_file: bool
    is_directory: bool
    what: str
    """A description of what is neither a file nor a directory."""


def confined_directory(store: Store) -> LocalStore | None:
    """Return the directory behind a store, if no link may lead out of it; otherwise None."""
    behind = unwrapped(store)
    return behind if isinstance(behind, LocalStore) and behind.links == "within-root" else None


def refuse_out(store: LocalStore, key: str) -> None:
    """Raise `StoreError` if a key that was listed is a link out of the root, perhaps to a directory."""
    if store.native.kind(key) == "out":
        with opened(store, key):
            return


def open_directory(store: LocalStore, prefix: str) -> int:
    """Return a descriptor of the directory of a prefix, which the caller must close.

    Raise `FileNotFoundError` if there is no such directory. Raise `StoreError` if a link on the way leads out of the
    root; the text names the link.
    """
    descriptor: int | None = store.native.open_directory(prefix.rstrip("/"))
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


def entries(store: LocalStore, prefix: str, descriptor: int) -> Iterator[Entry]:
    """Iterate over the directory of a prefix, open as `descriptor`. Links that stay within the root are followed."""
    with os.scandir(descriptor) as scanned:
        for entry in scanned:
            if entry.is_symlink():
                kind = store.native.kind(prefix + entry.name)
                yield Entry(entry.name, True, kind == "file", kind == "directory", _KINDS.get(kind, ""))
            else:
                is_file, is_directory = entry.is_file(follow_symlinks=False), entry.is_dir(follow_symlinks=False)
                what = "" if is_file or is_directory else _what(entry)
                yield Entry(entry.name, False, is_file, is_directory, what)


def _what(entry: os.DirEntry[str]) -> str:
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return "gone"
    return kind_of(mode)
