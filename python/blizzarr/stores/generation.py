"""Generations: bytes that differ between two values of a key, one after the other.

Writes here return the generation of exactly what they have written, so that it can be relied upon later. One that is
looked up after a write may be that of somebody else, who has written since. In memory the value has its generation
before anybody sees it. Elsewhere, where a generation is a hash, it follows from the value. Only that of a file has to
be looked up: meanwhile the other threads that write through these functions wait, and a file that is not what was
written gets a generation that no value ever has.
"""

from __future__ import annotations

import os
import stat
import struct
from contextlib import AbstractContextManager, nullcontext

from blizzarr import _native
from blizzarr.stores.conditional import put, try_discard, try_replace
from blizzarr.stores.keys import check_key
from blizzarr.stores.local import LocalStore
from blizzarr.stores.locks import KeyLocks
from blizzarr.stores.memory import MemoryStore
from blizzarr.stores.protocol import Store, Value
from blizzarr.stores.readonly import check_writable
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
        status = os.stat(store.path_of(check_key(key)))
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


_files = KeyLocks()
"""The locks of files, by path."""


def set_value(store: Store, key: str, value: bytes | None) -> None:
    """Set the value, or delete it if it is None, while no other of these functions looks up its generation."""
    with _exclusive(store, key):
        put(store, key, value)


def write_generation(store: Store, key: str, value: bytes | None) -> bytes:
    """Set the value, or delete it if it is None, and return the generation of what was written.

    Of a file that another process has replaced at the same time by one of the same size, it may be that of the other.
    """
    if isinstance(store, MemoryStore):
        return _exchanged(store, key, value, []) or NO_VALUE
    if value is not None and is_conditional(bare := unwrapped(store)):
        check_writable(store, key)
        made: str = bare.set_with_version(key, value)
        return version_generation(made)
    with _exclusive(store, key):
        put(store, key, value)
        return _written(store, key, value, compares=False)


def replace_generation(store: Store, key: str, expected: bytes, value: bytes | None) -> bytes | None:
    """Set the value, or delete it, only if what is stored is of the generation `expected`.

    The result is the generation of what was written; None if nothing was, since what is stored is of another
    generation.
    """
    if isinstance(store, MemoryStore):
        return _exchanged(store, key, value, [(key, None if expected == NO_VALUE else expected[1:])])
    if value is not None and is_conditional(bare := unwrapped(store)):
        check_writable(store, key)
        version = version_named(expected)
        if version is None and expected != NO_VALUE:
            return None
        now: str | None = bare.replace_version(key, value, version)
        return None if now is None else version_generation(now)
    with _exclusive(store, key):
        current, generation = read_generation(store, key)
        if generation != expected:
            return None
        if value is not None:
            done = try_replace(store, key, current, value)
        else:
            done = current is None or try_discard(store, key, current)
        return _written(store, key, value, compares=True) if done else None


def _exchanged(
    store: MemoryStore, key: str, value: bytes | None, expected: list[tuple[str, bytes | None]]
) -> bytes | None:
    check_writable(store, check_key(key))
    if value is None:
        return NO_VALUE if store.native.exchange(expected, [(key, None)]) is None else None
    # What is taken from another memory keeps the version that it has there.
    made = _native.MemoryStore()
    made.set(key, value)
    version = made.version(key)
    assert version is not None, "just set"
    return b"\0" + version if store.native.exchange(expected, [], made, [key]) is None else None


def _exclusive(store: Store, key: str) -> AbstractContextManager[None]:
    bare = unwrapped(store)
    return _files.held(bare.path_of(key)) if isinstance(bare, LocalStore) else nullcontext()


def _written(store: Store, key: str, value: bytes | None, *, compares: bool) -> bytes:
    """Return the generation of a value that was written just now."""
    if value is None:
        return NO_VALUE
    bare = unwrapped(store)
    if not isinstance(bare, MemoryStore | LocalStore):
        return hash_of(value)
    if compares or isinstance(bare, MemoryStore):
        current, generation = read_generation(store, key)
        is_ours = current == value
    else:
        generation, size = file_generation(bare, key)
        is_ours = generation != NO_VALUE and size == len(value)
    return generation if is_ours else b"\0" + os.urandom(32)
