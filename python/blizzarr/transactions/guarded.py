"""Stores that a transaction is committed to: what it relies on is replaced only as long as it has not changed.

That values are as they must be is found out before anything is stored. Others may still change them before they are
replaced, so that each replacement is conditional. What the transaction has replaced itself is relied on no longer.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from blizzarr.errors import GenerationMismatchError
from blizzarr.stores import Store, StoreWrapper
from blizzarr.stores.generation import generation_of, replace_generation
from blizzarr.stores.keys import check_prefix
from blizzarr.stores.protocol import ByteRange, Replaced, Value
from blizzarr.transactions.overlay import place_in, shown


class GuardedStore(StoreWrapper):
    """A store whose values are read and replaced only while they are of the generations that a transaction relies on.

    Everything else is passed on. Names whose values have been replaced, or deleted, are removed from `relied`.

    - `store`: the store.
    - `relied`: generations by name, in tuples that end with them, as `Changes.needed` and `Changes.watched` have them.
    - `holds_locks`: who deletes values holds the locks of documents: generations are compared before, without locks.

    Its methods raise `GenerationMismatchError` if a value is of another generation.

    >>> from blizzarr.stores import MappingStore
    >>> store = MappingStore({"a": b"1", "b": b"1"})
    >>> relied = {key: (store, key, generation_of(store, key)) for key in "ab"}
    >>> guarded = GuardedStore(store, [relied])
    >>> guarded.set("a", b"2")
    >>> guarded.set("a", b"3")
    >>> store.set("b", b"of another")
    >>> guarded.set("b", b"2")
    Traceback (most recent call last):
    blizzarr.errors.GenerationMismatchError: ABORTED: Error writing "b": Generation mismatch
    """

    def __init__(self, store: Store, relied: Sequence[dict[str, Any]], *, holds_locks: bool = False) -> None:
        super().__init__(store)
        self._relied = relied
        self._holds_locks = holds_locks
        self._prefix = place_in(store)[1]

    @property
    def others(self) -> Callable[[str, int], builtins.list[str]]:
        others: Callable[[str, int], builtins.list[str]] = self.store.others  # type: ignore[attr-defined]
        return others

    @property
    def linked(self) -> Callable[[Iterable[str]], builtins.list[str]]:
        """The method of the store that finds prefixes that are symbolic links, if it has that."""
        linked: Callable[[Iterable[str]], builtins.list[str]] = self.store.linked  # type: ignore[attr-defined]
        return linked

    def get(self, key: str) -> Value | None:
        self._check(key, "reading")
        return super().get(key)

    def get_many(self, keys: Sequence[str]) -> builtins.list[Value | None]:
        for key in keys:
            self._check(key, "reading")
        return super().get_many(keys)

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        self._check(key, "reading")
        return super().get_ranges(key, ranges)

    def set(self, key: str, value: Value) -> None:
        generation = self._expected(key)
        if generation is None:
            super().set(key, value)
        else:
            self._exchange(key, generation, bytes(value))

    def delete(self, key: str) -> object:
        generation = self._expected(key)
        if generation is None:
            return super().delete(key)
        if not self._holds_locks:
            self._exchange(key, generation, None)
            return None
        self._check(key, "writing")
        deleted = super().delete(key)
        self._forget(key)
        return deleted

    def replace(self, key: str, expected: Value | None, value: Value) -> Replaced:
        self._check(key, "writing")
        done = super().replace(key, expected, value)
        self._changed(key, done)
        return done

    def discard(self, key: str, expected: Value) -> bool:
        self._check(key, "writing")
        done = super().discard(key, expected)
        self._changed(key, done)
        return done

    def delete_prefix(self, prefix: str) -> None:
        below = self._prefix + check_prefix(prefix)
        names = {name for relied in self._relied for name in builtins.list(relied) if name.startswith(below)}
        for name in names:
            self._check(name[len(self._prefix) :], "writing")
        super().delete_prefix(prefix)
        for name in names:
            self._forget(name[len(self._prefix) :])

    def size(self, key: str) -> int | None:
        self._check(key, "reading")
        return super().size(key)

    def _exchange(self, key: str, generation: bytes, value: bytes | None) -> None:
        if replace_generation(self.store, key, generation, value) is None:
            raise self._mismatch(key, "writing")
        self._forget(key)

    def _changed(self, key: str, done: bool | None) -> None:
        if done:
            self._forget(key)
        else:
            self._check(key, "writing")

    def _check(self, key: str, doing: str) -> None:
        generation = self._expected(key)
        if generation is not None and generation_of(self.store, key) != generation:
            raise self._mismatch(key, doing)

    def _expected(self, key: str) -> bytes | None:
        """Return the generation that a value must be of, or None if it may be of any."""
        name = self._prefix + key
        for relied in self._relied:
            result = relied.get(name)
            if result is not None:
                generation: bytes | None = result[2]
                return generation
        return None

    def _forget(self, key: str) -> None:
        for relied in self._relied:
            relied.pop(self._prefix + key, None)

    def _mismatch(self, key: str, doing: str) -> GenerationMismatchError:
        return GenerationMismatchError(f"Error {doing} {shown(self.store, key)}: Generation mismatch")
