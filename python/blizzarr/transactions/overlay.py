"""Overlays: values as a transaction will leave them, on top of those that are stored.

They are told apart by *names*: their keys, after what tells the stores of one place apart.

At the end: stores that a transaction is committed to. What it relies on is replaced only as long as it has not changed.
That values are as they must be is found out before anything is stored. Others may still change them before they are
replaced, so that each replacement is conditional. What the transaction has replaced itself is relied on no longer.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Sequence
from typing import Any

from blizzarr.errors import BlizzarrError, GenerationMismatchError
from blizzarr.json_values import quote
from blizzarr.stores import LocalStore, Store, StoreWrapper
from blizzarr.stores.base import BaseStore
from blizzarr.stores.generation import generation_of, replace_generation
from blizzarr.stores.keys import check_key, check_prefix
from blizzarr.stores.place import place_of
from blizzarr.stores.protocol import ByteRange, Replaced, Value
from blizzarr.stores.ranges import slice_ranges
from blizzarr.stores.wrapper import unwrapped

Generations = dict[str, tuple[Store, str, bytes]]
"""By name: the store and key of a value that was read, and its generation at that time."""


def place_in(store: Store) -> tuple[str, str]:
    """Return the place of a store, and the prefix of its keys there; all directories are in one place."""
    bare = store if type(store) is LocalStore else unwrapped(store)
    if isinstance(bare, LocalStore):
        return "file", f"{bare.facts[0]}/".replace("//", "/")
    return place_of(bare), ""


def shown(store: Store, key: str) -> str:
    kind, prefix = place_in(store)
    return f"local file {quote(prefix + key)}" if kind == "file" else quote(key)


def behind(prefix: str) -> str:
    """Return the first name after all that begin with this prefix; empty if there is none."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else ""


def in_range(name: str, least: str, end: str) -> bool:
    """Return whether a name is in the range; an empty `end` means no upper bound."""
    return least <= name and (not end or name < end)


class Overlay:
    """The values to be stored, by names that are unique across all places of one kind."""

    def __init__(self) -> None:
        self.values: dict[str, bytes | None] = {}
        self.ranges: list[tuple[str, str]] = []
        """Ranges of names whose stored values are deleted."""
        self.hidden: tuple[str, ...] = ()
        """Prefixes of names below which nothing that is stored is seen, also if others store it from now on."""
        self.errors: dict[str, BlizzarrError] = {}
        """Names of values that are unknown, as a change of them has failed, and why."""

    def copy(self) -> Overlay:
        other = Overlay()
        other.values, other.ranges, other.errors = dict(self.values), builtins.list(self.ranges), dict(self.errors)
        other.hidden = self.hidden
        return other

    def hides(self, name: str) -> bool:
        return name.startswith(self.hidden) or any(in_range(name, least, end) for least, end in self.ranges)

    def changes(self, name: str) -> bool:
        """Return whether a value differs from what is stored, or is unknown."""
        return name in self.values or name in self.errors or self.hides(name)

    def value(self, name: str) -> bytes | None:
        """Return a value that differs from what is stored, or raise the error for which it is unknown."""
        if name in self.errors:
            raise self.errors[name]
        return self.values.get(name)

    def delete_range(self, least: str, end: str) -> None:
        for name in [name for name in self.values if in_range(name, least, end)]:
            del self.values[name]
        self.ranges.append((least, end))

    def touches(self, prefix: str, but: Iterable[str] = ()) -> bool:
        """Return whether any value below a prefix differs from what is stored, not counting the names in `but`."""
        end = behind(prefix)
        if any((not end or least < end) and (not stop or prefix < stop) for least, stop in self.ranges):
            return True
        if any(each.startswith(prefix) or prefix.startswith(each) for each in self.hidden):
            return True
        left_out = set(but)
        return any(name.startswith(prefix) and name not in left_out for name in self.values)


class View(BaseStore):
    """A store as an overlay shows it.

    - `base`: the stored values.
    - `prefix`: the prefix that turns keys of the store into names.
    - `overlay`: the values that are to be stored.
    - `generations`: the generations of the values that are read are recorded in it.
    - `above`: values that lie on top of the overlay.

    >>> from blizzarr.stores import MemoryStore
    >>> base = MemoryStore()
    >>> base.set("a", b"1")
    >>> view = View(base, "", Overlay())
    >>> view.set("b", b"2")
    >>> view.delete("a")
    >>> view.list(), base.list()
    (['b'], ['a'])
    """

    has_documents = False  # those that matter are compared when the transaction is committed

    def __init__(
        self,
        base: Store,
        prefix: str,
        overlay: Overlay,
        generations: Generations | None = None,
        above: Any = None,
    ) -> None:
        self.base = base
        self.prefix = prefix
        self.overlay = overlay
        self.generations = generations
        self.above = above
        self._allow_what(base)

    def __str__(self) -> str:
        return str(self.base)

    def get(self, key: str) -> Value | None:
        made = self._made(key)
        return self.base.get(key) if made is None else made[0]

    def _made(self, key: str) -> tuple[bytes | None] | None:
        """Return a value that differs from what is stored, in a tuple; of others, the generation is recorded."""
        name = self.prefix + check_key(key)
        made = None if self.above is None else self.above.made(name)
        if made is None and self.overlay.changes(name):
            made = (self.overlay.value(name),)
        elif made is None and self.generations is not None and name not in self.generations:
            self.generations[name] = self.base, key, generation_of(self.base, key)
        return made

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        made = self._made(key)
        if made is None:
            return self.base.get_ranges(key, ranges)
        return None if made[0] is None else slice_ranges(made[0], ranges)

    def set(self, key: str, value: Value) -> None:
        self.overlay.values[self.prefix + check_key(key)] = bytes(value)

    def delete(self, key: str) -> object:
        self.overlay.values[self.prefix + check_key(key)] = None
        return None

    def delete_prefix(self, prefix: str) -> None:
        below = self.prefix + check_prefix(prefix)
        self.overlay.delete_range(below, behind(below))

    def hide(self, prefix: str) -> None:
        """Hide what is stored below a prefix, also from now on."""
        self.overlay.hidden += (self.prefix + check_prefix(prefix),)

    def list(self, prefix: str = "") -> builtins.list[str]:
        below = self.prefix + check_prefix(prefix)
        size = len(self.prefix)
        hidden = self.overlay
        result = {
            key
            for key in self.base.list(prefix)
            if self.prefix + key not in hidden.values and not hidden.hides(self.prefix + key)
        }
        result.update(
            name[size:] for name, value in hidden.values.items() if value is not None and name.startswith(below)
        )
        if self.above is not None:
            for name, has_value in self.above.names(below).items():
                (result.add if has_value else result.discard)(name[size:])
        return sorted(result)

    def others(self, prefix: str, limit: int) -> builtins.list[str]:
        others = getattr(self.base, "others", None)
        below = self.prefix + check_prefix(prefix)
        if others is None or any(
            least <= below and (not end or behind(below) <= end) for least, end in self.overlay.ranges
        ):
            return []
        result: builtins.list[str] = others(prefix, limit)
        return result


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
    def others(self) -> Any:
        return self.store.others  # type: ignore[attr-defined]  # else it has no such method either

    @property
    def linked(self) -> Any:
        """The method of the store that finds prefixes that are symbolic links, if it has that."""
        return self.store.linked  # type: ignore[attr-defined]

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
