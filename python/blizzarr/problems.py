"""Collecting all problems of a document, each with its JSON path.

A decoder gets one `Problems` and goes on after a problem, so that users learn of all of them at once. The functions
here check values that occur in many members: integers, lists of lengths, extension objects. They return `None` after
adding a problem, so that checks that depend on the value can be skipped. Values that no check has foreseen are a
problem, too: see `decoder`.

JSON's types are checked exactly: ``true`` is no integer, and neither is ``64.0`` (the specification asks for numbers
without fraction or exponent).

What is doubtful but readable is a `Notice`. Decoders return notices as data: opening a node turns them into warnings,
`blizzarr.check` lists them, and comparing ignores them.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, Final, Literal, NamedTuple, TypeVar, cast

from blizzarr.errors import BlizzarrError, InternalError, LimitError, MetadataError, Problem, UnknownExtensionError
from blizzarr.interrupts import is_of_signal
from blizzarr.printable import printable
from blizzarr.suppliers import supplier

D = TypeVar("D", bound=Callable[..., Any])

INT64_MAX: Final = 2**63 - 1
MISSING: Final = type("Missing", (), {"__repr__": lambda self: "nothing"})()
"""Stands for a missing member."""

_NO_CONFIGURATION: Final[Mapping[str, Any]] = {}
_MEMBERS: Final = frozenset(("name", "configuration", "must_understand"))
_SHOWN = 80


class Notice(NamedTuple):
    """Something doubtful about a document that can be read."""

    kind: Literal["byte-order", "duplicate-name", "empty-document", "fallback", "old-document", "two-nodes"]
    text: str


def warn_of(notices: Iterable[Notice]) -> None:
    """Issue a `UserWarning` for each notice."""
    for notice in notices:
        warn(notice.text)


def warn(text: str) -> None:
    """Issue a `UserWarning`, at the line that called this library."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("blizzarr."):
        frame, level = frame.f_back, level + 1
    warnings.warn(printable(text), UserWarning, stacklevel=level)


class Problems:
    """The problems and notices collected while a document is decoded.

    - `notices`: the list to which notices are added; by default a new one.

    >>> problems = Problems()
    >>> problems.add("shape[0]", "an integer >= 0", -1)
    >>> problems.add("codecs", "a list", MISSING)
    >>> [str(problem) for problem in problems.items]
    ['shape[0]: expected an integer >= 0, found -1', 'codecs: expected a list, found nothing']
    """

    __slots__ = ("extensions", "items", "limits", "notices")

    def __init__(self, notices: list[Notice] | None = None) -> None:
        self.items: list[Problem] = []
        self.extensions: list[str] = []
        self.limits: list[Problem] = []
        self.notices: list[Notice] = [] if notices is None else notices

    def add(self, path: str, expected: str, found: Any) -> None:
        """Add one problem; `found` is the offending JSON value."""
        self.items.append(Problem(path, expected, describe(found)))

    def unknown(self, path: str, point: str, name: str, supply: str | None = None) -> None:
        """Add an extension that is not supported; `supply` says what would supply it, by default `supplier` does."""
        text = supplier(point, name) if supply is None else supply
        self.extensions.append(name)
        self.items.append(Problem(path, f"a {point} that is supported here", f"{describe(name)}: {text}"))

    def refused(self, path: str, name: str, error: Exception) -> None:
        """Add what an extension of another package raised for its options in a document."""
        self.items.append(Problem(f"{path}.configuration", f"options that {name} takes", repr(error)))

    def limit(self, path: str, expected: str, found: Any) -> None:
        """Add something that conforms but exceeds a cap of ours; it is raised only when there is no problem."""
        self.limits.append(Problem(path, expected, describe(found)))

    def adopt(self, part: Problems, where: str | Callable[[], str]) -> None:
        """Take over the problems and notices of the part of the document that is at `where`, a path or its maker."""
        if callable(where):
            where = where() if part.items or part.limits else ""
        for mine, others in ((self.items, part.items), (self.limits, part.limits)):
            for problem in others:
                mine.append(problem._replace(path=".".join(filter(None, (where, problem.path)))))
        self.extensions += part.extensions
        if part.notices is not self.notices:
            self.notices += part.notices

    def raise_any(self, *, key: str | None = None, document: Mapping[str, Any] | None = None) -> None:
        """Raise one error for all problems collected, if there are any."""
        if self.items:
            if len(self.extensions) == len(self.items):
                raise UnknownExtensionError(key=key, problems=self.items, document=document, extensions=self.extensions)
            raise MetadataError(key=key, problems=self.items, document=document)
        if self.limits:
            raise LimitError("; ".join(map(str, self.limits)), key=key)


def decoder(decode: D) -> D:
    """Decorate a function that decodes a part of a document, and has a `Problems` among its arguments.

    What a value makes Python or NumPy raise is one more problem, and what only a mistake of ours can is an
    `InternalError`. So a document that nobody thought of affects its node only, and no listing ends with it.

    >>> @decoder
    ... def scaled(value: Any, problems: Problems) -> float | None:
    ...     return 1.5 * value
    >>> problems = Problems()
    >>> scaled(10**400, problems)
    >>> print(problems.items[0])
    the document: expected values that can be decoded, found OverflowError: int too large to convert to float
    """

    @wraps(decode)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return decode(*args, **kwargs)
        except (BlizzarrError, MemoryError):
            raise
        except Exception as error:
            if is_of_signal(error):
                raise
            if not isinstance(error, (ArithmeticError, ValueError, RecursionError)):
                raise InternalError.of(error, "decode a document") from error
            problems = next(value for value in (*args, *kwargs.values()) if isinstance(value, Problems))
            problems.items.append(Problem("", "values that can be decoded", f"{type(error).__name__}: {error}"))
            return None

    return cast("D", guarded)


def describe(value: Any) -> str:
    """Return a JSON value as text for a message, shortened if it is long.

    >>> describe(True), describe(None), describe("64"), describe(MISSING)
    ('true', 'null', '"64"', 'nothing')
    """
    if value is MISSING:
        return "nothing"
    if type(value) is int and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, list | dict) and len(value) > _SHOWN:
        return f"{'a list' if isinstance(value, list) else 'an object'} with {len(value)} members"
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        # NumPy's bytes name NumPy.
        text = repr(bytes(value) if isinstance(value, bytes) else value)
    # Lone surrogates cannot be printed.
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def lengths(value: Any, path: str, problems: Problems, least: int) -> tuple[int, ...] | None:
    """Decode a list of integers in ``[least, 2**63)``; `None` if a problem was added."""
    if type(value) is not list:
        problems.add(path, "a list of integers", value)
        return None
    before = len(problems.items)
    for index, item in enumerate(value):
        if type(item) is not int or not least <= item <= INT64_MAX:
            problems.add(f"{path}[{index}]", f"an integer in [{least}, 2^63)", item)
    return tuple(value) if len(problems.items) == before else None


def extension(
    value: Any, path: str, problems: Problems, point: str, optional: bool = False
) -> tuple[str, Mapping[str, Any]] | None:
    """Decode the name and configuration of an extension object or short-hand name; `None` if a problem was added.

    `optional` is True if ``"must_understand": false`` is allowed.
    """
    if type(value) is str:
        return value, _NO_CONFIGURATION
    if type(value) is not dict:
        problems.add(path, f"the {point}: an object with a name, or a name", value)
        return None
    before = len(problems.items)
    name, configuration = value.get("name", MISSING), value.get("configuration", _NO_CONFIGURATION)
    if type(name) is not str:
        problems.add(f"{path}.name", f"the name of a {point}", name)
    if not isinstance(configuration, dict | Mapping):
        problems.add(f"{path}.configuration", "an object", configuration)
    understand = value.get("must_understand", True)
    if type(understand) is not bool:
        problems.add(f"{path}.must_understand", "true or false", understand)
    elif not understand and not optional:
        problems.add(f"{path}.must_understand", f"true: a {point} cannot be ignored", understand)
    if not value.keys() <= _MEMBERS:
        unknown_members(value, _MEMBERS, problems, path)
    return (name, configuration) if len(problems.items) == before else None


def name_path(value: Any, path: str) -> str:
    """Return the JSON path of the name of an extension at `path`: of a member of an object, or of the name itself."""
    return f"{path}.name" if type(value) is dict else path


def members(configuration: Mapping[str, Any], path: str, problems: Problems, known: Iterable[str]) -> None:
    """Add a problem for each member of a configuration that is not known."""
    for name in configuration:
        if name not in known:
            problems.add(f"{path}.configuration.{name}", "no such option", configuration[name])


def unknown_members(value: Mapping[str, Any], known: Iterable[str], problems: Problems, path: str = "") -> None:
    """Add a problem for each member of an object that is not known."""
    for name in value:
        if name not in known:
            problems.add(f"{path}.{name}" if path else name, "no such member", value[name])
