"""Taking the members of JSON objects, as ``info`` and the specs of its volumes have them.

Numbers are read as in TensorStore: integers may be written as ``64.0``, resolutions as strings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from blizzarr.json_members import float_of_text
from blizzarr.problems import MISSING, Problems

T = TypeVar("T")


class Members:
    """The members of an object that have not been taken yet; what is wrong with the others is added to the problems.

    - `where`: the path of the object in the document, with a trailing dot.
    - `partial`: True if all members may be missing, because the object is a constraint.

    A parser returns None for values that it does not accept.

    >>> problems = Problems()
    >>> members = Members({"encoding": "raw", "x": 1.0, "y": 12}, "scales[0].", problems)
    >>> members.one_of("encoding", ("raw", "png")), members.integer("x", 0, 9), members.integer("y", 0, 9)
    ('raw', 1, None)
    >>> print(problems.items[0])
    scales[0].y: expected an integer in [0, 9], found 12
    """

    def __init__(self, document: Mapping[str, Any], where: str, problems: Problems, partial: bool = False) -> None:
        self.left = dict(document)
        self.where = where
        self.problems = problems
        self.partial = partial

    def take(self, name: str, parse: Callable[[Any], T | None], expected: str, default: Any = MISSING) -> T | None:
        """Return a member, parsed: its default if it is missing; None if it is wrong, or a partial object lacks it."""
        if name not in self.left and (self.partial or default is not MISSING):
            return None if default is MISSING else default
        value = self.left.pop(name, MISSING)
        parsed = None if value is MISSING else parse(value)
        if parsed is None:
            self.problems.add(self.where + name, expected, value)
        return parsed

    def one_of(self, name: str, choices: tuple[str, ...], default: Any = MISSING) -> str | None:
        """Take a member that is one of these texts."""
        expected = f"one of {', '.join(choices)}" if len(choices) > 1 else f'"{choices[0]}"'
        return self.take(name, lambda value: text(value) if value in choices else None, expected, default)

    def integer(self, name: str, least: int, most: int, default: Any = MISSING) -> int | None:
        """Take an integer in ``[least, most]``."""
        return self.take(name, between(least, most), f"an integer in [{least}, {most}]", default)

    def refuse_others(self) -> None:
        """Add a problem for each member that was not taken."""
        for name, value in self.left.items():
            self.problems.add(self.where + name, "no such member", value)


def text(value: Any) -> str | None:
    """Accept texts."""
    return value if type(value) is str else None


def number(value: Any) -> float | None:
    """Accept numbers, which may be written as texts.

    >>> number(8), number("8.5"), number("1_0"), number(True)
    (8.0, 8.5, None, None)
    """
    if type(value) is str:
        return float_of_text(value)
    if type(value) not in (int, float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def between(least: int, most: int) -> Callable[[Any], int | None]:
    """Return a parser of integers in ``[least, most]``, which may be written as floats."""

    def integer(value: Any) -> int | None:
        if type(value) is float and value.is_integer():
            value = int(value)
        return value if type(value) is int and least <= value <= most else None

    return integer


def three(parse: Callable[[Any], T | None]) -> Callable[[Any], tuple[T, T, T] | None]:
    """Return a parser of lists of three such values."""

    def parse_all(value: Any) -> tuple[T, T, T] | None:
        if type(value) is not list or len(value) != 3:
            return None
        x, y, z = map(parse, value)
        return None if x is None or y is None or z is None else (x, y, z)

    return parse_all
