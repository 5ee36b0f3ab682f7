"""Keywords of functions that take whatever a table has: shown in signatures, and suggested for those that are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from inspect import Parameter, signature
from typing import Any, Final

from blizzarr.json_values import quote

__all__ = ["name_keywords", "nearest", "show_as", "unknown_keywords", "what_there_is"]

_ELSEWHERE: Final = {
    "chunks": "chunk_layout=ts.ChunkLayout(chunk_shape=...)",
    "shards": "chunk_layout=ts.ChunkLayout(write_chunk_shape=..., read_chunk_shape=...)",
    "mode": "open=True, create=True, delete_existing=True, or read=True or write=True alone",
}
"""What other libraries call so, as it is said here."""


def name_keywords(function: Callable[..., Any], names: Iterable[str] = ()) -> None:
    """Let the signature of a function that takes any keyword show those that it understands, which may be none.

    Examples
    --------
    >>> def paint(wall, **how): ...
    >>> name_keywords(paint, ["colour"])
    >>> signature(paint)
    <Signature (wall, *, colour=None)>
    """
    found = signature(function)
    kept = [row for row in found.parameters.values() if row.kind is not Parameter.VAR_KEYWORD]
    there = {row.name for row in kept}
    added = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names if name not in there]
    shown: Any = function
    shown.__signature__ = found.replace(parameters=[*kept, *added])


def show_as(function: Callable[..., Any], model: Callable[..., Any]) -> None:
    """Let a function, whose arguments mean this or that by their kind, show the signature of another one.

    Examples
    --------
    >>> def paint(*args, **named): ...
    >>> def shown(wall, colour="white"): ...
    >>> show_as(paint, shown)
    >>> signature(paint)
    <Signature (wall, colour='white')>
    """
    shown: Any = function
    shown.__signature__ = signature(model)


def unknown_keywords(function: Callable[..., Any], unknown: Iterable[str]) -> TypeError:
    """The error about keywords that a function does not understand.

    Examples
    --------
    >>> def paint(wall, *, colour=None): ...
    >>> unknown_keywords(paint, ["color"])
    TypeError("paint(): unexpected keyword arguments: color; did you mean 'colour'?")
    """
    rows = signature(function).parameters.values()
    known = [row.name for row in rows if row.name != "self" and row.kind is not Parameter.VAR_KEYWORD]
    names = sorted(unknown)
    name = function.__qualname__.split(".")[-2] if function.__name__ == "__init__" else function.__name__
    text = f"{name}(): unexpected keyword arguments: {', '.join(names)}"
    hints = [hint for each in names if (hint := _hint(each, known))]
    return TypeError("; ".join([text, *dict.fromkeys(hints)]))


def _hint(name: str, known: list[str]) -> str:
    if name in _ELSEWHERE and "chunk_layout" in known:
        return f"{name!r} is said with {_ELSEWHERE[name]}"
    close = nearest(name, known)
    return f"did you mean {close!r}?" if close else f"there are {', '.join(known)}"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that may have been meant.

    Examples
    --------
    >>> nearest("Zar", ["zarr", "zarr3"]), nearest("tiles", ["zarr"])
    ('zarr', None)
    """
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), list(names), 1)
    return close[0] if close else None


def what_there_is(name: str, names: Iterable[str]) -> str:
    """What to say of a name that is none of these.

    Examples
    --------
    >>> what_there_is("Zarr3", ["zarr", "zarr3"]), what_there_is("tiles", ["zarr", "zarr3"])
    ('; did you mean "zarr3"? There are "zarr", "zarr3"', '; there are "zarr", "zarr3"')
    """
    there = list(names)
    close = nearest(name, there)
    listed = f"are {', '.join(map(quote, there))}"
    return f"; did you mean {quote(close)}? There {listed}" if close else f"; there {listed}"
