"""Keys in formats that have arrays alone: no group above one, no child below one, one separator in chunk keys."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps

from blizzarr.errors import MetadataError, Problem
from blizzarr.formats.beside import Beside
from blizzarr.model import ChunkKeys
from blizzarr.model.names import unusable

__all__ = ["WithoutGroups", "only_keys"]


class WithoutGroups(Beside):
    """What such formats answer alike.

    Examples
    --------
    >>> form = WithoutGroups()
    >>> form.groups_above("foo/bar"), form.listing_prefix("foo"), form.child_names("foo", [], ["foo/bar/"])
    ((), None, [])
    """

    def groups_above(self, path: str) -> tuple[str, ...]:
        """The paths at which there must be groups so that a node can be at this one: none, as there are no groups."""
        return ()

    def listing_prefix(self, path: str) -> None:
        """Where children show up in a listing: nowhere, as there are no groups."""

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
        """The names of children of a group: there are none."""
        return []

    def name_problem(self, name: str) -> str | None:
        """Why no node may have this name: by the rules that all formats have."""
        return unusable(name)


def only_keys(only: ChunkKeys, given: ChunkKeys | None) -> ChunkKeys:
    """The only chunk key encoding that a format has, whatever other formats call theirs.

    Examples
    --------
    >>> only_keys(ChunkKeys.v2("."), ChunkKeys.default("/")).separator
    '.'

    Raises
    ------
    MetadataError
        When one of that name with another separator is wanted.
    """
    if given is not None and given.name == only.name and given != only:
        problem = Problem("chunk_key_encoding.separator", dumps(only.separator), repr(given.separator))
        raise MetadataError(problems=[problem])
    return only
