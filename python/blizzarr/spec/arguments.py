"""Constraints given by keyword: converted, applied in a fixed order, and named in errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from blizzarr.errors import BlizzarrError, SpecError, TransactionError
from blizzarr.keywords import unknown_keywords
from blizzarr.views.values import opt_index

T = TypeVar("T")


class Argument(NamedTuple):
    """One keyword: the function that converts its value, and the one that applies it."""

    convert: Callable[[Any], Any]
    apply: Callable[[Any, Any], None]


def apply_arguments(
    function: Callable[..., Any], target: Any, table: Mapping[str, Argument], given: Mapping[str, Any]
) -> None:
    """Apply the arguments of `function` to `target`, in the order of the table; None counts as missing."""
    if not given:
        return
    if unknown := given.keys() - table.keys():
        raise unknown_keywords(function, unknown)
    names = given if len(given) == 1 else [name for name in table if name in given]
    for name in names:
        value = given[name]
        if value is None:
            continue
        argument = table[name]
        try:
            value = argument.convert(value)
        except (TypeError, OverflowError) as error:
            raise TypeError(f"Invalid {name}: {error}") from error
        with prefixed(f"Invalid {name}"):
            argument.apply(target, value)


class prefixed:  # noqa: N801  # as a function
    """A context that puts a text before that of an error about a value, which becomes a `SpecError`.

    - `text`: what was being done, or a function that returns it.
    - `kind`: the class that a plain `SpecError`, `ValueError` or `IndexError` becomes; more special ones stay what they
      are.
    """

    __slots__ = ("_kind", "_text")

    def __init__(self, text: str | Callable[[], str], kind: type[SpecError] = SpecError) -> None:
        self._text = text
        self._kind = kind

    def __enter__(self) -> None:
        """Nothing is done before there is an error."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, ValueError | IndexError):
            reason = (error.reason if isinstance(error, BlizzarrError) else "") or str(error)
            is_special = isinstance(error, SpecError | TransactionError) and type(error) is not SpecError
            made = type(error) if is_special else self._kind
            text = self._text if isinstance(self._text, str) else self._text()
            raise made(f"{text}: {reason}") from error


def instance_of(kind: type[T]) -> Callable[[Any], T]:
    """Return a function that checks that a value is an instance of a class."""

    def convert(value: Any) -> T:
        if not isinstance(value, kind):
            raise TypeError(f"expected {kind.__qualname__}, found {type(value).__name__}")
        return value

    return convert


def integers(values: Iterable[Any]) -> tuple[int | None, ...]:
    """Convert to integers of 64 bits, or None, one for each dimension."""
    return tuple(map(opt_index, _sequence(values)))


def floats(values: Iterable[Any]) -> tuple[float | None, ...]:
    """Convert to numbers, or None, one for each dimension."""
    return tuple(None if value is None else _float(value) for value in _sequence(values))


def _sequence(values: Iterable[Any]) -> Iterable[Any]:
    if isinstance(values, Mapping):
        raise TypeError("expected one value for each dimension")
    return values


def _float(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError(f"expected a number, found {value!r}")
    return float(value)
