"""Keys in formats whose documents lie beside the node's children and chunks, below the path of the node.

Every group on the way to a node has a document of its own, and the hierarchy as a whole has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from blizzarr.errors import Problem
from blizzarr.model.names import name_problem
from blizzarr.problems import Problems

__all__ = ["Beside", "check_names"]


class Beside:
    """What such formats answer alike; see `Format` for what each of these is.

    Examples
    --------
    >>> form = Beside()
    >>> form.chunk_prefix("foo"), form.groups_above("foo/bar/baz")
    ('foo/', ('', 'foo', 'foo/bar'))
    >>> form.child_names("foo", [], ["foo/bar/", "foo/__baz/"])
    ['bar']
    """

    entry_key: ClassVar[str | None] = None
    implicit_groups: ClassVar[bool] = False
    index_codecs: ClassVar[tuple[str, ...] | None] = None
    documents: ClassVar[tuple[str, ...]] = ()
    """The last parts of the keys of all documents that a node may have."""

    def entry_documents(self) -> dict[str, bytes]:
        """What a hierarchy must have as a whole: nothing."""
        return {}

    def document_keys(self, path: str) -> tuple[str, ...]:
        """The keys of the documents that may belong to a node."""
        return tuple(map(f"{path}/".__add__, self.documents)) if path else self.documents

    def node_keys(self, path: str) -> tuple[str, ...]:
        """The keys of the documents each of which makes a node: all, unless some only add to others."""
        return self.document_keys(path)

    def node_of(self, key: str) -> str | None:
        """The path of the node that a document with this key belongs to; `None` for other keys."""
        path, _, last = key.rpartition("/")
        return path if last in self.documents else None

    def groups_above(self, path: str) -> tuple[str, ...]:
        """The paths at which there must be groups so that a node can be at this one: all above it."""
        names = path.split("/") if path else []
        return tuple("/".join(names[:depth]) for depth in range(len(names)))

    def chunk_prefix(self, path: str) -> str:
        """The prefix that the keys of an array's chunks have."""
        return f"{path}/" if path else ""

    def node_prefixes(self, path: str) -> tuple[str, ...]:
        """The prefix of all keys that belong to a node and to what is below it."""
        return (f"{path}/" if path else "",)

    def listing_prefix(self, path: str) -> str | None:
        """The prefix below which the children of a group show up in a listing."""
        return f"{path}/" if path else ""

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
        """The names of what may be children of a group, from such a listing; their documents tell whether they are."""
        start = len(path) + 1 if path else 0
        names = [prefix[start:].rstrip("/") for prefix in prefixes]
        return [name for name in names if self.name_problem(name) is None]

    def name_problem(self, name: str) -> str | None:
        """Why no node may have this name: by the rules of v3, unless a format has its own."""
        return name_problem(name)


def check_names(path: str, rule: Callable[[str], str | None], problems: Problems) -> None:
    """Adds a problem for each name in a path that breaks the rule of the format."""
    for name in path.split("/") if path else ():
        problem = rule(name)
        if problem is not None:
            problems.items.append(Problem("the path", f"names that this format allows, not {name!r}", problem))
