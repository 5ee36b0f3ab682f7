"""Generations: what tells one value of a key from the next."""

from __future__ import annotations

import os
import stat
import struct

from blizzarr.stores.keys import check_key
from blizzarr.stores.local import LocalStore
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.protocol import Store, Value
from blizzarr.stores.wrapper import StoreWrapper

__all__ = ["NO_VALUE", "UNKNOWN", "file_generation", "generation_of", "read_generation", "unwrapped"]

UNKNOWN = b""
"""The generation that says nothing."""

NO_VALUE = b"\x02"
"""The generation of a key that has no value."""


def unwrapped(store: Store) -> Store:
    """The store under all that only passes things on."""
    while isinstance(store, StoreWrapper):
        store = store.store
    return store


def generation_of(store: Store, key: str) -> bytes:
    """The generation of a value: for files which file it is, how large and when it was written; for memory a number of
    its own; for others a hash of the value.

    Examples
    --------
    >>> store = MemoryStore()
    >>> store.set("a", b"1")
    >>> before = generation_of(store, "a")
    >>> store.set("a", b"1")
    >>> generation_of(store, "a") == before, generation_of(store, "b") == NO_VALUE
    (False, True)
    """
    store = unwrapped(store)
    if isinstance(store, MemoryStore):
        version = store.version(key)
        return NO_VALUE if version is None else b"\0" + version
    if isinstance(store, LocalStore):
        return file_generation(store, key)[0]
    return hash_of(store.get(key))


def read_generation(store: Store, key: str) -> tuple[bytes | None, bytes]:
    """A value, or None, and the generation that it is of."""
    if not isinstance(unwrapped(store), MemoryStore | LocalStore):
        value = store.get(key)
        return None if value is None else bytes(value), hash_of(value)
    generation = generation_of(store, key)
    while True:
        value = store.get(key)
        # Values are replaced as a whole: what was read is of this generation if it still is the one.
        now = generation_of(store, key)
        if now == generation:
            return None if value is None else bytes(value), generation
        generation = now


def file_generation(store: LocalStore, key: str) -> tuple[bytes, int]:
    """The generation of a file, and its size."""
    try:
        found = os.stat(os.path.join(str(store), check_key(key)))
    except (FileNotFoundError, NotADirectoryError):
        return NO_VALUE, 0
    if not stat.S_ISREG(found.st_mode):
        return NO_VALUE, 0
    packed = struct.pack("<QQQQ", found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
    return b"\0" + packed, found.st_size


def hash_of(value: Value | None) -> bytes:
    """The generation of a value that nothing else is known of."""
    if value is None:
        return NO_VALUE
    from hashlib import blake2b

    return b"\0" + blake2b(value, digest_size=16).digest()
