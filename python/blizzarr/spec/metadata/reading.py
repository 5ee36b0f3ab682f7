"""Parsing constraints from JSON by a table of members; an error has the problems of all of them.

At the end: documents of arrays, as they would be stored, and parsed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from blizzarr import formats
from blizzarr.errors import MetadataError, SpecError
from blizzarr.json_members import Members, as_integer, as_list, as_object, refuse_all
from blizzarr.json_values import MISSING, dump, mapped, quote
from blizzarr.model import ArrayMeta
from blizzarr.problems import Notice, Problems, warn_of
from blizzarr.views.values import MAX_RANK

T = TypeVar("T")

_WRONG: Final = object()
_LONGEST: Final = (1 << 63) - 2


class Reading:
    """What was read of an object so far: its members, and the number of dimensions that they agree on."""

    def __init__(self, rank: int = -1) -> None:
        self.given: dict[str, Any] = {}
        self.rank = rank

    def each(self, value: Any, parse: Callable[[Any], Any]) -> tuple[Any, ...]:
        """Parse an array that has one element for each dimension."""
        if isinstance(value, list):
            if len(value) > MAX_RANK:
                raise SpecError(f"Rank {len(value)} is outside valid range [0, {MAX_RANK}]")
            if self.rank not in (-1, len(value)):
                raise SpecError(f"Array has length {len(value)} but should have length {self.rank}")
            self.rank = len(value)
        return as_list(parse)(value)


class Member(NamedTuple):
    """One member of the metadata."""

    parse: Callable[[Any, Reading], Any]
    to_json: Callable[[Any], Any] = lambda value: value


def each(parse: Callable[[Any], Any]) -> Callable[[Any, Reading], tuple[Any, ...]]:
    """Return a parser of arrays that have one element for each dimension."""
    return lambda value, reading: reading.each(value, parse)


def alone(parse: Callable[[Any], Any]) -> Callable[[Any, Reading], Any]:
    """Return a parser of a member whose meaning no other member changes."""
    return lambda value, reading: parse(value)


def lengths(least: int) -> Member:
    """Return a member with a length for each dimension."""
    return Member(each(as_integer(least, _LONGEST)), list)


def read(value: Any, table: Mapping[str, Member], rank: int = -1) -> tuple[Reading, dict[str, Any]]:
    """Parse the members of a table; return them and the members that are not in it.

    Raise `SpecError` with everything that is wrong.
    """
    members, reading = Members(dict(as_object(value))), Reading(rank)
    for name, member in table.items():
        if name in members.left:
            parsed = members.take(name, partial(_parsed, member, reading), _WRONG)
            if parsed is not _WRONG:
                reading.given[name] = parsed
    members.refuse()
    return reading, members.left


def _parsed(member: Member, reading: Reading, value: Any) -> Any:
    return member.parse(value, reading)


def all_of(*parts: Callable[[], Any]) -> list[Any]:
    """Return the results of all functions.

    Raise `SpecError` with everything that is wrong; of the class of the only error, if there is one.
    """
    results, wrong = [], []
    for part in parts:
        try:
            results.append(part())
        except SpecError as error:
            wrong.append(error)
    refuse_all(wrong)
    return results


def parsed_by(decode: Callable[[Any, Problems], Any]) -> Callable[..., Any]:
    """Return a parser, also of values in no document, that uses one which adds what is wrong to `Problems`."""
    return lambda value, reading=None: checked(lambda problems: decode(whole(value), problems))


def checked(decode: Callable[[Problems], T]) -> T:
    """Return what a function returns that adds what is wrong to `Problems`; raise `SpecError` with all of that."""
    problems = Problems()
    decoded = decode(problems)
    return refuse(problems) if problems.items else decoded


def whole(value: Any) -> Any:
    """Return a JSON value with integers in place of floating-point numbers without a fraction."""
    return mapped(value, lambda part: int(part) if isinstance(part, float) and part.is_integer() else part)


def sorted_members(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the members of an object, sorted; null stays null."""
    return None if value is None else dict(sorted(value.items()))


def refuse(problems: Problems) -> NoReturn:
    raise SpecError("; ".join(map(str, problems.items)))


def mismatch(name: str, wanted: Any, actual: Any) -> SpecError:
    """Return the error that a member differs from the constraint; `actual` may be `MISSING`."""
    there = "<discarded>" if actual is MISSING else dump(actual)
    return SpecError(f"Expected {quote(name)} of {dump(wanted)} but received: {there}")


# Documents.


def encoded(meta: ArrayMeta) -> dict[str, Any]:
    return json.loads(formats.encode(meta, "")[formats.lock_key("", meta)])


def array_of(format_name: str, document: Mapping[str, Any]) -> ArrayMeta:
    """The array that a document of this format means.

    Raise `SpecError` with everything that is wrong with the document.
    """
    form = formats.format_named(format_name)
    raw = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    notices: list[Notice] = []
    try:
        meta = form.decode("", {form.node_keys("")[0]: raw}, notices)
    except MetadataError as error:
        raise SpecError("; ".join(map(str, error.problems))) from error
    warn_of(notices)
    assert isinstance(meta, ArrayMeta)
    return meta
