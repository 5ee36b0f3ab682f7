"""Keys in formats whose documents lie beside the children and chunks of their node, below its path.

Every group has a document of its own, and the hierarchy as a whole has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from json import dumps
from typing import ClassVar, Self

from blizzarr.errors import MetadataError, Problem
from blizzarr.model import ChunkKeys
from blizzarr.model.names import ancestors, unusable
from blizzarr.problems import Problems


class SiblingDocuments:
    """The base class of such formats; see `Format` for the meaning of each member."""

    part: ClassVar[str] = ""
    zarr_format: ClassVar[int | None] = None
    has_dimension_names: ClassVar[bool] = False
    has_null_fill: ClassVar[bool] = False
    has_field_orders: ClassVar[bool] = False
    default_compressor: ClassVar[str | None] = None
    entry_key: ClassVar[str | None] = None
    implicit_groups: ClassVar[bool] = False
    index_codecs: ClassVar[tuple[str, ...] | None] = None
    documents: ClassVar[tuple[str, ...]] = ()
    """The last part of the key of each document that a node may have."""

    def of(self, meta: object) -> Self:
        return self

    def entry_documents(self) -> dict[str, bytes]:
        return {}

    def document_keys(self, path: str) -> tuple[str, ...]:
        return tuple(map(f"{path}/".__add__, self.documents)) if path else self.documents

    def node_keys(self, path: str) -> tuple[str, ...]:
        return self.document_keys(path)

    def node_of(self, key: str) -> str | None:
        path, _, last = key.rpartition("/")
        return path if last in self.documents else None

    def groups_above(self, path: str) -> tuple[str, ...]:
        return tuple(ancestors(path))

    def chunk_prefix(self, path: str) -> str:
        return f"{path}/" if path else ""

    def node_prefixes(self, path: str) -> tuple[str, ...]:
        return (f"{path}/" if path else "",)

    def listing_prefix(self, path: str) -> str | None:
        return f"{path}/" if path else ""

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
        start = len(path) + 1 if path else 0
        names = [prefix[start:].rstrip("/") for prefix in prefixes]
        return [name for name in names if self.name_problem(name) is None]

    def name_problem(self, name: str) -> str | None:
        return unusable(name)

    def reserved(self, name: str) -> str | None:
        return None


def check_names(path: str, rule: Callable[[str], str | None], problems: Problems) -> None:
    """Add a problem for each name in a path that breaks the rule of the format."""
    for name in path.split("/") if path else ():
        problem = rule(name)
        if problem is not None:
            problems.items.append(Problem("the path", f"names that this format allows, not {name!r}", problem))


class WithoutGroups(SiblingDocuments):
    """The base class of formats that have no groups."""

    def groups_above(self, path: str) -> tuple[str, ...]:
        return ()

    def listing_prefix(self, path: str) -> None:
        return None

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
        return []


def only_keys(only: ChunkKeys, given: ChunkKeys | None) -> ChunkKeys:
    """Return `only`, the one chunk key encoding of a format, in place of encodings of other formats.

    Raise `MetadataError` if `given` has the same name and another separator.
    """
    if given is not None and given.name == only.name and given != only:
        problem = Problem("chunk_key_encoding.separator", dumps(only.separator), repr(given.separator))
        raise MetadataError(problems=[problem])
    return only
