"""Keys in formats whose documents lie beside the node's children and chunks, below the path of the node.

Every group on the way to a node has a document of its own, and the hierarchy as a whole has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from blizzarr.errors import Problem
from blizzarr.problems import Problems

__all__ = [
    "check_names",
    "chunk_prefix",
    "entry_documents",
    "groups_above",
    "listing_prefix",
    "names_below",
    "node_prefixes",
]


def check_names(path: str, rule: Callable[[str], str | None], problems: Problems) -> None:
    """Adds a problem for each name in a path that breaks the rule of the format."""
    for name in path.split("/") if path else ():
        problem = rule(name)
        if problem is not None:
            problems.items.append(Problem("the path", f"names that this format allows, not {name!r}", problem))


def entry_documents() -> dict[str, bytes]:
    """What a hierarchy must have as a whole: nothing."""
    return {}


def groups_above(path: str) -> tuple[str, ...]:
    """The paths at which there must be groups so that a node can be at this one: all above it.

    Examples
    --------
    >>> groups_above("foo/bar/baz")
    ('', 'foo', 'foo/bar')
    """
    names = path.split("/") if path else []
    return tuple("/".join(names[:depth]) for depth in range(len(names)))


def chunk_prefix(path: str) -> str:
    """The prefix that the keys of an array's chunks have."""
    return f"{path}/" if path else ""


def node_prefixes(path: str) -> tuple[str, ...]:
    """The prefix of all keys that belong to a node and to what is below it."""
    return (chunk_prefix(path),)


def listing_prefix(path: str) -> str:
    """The prefix below which the children of a group show up in a listing."""
    return chunk_prefix(path)


def names_below(path: str, prefixes: Sequence[str], rule: Callable[[str], str | None]) -> list[str]:
    """The names that the rule of the format allows of what is in a listing below `listing_prefix`.

    Whether they are nodes, their documents tell.

    Examples
    --------
    >>> names_below("foo", ["foo/bar/", "foo/__baz/"], lambda name: "reserved" if name.startswith("__") else None)
    ['bar']
    """
    start = len(chunk_prefix(path))
    names = [prefix[start:].rstrip("/") for prefix in prefixes]
    return [name for name in names if rule(name) is None]
