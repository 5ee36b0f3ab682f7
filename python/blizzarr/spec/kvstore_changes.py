"""What a transaction has gathered for one place: values that are written when it is committed."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Protocol

from blizzarr.errors import ConflictError
from blizzarr.spec.kvstore_access import Access, Found

__all__ = ["KvChanges", "TransactionLike"]


class TransactionLike(Protocol):
    """What a transaction offers to whoever takes part in it."""

    def join(self, key: object, make: Callable[[], Any]) -> Any:
        """What takes part under this key, made by the first who asks; an error if nothing can be added any more."""
        ...


class KvChanges:
    """The changes of one place, and which versions of it they were made from.

    Examples
    --------
    >>> from blizzarr.spec.opened_place import Opened
    >>> from blizzarr.stores import MemoryStore
    >>> access = Access(Opened(MemoryStore(), ""))
    >>> changes = KvChanges(access)
    >>> generation = changes.write("a", b"value")
    >>> changes.read("a").value, access.read("a").value
    (b'value', None)
    >>> changes.commit()
    >>> access.read("a").value
    b'value'
    """

    def __init__(self, access: Access) -> None:
        # Of the whole place, as several handles with different paths take part with one another.
        self._access = access.whole()
        self._values: dict[str, bytes | None] = {}
        self._found: dict[str, bytes] = {}
        self._count = 0

    def read(self, key: str) -> Found:
        """The value as it will be; what was not changed must still be the same when the transaction is committed."""
        if key in self._values:
            return Found(self._values[key], self._generation())
        found = self._access.read(key)
        self._found.setdefault(key, found.generation)
        return found

    def write(self, key: str, value: bytes | None, if_equal: bytes | None = None) -> bytes | None:
        """Note the new value, or None for none; None if the old one is not of the generation `if_equal`."""
        if if_equal is not None and self.read(key).generation != if_equal:
            return None
        self._values[key] = value
        self._count += 1
        return self._generation()

    def keys(self, least: str, end: str) -> list[str]:
        """The keys as they will be, from one up to, but without, another."""
        left = {key for key in self._access.keys(least, end) if key not in self._values}
        new = {key for key, value in self._values.items() if value is not None and least <= key and _before(key, end)}
        return sorted(left | new)

    def commit(self) -> None:
        """Write everything, unless what it was made from has changed."""
        for key, generation in self._found.items():
            if self._access.read(key).generation != generation:
                raise ConflictError("Generation mismatch: it was changed since this transaction has read it", key=key)
        for key, value in self._values.items():
            if self._access.write(key, value, self._found.get(key)) is None:
                raise ConflictError("Generation mismatch: it was changed since this transaction has read it", key=key)

    def abort(self) -> None:
        """Forget everything."""
        self._values.clear()
        self._found.clear()

    def _generation(self) -> bytes:
        return b"\x04" + struct.pack("<Q", self._count)


def _before(key: str, end: str) -> bool:
    return not end or key < end
