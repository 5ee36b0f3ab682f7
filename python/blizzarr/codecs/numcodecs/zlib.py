"""``numcodecs.zlib`` (bytes -> bytes): Deflate with the header and checksum of RFC 1950.

https://numcodecs.readthedocs.io/en/stable/compression/zlib.html

>>> ZlibCodec(level=3).to_json()
{'name': 'numcodecs.zlib', 'configuration': {'level': 3}}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Option, Stage, Step, integer
from blizzarr.codecs.numcodecs.row import NumcodecsCodec

__all__ = ["DEFAULT_LEVEL", "ZlibCodec"]

DEFAULT_LEVEL = 6
"""What level -1 means to Deflate's library."""


@dataclass(frozen=True, slots=True)
class ZlibCodec(NumcodecsCodec):
    """Zlib; `level` is from 0 (stored) to 9 (smallest), or -1 for the library's default."""

    name: ClassVar[str] = "numcodecs.zlib"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("level", -1, 9, required=False),)

    level: int = 1

    def step(self, chunk: Chunk) -> Step:
        return ("zlib", DEFAULT_LEVEL if self.level < 0 else self.level)
