"""Generations: bytes that differ between two values of a key, one after the other."""

from __future__ import annotations

import os
import stat
import struct

from blizzarr.stores.keys import check_key
from blizzarr.stores.local import LocalStore
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.protocol import Store, Value
from blizzarr.stores.wrapper import unwrapped

UNKNOWN = b""
"""The generation of a value about which nothing is known."""

NO_VALUE = b"\x02"
"""The generation of a key that has no value."""


def generation_of(store: Store, key: str) -> bytes:
    """Return the generation of a value.

    It consists of device, inode, time of modification and size of a file, of a counter in memory, of the version in
    stores with conditional writes, and of a hash of the value in other stores.
    """
    store = unwrapped(store)
    if isinstance(store, MemoryStore):
        version = store.version(key)
        return NO_VALUE if version is None else b"\0" + version
    if isinstance(store, LocalStore):
        return file_generation(store, key)[0]
    if is_conditional(store):
        named: str | None = store.version(key)  # type: ignore[attr-defined]
        return version_generation(named)
    return hash_of(store.get(key))


def read_generation(store: Store, key: str) -> tuple[bytes | None, bytes]:
    """Return a value, or None, and its generation."""
    bare = unwrapped(store)
    if is_conditional(bare):
        answer: tuple[Value, str] | None = bare.get_with_version(key)
        return (None, NO_VALUE) if answer is None else (bytes(answer[0]), version_generation(answer[1]))
    if not isinstance(bare, MemoryStore | LocalStore):
        value = store.get(key)
        return None if value is None else bytes(value), hash_of(value)
    generation = generation_of(store, key)
    while True:
        value = store.get(key)
        # Values are replaced atomically: the one that was read has this generation if it is the same before and after.
        now = generation_of(store, key)
        if now == generation:
            return None if value is None else bytes(value), generation
        generation = now


def file_generation(store: LocalStore, key: str) -> tuple[bytes, int]:
    """Return the generation of a file, and its size in bytes."""
    try:
        status = os.stat(os.path.join(str(store), check_key(key)))
    except (FileNotFoundError, NotADirectoryError):
        return NO_VALUE, 0
    if not stat.S_ISREG(status.st_mode):
        return NO_VALUE, 0
    packed = struct.pack("<QQQQ", status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    return b"\0" + packed, status.st_size


def is_conditional(store: Store) -> bool:
    """Return whether values are replaced only if they are of a version, without locks."""
    return all(hasattr(store, method) for method in ("get_with_version", "replace_version", "version"))


def version_generation(version: str | None) -> bytes:
    """Return the generation of a version that a store tells; None if there is no value."""
    return NO_VALUE if version is None else b"\0" + version.encode()


def version_named(generation: bytes) -> str | None:
    """Return the version whose generation this is; None if it is that of none."""
    try:
        version = generation[1:].decode() if generation.startswith(b"\0") else ""
    except UnicodeDecodeError:
        return None
    return version or None


def hash_of(value: Value | None) -> bytes:
    """Return the generation of a value in a store that has no versions."""
    if value is None:
        return NO_VALUE
    from hashlib import blake2b

    return b"\0" + blake2b(value, digest_size=16).digest()
