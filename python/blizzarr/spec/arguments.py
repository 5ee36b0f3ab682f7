"""Constraints given by keyword: converted, applied in a fixed order, and named in errors.

At the end: what gives errors TensorStore's classes.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeVar

from blizzarr.errors import (
    ArrayNotFoundError,
    BlizzarrError,
    ConstraintError,
    PlaceError,
    SelectionError,
    SpecError,
    StoreError,
    TransactionError,
    ViewOutOfBoundsError,
)
from blizzarr.json_members import Members
from blizzarr.json_values import MISSING, plain, quote
from blizzarr.keywords import unknown_keywords
from blizzarr.views.values import opt_index

T = TypeVar("T")


class Argument(NamedTuple):
    """One keyword: the functions that convert its value, apply it, and parse the member of the same name in JSON.

    A value that becomes None is not applied.
    """

    convert: Callable[[Any], Any]
    apply: Callable[[Any, Any], None]
    parse: Callable[[Any], Any] | None = None


def apply_arguments(
    function: Callable[..., Any], target: Any, table: Mapping[str, Argument], given: Mapping[str, Any]
) -> None:
    """Apply the arguments of `function` to `target`, in the order of the table; None counts as missing."""
    if not given:
        return
    if unknown := given.keys() - table.keys():
        raise unknown_keywords(function, unknown)
    for name, argument in table.items():
        if (value := given.get(name)) is None:
            continue
        try:
            value = argument.convert(value)
        except (TypeError, OverflowError) as error:
            raise TypeError(f"Invalid {name}: {error}") from error
        if value is not None:
            with prefixed(f"Invalid {name}"):
                argument.apply(target, value)


def apply_given(target: Any, json: Any, table: Mapping[str, Argument], constraints: Mapping[str, Any]) -> None:
    """Apply what `target` is made from: JSON, or the keyword arguments of its class."""
    if json is MISSING:
        apply_arguments(type(target).__init__, target, table, constraints)
    elif constraints:
        raise TypeError("expected JSON or keyword arguments, found both")
    else:
        apply_json(target, plain(json), table)


def apply_json(target: Any, json: Any, table: Mapping[str, Argument]) -> None:
    """Apply the members of an object to `target`, in the order of the table."""
    members = Members(json)
    for name, argument in table.items():
        if argument.parse is not None and name in members.left:
            members.take(name, partial(_apply_member, argument.apply, target, argument.parse), None)
    members.end()


def _apply_member(apply: Callable[[Any, Any], None], target: Any, parse: Callable[[Any], Any], value: Any) -> None:
    if (parsed := parse(value)) is not None:
        apply(target, parsed)


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


def integers(values: Iterable[Any]) -> tuple[int | None, ...] | None:
    """Convert to integers of 64 bits, or None, one for each dimension; nothing at all means none."""
    return tuple(map(opt_index, _sequence(values))) or None


def floats(values: Iterable[Any]) -> tuple[float | None, ...] | None:
    """Convert to numbers, or None, one for each dimension; nothing at all means none."""
    return tuple(None if value is None else _float(value) for value in _sequence(values)) or None


def _sequence(values: Iterable[Any]) -> Iterable[Any]:
    if isinstance(values, Mapping):
        raise TypeError("expected one value for each dimension")
    return values


def _float(value: Any) -> float:
    if isinstance(value, str | bytes):
        raise TypeError(f"expected a number, found {value!r}")
    return float(value)


def raise_no_directory(error: StoreError, missing: str | None = None) -> None:
    """Raise the error for a file where a directory is needed, if the error of a store is about that.

    - `error`: the error of the store.
    - `missing`: the path at which there is no metadata, where that is the answer; without it the file is in the way.
    """
    if error.errno != errno.ENOTDIR:
        return
    reason = error.reason if isinstance(error, PlaceError) else f"Not a directory: {error}"
    if missing is not None:
        raise ArrayNotFoundError(f"Metadata in {quote(missing)} does not exist: {reason}") from error
    if not isinstance(error, PlaceError):
        raise PlaceError(reason) from error


def raise_opening(driver: str, error: BlizzarrError) -> NoReturn:
    """Raise an error about specs and metadata again, with the driver that was being opened."""
    if isinstance(error, SpecError | TransactionError):
        error.reason = f'Error opening "{driver}" driver: {error.reason}'
        raise error
    if isinstance(error, SelectionError):
        # The transform of the spec does not fit the stored array.
        reason = (error.reason or "").removeprefix("OUT_OF_RANGE: ")
        raise ViewOutOfBoundsError(f'OUT_OF_RANGE: Error opening "{driver}" driver: {reason}') from error
    raise ConstraintError(f'Error opening "{driver}" driver: Error reading {error}') from error
