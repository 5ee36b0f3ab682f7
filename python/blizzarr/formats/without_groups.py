"""Keys in formats that have only arrays: no groups, no children, and one separator in chunk keys."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps

from blizzarr.errors import MetadataError, Problem
from blizzarr.formats.sibling_documents import SiblingDocuments
from blizzarr.model import ChunkKeys


class WithoutGroups(SiblingDocuments):
    """The base class of such formats; see `Format` for the meaning of each member.

    >>> form = WithoutGroups()
    >>> form.groups_above("foo/bar"), form.listing_prefix("foo"), form.child_names("foo", [], ["foo/bar/"])
    ((), None, [])
    """

    def groups_above(self, path: str) -> tuple[str, ...]:
        return ()

    def listing_prefix(self, path: str) -> None:
        """Return `None`, as there are no groups."""

    def child_names(self, path: str, keys: Sequence[str], prefixes: Sequence[str]) -> list[str]:
        return []


def only_keys(only: ChunkKeys, given: ChunkKeys | None) -> ChunkKeys:
    """Return `only`, the one chunk key encoding of a format, in place of encodings of other formats.

    Raise `MetadataError` if `given` has the same name and another separator.

    >>> only_keys(ChunkKeys.v2("."), ChunkKeys.default("/")).separator
    '.'
    """
    if given is not None and given.name == only.name and given != only:
        problem = Problem("chunk_key_encoding.separator", dumps(only.separator), repr(given.separator))
        raise MetadataError(problems=[problem])
    return only
