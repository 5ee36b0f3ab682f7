"""Reading, writing and listing the keys of an opened key-value store, also in a transaction; arguments and results.

A *generation* tells one value of a key from the next; see `blizzarr.stores.generation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from math import inf
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeAlias, get_args

from blizzarr.errors import GenerationMismatchError, PathError, SpecError, UnsupportedOperationError
from blizzarr.json_values import quote
from blizzarr.stores.generation import (
    NO_VALUE,
    UNKNOWN,
    file_generation,
    read_generation,
    replace_generation,
    set_value,
    write_generation,
)
from blizzarr.stores.local import LocalStore
from blizzarr.stores.protocol import Store
from blizzarr.stores.requests import publish
from blizzarr.transactions import StagedStore, Transaction
from blizzarr.transactions.overlay import behind, place_in

State: TypeAlias = Literal["unspecified", "missing", "value"]


def text_of(value: Any) -> str:
    """Convert a key or path to a text; it may be bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if not isinstance(value, str):
        raise TypeError(f"expected str or bytes, found {type(value).__name__}")
    return value


def bytes_of(value: Any) -> bytes:
    """Convert to bytes; texts are encoded as UTF-8."""
    return value if isinstance(value, bytes) else text_of(value).encode("utf-8", "surrogateescape")


class Record:
    """Something whose attributes are converted when they are assigned."""

    __slots__ = ()
    _converters: ClassVar[Mapping[str, Callable[[Any], Any]]]

    def __setattr__(self, name: str, value: Any) -> None:
        convert = self._converters.get(name)
        object.__setattr__(self, name, value if convert is None else convert(value))


@dataclass(repr=False, slots=True)
class KeyRange(Record):
    """A range of keys in the order of their bytes: from the first, up to but without the second.

    Parameters
    ----------
    inclusive_min
        The first key; empty for no bound.
    exclusive_max
        The first key that is not in it; empty for no bound.

    Examples
    --------
    >>> KvStore.KeyRange("a", b"b"), KvStore.KeyRange("b", "a").empty
    (KvStore.KeyRange(b'a', b'b'), True)
    """

    _converters: ClassVar = {"inclusive_min": bytes_of, "exclusive_max": bytes_of}
    inclusive_min: bytes = b""
    exclusive_max: bytes = b""

    @property
    def empty(self) -> bool:
        """True if no key is in the range."""
        return bool(self.exclusive_max) and self.exclusive_max <= self.inclusive_min

    def copy(self) -> Self:
        """Return a range with the same bounds, which can be changed on its own."""
        return copy(self)

    def __repr__(self) -> str:
        return f"KvStore.KeyRange({self.inclusive_min!r}, {self.exclusive_max!r})"


@dataclass(repr=False, slots=True)
class TimestampedStorageGeneration(Record):
    """The version of a value, and when it was looked up.

    Parameters
    ----------
    generation
        The version; empty for any.
    time
        Seconds since 1970.

    Examples
    --------
    >>> KvStore.TimestampedStorageGeneration(b"a", 1.5)
    KvStore.TimestampedStorageGeneration(b'a', 1.500000)
    """

    _converters: ClassVar = {"generation": bytes_of, "time": float}
    generation: bytes = b""
    time: float = -inf

    def __repr__(self) -> str:
        return f"KvStore.TimestampedStorageGeneration({self.generation!r}, {self.time:f})"


def _state(value: Any) -> State:
    if value not in get_args(State):
        raise TypeError(f"expected a state of {', '.join(get_args(State))}, found {value!r}")
    return value


def _stamp(value: Any) -> TimestampedStorageGeneration:
    if not isinstance(value, TimestampedStorageGeneration):
        raise TypeError(f"expected a TimestampedStorageGeneration, found {type(value).__name__}")
    return copy(value)


@dataclass(repr=False, slots=True)
class ReadResult(Record):
    """The result of reading a key.

    Parameters
    ----------
    state
        ``"value"``, ``"missing"``, or ``"unspecified"`` when it was not asked for.
    value
        The value, if there is one.
    stamp
        Which version of it, and when it was read.

    Examples
    --------
    >>> KvStore.ReadResult("value", b"x").value
    b'x'
    """

    _converters: ClassVar = {"state": _state, "value": bytes_of, "stamp": _stamp}
    state: State = "unspecified"
    value: bytes = b""
    stamp: TimestampedStorageGeneration = field(default_factory=TimestampedStorageGeneration)

    def __repr__(self) -> str:
        return f"KvStore.ReadResult(state={self.state!r}, value={self.value!r}, stamp={self.stamp!r})"


for _class in (KeyRange, TimestampedStorageGeneration, ReadResult):
    _class.__qualname__ = f"KvStore.{_class.__name__}"
    # Where pickles find that name.
    _class.__module__ = "blizzarr.spec.kvstore"


class ByteSlice(NamedTuple):
    """The requested bytes; a negative start counts from the end, and a stop of None is the end."""

    start: int
    stop: int | None

    def of(self, size: int) -> tuple[int, int]:
        """Return start and length in a value of this size."""
        start = self.start + size if self.start < 0 else self.start
        stop = size if self.stop is None else self.stop
        if start < 0 or stop > size or start > stop:
            end = "?" if self.stop is None else self.stop
            raise SpecError(f"OUT_OF_RANGE: bytes [{self.start}, {end}) are not within the value of {size} bytes")
        return start, stop - start


class Read(NamedTuple):
    """The value of a key, or None, and its generation; `wanted` is False if the value was not asked for."""

    value: bytes | None
    generation: bytes
    wanted: bool = True


class Access:
    """The keys of a key-value store: texts that continue its path."""

    def __init__(self, store: Store, path: str = "") -> None:
        self.store = store
        self.path = path

    @contextmanager
    def full_key(self, key: str) -> Iterator[str]:
        """Give the key with the path in front, and errors about it in the words of specs."""
        try:
            yield self.path + key
        except (PathError, UnicodeEncodeError) as error:
            root = f"{self.store.root}/" if isinstance(self.store, LocalStore) else ""
            raise PathError(f"Invalid key: {quote(root + self.path + key)}") from error

    def read(self, key: str, part: ByteSlice | None = None, if_not_equal: bytes = UNKNOWN) -> Read:
        """Read the value, or part of it, unless it has the generation `if_not_equal`."""
        with self.full_key(key) as full:
            if isinstance(self.store, LocalStore):
                return self._read_file(full, part, if_not_equal)
            value, generation = read_generation(self.store, full)
        return part_of(value, generation, part, if_not_equal)

    def _read_file(self, full: str, part: ByteSlice | None, if_not_equal: bytes) -> Read:
        """Read from a file, whose generation is known without reading it."""
        assert isinstance(self.store, LocalStore), "who else has files"
        while True:
            before = generation, size = file_generation(self.store, full)
            if generation == NO_VALUE:
                return Read(None, NO_VALUE)
            if if_not_equal == generation:
                return Read(None, generation, False)
            if part is None:
                value = self.store.get(full)
            else:
                parts = self.store.get_ranges(full, [part.of(size)])
                value = None if parts is None else parts[0]
            # Files are replaced as a whole: if the generation is still the same, the bytes are of this generation.
            if file_generation(self.store, full) == before:
                return Read(None if value is None else bytes(value), generation)

    def write(self, key: str, value: bytes | None, if_equal: bytes | None = None) -> bytes | None:
        """Replace the value, or delete it, and return the new generation.

        With `if_equal` return None, and do nothing, if the value is not of that generation any more.
        """
        with self.full_key(key) as full:
            if if_equal is None:
                generation: bytes | None = write_generation(self.store, full, value)
            else:
                generation = replace_generation(self.store, full, if_equal, value)
            if generation is not None:
                publish(self.store)
        return generation

    def put(self, key: str, value: bytes | None) -> None:
        """Replace the value, or delete it, without asking for its generation."""
        with self.full_key(key) as full:
            set_value(self.store, full, value)
            publish(self.store)

    def delete_range(self, least: str, end: str) -> None:
        """Delete the keys from `least` up to, but without, `end`; an empty `end` means no upper bound."""
        for key in list(self.keys(least, end)):
            set_value(self.store, self.path + key, None)
        publish(self.store)

    def keys(self, least: str, end: str) -> Iterator[str]:
        """Return the keys from `least` up to, but without, `end`, in no order."""
        for full in self._below(_common(least, end)):
            key = full[len(self.path) :]
            if bytes_of(least) <= bytes_of(key) and (not end or bytes_of(key) < bytes_of(end)):
                yield key

    def _below(self, common: str) -> Iterator[str]:
        """Return all keys of the store that begin with the path and this prefix."""
        wanted = self.path + common
        # Only directories that begin with the last name of the path are listed.
        directory = wanted.rpartition("/")[0]
        if not wanted or wanted.endswith("/"):
            # Of two slashes at the end, the directory has one.
            yield from (full for full in self.store.list(directory) if full.startswith(wanted))
            return
        listing = self.store.list_dir(directory)
        yield from (full for full in listing.keys if full.startswith(wanted))
        for prefix in listing.prefixes:
            if prefix.startswith(wanted):
                yield from self.store.list(prefix)


def _common(least: str, end: str) -> str:
    """Return the common prefix of all keys in a range."""
    size = next((at for at, (one, other) in enumerate(zip(least, end, strict=False)) if one != other), None)
    return "" if size is None else least[:size]


def part_of(value: bytes | None, generation: bytes, part: ByteSlice | None, if_not_equal: bytes) -> Read:
    """Return part of a value, unless it has the generation `if_not_equal`."""
    if if_not_equal == generation:
        return Read(None, generation, value is None)
    if value is None or part is None:
        return Read(value, generation)
    start, length = part.of(len(value))
    return Read(value[start : start + length], generation)


class KvChanges:
    """The keys of a key-value store as a transaction will leave them.

    A generation that begins with 4 is that of a change.
    """

    def __init__(self, transaction: Transaction, access: Access) -> None:
        self._transaction = transaction
        self._access = access
        self._base = access.store
        self._staged = StagedStore(transaction, access.store)
        self._changes = self._staged.changes
        self._prefix = place_in(access.store)[1]

    def read(self, key: str, part: ByteSlice | None = None, if_not_equal: bytes = UNKNOWN) -> Read:
        """Read the value as it will be, or part of it, unless it has the generation `if_not_equal`."""
        with self._access.full_key(key) as full:
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
            made = changes.made(name)
            if made is None and not changes.overlay(name).changes(name):
                return None
            value = self._staged.get(full)
            return None if value is None else bytes(value), changes.stamp(name, made is not None)

    def write(self, key: str, value: bytes | None, if_equal: bytes | None = None) -> bytes:
        """Set or delete the value; the commit fails if the old value does not have the generation by then."""
        changes = self._changes
        with self._access.full_key(key) as full, changes.lock:
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
            raise UnsupportedOperationError("repeatable_read mode not supported for transactional list operations")
        return Access(self._staged, self._access.path).keys(least, end)

    def delete_range(self, least: str, end: str) -> None:
        """Delete the keys of a range, including keys that others store before the commit."""
        path = self._access.path
        self._changes.delete_range(self._base, path + least, path + end if end else behind(path))
