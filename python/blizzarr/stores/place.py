"""The place of a store: equal for two handles of one place, and different for two places."""

from __future__ import annotations

import os
import re
from typing import Any

from blizzarr.lazy_imports import is_instance
from blizzarr.stores.base import BaseStore
from blizzarr.stores.file_systems import MEMORY, file_system_of, place_in, slashed
from blizzarr.stores.foreign import ForeignStore
from blizzarr.stores.generation import is_conditional
from blizzarr.stores.local import LocalStore
from blizzarr.stores.mapping import MappingStore
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.native import NativeStore
from blizzarr.stores.os_paths import os_path
from blizzarr.stores.protocol import Store
from blizzarr.stores.wrapper import unwrapped


def place_of(store: Store) -> str:
    """Return a text for the place of a store. For directories and files it is the same in other processes.

    Wrappers are at the place of what they wrap. Stores written by users are told apart as objects: nothing is known of
    their attributes, and two buckets may well have the same `path`.
    """
    behind = _behind(store)
    own = _own_place_of(behind)
    if own is not None:
        return own
    remote = file_system_of(behind)
    if remote is not None:
        # Each call of fsspec.get_mapper makes a new mapping over the same file system.
        return place_in(*remote)
    bare = unwrapped(store)
    return f"{type(behind).__name__}:{bare.identity if isinstance(bare, ForeignStore) else id(behind)}"


def engine_place_of(store: Store) -> str:
    """Return the place of a store without an engine's store of its own, as the engine names it.

    A directory has the name that it has as a directory of the engine, so that changes made there are noticed here, and
    the reverse.
    """
    return place_of(store).removeprefix("file:")


def lasting_place_of(store: Store) -> str | None:
    """Return a text for the place of a store that is the same in all processes, as far as it is known.

    None if nothing is known of the place. For fsspec it is the kind of file system and the path there.
    """
    behind = _behind(store)
    own, remote = _own_place_of(behind), file_system_of(behind)
    return own if own is not None or remote is None else f"{type(remote[0]).__name__}:{remote[1]}"


def shared_name(store: Store, key: str) -> str:
    """Return a text for a key, or a path, that all handles of one place share, also if one's root is below another's.

    Two places may share it, too, so it is a name for a lock: of stores whose place is not known, it is the key alone.
    """
    behind = _behind(store)
    own, remote = _own_place_of(behind), file_system_of(behind)
    if own is None:
        own = "" if remote is None else f"{type(remote[0]).__name__}:{slashed(remote[1])}"
    return f"{own}/{key}".rstrip("/")


def _behind(store: Store) -> Any:
    """Return what wrappers and handles are of: there may be several of one mapping or object."""
    store = unwrapped(store)
    if isinstance(store, MappingStore):
        return store.mapping
    return store.target if isinstance(store, ForeignStore) else store


def _own_place_of(behind: Any) -> str | None:
    """Return a text for the directory or file of a store on this machine, or for an object store; None for others."""
    path = _path_of(behind)
    if path is not None:
        # The engine compares texts in UTF-8, which not every path is.
        return f"file:{os.fsencode(os.path.realpath(path)).decode(errors='backslashreplace')}"
    return str(behind.place) if is_instance(behind, "blizzarr.stores.object_store:ObjectStore") else None


def _path_of(behind: Any) -> str | os.PathLike[str] | None:
    if isinstance(behind, LocalStore):
        return behind.root
    remote = file_system_of(behind)
    if remote is not None:
        from blizzarr.stores.fsspec_store import is_local

        return remote[1] if is_local(remote[0]) else None
    if isinstance(behind, NativeStore) or not isinstance(behind, BaseStore):
        return None
    from blizzarr.stores.zip import ZipStore

    return behind.path if isinstance(behind, ZipStore) else None


def is_in_memory(store: Store) -> bool:
    """Return whether a store is known to be in the memory of this process, where others do not look."""
    behind = _behind(store)
    # Only True counts: objects of users may have an attribute of this name about something else.
    if isinstance(behind, MemoryStore | dict) or getattr(behind, "in_memory", False) is True:
        return True
    remote = file_system_of(behind)
    return remote is not None and is_instance(remote[0], MEMORY)


def keeps_all_parts(store: Store) -> bool:
    """Return whether parts of one chunk or shard are all kept, whichever processes write them at the same time.

    They are in directories, by locks; in object stores with conditional writes; and in the memory of this process,
    which no other process can write to. In other stores this holds for the threads of one process only.
    """
    bare = unwrapped(store)
    if isinstance(bare, LocalStore):
        return bare.locking == "required"
    if isinstance(bare, MappingStore):
        return type(bare.mapping) is dict
    return isinstance(bare, MemoryStore) or is_conditional(bare)


def is_below(store: Store, path: str, other: Store, above: str) -> bool:
    """Return whether the node at `path` in `store` is the one at `above` in `other`, or below it.

    >>> from blizzarr.stores import MemoryStore
    >>> memory = MemoryStore()
    >>> is_below(memory, "a/b", memory, "a"), is_below(memory, "ab", memory, "a"), is_below(memory, "", memory, "")
    (True, False, True)
    """
    if _location(store, path).startswith(_location(other, above)):
        return True
    places = (place_of(store), path), (place_of(other), above)
    if not all(identity.startswith("file:/") for identity, _ in places):
        return False
    return is_inside(*(os_path(os.path.join(identity.removeprefix("file:"), node)) for identity, node in places))


def _location(store: Store, path: str) -> str:
    return f"{place_of(store)}/{path}".rstrip("/") + "/"


def is_inside(path: str, above: str) -> bool:
    """Return whether a path is that of a directory or file, or below it, whatever it is called. Neither has to exist.

    One directory may have several paths: links, mounts of a directory at a second place, and other spellings of a name
    where case does not count. So device and inode are compared, and on Linux what the system says of its mounts.

    >>> is_inside("/usr/lib/x", "/usr/lib"), is_inside("/usr/lib", "/usr/lib/x"), is_inside("/x/a", "/x/b")
    (True, False, False)
    """
    inner, outer = os.path.realpath(path), os.path.realpath(above)
    return _is_below(inner, outer) or _is_below(_unmounted(inner), _unmounted(outer)) or _is_below_inode(inner, outer)


def _is_below(path: str, above: str) -> bool:
    return f"{path.rstrip('/')}/".startswith(f"{above.rstrip('/')}/")


def _is_below_inode(path: str, above: str) -> bool:
    """Compare device and inode of what exists of `above` with those of everything above `path`."""
    known, names = above, ""
    while (status := _stat(known)) is None and os.path.dirname(known) != known:
        known, name = os.path.split(known)
        names = os.path.join(name, names)
    ancestor = path
    while status is not None:
        here = _stat(ancestor)
        if here is not None and os.path.samestat(here, status) and _is_below(path, os.path.join(ancestor, names)):
            return True
        if os.path.dirname(ancestor) == ancestor:
            return False
        ancestor = os.path.dirname(ancestor)
    return False


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        # It does not exist, is below a file (a node in a zip file), or may not be looked at.
        return None


def _unmounted(path: str) -> str:
    """Return the device of a path and the path on it, which does not depend on where directories are mounted."""
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            mounts = [os.fsdecode(line).split(" ", 5)[2:5] for line in file]
    except OSError:
        return path
    best, at = path, ""
    for device, root, mounted in mounts:
        point = _unescaped(mounted)
        # The last one of several mounts at one place counts.
        if len(point) >= len(at) and _is_below(path, point):
            best, at = os.path.join(f"{device}:{_unescaped(root)}", path[len(point) :].lstrip("/")), point
    return best


def _unescaped(text: str) -> str:
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), text)
