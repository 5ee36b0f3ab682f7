"""The arguments and results of key-value stores: ranges of keys, generations, results of reads."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias, get_args

from blizzarr.spec.kvstore_spec import text_of

State: TypeAlias = Literal["unspecified", "missing", "value"]


def bytes_of(value: Any) -> bytes:
    """Convert to bytes; texts are encoded as UTF-8."""
    return text_of(value).encode("utf-8", "surrogateescape")


class _Value:
    """The base of mutable values that can be compared and copied, and therefore have no hash."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _members(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __copy__(self) -> Any:
        return type(self)(*self._members())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Value) or type(other) is not type(self):
            return NotImplemented
        return self._members() == other._members()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self).__name__, self._members())


def _unpickled(name: str, members: tuple[Any, ...]) -> Any:
    return globals()[name](*members)


class KeyRange(_Value):
    """A range of keys in the order of their bytes: from the first, up to but without the second.

    Parameters
    ----------
    inclusive_min
        The first key; empty for no bound.
    exclusive_max
        The first key that is not in it; empty for no bound.

    Examples
    --------
    >>> KeyRange("a", b"b"), KeyRange("b", "a").empty
    (KvStore.KeyRange(b'a', b'b'), True)
    """

    __slots__ = ("_exclusive_max", "_inclusive_min")

    def __init__(self, inclusive_min: str | bytes = "", exclusive_max: str | bytes = "") -> None:
        self._inclusive_min = bytes_of(inclusive_min)
        self._exclusive_max = bytes_of(exclusive_max)

    @property
    def inclusive_min(self) -> bytes:
        """The first key; empty for no bound."""
        return self._inclusive_min

    @inclusive_min.setter
    def inclusive_min(self, value: str | bytes) -> None:
        self._inclusive_min = bytes_of(value)

    @property
    def exclusive_max(self) -> bytes:
        """The first key that is not in it; empty for no bound."""
        return self._exclusive_max

    @exclusive_max.setter
    def exclusive_max(self, value: str | bytes) -> None:
        self._exclusive_max = bytes_of(value)

    @property
    def empty(self) -> bool:
        """True if no key is in the range."""
        return bool(self._exclusive_max) and self._exclusive_max <= self._inclusive_min

    def copy(self) -> KeyRange:
        """Return a range with the same bounds, which can be changed on its own."""
        return KeyRange(self._inclusive_min, self._exclusive_max)

    def _members(self) -> tuple[Any, ...]:
        return self._inclusive_min, self._exclusive_max

    def __repr__(self) -> str:
        return f"KvStore.KeyRange({self._inclusive_min!r}, {self._exclusive_max!r})"


class TimestampedStorageGeneration(_Value):
    """The version of a value, and when it was looked up.

    Parameters
    ----------
    generation
        The version; empty for any.
    time
        Seconds since 1970.

    Examples
    --------
    >>> TimestampedStorageGeneration(b"a", 1.5)
    KvStore.TimestampedStorageGeneration(b'a', 1.500000)
    """

    __slots__ = ("_generation", "_time")

    def __init__(self, generation: str | bytes = "", time: float = -math.inf) -> None:
        self._generation = bytes_of(generation)
        self._time = float(time)

    @property
    def generation(self) -> bytes:
        """The version; empty for any."""
        return self._generation

    @generation.setter
    def generation(self, value: str | bytes) -> None:
        self._generation = bytes_of(value)

    @property
    def time(self) -> float:
        """Seconds since 1970."""
        return self._time

    @time.setter
    def time(self, value: float) -> None:
        self._time = float(value)

    def _members(self) -> tuple[Any, ...]:
        return self._generation, self._time

    def __repr__(self) -> str:
        return f"KvStore.TimestampedStorageGeneration({self._generation!r}, {self._time:f})"


class ReadResult(_Value):
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
    >>> ReadResult("value", b"x").value
    b'x'
    """

    __slots__ = ("_stamp", "_state", "_value")

    def __init__(
        self,
        state: State = "unspecified",
        value: str | bytes = "",
        stamp: TimestampedStorageGeneration | None = None,
    ) -> None:
        self.state = state
        self.value = bytes_of(value)
        self.stamp = TimestampedStorageGeneration() if stamp is None else stamp

    @property
    def state(self) -> State:
        """The kind of result: ``"value"``, ``"missing"``, or ``"unspecified"``."""
        return self._state

    @state.setter
    def state(self, value: State) -> None:
        if value not in get_args(State):
            raise TypeError(f"expected a state of {', '.join(get_args(State))}, found {value!r}")
        self._state = value

    @property
    def value(self) -> bytes:
        """The value; empty if there is no value."""
        return self._value

    @value.setter
    def value(self, value: str | bytes) -> None:
        self._value = bytes_of(value)

    @property
    def stamp(self) -> TimestampedStorageGeneration:
        """The version of the value, and when it was read."""
        stamp: TimestampedStorageGeneration = self._stamp.__copy__()
        return stamp

    @stamp.setter
    def stamp(self, value: TimestampedStorageGeneration) -> None:
        if not isinstance(value, TimestampedStorageGeneration):
            raise TypeError(f"expected a TimestampedStorageGeneration, found {type(value).__name__}")
        self._stamp = value.__copy__()

    def _members(self) -> tuple[Any, ...]:
        return self._state, self._value, self._stamp

    def __repr__(self) -> str:
        return f"KvStore.ReadResult(state={self._state!r}, value={self._value!r}, stamp={self._stamp!r})"


for _class in (KeyRange, TimestampedStorageGeneration, ReadResult):
    _class.__qualname__ = f"KvStore.{_class.__name__}"
