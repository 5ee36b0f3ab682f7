"""What there is in a store, whatever it is: keys, and on a file system what is no key."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path

from blizzarr.errors import StoreError
from blizzarr.stores import LocalStore, ReadOnlyStore, Store
from blizzarr.stores.within import entries, opened

__all__ = ["Survey", "survey", "unwrapped"]

_RESERVED = ".blizzarr-"
"""Begins the names of what is being written; see `blizzarr.checking.leftovers`."""
_NO_NAME = re.compile(r"[\\\0\ud800-\udfff]")


@dataclass(slots=True)
class Survey:
    """What is below some prefixes."""

    keys: list[str] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    """Of a file system: all of them, also empty ones. Without a slash at the end."""
    others: dict[str, str] = field(default_factory=dict)
    """What is neither a file nor a directory, or has a name that no key can have: what it is, by name."""
    temporary: set[str] = field(default_factory=set)
    """Directories in which there is what is being written, or was never finished."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Directories that cannot be listed, and why."""


def unwrapped(store: Store) -> Store:
    """The store itself, without what keeps it from being written."""
    while isinstance(store, ReadOnlyStore):
        store = store.store
    return store


def survey(store: Store, prefixes: tuple[str, ...]) -> Survey:
    """Look at everything that is there; only names, nothing is opened."""
    found = Survey()
    local = unwrapped(store)
    for prefix in prefixes:
        if isinstance(local, LocalStore) and local.links == "within-root":
            _walk_within(local, prefix, found)
        elif isinstance(local, LocalStore):
            _walk(local.root, prefix, found)
        else:
            found.keys += store.list(prefix)
    found.keys.sort()
    return found


def _walk(root: Path, prefix: str, found: Survey) -> None:
    # Those that lead here, to notice links that lead back to one of them.
    waiting: list[tuple[str, str, tuple[tuple[int, int], ...]]] = [(os.path.join(root, prefix), prefix, ())]
    while waiting:
        directory, name, above = waiting.pop()
        try:
            with os.scandir(directory) as entries:
                listed = list(entries)
            status = os.stat(directory)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            found.unreadable[name.rstrip("/") or "."] = error.strerror or str(error)
            continue
        identity = status.st_dev, status.st_ino
        if identity in above:
            continue
        for entry in listed:
            key = name + entry.name
            if entry.name.startswith(_RESERVED):
                found.temporary.add(name)
                continue
            if _NO_NAME.search(entry.name):
                found.others[key] = "a name that no key can have"
            elif entry.is_file():
                found.keys.append(key)
            elif entry.is_dir():
                found.directories.append(key)
                waiting.append((entry.path, f"{key}/", (*above, identity)))
            elif (what := _what(entry.path)) is not None:
                found.others[key] = what


def _walk_within(store: LocalStore, prefix: str, found: Survey) -> None:
    """The same by handles, for a root that nothing is to lead out of."""
    waiting: list[tuple[str, tuple[tuple[int, int], ...]]] = [(prefix, ())]
    while waiting:
        name, above = waiting.pop()
        try:
            with opened(store, name) as descriptor:
                status = os.fstat(descriptor)
                listed = list(entries(store, name, descriptor))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, StoreError) as error:
            found.unreadable[name.rstrip("/") or "."] = str(error)
            continue
        identity = status.st_dev, status.st_ino
        if identity in above:
            continue
        for entry in listed:
            key = name + entry.name
            if entry.name.startswith(_RESERVED):
                found.temporary.add(name)
            elif _NO_NAME.search(entry.name):
                found.others[key] = "a name that no key can have"
            elif entry.is_file:
                found.keys.append(key)
            elif entry.is_directory:
                found.directories.append(key)
                waiting.append((f"{key}/", (*above, identity)))
            else:
                found.others[key] = entry.what


def _what(path: str) -> str | None:
    """What is neither a file nor a directory; None if it is gone."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return None
    names = {stat.S_ISLNK: "a link that leads nowhere", stat.S_ISFIFO: "a FIFO", stat.S_ISSOCK: "a socket"}
    return next((name for matches, name in names.items() if matches(mode)), "a device")
