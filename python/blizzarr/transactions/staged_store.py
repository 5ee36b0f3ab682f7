"""A store as a transaction will leave it."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from blizzarr.stores import Store
from blizzarr.stores.base import BaseStore
from blizzarr.stores.generation import generation_of
from blizzarr.stores.protocol import ByteRange, Value
from blizzarr.transactions.changes import Changes, changes_in
from blizzarr.transactions.guarded import GuardedStore
from blizzarr.transactions.overlay import Generations, View
from blizzarr.transactions.transaction import Transaction


class StagedStore(BaseStore):
    """A store with the changes of a transaction on top; what is set through it becomes part of the transaction.

    - `transaction`: the transaction, which must be open when something is asked for.
    - `base`: what is stored.
    """

    def __init__(self, transaction: Transaction, base: Store) -> None:
        self.transaction = transaction
        self.base = base
        self._allow_what(base)

    def __str__(self) -> str:
        return str(self.base)

    @property
    def changes(self) -> Changes:
        """The changes that the transaction has gathered for this place."""
        return changes_in(self.transaction, self.base)

    def _view(self) -> View:
        changes = self.changes
        base = watched(self.base, changes.watched) if self.transaction.repeatable_read else self.base
        return changes.view(base)

    def get(self, key: str) -> Value | None:
        return self._view().get(key)

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        return self._view().get_ranges(key, ranges)

    def set(self, key: str, value: Value) -> None:
        self.changes.write(self.base, key, bytes(value))

    def delete(self, key: str) -> object:
        self.changes.write(self.base, key, None)
        return None

    def list(self, prefix: str = "") -> builtins.list[str]:
        return self._view().list(prefix)


class _WatchedStore(GuardedStore):
    """A store that records the generation of each value that is read."""

    def _check(self, key: str, doing: str) -> None:
        now = generation_of(self.store, key)
        before = self._relied[0].setdefault(self._prefix + key, (self.store, key, now))[2]
        if before != now:
            raise self._mismatch(key, doing)


def watched(store: Store, generations: Generations) -> Store:
    """Return the store; a value that is read from it is recorded, and must not have changed when it is read again."""
    return _WatchedStore(store, [generations])
