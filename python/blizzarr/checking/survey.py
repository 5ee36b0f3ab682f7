"""Listing everything in a store: keys, and in local directories also what is not a key."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from blizzarr.errors import StoreError
from blizzarr.stores import LocalStore, ReadOnlyStore, Store
from blizzarr.stores.confined import Entry, entries, opened

_RESERVED = ".blizzarr-"
"""The prefix of temporary files; see `blizzarr.checking.check`."""
_NAME = "a name that no key can have"
_NO_NAME = re.compile(r"[\\\0\ud800-\udfff]")


@dataclass(slots=True)
class Survey:
    """Everything below some prefixes."""

    keys: list[str] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    """All directories of a local store, including empty ones, without a trailing slash."""
    others: dict[str, str] = field(default_factory=dict)
    """A description of each thing that is neither file nor directory, or whose name cannot be a key, by name."""
    temporary: set[str] = field(default_factory=set)
    """Directories that contain temporary files."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """The reason, by name, for each directory that cannot be listed."""


def unwrapped(store: Store) -> Store:
    """Return the store without `ReadOnlyStore` wrappers."""
    while isinstance(store, ReadOnlyStore):
        store = store.store
    return store


def survey(store: Store, prefixes: tuple[str, ...]) -> Survey:
    """List everything below the prefixes, without opening any file."""
    surveyed = Survey()
    local = unwrapped(store)
    for prefix in prefixes:
        if isinstance(local, LocalStore) and local.links == "within-root":
            _walk(partial(_by_handle, local), prefix, surveyed)
        elif isinstance(local, LocalStore):
            _walk(partial(_by_path, local.root), prefix, surveyed)
        elif (list_all := getattr(local, "list_all", None)) is not None:
            keys, others = list_all(prefix)
            surveyed.keys += keys
            surveyed.others |= dict.fromkeys(others, _NAME)
        else:
            surveyed.keys += store.list(prefix)
    surveyed.keys.sort()
    return surveyed


def _walk(look: Callable[[str], tuple[os.stat_result, list[Entry]]], prefix: str, surveyed: Survey) -> None:
    # Each with the identities of the directories above it, to detect loops of links.
    waiting: list[tuple[str, tuple[tuple[int, int], ...]]] = [(prefix, ())]
    while waiting:
        name, above = waiting.pop()
        try:
            status, listed = look(name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, StoreError) as error:
            surveyed.unreadable[name.rstrip("/") or "."] = (isinstance(error, OSError) and error.strerror) or str(error)
            continue
        identity = status.st_dev, status.st_ino
        if identity in above:
            continue
        for entry in listed:
            key = name + entry.name
            if entry.name.startswith(_RESERVED):
                surveyed.temporary.add(name)
            elif _NO_NAME.search(entry.name):
                surveyed.others[key] = _NAME
            elif entry.is_file:
                surveyed.keys.append(key)
            elif entry.is_directory:
                surveyed.directories.append(key)
                waiting.append((f"{key}/", (*above, identity)))
            elif entry.what:
                surveyed.others[key] = entry.what


def _by_path(root: Path, name: str) -> tuple[os.stat_result, list[Entry]]:
    """Return the status and the entries of a directory, following links."""
    directory = os.path.join(root, name)
    listed = []
    with os.scandir(directory) as directory_entries:
        for entry in directory_entries:
            is_file = entry.is_file()
            is_directory = not is_file and entry.is_dir()
            what = "" if is_file or is_directory else _what(entry.path)
            listed.append(Entry(entry.name, entry.is_symlink(), is_file, is_directory, what))
    return os.stat(directory), listed


def _by_handle(store: LocalStore, name: str) -> tuple[os.stat_result, list[Entry]]:
    """Return the same as `_by_path` for a store whose links are confined to its root."""
    with opened(store, name) as descriptor:
        return os.fstat(descriptor), list(entries(store, name, descriptor))


def _what(path: str) -> str:
    """Describe something that is neither file nor directory; an empty string if it is gone."""
    names = {stat.S_ISLNK: "a link that leads nowhere", stat.S_ISFIFO: "a FIFO", stat.S_ISSOCK: "a socket"}
    for look in (os.stat, os.lstat):
        with suppress(OSError):
            mode = look(path).st_mode
            return next((name for matches, name in names.items() if matches(mode)), "a device")
    return ""
