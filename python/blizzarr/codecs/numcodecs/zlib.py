"""``numcodecs.zlib`` (bytes -> bytes): Deflate with the header and checksum of RFC 1950.

https://numcodecs.readthedocs.io/en/stable/compression/zlib.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Option, Stage, Step, integer
from blizzarr.codecs.numcodecs.row import NumcodecsCodec

__all__ = ["DEFAULT_LEVEL", "ZlibCodec"]

DEFAULT_LEVEL = 6
"""The level that zlib uses for -1."""


@dataclass(frozen=True, slots=True)
class ZlibCodec(NumcodecsCodec):
    """The codec ``numcodecs.zlib`` (bytes -> bytes): compresses with Deflate, in the format of RFC 1950.

    Source: https://numcodecs.readthedocs.io/en/stable/compression/zlib.html

    Parameters
    ----------
    level
        The level, from 0 (no compression) to 9 (smallest), or -1 for zlib's default, which is 6.

    Raises
    ------
    MetadataError
        If the level is another one.

    Examples
    --------
    >>> ZlibCodec(level=3).to_json()
    {'name': 'numcodecs.zlib', 'configuration': {'level': 3}}
    """

    name: ClassVar[str] = "numcodecs.zlib"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("level", -1, 9, required=False),)

    level: int = 1

    def step(self, chunk: Chunk) -> Step:
        return ("zlib", DEFAULT_LEVEL if self.level < 0 else self.level)
