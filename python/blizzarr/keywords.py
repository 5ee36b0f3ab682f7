"""Keywords of functions: shown in signatures where a table has them, and suggested where one is misspelled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from inspect import Parameter, signature
from itertools import islice
from math import inf
from typing import Any, Final, ParamSpec, TypeVar

from blizzarr.json_values import quote
from blizzarr.renamed import ARRAY_KEYWORDS, STORE_KEYWORDS

P = ParamSpec("P")
R = TypeVar("R")

_TENSORSTORE: Final = {
    "chunks": "use chunk_layout=ts.ChunkLayout(chunk_shape=...)",
    "shards": "use chunk_layout=ts.ChunkLayout(write_chunk_shape=..., read_chunk_shape=...)",
    "mode": "use open=True, create=True, delete_existing=True, or read=True or write=True alone",
}
"""Keywords of Zarr libraries, for functions of TensorStore's interface."""

_XARRAY: Final = {
    "overwrite": "use mode='w'",
    "use_consolidated": "use consolidated=",
    "zarr_version": "use zarr_format=",
}
"""Keywords that are ours elsewhere, or older ones of xarray, for functions of its interface."""

_INSTEAD: Final[Mapping[str, Mapping[str, str]]] = {
    "chunk_layout": _TENSORSTORE,
    "consolidated": _XARRAY,
    "resume": {"name": "use path="},
    "compressors": {**ARRAY_KEYWORDS, **STORE_KEYWORDS},
    "store": STORE_KEYWORDS,
}
"""Advice on keywords of other libraries, for functions that have the keyword in the first column."""


_COMPARED: Final = 1000
"""The most names that are compared with one that is misspelled."""


def name_keywords(function: Callable[..., Any], names: Iterable[str] | Mapping[str, Any] = ()) -> None:
    """Make a function that takes any keyword show, in its signature, only those that it understands.

    - `names`: the keywords; with a mapping, each has its value as the default, otherwise None.

    >>> def paint(wall, **how): ...
    >>> name_keywords(paint, {"colour": "white"})
    >>> signature(paint)
    <Signature (wall, *, colour='white')>
    """
    defaults = names if isinstance(names, Mapping) else dict.fromkeys(names)
    original = signature(function)
    kept = [row for row in original.parameters.values() if row.kind is not Parameter.VAR_KEYWORD]
    there = {row.name for row in kept}
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
        if name not in there
    ]
    shown: Any = function
    shown.__signature__ = original.replace(parameters=[*kept, *added])


def exact_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse keywords that it does not have with advice: on what was meant, or how it is called here.

    >>> @exact_keywords
    ... def paint(wall, *, colour="white"): ...
    >>> paint("north", color="red")
    Traceback (most recent call last):
    ...
    TypeError: paint(): unexpected keyword arguments: color; did you mean 'colour'?
    >>> paint("north", "red")
    Traceback (most recent call last):
    ...
    TypeError: paint(): expected at most 1 positional argument, found 2; name the others: colour=
    """
    rows = signature(function).parameters
    known = rows.keys()
    kinds = [row.kind for row in rows.values()]
    takes_any = Parameter.VAR_KEYWORD in kinds
    positional = [name for name, row in rows.items() if row.kind is Parameter.POSITIONAL_OR_KEYWORD and name != "self"]
    named_only = [name for name, row in rows.items() if row.kind is Parameter.KEYWORD_ONLY]
    most = inf if Parameter.VAR_POSITIONAL in kinds else len(rows) - len(named_only) - takes_any

    @wraps(function)
    def checked(*args: P.args, **named: P.kwargs) -> R:
        if not (takes_any or named.keys() <= known):
            raise unknown_keywords(function, named.keys() - known)
        if len(args) > most:
            # Nobody passes `self`.
            wanted, found = (count - ("self" in rows) for count in (most, len(args)))
            expected = f"expected at most {wanted} positional argument{'s' * (wanted != 1)}, found {found}"
            others = ", ".join(f"{name}=" for name in named_only) or f"all but {', '.join(positional)}"
            raise TypeError(f"{_shown(function)}(): {expected}; name the others: {others}")
        return function(*args, **named)

    return checked


def unknown_keywords(
    function: Callable[..., Any], unknown: Iterable[str], *, name: str | None = None, more: Iterable[str] = ()
) -> TypeError:
    """Make the error about keywords that a function does not understand.

    - `function`: the function, whose signature has the keywords that there are.
    - `unknown`: the keywords that it does not have.
    - `name`: the name of the function in the text, if users know it by another one.
    - `more`: keywords that are understood although they are not in the signature.

    >>> def paint(wall, *, colour=None): ...
    >>> unknown_keywords(paint, ["color"])
    TypeError("paint(): unexpected keyword arguments: color; did you mean 'colour'?")
    >>> unknown_keywords(paint, ["coat"], name="cover", more=["coats"])
    TypeError("cover(): unexpected keyword arguments: coat; did you mean 'coats'?")
    """
    hidden = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    rows = signature(function).parameters.values()
    known = [*(row.name for row in rows if row.name != "self" and row.kind not in hidden), *more]
    names = sorted(unknown)
    text = f"{name or _shown(function)}(): unexpected keyword arguments: {', '.join(names)}"
    return TypeError("; ".join([text, *dict.fromkeys(_hint(each, known) for each in names)]))


def _shown(function: Callable[..., Any]) -> str:
    """Return the name by which users call a function: for ``__init__``, that of the class."""
    return function.__qualname__.split(".")[-2] if function.__name__ == "__init__" else function.__name__


def _hint(name: str, known: list[str]) -> str:
    for keyword, instead in _INSTEAD.items():
        if keyword in known and name in instead:
            return f"for {name!r}, {instead[name]}"
    return hint(name, known)


def hint(name: str, known: Collection[str]) -> str:
    """Return which of the known names was probably meant, or all of them.

    >>> hint("color", ["colour", "size"]), hint("x", ["colour", "size"])
    ("did you mean 'colour'?", 'there are colour, size')
    """
    close = nearest(name, known)
    return f"did you mean {close!r}?" if close else f"there are {', '.join(known)}"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, or None.

    >>> nearest("Zar", ["zarr", "zarr3"]), nearest("tiles", ["zarr"]), nearest("a/1", ["A/1", "B/1"])
    ('zarr', None, 'A/1')
    """
    from difflib import get_close_matches

    lowered = {each.lower(): each for each in names}
    wanted = name.lower()
    # Each comparison takes 50 microseconds, which a group with a hundred thousand members would take for each miss.
    if len(lowered) > _COMPARED:
        alike = (each for each in lowered if each[:1] == wanted[:1] and abs(len(each) - len(wanted)) <= 1)
        lowered = {each: lowered[each] for each in islice(alike, _COMPARED)}
    close = get_close_matches(wanted, lowered, 1)
    return lowered[close[0]] if close else None


def what_there_is(name: str, names: Iterable[str]) -> str:
    """Return the end of a sentence about a name that is none of these: the nearest of them, and all of them.

    >>> what_there_is("Zarr3", ["zarr", "zarr3"]), what_there_is("tiles", ["zarr", "zarr3"])
    ('; did you mean "zarr3"? There are "zarr", "zarr3"', '; there are "zarr", "zarr3"')
    """
    there = list(names)
    close = nearest(name, there)
    listed = f"are {', '.join(map(quote, there))}"
    return f"; did you mean {quote(close)}? There {listed}" if close else f"; there {listed}"
