"""Constraints given by keyword: converted, applied in a fixed order, and named in errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import index
from typing import Any, NamedTuple

from blizzarr.errors import BlizzarrError, SpecError

__all__ = ["Argument", "apply_arguments", "floats", "integer", "integers", "prefixed"]


class Argument(NamedTuple):
    """One keyword: what makes a value of what was given, and what does something with it."""

    convert: Callable[[Any], Any]
    apply: Callable[[Any, Any], None]


def apply_arguments(target: Any, table: Mapping[str, Argument], given: Mapping[str, Any]) -> None:
    """Apply what was given to `target`, in the order of the table; what is `None` counts as not given.

    Examples
    --------
    >>> apply_arguments({}, {"rank": Argument(integer, dict.setdefault)}, {"rank": 2.0})
    Traceback (most recent call last):
    ...
    TypeError: Invalid rank
    """
    if not given:
        return
    if unknown := given.keys() - table.keys():
        raise TypeError(f"unexpected keyword arguments: {', '.join(sorted(unknown))}")
    for name, argument in table.items():
        value = given.get(name)
        if value is None:
            continue
        try:
            value = argument.convert(value)
        except (TypeError, OverflowError) as error:
            raise TypeError(f"Invalid {name}") from error
        with prefixed(f"Invalid {name}"):
            argument.apply(target, value)


@contextmanager
def prefixed(text: str) -> Iterator[None]:
    """Say in errors about values what was being done.

    Examples
    --------
    >>> with prefixed("Error setting rank"):
    ...     raise SpecError("Rank 33 is outside valid range [0, 32]")
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Error setting rank: Rank 33 is outside valid range [0, 32]
    """
    try:
        yield
    except (ValueError, IndexError) as error:
        said = error.reason if isinstance(error, BlizzarrError) else str(error)
        kind = type(error) if isinstance(error, SpecError) else SpecError
        raise kind(f"{text}: {said}") from error


def integer(value: Any) -> int:
    """An integer of 64 bits."""
    number = index(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError(f"{number} does not fit into 64 bits")
    return number


def integers(values: Iterable[Any]) -> tuple[int | None, ...]:
    """Integers of 64 bits, or `None`, one for each dimension."""
    return tuple(None if value is None else integer(value) for value in _sequence(values))


def floats(values: Iterable[Any]) -> tuple[float | None, ...]:
    """Numbers, or `None`, one for each dimension."""
    return tuple(None if value is None else _float(value) for value in _sequence(values))


def _sequence(values: Iterable[Any]) -> Iterable[Any]:
    if isinstance(values, Mapping):
        raise TypeError("expected one value for each dimension")
    return values


def _float(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError(f"expected a number, found {value!r}")
    return float(value)
