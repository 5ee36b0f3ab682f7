"""Chunk key encodings: from the position of a chunk in its grid to a store key.

A key is a head followed by the indices, with a separator between them. The only chunk of an array without dimensions
has a key of its own:

============  ==========  =========  ========  ======================
name          separator   head       scalar    key of chunk (1, 23)
============  ==========  =========  ========  ======================
``default``   ``/``       ``c/``     ``c``     ``c/1/23``
``default``   ``.``       ``c.``     ``c``     ``c.1.23``
``v2``        ``.``       (empty)    ``0``     ``1.23``
``v2``        ``/``       (empty)    ``0``     ``1/23``
``draft``     ``/``       ``c``      ``c``     ``c1/23``
``draft``     ``.``       ``c``      ``c``     ``c1.23``
============  ==========  =========  ========  ======================

``draft_zarr_python`` differs from ``draft`` in the scalar key, which is ``c0``. A format whose keys are not made of
indices has a subclass of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final

INDEX: Final = "(?:0|[1-9][0-9]{0,99})"
"""A pattern for an index in a key: ASCII digits without leading zeros, at most 100 of them."""


@dataclass(frozen=True, slots=True)
class ChunkKeys:
    """A chunk key encoding with its separator.

    >>> ChunkKeys.default().key((1, 23, 45))
    'c/1/23/45'
    >>> ChunkKeys.v2().key((1, 23, 45))
    '1.23.45'
    >>> ChunkKeys.default().key(()), ChunkKeys.draft_zarr_python().key(())
    ('c', 'c0')
    >>> ChunkKeys.draft().key((1, 23, 45))
    'c1/23/45'
    """

    name: str
    separator: str
    head: str
    scalar: str
    share_values: ClassVar[bool] = False
    """True if several chunks are in one stored value, so that listings of the store do not show the keys of chunks."""

    @classmethod
    def default(cls, separator: str = "/") -> ChunkKeys:
        """Return the encoding that new arrays get: ``c/0/1``."""
        return cls("default", separator, "c" + separator, "c")

    @classmethod
    def v2(cls, separator: str = ".") -> ChunkKeys:
        """Return the encoding of v2, and of arrays that were converted from it: ``0.1``."""
        return cls("v2", separator, "", "0")

    @classmethod
    def draft(cls, separator: str = "/") -> ChunkKeys:
        """Return the encoding of the December 2022 draft of v3: ``c0/1``, without a separator after the ``c``."""
        return cls("draft", separator, "c", "c")

    @classmethod
    def draft_zarr_python(cls, separator: str = "/") -> ChunkKeys:
        """Return the encoding of that draft in zarr-python 2.13 to 2.18: the key without dimensions is ``c0``."""
        return cls("draft_zarr_python", separator, "c", "c0")

    def key(self, indices: tuple[int, ...]) -> str:
        """Return the key of a chunk, relative to the prefix of the array."""
        return self.head + self.separator.join(map(str, indices)) if indices else self.scalar

    def value_key(self, indices: tuple[int, ...]) -> str:
        """Return the key of the stored value that contains a chunk: its own, unless chunks share values."""
        return self.key(indices)

    def pattern(self, rank: int) -> re.Pattern[str]:
        """Return the pattern of the keys in an array of `rank` dimensions, whose groups are the indices."""
        return _pattern(self.head if rank else self.scalar, self.separator, rank)

    def position(self, key: str, rank: int) -> tuple[int, ...] | None:
        """Return the indices of the chunk with this key, in an array of `rank` dimensions; None if there is no such
        chunk.

        >>> ChunkKeys.default().position("c/1/23", 2), ChunkKeys.default().position("c/1/023", 2)
        ((1, 23), None)
        """
        match = self.pattern(rank).fullmatch(key)
        return None if match is None else tuple(map(int, match.groups()))

    @property
    def native(self) -> Mapping[str, Any]:
        """The arguments of the engine's handle for keys that are not made of indices."""
        return {}


@cache
def _pattern(head: str, separator: str, rank: int) -> re.Pattern[str]:
    return re.compile(re.escape(head) + re.escape(separator).join([f"({INDEX})"] * rank))
