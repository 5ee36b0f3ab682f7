"""Reading, writing and listing the keys of an opened key-value store in a transaction."""

from __future__ import annotations

from collections.abc import Iterator

from blizzarr.errors import GenerationMismatchError, SpecError
from blizzarr.spec.kvstore_access import Access, ByteSlice, Found, Named, part_of
from blizzarr.stores.generation import NO_VALUE, UNKNOWN, read_generation
from blizzarr.transactions import StagedStore, Transaction
from blizzarr.transactions.naming import place_in


class KvChanges:
    """The keys of a key-value store as a transaction will leave them.

    A generation that begins with 4 is that of a change.

    >>> from blizzarr.stores import MemoryStore
    >>> access = Access(MemoryStore())
    >>> transaction = Transaction()
    >>> changes = KvChanges(transaction, access)
    >>> generation = changes.write("a", b"value")
    >>> changes.read("a").value, access.read("a").value
    (b'value', None)
    >>> transaction.commit_sync()
    >>> access.read("a").value
    b'value'
    """

    def __init__(self, transaction: Transaction, access: Access) -> None:
        self._transaction = transaction
        self._access = access
        self._base = access.store
        self._staged = StagedStore(transaction, access.store)
        self._changes = self._staged.changes
        self._prefix = place_in(access.store)[1]

    def read(self, key: str, part: ByteSlice | None = None, if_not_equal: bytes = UNKNOWN) -> Found:
        """Read the value as it will be, or part of it, unless it has the generation `if_not_equal`."""
        with Named(self._access, key) as full:
            own = self._own(full)
            value, generation = read_generation(self._base, full) if own is None else own
            if own is None and self._transaction.repeatable_read:
                first = self._changes.watched.setdefault(self._prefix + full, (self._base, full, generation))[2]
                if first != generation:
                    raise GenerationMismatchError("Generation mismatch in repeatable_read transaction")
        return part_of(value, generation, part, if_not_equal)

    def _own(self, full: str) -> tuple[bytes | None, bytes] | None:
        """Return the value that the transaction gives to a key, and the generation of that change."""
        changes = self._changes
        with changes.lock:
            name = self._prefix + full
            made, overlay = changes.made(name), changes.overlay
            if made is None and name not in overlay.values and name not in overlay.errors and not overlay.hides(name):
                return None
            value = self._staged.get(full)
            return None if value is None else bytes(value), changes.stamp(name, made is not None)

    def write(self, key: str, value: bytes | None, if_equal: bytes | None = None) -> bytes:
        """Set or delete the value; the commit fails if the old value does not have the generation by then."""
        changes = self._changes
        with Named(self._access, key) as full, changes.lock:
            if if_equal:
                own = self._own(full)
                if own is None:
                    changes.need(self._base, full, if_equal)
                elif if_equal != own[1] and not (if_equal == NO_VALUE and own[0] is None):
                    changes.need(self._base, full, None)
            changes.write(self._base, full, value)
            return changes.stamp(self._prefix + full, False)

    put = write

    def keys(self, least: str, end: str) -> Iterator[str]:
        """Return the keys as they will be, from `least` up to, but without, `end`, in no order."""
        if self._transaction.repeatable_read:
            raise SpecError("repeatable_read mode not supported for transactional list operations")
        return Access(self._staged, self._access.path).keys(least, end)

    def delete_range(self, least: str, end: str) -> None:
        """Delete the keys of a range, including keys that others store before the commit."""
        path = self._access.path
        after = path[:-1] + chr(ord(path[-1]) + 1) if path else ""
        self._changes.delete_range(self._base, path + least, path + end if end else after)
