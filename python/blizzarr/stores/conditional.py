"""Conditional changes for stores without them: a value is changed only if it is still the expected one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Self

from blizzarr.errors import ConflictError
from blizzarr.stores.locks import NamedLocks
from blizzarr.stores.protocol import Replaced, Store, Value

# By `shared_name`, since two stores may be handles of one place.
_locks = NamedLocks("changing this value")
_ATTEMPTS: Final = 100


class Versioned(bytes):
    """A value with its version, so that whoever replaces it on the condition that it is unchanged need not read it.

    One that is yet to be stored gets its version when it is; see `with_version`.
    """

    place: str
    key: str
    version: str

    def __new__(cls, value: Value, place: str = "", key: str = "", version: str = "") -> Self:
        self = super().__new__(cls, value)
        self.place, self.key, self.version = place, key, version
        return self

    def __reduce__(self) -> tuple[type[bytes], tuple[bytes]]:
        return bytes, (bytes(self),)


def with_version(store: Store, value: bytes) -> bytes:
    """Return a value that gets to know its version when `replace` stores it, if the store has versions."""
    return Versioned(value) if hasattr(store, "set_if_version") else value


def as_bytes(value: Value) -> bytes:
    """Return a value as bytes, which keep their version if they have one."""
    return value if type(value) is Versioned else bytes(value)


def replace_value(store: Store, key: str, expected: Value | None, value: Value | None) -> bool:
    """Set the value, or delete it if it is None, only if it is still `expected`; return whether that was done.

    Excludes the threads of this process. Stores that name versions are asked to replace this one only, which excludes
    everybody; not to delete it.

    Raise `ConflictError` if this thread is changing the value conditionally already, and a signal handler or the store
    came back here.
    """
    from blizzarr.stores.place import place_of, shared_name

    find, replace = (getattr(store, method, None) for method in ("get_with_version", "set_if_version"))

    def change() -> bool:
        if value is not None and callable(find) and callable(replace):
            current, version = find(key) or (None, None)
            return _equal(current, expected) and bool(replace(key, value, version))
        if not _equal(store.get(key), expected):
            return False
        put(store, key, value)
        return True

    return _locks.sole(shared_name(store, key)).alone(change, (place_of(store), key), key=key, store=store)


def put(store: Store, key: str, value: Value | None) -> None:
    """Set the value, or delete it if it is None."""
    if value is None:
        store.delete(key)
    else:
        store.set(key, value)


def try_replace(store: Store, key: str, expected: Value | None, value: Value) -> Replaced:
    """Call the `replace` of a store, or `replace_value` if it has none."""
    replace = getattr(store, "replace", None)
    replaced = replace_value(store, key, expected, value) if replace is None else replace(key, expected, value)
    return None if replaced is None else bool(replaced)


def try_discard(store: Store, key: str, expected: Value) -> bool:
    """Call the `discard` of a store, or `replace_value` if it has none."""
    discard = getattr(store, "discard", None)
    return replace_value(store, key, expected, None) if discard is None else bool(discard(key, expected))


def revise_value(store: Store, key: str, change: Callable[[bytes | None], bytes]) -> None:
    """Replace a value by what `change` makes of it, and again if somebody else has replaced it meanwhile.

    Raise `ConflictError` if that goes on and on.
    """
    for _ in range(_ATTEMPTS):
        before = store.get(key)
        made = change(None if before is None else bytes(before))
        if made == before or try_replace(store, key, before, made):
            return
    raise ConflictError(
        f"somebody else changed the value {_ATTEMPTS} times in a row; try again", key=key, store=str(store)
    )


def _equal(current: Value | None, expected: Value | None) -> bool:
    return expected is None if current is None else expected is not None and bytes(current) == bytes(expected)
