"""The arguments and results of key-value stores: ranges of keys, generations, results of reads."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from math import inf
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar, get_args

from blizzarr.spec.kvstore_spec import text_of

State: TypeAlias = Literal["unspecified", "missing", "value"]
Read = TypeVar("Read")
Assigned = TypeVar("Assigned")


def bytes_of(value: Any) -> bytes:
    """Convert to bytes; texts are encoded as UTF-8."""
    return value if isinstance(value, bytes) else text_of(value).encode("utf-8", "surrogateescape")


class Converted(Generic[Read, Assigned]):
    """An attribute of a dataclass which converts what is assigned, and gives out copies."""

    def __init__(self, convert: Callable[[Any], Read], default: Any, doc: str) -> None:
        self._convert = convert
        self._default = default
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._slot = f"_{name}"

    def __get__(self, instance: object | None, owner: type) -> Read:
        # Of the class it is itself, for `help`; so that is what dataclasses take for the default.
        value: Any = self if instance is None else copy(getattr(instance, self._slot))
        return value  # type: ignore[no-any-return]

    def __set__(self, instance: object, value: Assigned) -> None:
        given: Any = value
        setattr(instance, self._slot, self._convert(self._default if given is self else given))

    def __repr__(self) -> str:
        return repr(self._default)


@dataclass(repr=False)
class KeyRange:
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

    __slots__ = ("_exclusive_max", "_inclusive_min")
    inclusive_min: Converted[bytes, str | bytes] = Converted(bytes_of, b"", "The first key; empty for no bound.")
    exclusive_max: Converted[bytes, str | bytes] = Converted(
        bytes_of, b"", "The first key that is not in it; empty for no bound."
    )

    @property
    def empty(self) -> bool:
        """True if no key is in the range."""
        return bool(self.exclusive_max) and self.exclusive_max <= self.inclusive_min

    def copy(self) -> Self:
        """Return a range with the same bounds, which can be changed on its own."""
        return copy(self)

    def __repr__(self) -> str:
        return f"KvStore.KeyRange({self.inclusive_min!r}, {self.exclusive_max!r})"


@dataclass(repr=False)
class TimestampedStorageGeneration:
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

    __slots__ = ("_generation", "_time")
    generation: Converted[bytes, str | bytes] = Converted(bytes_of, b"", "The version; empty for any.")
    time: Converted[float, float] = Converted(float, -inf, "Seconds since 1970.")

    def __repr__(self) -> str:
        return f"KvStore.TimestampedStorageGeneration({self.generation!r}, {self.time:f})"


def _state(value: Any) -> State:
    if value not in get_args(State):
        raise TypeError(f"expected a state of {', '.join(get_args(State))}, found {value!r}")
    return value  # type: ignore[no-any-return]


def _stamp(value: Any) -> TimestampedStorageGeneration:
    if not isinstance(value, TimestampedStorageGeneration):
        raise TypeError(f"expected a TimestampedStorageGeneration, found {type(value).__name__}")
    return copy(value)


@dataclass(repr=False)
class ReadResult:
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

    __slots__ = ("_stamp", "_state", "_value")
    state: Converted[State, State] = Converted(
        _state, "unspecified", 'The kind of result: ``"value"``, ``"missing"``, or ``"unspecified"``.'
    )
    value: Converted[bytes, str | bytes] = Converted(bytes_of, b"", "The value; empty if there is no value.")
    stamp: Converted[TimestampedStorageGeneration, TimestampedStorageGeneration] = Converted(
        _stamp, TimestampedStorageGeneration(), "The version of the value, and when it was read."
    )

    def __repr__(self) -> str:
        return f"KvStore.ReadResult(state={self.state!r}, value={self.value!r}, stamp={self.stamp!r})"


for _class in (KeyRange, TimestampedStorageGeneration, ReadResult):
    _class.__qualname__ = f"KvStore.{_class.__name__}"
    # Where pickles find that name.
    _class.__module__ = "blizzarr.spec.kvstore"
