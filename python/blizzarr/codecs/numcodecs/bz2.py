"""``numcodecs.bz2`` (bytes -> bytes): bzip2, by the standard library.

https://numcodecs.readthedocs.io/en/stable/compression/bz2.html

>>> codec = BZ2Codec(level=9)
>>> codec.decode(codec.encode(b"abc" * 100), 300) == b"abc" * 100
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Option, Stage, Step, integer
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.codecs.numcodecs.streams import decode_streams

__all__ = ["BZ2Codec"]


@dataclass(frozen=True, slots=True)
class BZ2Codec(NumcodecsCodec):
    """Bzip2; `level` is from 1 (blocks of 100 kB) to 9 (of 900 kB).

    The module is imported when it is used: some builds of Python lack it.
    """

    name: ClassVar[str] = "numcodecs.bz2"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("level", 1, 9, required=False),)

    level: int = 1

    def step(self, chunk: Chunk) -> Step:
        return ("python", self)

    def encode(self, decoded: bytes) -> bytes:
        """The data as one stream."""
        import bz2

        return bz2.compress(decoded, self.level)

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        """The data of all streams, of which there are several when several writers appended."""
        import bz2

        return decode_streams(bz2.BZ2Decompressor, encoded, max_size)
