"""Reading, writing and listing the keys of an opened place in a transaction."""

from __future__ import annotations

from blizzarr.errors import GenerationMismatchError, SpecError
from blizzarr.spec.kvstore_access import Access, Found, Named
from blizzarr.spec.opened_place import Opened
from blizzarr.stores.generation import NO_VALUE, read_generation
from blizzarr.transactions import StagedStore, Transaction
from blizzarr.transactions.naming import place_in


class KvChanges:
    """The keys of a place as a transaction will leave them.

    Keys are full ones. A generation that begins with 4 is that of a change.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> access = Access(Opened(MemoryStore(), ""))
    >>> transaction = Transaction()
    >>> changes = KvChanges(transaction, access)
    >>> generation = changes.write("a", b"value", None)
    >>> changes.read("a").value, access.read("a").value
    (b'value', None)
    >>> transaction.commit_sync()
    >>> access.read("a").value
    b'value'
    """

    def __init__(self, transaction: Transaction, access: Access) -> None:
        self._transaction = transaction
        self._access = access.whole()
        self._base = access.store
        self._staged = StagedStore(transaction, access.store)
        self._changes = self._staged.changes
        self._prefix = place_in(access.store)[1]

    def read(self, key: str) -> Found:
        """Return the value as it will be."""
        own = self._own(key)
        if own is not None:
            return Found(own[0], own[1])
        with Named(self._access, key):
            value, generation = read_generation(self._base, key)
        if self._transaction.repeatable_read:
            seen = self._changes.watched.setdefault(self._prefix + key, (self._base, key, generation))[2]
            if seen != generation:
                raise GenerationMismatchError("Generation mismatch in repeatable_read transaction")
        return Found(value, generation)

    def _own(self, key: str) -> tuple[bytes | None, bytes] | None:
        """Return the value that the transaction gives to a name, and the generation of that change."""
        changes = self._changes
        with changes.lock:
            name = self._prefix + key
            made, overlay = changes.made(name), changes.overlay
            if made is None and name not in overlay.values and name not in overlay.errors and not overlay.hides(name):
                return None
            value = self._staged.get(key)
            return None if value is None else bytes(value), changes.stamp(name, made is not None)

    def write(self, key: str, value: bytes | None, if_equal: bytes | None) -> bytes:
        """Set or delete the value; the commit fails if the old value does not have the generation by then."""
        changes = self._changes
        with Named(self._access, key), changes.lock:
            if if_equal:
                own = self._own(key)
                if own is None:
                    changes.need(self._base, key, if_equal)
                elif if_equal != own[1] and not (if_equal == NO_VALUE and own[0] is None):
                    changes.need(self._base, key, None)
            changes.write(self._base, key, value)
            return changes.stamp(self._prefix + key, False)

    def keys(self, least: str, end: str) -> list[str]:
        """Return the keys as they will be, from `least` up to, but without, `end`."""
        if self._transaction.repeatable_read:
            raise SpecError("repeatable_read mode not supported for transactional list operations")
        return sorted(key for key in Access(Opened(self._staged, "")).keys(least, end))

    def delete_range(self, least: str, end: str) -> None:
        """Delete the keys of a range, including keys that others store before the commit."""
        self._changes.delete_range(self._base, least, end)
