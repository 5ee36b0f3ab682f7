"""``numcodecs.lz4`` (bytes -> bytes): the size of the data in four bytes, and one LZ4 block.

https://numcodecs.readthedocs.io/en/stable/compression/lz4.html

>>> LZ4Codec(acceleration=3).config()
{'id': 'lz4', 'acceleration': 3}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Option, Stage, Step, integer
from blizzarr.codecs.numcodecs.row import NumcodecsCodec

__all__ = ["LZ4Codec"]


@dataclass(frozen=True, slots=True)
class LZ4Codec(NumcodecsCodec):
    """LZ4; a higher `acceleration` is faster and compresses less."""

    name: ClassVar[str] = "numcodecs.lz4"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("acceleration", -(2**31), 2**31 - 1, required=False),)

    acceleration: int = 1

    def step(self, chunk: Chunk) -> Step:
        return ("lz4", self.acceleration)
