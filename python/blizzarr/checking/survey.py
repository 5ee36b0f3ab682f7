"""Listing everything in a store: keys, and in local directories also what is not a key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from blizzarr.errors import StoreError
from blizzarr.stores import LocalStore, Store
from blizzarr.stores.confined import scanned
from blizzarr.stores.wrapper import StoreHandle, unwrapped

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


def survey(store: Store, prefixes: tuple[str, ...]) -> Survey:
    """List everything below the prefixes, without opening any file."""
    surveyed = Survey()
    local = unwrapped(store, StoreHandle)
    for prefix in prefixes:
        if isinstance(local, LocalStore):
            _walk(local, prefix, surveyed)
        elif (list_all := getattr(local, "list_all", None)) is not None:
            keys, others = list_all(prefix)
            surveyed.keys += keys
            surveyed.others |= dict.fromkeys(others, _NAME)
        else:
            surveyed.keys += store.list(prefix)
    surveyed.keys.sort()
    return surveyed


def _walk(store: LocalStore, prefix: str, surveyed: Survey) -> None:
    # Each with the identities of the directories above it, to detect loops of links.
    waiting: list[tuple[str, tuple[tuple[int, int], ...]]] = [(prefix, ())]
    while waiting:
        name, above = waiting.pop()
        try:
            with scanned(store, name) as (status, found):
                listed = [] if (status.st_dev, status.st_ino) in above else list(found)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, StoreError) as error:
            surveyed.unreadable[name.rstrip("/") or "."] = (isinstance(error, OSError) and error.strerror) or str(error)
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
                waiting.append((f"{key}/", (*above, (status.st_dev, status.st_ino))))
            elif entry.what:
                surveyed.others[key] = entry.what
