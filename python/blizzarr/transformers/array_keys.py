"""The chunk keys of one array: all that a storage transformer knows about the array."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArrayKeys:
    """The chunk keys of one array.

    A chunk key is the array's prefix and the name of the chunk: a head, then the indices of the chunk in its grid with
    a separator between them. Indices with leading zeros are not chunk keys. Resizing the array changes nothing here.

    Examples
    --------
    >>> keys = ArrayKeys("data/foo/baz/", head="c", separator="/", scalar="c", rank=2)
    >>> keys.key((96, 18))
    'data/foo/baz/c96/18'
    >>> keys.position("data/foo/baz/c96/18"), keys.position("meta/foo/baz.array.json")
    ((96, 18), None)
    """

    prefix: str
    """The prefix of all keys: empty, or with a trailing slash."""
    head: str
    separator: str
    scalar: str
    """The name of the only chunk of an array without dimensions."""
    rank: int

    def name(self, position: tuple[int, ...]) -> str:
        """Return the name of a chunk: its key without the prefix."""
        return self.head + self.separator.join(map(str, position)) if self.rank else self.scalar

    def key(self, position: tuple[int, ...]) -> str:
        """Return the key of a chunk."""
        return self.prefix + self.name(position)

    def is_name(self, name: str) -> bool:
        """Return whether this is the name of a chunk, inside the array's shape or not."""
        return _names(self.head, self.separator, self.scalar, self.rank).fullmatch(name) is not None

    def position(self, key: str) -> tuple[int, ...] | None:
        """Return the grid position of the chunk with this key; `None` if it is not a chunk key."""
        if not key.startswith(self.prefix):
            return None
        match = _names(self.head, self.separator, self.scalar, self.rank).fullmatch(key, len(self.prefix))
        return None if match is None else tuple(map(int, match.groups()))

    def are_cut_by(self, prefix: str) -> bool:
        """Return whether a prefix covers a part of the array's keys, which may be stored anywhere below its own."""
        return len(prefix) > len(self.prefix) and prefix.startswith(self.prefix)


_INDEX = re.compile("0|[1-9][0-9]{0,99}")


def _names(head: str, separator: str, scalar: str, rank: int) -> re.Pattern[str]:
    if not rank:
        return re.compile(re.escape(scalar))
    return re.compile(re.escape(head) + re.escape(separator).join([f"({_INDEX.pattern})"] * rank))
