"""The arguments and results of key-value stores: ranges of keys, generations, results of reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from blizzarr.spec.kvstore_spec import text_of

State: TypeAlias = Literal["unspecified", "missing", "value"]


def bytes_of(value: Any) -> bytes:
    """Convert to bytes; texts are encoded as UTF-8."""
    return text_of(value).encode("utf-8", "surrogateescape")


class _Value:
    """The base of mutable values, which convert what is assigned to them, and have no hash."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    _converters: ClassVar[dict[str, Callable[[Any], Any]]]
    """The function that converts what is assigned to each attribute."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, self._converters[name](value) if name in self._converters else value)

    def _members(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._converters)

    def __copy__(self) -> Self:
        return type(self)(*self._members())

    def __deepcopy__(self, memo: Any) -> Self:
        return self.__copy__()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Value) or type(other) is not type(self):
            return NotImplemented
        return self._members() == other._members()

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

    __slots__ = {
        "exclusive_max": "The first key that is not in it; empty for no bound.",
        "inclusive_min": "The first key; empty for no bound.",
    }
    inclusive_min: bytes
    exclusive_max: bytes
    _converters: ClassVar[dict[str, Callable[[Any], Any]]] = {"inclusive_min": bytes_of, "exclusive_max": bytes_of}

    def __init__(self, inclusive_min: str | bytes = "", exclusive_max: str | bytes = "") -> None:
        self.inclusive_min = bytes_of(inclusive_min)
        self.exclusive_max = bytes_of(exclusive_max)

    @property
    def empty(self) -> bool:
        """True if no key is in the range."""
        return bool(self.exclusive_max) and self.exclusive_max <= self.inclusive_min

    def copy(self) -> KeyRange:
        """Return a range with the same bounds, which can be changed on its own."""
        return self.__copy__()

    def __repr__(self) -> str:
        return f"KvStore.KeyRange({self.inclusive_min!r}, {self.exclusive_max!r})"


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

    __slots__ = {"generation": "The version; empty for any.", "time": "Seconds since 1970."}
    generation: bytes
    time: float
    _converters: ClassVar[dict[str, Callable[[Any], Any]]] = {"generation": bytes_of, "time": float}

    def __init__(self, generation: str | bytes = "", time: float = -math.inf) -> None:
        self.generation = bytes_of(generation)
        self.time = float(time)

    def __repr__(self) -> str:
        return f"KvStore.TimestampedStorageGeneration({self.generation!r}, {self.time:f})"


def _state(value: Any) -> State:
    if value not in get_args(State):
        raise TypeError(f"expected a state of {', '.join(get_args(State))}, found {value!r}")
    return value  # type: ignore[no-any-return]


def _stamp(value: Any) -> TimestampedStorageGeneration:
    if not isinstance(value, TimestampedStorageGeneration):
        raise TypeError(f"expected a TimestampedStorageGeneration, found {type(value).__name__}")
    return value.__copy__()


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

    __slots__ = {
        "_stamp": "",
        "state": 'The kind of result: ``"value"``, ``"missing"``, or ``"unspecified"``.',
        "value": "The value; empty if there is no value.",
    }
    state: State
    value: bytes
    _converters: ClassVar[dict[str, Callable[[Any], Any]]] = {"state": _state, "value": bytes_of, "stamp": _stamp}

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
    def stamp(self) -> TimestampedStorageGeneration:
        """The version of the value, and when it was read."""
        return self._stamp.__copy__()

    @stamp.setter
    def stamp(self, value: TimestampedStorageGeneration) -> None:
        self._stamp = value

    def __repr__(self) -> str:
        return f"KvStore.ReadResult(state={self.state!r}, value={self.value!r}, stamp={self.stamp!r})"


for _class in (KeyRange, TimestampedStorageGeneration, ReadResult):
    _class.__qualname__ = f"KvStore.{_class.__name__}"
