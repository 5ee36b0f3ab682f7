"""Stores that record what is read from them, and fail if it has changed when it is read again."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from blizzarr.errors import GenerationMismatchError
from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.generation import generation_of
from blizzarr.stores.protocol import ByteRange, Value
from blizzarr.stores.requests import each
from blizzarr.transactions.naming import place_in, shown
from blizzarr.transactions.overlay import Seen

__all__ = ["watched"]


class _WatchedStore(StoreWrapper):
    """A store that records the generation of each value that is read."""

    def __init__(self, store: Store, seen: Seen) -> None:
        super().__init__(store)
        self._seen = seen
        self._prefix = place_in(store)[1]

    def _note(self, key: str) -> None:
        now = generation_of(self.store, key)
        before = self._seen.setdefault(self._prefix + key, (self.store, key, now))[2]
        if before != now:
            raise GenerationMismatchError(f"Error reading {shown(self.store, key)}: Generation mismatch")

    def get(self, key: str) -> Value | None:
        """The value, which is the one that was read before."""
        self._note(key)
        return super().get(key)

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        """The values under many keys."""
        return each(self, self.get, keys)

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        """Return parts of the value."""
        self._note(key)
        return super().get_ranges(key, ranges)


def watched(store: Store, seen: Seen) -> Store:
    """Return the store; a value that is read from it is recorded, and must not have changed when it is read again."""
    return _WatchedStore(store, seen)
