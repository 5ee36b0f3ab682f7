"""How the position of a chunk in its grid becomes a store key.

Every format's keys have one of two shapes, a head followed by the indices with a separator between them, and one
key for the only chunk of an array without dimensions:

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

``draft_zarr_python`` is ``draft`` but for the scalar key, which is ``c0``. Keys of ``precomputed`` have something
else than indices in them, which `places` tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from blizzarr.model.chunk_places import Intervals, Shards

__all__ = ["INDEX", "ChunkKeys"]

INDEX: Final = "(?:0|[1-9][0-9]{0,99})"
"""How a key has an index, as a pattern: in ASCII, without zeros in front, and no longer than anybody counts."""


@dataclass(frozen=True, slots=True)
class ChunkKeys:
    """A chunk key encoding, prepared.

    Examples
    --------
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
    places: Intervals | Shards | None = None
    """What stands in place of indices; None where indices do."""

    @classmethod
    def default(cls, separator: str = "/") -> ChunkKeys:
        """The encoding that new arrays get: ``c/0/1``."""
        return cls("default", separator, "c" + separator, "c")

    @classmethod
    def v2(cls, separator: str = ".") -> ChunkKeys:
        """The encoding of arrays that were converted from Zarr v2: ``0.1``."""
        return cls("v2", separator, "", "0")

    @classmethod
    def precomputed(cls, places: Intervals | Shards) -> ChunkKeys:
        """The encoding of volumes of Neuroglancer: ``0-64_64-128_0-40``."""
        return cls("precomputed", "_", "", "", places)

    @classmethod
    def draft(cls, separator: str = "/") -> ChunkKeys:
        """The encoding of the December 2022 draft of v3: ``c0/1``, no separator behind the ``c``."""
        return cls("draft", separator, "c", "c")

    @classmethod
    def draft_zarr_python(cls, separator: str = "/") -> ChunkKeys:
        """The encoding that zarr-python 2.13 to 2.18 had for that draft: an array without dimensions has ``c0``."""
        return cls("draft_zarr_python", separator, "c", "c0")

    def key(self, indices: tuple[int, ...]) -> str:
        """The key of one chunk, below the array's prefix."""
        if self.places is not None:
            return self.head + self.separator.join(self.places.parts(indices))
        return self.head + self.separator.join(map(str, indices)) if indices else self.scalar
