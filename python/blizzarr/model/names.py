"""Which names nodes may have, and paths made of them.

A path is the names from the root joined by ``/``, without a leading or trailing slash; the root's path is empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from blizzarr.errors import PathError

__all__ = ["check_name", "check_path", "join", "name_problem", "printable", "unusable"]

_RESERVED: Final = ("zarr.json",)


def unusable(name: str) -> str | None:
    """Which of the rules for all formats a node name breaks; `None` when it breaks none.

    Two are ours, against names that would mean another place on some store: no backslash, no NUL.

    Examples
    --------
    >>> unusable("__x"), unusable("..")
    (None, "a name may not be '.' or '..'")
    """
    if not name:
        return "a name may not be empty (no leading, trailing or doubled slash)"
    if name in (".", ".."):
        return "a name may not be '.' or '..'"
    if name in _RESERVED:
        return f"a name may not be {name}, which is the key of metadata"
    for character, called in (("/", "a slash"), ("\\", "a backslash"), ("\0", "a NUL")):
        if character in name:
            return f"a name may not contain {called}"
    return None


def name_problem(name: str) -> str | None:
    """Which rule of the specification of v3 a node name breaks; `None` when it breaks none.

    Examples
    --------
    >>> name_problem("temperature"), name_problem("...")
    (None, 'a name may not consist of dots only')
    """
    if name and not name.strip("."):
        return "a name may not consist of dots only"
    if name.startswith("__"):
        return 'a name may not start with "__", which is reserved'
    return unusable(name)


def check_name(name: str) -> str:
    """The name itself, when nodes may have it.

    Raises
    ------
    PathError
        Naming the rule that it breaks.
    """
    problem = name_problem(name)
    if problem is not None:
        raise PathError(f"{problem}: {name!r}")
    return name


def check_path(path: str, rule: Callable[[str], str | None] = unusable) -> str:
    """The path itself, when each name in it may be one; the root is ``""``, and ``"/"`` is another spelling of it.

    `rule` says what is wrong with a name; each format has its own.

    Examples
    --------
    >>> check_path("a/b"), check_path("/")
    ('a/b', '')
    """
    if path in ("", "/"):
        return ""
    for name in path.split("/"):
        problem = rule(name)
        if problem is not None:
            raise PathError(f"{path!r} is no path of a node: {problem}")
    return path


def join(path: str, name: str) -> str:
    """The path of the child `name` of the node at `path`."""
    return f"{path}/{name}" if path else name


def printable(text: str) -> str:
    """The text on one line, with escapes for what a terminal would obey instead of show, or not show at all.

    Names and attributes come from whoever wrote the data, and may hold anything.

    Examples
    --------
    >>> print(printable(f"a{chr(0x1b)}[2J{chr(0x0a)}"))
    a\\x1b[2J\\n
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
