"""Parsing the members of a JSON object; an error has everything that is wrong, with the names of the members."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from blizzarr.errors import BlizzarrError, SpecError
from blizzarr.json_values import MISSING, braces, dump, expected, quote
from blizzarr.keywords import nearest

T = TypeVar("T")


class Members:
    """The members of a JSON object that have not been taken yet, and everything that is wrong with those that were.

    >>> members = Members({"driver": "memory", "path": "a"})
    >>> members.take("driver", as_text), members.take("path", as_text, default="")
    ('memory', 'a')
    >>> members.end()
    >>> members = Members({"path": 5, "x": 1})
    >>> members.take("path", as_text, default="")
    ''
    >>> members.end()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Error parsing object member "path": ...; Object includes extra members: "x"
    """

    def __init__(self, value: Any) -> None:
        if type(value) is not dict:
            raise expected(value, "object")
        self.left = value.copy()
        self.known: list[str] = []
        self.wrong: list[SpecError] = []

    def take(self, name: str, parse: Callable[[Any], T], default: Any = MISSING) -> T:
        """Take a member and parse it; return `default` if it is missing or wrong, which without a default is an error.

        What is wrong is raised by `end`.
        """
        value = self.left.pop(name, MISSING)
        self.known.append(name)
        if value is MISSING and default is not MISSING:
            return default
        try:
            return parse(value)
        except (SpecError, ValueError, IndexError) as error:
            wrong = SpecError(f"Error parsing object member {quote(name)}: {reason_of(error)}")
            wrong.__cause__ = error
            self.wrong.append(wrong)
        if default is MISSING:
            self.refuse()
        return default

    def take_all(self, table: Mapping[str, Option]) -> dict[str, Any]:
        """Take the members of a table; those that are missing have their defaults."""
        return {name: self.take(name, row.parse, row.default) for name, row in table.items()}

    def refuse(self) -> None:
        """Raise everything that is wrong so far and has not been raised, if something is."""
        wrong, self.wrong = self.wrong, []
        refuse_all(wrong)

    def end(self) -> None:
        """Raise everything that is wrong, also that there are members that were not taken."""
        if self.left:
            extra = sorted(self.left)
            meant = {near: None for name in extra if (near := nearest(name, self.known)) is not None}
            advice = f"; did you mean {', '.join(map(quote, meant))}?" if meant else ""
            self.wrong.append(SpecError(f"Object includes extra members: {','.join(map(quote, extra))}{advice}"))
        if self.wrong:
            self.refuse()


def refuse_all(wrong: Sequence[SpecError]) -> None:
    """Raise everything that is wrong, if something is; a single error as it is."""
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise SpecError("; ".join(error.reason for error in wrong))


@dataclass(frozen=True)
class Option:
    """A member of a driver that is no resource; without a default it has to be there."""

    parse: Callable[[Any], Any]
    default: Any = MISSING
    to_json: Callable[[Any], Any] = lambda value: value
    optional: bool = False
    """True if the default is left out even where defaults are asked for."""


def options_json(options: Mapping[str, Any], table: Mapping[str, Option], include_defaults: bool) -> dict[str, Any]:
    """Return the options of a table as JSON: those that differ from the defaults, or all of them."""
    return {
        name: row.to_json(options[name])
        for name, row in table.items()
        if options[name] != row.default or (include_defaults and not row.optional)
    }


def reason_of(error: Exception) -> str:
    """Return the text of an error, without what was said of its place."""
    return error.reason if isinstance(error, BlizzarrError) else str(error)


def _of(kind: type[T], name: str) -> Callable[[Any], T]:
    """Return a parser that accepts values of one type."""

    def parse(value: Any) -> T:
        if not isinstance(value, kind):
            raise expected(value, name)
        return value

    return parse


as_object: Final[Callable[[Any], dict[str, Any]]] = _of(dict, "object")
as_text: Final = _of(str, "string")
as_bool: Final = _of(bool, "boolean")


def as_integer(least: int, most: int, name: str = "") -> Callable[[Any], int]:
    """Return a parser of integers in a range, which may be written as floats.

    >>> as_integer(1, 9)(5.0)
    5
    >>> as_integer(1, 9)(True)
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Expected integer in the range [1, 9], but received: true
    """

    def parse(value: Any) -> int:
        if not isinstance(value, bool):
            number = int(value) if isinstance(value, float) and value.is_integer() else value
            if isinstance(number, int) and least <= number <= most:
                return number
        raise expected(value, name or f"integer in the range [{least}, {most}]")

    return parse


as_index: Final = as_integer(-(1 << 63), (1 << 63) - 1, "64-bit signed integer")


def as_float(value: Any) -> float:
    """Check that a value is a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise expected(value, "64-bit floating-point number")
    return float(value)


def at_position(position: int, values: list[Any], parse: Callable[[Any], T]) -> T:
    """Parse one element of an array; errors name its position."""
    try:
        return parse(values[position])
    except (SpecError, ValueError, IndexError) as error:
        raise SpecError(f"Error parsing value at position {position}: {reason_of(error)}") from error


def as_list(parse: Callable[[Any], T], most: int | None = None) -> Callable[[Any], tuple[T, ...]]:
    """Return a parser of arrays; `most` limits the number of elements where these are dimensions.

    >>> as_list(as_text)(["a", 5])
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Error parsing value at position 1: Expected string, but received: 5
    """

    def parse_all(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise expected(value, "array")
        if most is not None and len(value) > most:
            raise SpecError(f"Rank {len(value)} is outside valid range [0, {most}]")
        parsed, wrong = [], []
        for position, element in enumerate(value):
            try:
                parsed.append(parse(element))
            except (SpecError, ValueError, IndexError) as error:
                wrong.append(f"Error parsing value at position {position}: {reason_of(error)}")
        if wrong:
            raise SpecError("; ".join(wrong))
        return tuple(parsed)

    return parse_all


def or_none(parse: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Return a parser that accepts null, too."""
    return lambda value: None if value is None else parse(value)


def one_of(*choices: str) -> Callable[[Any], str]:
    """Return a parser of texts that accepts only these."""

    def parse(value: Any) -> str:
        if value not in choices:
            raise expected(value, f"one of {', '.join(map(dump, choices))}")
        return str(value)

    return parse


def number_in(value: Any, read: Callable[[str], float | None]) -> Any:
    """Parse a number in a text; return other values, and other texts, unchanged."""
    number = read(value) if isinstance(value, str) else None
    return value if number is None else number


def nested(value: Any, parse: Callable[[Any], T]) -> tuple[tuple[int, ...], list[T]]:
    """Return the shape of nested lists, which is that of the first element of each, and their elements, parsed.

    >>> nested([[1, 2], [3, 4]], float)
    ((2, 2), [1.0, 2.0, 3.0, 4.0])
    >>> nested([[1, 2], [3]], float)
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: Expected array of shape {2, 2}, but found array element [3] of length 1 at position {1}.
    """
    shape: list[int] = []
    first = value
    while isinstance(first, list):
        shape.append(len(first))
        first = first[0] if first else None
    elements: list[T] = []
    _collect(value, tuple(shape), (), parse, elements)
    return tuple(shape), elements


def _collect(
    value: Any, shape: tuple[int, ...], at: tuple[int, ...], parse: Callable[[Any], T], elements: list[T]
) -> None:
    is_element = len(at) == len(shape)
    if is_element is isinstance(value, list):
        kind = "array" if is_element else "non-array"
        raise SpecError(
            f"Expected rank-{len(shape)} array, but found {kind} element {dump(value)} at position {braces(at)}."
        )
    if is_element:
        try:
            elements.append(parse(value))
        except SpecError as error:
            raise SpecError(f"Error parsing array element at position {braces(at)}: {error.reason}") from error
        return
    if len(value) != shape[len(at)]:
        raise SpecError(
            f"Expected array of shape {braces(shape)}, but found array element {dump(value)} of length {len(value)} "
            f"at position {braces(at)}."
        )
    for position, element in enumerate(value):
        _collect(element, shape, (*at, position), parse, elements)


# Numbers in JSON strings, as TensorStore reads them. Unlike in Python, only ASCII digits count, underscores are not
# allowed, and floats may be hexadecimal.
_SPACE = " \t\n\v\f\r"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(p[+-]?[0-9]+)?", re.IGNORECASE)
_UNBOUNDED = re.compile(r"([+-]?)(inf(?:inity)?|nan)(?:(?<=nan)\([0-9a-z_]*\))?", re.IGNORECASE)
_DIGITS = 4000
"""The most digits of an integer: more than any needs, and fewer than Python's limit of 4,300."""


def integer_of_text(text: str) -> int | None:
    """Return the integer that a text spells; `None` if it is not an integer.

    >>> integer_of_text(" -12"), integer_of_text("1_0"), integer_of_text("1.0")
    (-12, None, None)
    """
    text = text.strip(_SPACE)
    return int(text) if len(text) <= _DIGITS and _INTEGER.fullmatch(text) else None


def float_of_text(text: str) -> float | None:
    """Return the float that a text spells; `None` if it is not a number.

    >>> float_of_text("1e400"), float_of_text("-0x1.8p1"), float_of_text("Infinity"), float_of_text("1,5")
    (inf, -3.0, inf, None)
    """
    text = text.strip(_SPACE)
    if _FLOAT.fullmatch(text):
        return float(text)
    if special := _UNBOUNDED.fullmatch(text):
        return float(special[1] + special[2])
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return float("-inf" if text.startswith("-") else "inf")
    return None
