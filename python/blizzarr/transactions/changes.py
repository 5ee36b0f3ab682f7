"""The changes that a transaction has gathered for the values of one place, and stores that have them on top."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from blizzarr.errors import BlizzarrError, ConflictError, GenerationMismatchError, TransactionError
from blizzarr.stores import MemoryStore, Store, check_writable
from blizzarr.stores.base import BaseStore
from blizzarr.stores.generation import NO_VALUE, generation_of, set_value
from blizzarr.stores.protocol import ByteRange, Value
from blizzarr.stores.requests import publish
from blizzarr.stores.wrapper import unwrapped
from blizzarr.transactions.overlay import Generations, GuardedStore, Overlay, View, behind, in_range, place_in, shown
from blizzarr.transactions.transaction import Outcome, Transaction, check_open, participant, refuse, require_one_step

_ATTEMPTS = 100


@dataclass(frozen=True, eq=False)
class Operation:
    """A change that can be applied to a store, or to a view of what the store will be."""

    store: Store
    apply: Callable[[Store], None]
    """Makes the change; may be called more than once, with whatever store is at the same place as `store`."""
    names: tuple[str, ...] = ()
    """The names of the values that the change affects, which are unknown when the change fails."""
    under: str | None = None
    """The name of the array whose elements are not stored if the change fails."""
    checks: bool = False
    """True if the operation changes nothing and can only fail."""
    is_plain: bool = False
    """True if the change only sets or deletes the value of one key."""

    @property
    def place(self) -> str:
        """The name below which are the values that the change affects; empty if they may be anywhere.

        The documents of groups above it are affected, too, if the change has read them.
        """
        if self.under is None:
            return self.names[0].rpartition("/")[0] if len(self.names) == 1 else ""
        place = self.under.rstrip("/")
        return place if all(name.startswith(f"{place}/") for name in self.names) else ""


class Elements(Protocol):
    """Elements of an array that are to be written, on top of all other changes."""

    under: str
    """The name of the array."""

    def names(self) -> dict[str, Any]:
        """Return the names of the values that the elements are in, with the positions of the chunks."""
        ...

    def made(self, name: str) -> tuple[bytes | None] | None:
        """Return the value of this name with the elements in it, in a tuple; None if it has no such elements."""
        ...

    def forget(self, least: str, end: str) -> None:
        """Forget the elements in values of a range of names."""

    def put(self, store: Store, into: MemoryStore) -> list[str]:
        """Write the elements on top of the values of `store`: to it, or to the memory `into`; return the names of the
        latter.
        """
        ...

    def commit(self, outcome: Outcome) -> None:
        """Write the elements."""

    def locked(self) -> tuple[Store, str] | None:
        """Return the store, and the key by which writers of the array exclude each other; None without elements."""
        ...


class Changes:
    """The changes of the values of one place, applied in order to a copy, and again when the original has changed.

    Names are keys with what tells the stores of this place apart.
    """

    def __init__(self, transaction: Transaction, at_once: bool) -> None:
        self._transaction = transaction
        self.at_once = at_once
        self.lock = threading.RLock()
        self._operations: dict[object, Operation] = {}
        """The changes in their order. Changes that set one key are under its name, as only the last of them counts."""
        self._overlay = Overlay()
        self._generations: dict[str, Generations] = {}
        """The values that the changes depend on, by the places of the changes, and by other names that they affect."""
        self.needed: dict[str, tuple[Store, str, bytes | None]] = {}
        """By name, the generation that a value must have at commit; None if no generation can satisfy the conditions
        any more.
        """
        self.watched: Generations = {}
        """The values that were read, in a transaction in which they must not change."""
        self._elements: dict[str, Elements] = {}
        self._stamps: dict[str, int] = {}
        self._count = count(1)

    # The values as they will be

    def view(self, store: Store, name: str | None, elements: bool = True) -> View:
        """Return the store as the transaction will leave it, of which the value of a name is wanted, or any value."""
        above = self if elements and self._elements else None
        return View(store, place_in(store)[1], self.overlay(name), None, above)

    def overlay(self, name: str | None) -> Overlay:
        """Return the values as the transaction will leave them; that of a name is brought up to date, or all are."""
        with self.lock:
            self._update(name)
            return self._overlay

    def _update(self, name: str | None) -> None:
        """Apply all changes again if a value has changed that those which affect a name depend on.

        Others are left alone: asking for the generation of a value may be a request.
        """
        places = (
            self._generations
            if name is None
            else ["", name, *(name[:end] for end, letter in enumerate(name) if letter == "/")]
        )
        relied = [each for place in places for each in self._generations.get(place, {}).values()]
        if any(generation_of(store, key) != before for store, key, before in relied):
            self._overlay, self._generations = self._played()

    def _played(self) -> tuple[Overlay, dict[str, Generations]]:
        overlay, generations = Overlay(), dict[str, Generations]()
        for operation in self._operations.values():
            overlay, _ = self._made(operation, overlay, generations)
        return overlay, generations

    def _made(
        self, operation: Operation, overlay: Overlay, relied: dict[str, Generations]
    ) -> tuple[Overlay, BlizzarrError | None]:
        # Setting one key cannot fail halfway, so it needs no copy.
        after = overlay if operation.is_plain else overlay.copy()
        place = operation.place
        generations = relied.setdefault(place, {})
        try:
            operation.apply(View(operation.store, place_in(operation.store)[1], after, generations))
        except BlizzarrError as error:
            overlay.errors.update(dict.fromkeys(operation.names, error))
            return overlay, error
        if place:
            for name in [name for name in generations if not name.startswith(f"{place}/")]:
                # The document of a group above, whose consolidated metadata the change may have removed.
                relied.setdefault(name, {}).update(generations)
        return after, None

    def do(self, operation: Operation) -> None:
        """Apply a change, and raise its error, which the commit would raise, too."""
        with self.lock:
            check_open(self._transaction)
            self._update(operation.place)
            self._overlay, error = self._made(operation, self._overlay, self._generations)
            self._operations[operation.names[0] if operation.is_plain else operation] = operation
            if error is not None:
                raise error
            overlay = self._overlay
            self.check_alone(operation.store, lambda: [*(least for least, _ in overlay.ranges), *overlay.values])

    def write(self, store: Store, key: str, value: bytes | None) -> None:
        """Set the value of a key; None deletes it."""
        name = place_in(store)[1] + key

        def change(target: Store) -> None:
            if not isinstance(target, View):
                set_value(target, key, value)
            elif value is None:
                target.delete(key)
            else:
                target.set(key, value)

        with self.lock:
            self._forget(name, name + "\0")
            self._stamps[name] = 0 if value is None else next(self._count)
            self.do(Operation(store, change, (name,), is_plain=True))

    def delete_range(self, store: Store, least: str, end: str) -> None:
        prefix = place_in(store)[1]
        first, last = prefix + least, prefix + end if end else behind(prefix)

        def change(target: Store) -> None:
            if isinstance(target, View):
                target.overlay.delete_range(first, last)
                return
            for key in list(target.list("")):
                if in_range(prefix + key, first, last):
                    target.delete(key)

        with self.lock:
            self._forget(first, last)
            if self._transaction.atomic and not self.at_once:
                what = f"delete range starting at {shown(store, least)}"
                refuse(self._transaction, TransactionError(f"Cannot {what} as single atomic transaction"))
            self.do(Operation(store, change))

    def _forget(self, least: str, end: str) -> None:
        """Forget earlier changes of the values of a range, which are replaced."""
        for elements in self._elements.values():
            elements.forget(least, end)
        ours = [least] if end == least + "\0" else [key for key in self._operations if isinstance(key, str)]
        for name in ours:
            if in_range(name, least, end):
                self._operations.pop(name, None)

    def stamp(self, name: str, with_elements: bool) -> bytes:
        """Return the generation of a changed value; with elements, it is new each time."""
        number = next(self._count) if with_elements else self._stamps.get(name, 0)
        return b"\4" + number.to_bytes(8, "little")

    def need(self, store: Store, key: str, generation: bytes | None) -> None:
        """Let the commit fail unless the value has this generation by then; None lets it fail in any case."""
        name = place_in(store)[1] + key
        before = self.needed.get(name, (store, key, generation))[2]
        self.needed[name] = store, key, generation if before == generation else None

    # Elements

    def elements(self, name: str, make: Callable[[], Elements]) -> Elements:
        """Return the elements of the array of this name; the first call makes them."""
        with self.lock:
            if name not in self._elements:
                self._elements[name] = make()
            return self._elements[name]

    def drop(self, name: str) -> None:
        """Forget the elements of the array of this name, and those of arrays below it."""
        with self.lock:
            for other in [other for other in self._elements if f"{other}/".startswith(f"{name}/")]:
                del self._elements[other]

    def check_alone(self, store: Store, names: Callable[[], Iterable[str]]) -> None:
        """Check that an atomic transaction can store all values of these names in one step."""
        if self._transaction.atomic and not self.at_once:
            prefix = place_in(store)[1]
            for name in names():
                require_one_step(self._transaction, f"read/write {shown(store, name[len(prefix) :])}")

    def made(self, name: str) -> tuple[bytes | None] | None:
        """Return the value of a name with the elements that are to be in it, in a tuple; None without such elements."""
        for elements in list(self._elements.values()):
            result = elements.made(name)
            if result is not None:
                return result
        return None

    def names(self, prefix: str) -> dict[str, bool]:
        """Return the names of values with elements that are to be written, each with whether it will have a value."""
        result = {}
        for elements in list(self._elements.values()):
            for name in elements.names():
                made = elements.made(name) if name.startswith(prefix) else None
                if made is not None:
                    result[name] = made[0] is not None
        return result

    # Committing

    def prepare(self) -> None:
        """Raise if a value that the transaction depends on was changed by others, or a change must fail."""
        self._check_relied()
        with self.lock:
            # Plain changes cannot fail.
            if not all(operation.is_plain for operation in self._operations.values()):
                for error in self._played()[0].errors.values():
                    raise error

    def _check_relied(self) -> None:
        for store, key, generation in (*self.needed.values(), *self.watched.values()):
            if generation is None or generation_of(store, key) != generation:
                raise GenerationMismatchError(f"Error writing {shown(store, key)}: Generation mismatch")

    def commit(self, outcome: Outcome) -> None:
        """Store everything: in memory in one step, elsewhere value by value."""
        with self.lock:
            if self.at_once:
                self._commit_at_once(outcome)
            else:
                self._commit_each(outcome)

    def guarded(self, store: Store, *, holds_locks: bool = False) -> Store:
        """Return the store to commit to, which refuses to replace values that others have changed (`GuardedStore`)."""
        if not (self.needed or self.watched):
            return store
        return GuardedStore(store, (self.needed, self.watched), holds_locks=holds_locks)

    def shown(self) -> list[str]:
        with self.lock:
            there = {name: None for made in self._operations.values() if not made.checks for name in made.names}
            there.update({name: None for elements in self._elements.values() for name in elements.names()})
            return list(there)

    def _commit_each(self, outcome: Outcome) -> None:
        failed = set()
        for operation in self._operations.values():
            names = [] if operation.checks else list(operation.names)
            try:
                operation.apply(self.guarded(operation.store, holds_locks=operation.under is not None))
            except Exception as error:
                outcome.fail(names, error)
                failed.add(operation.under)
            else:
                outcome.stored += names
        for elements in self._elements.values():
            if elements.under in failed:
                outcome.not_stored += elements.names()
            else:
                elements.commit(outcome)
        for store in {id(operation.store): operation.store for operation in self._operations.values()}.values():
            publish(store)

    def _commit_at_once(self, outcome: Outcome) -> None:
        locked = [result for elements in self._elements.values() if (result := elements.locked()) is not None]
        stores = [operation.store for operation in self._operations.values()] + [store for store, _ in locked]
        if not stores:
            return
        memory = unwrapped(stores[0])
        assert isinstance(memory, MemoryStore), "what can be exchanged at once"
        check_writable(memory, "")
        with ExitStack() as stack:
            locks = memory.native.lock_for_deletion([key for _, key in locked])
            stack.callback(locks.release)
            # Values with elements are taken from this memory without a copy.
            made = MemoryStore()
            for _ in range(_ATTEMPTS):
                overlay, relied = self._played()
                for error in overlay.errors.values():
                    raise error
                taken: dict[str, None] = {}
                generations = Generations()
                for elements in self._elements.values():
                    taken.update(dict.fromkeys(elements.put(View(memory, "", overlay, generations), made)))
                hidden = [key for key in memory.list() if overlay.hides(key)] if overlay.ranges else []
                changes = [*((key, None) for key in hidden if key not in overlay.values), *overlay.values.items()]
                names = [*(key for key, _ in changes if key not in taken), *taken]
                expected = [
                    (key, None if generation == NO_VALUE else generation[1:])
                    for _, key, generation in (
                        *(read for each in (generations, *relied.values()) for read in each.values()),
                        *self.watched.values(),
                        *self.needed.values(),
                    )
                    if generation is not None
                ]
                if memory.native.exchange(expected, changes, made.native, list(taken)) is None:
                    outcome.stored += names
                    return
                self._check_relied()
        raise ConflictError(
            f"somebody else changed what is to be changed {_ATTEMPTS} times in a row; try again", store=str(memory)
        )

    def abort(self) -> None:
        with self.lock:
            self._operations, self._overlay, self._generations = {}, Overlay(), {}
            self._elements, self.needed, self.watched = {}, {}, {}


def changes_in(transaction: Transaction, store: Store) -> Changes:
    """Return the changes that a transaction has gathered for the place of a store.

    Raise `SpecError` when the transaction is not open.
    """
    identity, _ = place_in(store)
    return participant(transaction, identity, lambda: Changes(transaction, isinstance(unwrapped(store), MemoryStore)))


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

    def _view(self, key: str | None = None) -> View:
        changes = self.changes
        base = watched(self.base, changes.watched) if self.transaction.repeatable_read else self.base
        return changes.view(base, None if key is None else place_in(base)[1] + key)

    def get(self, key: str) -> Value | None:
        return self._view(key).get(key)

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        return self._view(key).get_ranges(key, ranges)

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
