"""``numcodecs.lz4`` (bytes -> bytes): the size of the data in four bytes, and one LZ4 block.

https://numcodecs.readthedocs.io/en/stable/compression/lz4.html

>>> codec = LZ4Codec()
>>> bytes(codec.decode(codec.encode(b"abc" * 100), 300)) == b"abc" * 100
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from blizzarr.codecs.codec import Chunk, Option, Stage, Step, integer
from blizzarr.codecs.numcodecs import library
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.errors import CodecError

__all__ = ["LZ4Codec"]

_HEADER = 4


@dataclass(frozen=True, slots=True)
class LZ4Codec(NumcodecsCodec):
    """LZ4; a higher `acceleration` is faster and compresses less."""

    name: ClassVar[str] = "numcodecs.lz4"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("acceleration", -(2**31), 2**31 - 1, required=False),)

    acceleration: int = 1

    def step(self, chunk: Chunk) -> Step:
        return ("python", self)

    def encode(self, decoded: bytes) -> Any:
        """The size and the block."""
        return library.make(self.config()).encode(decoded)

    def decode(self, encoded: bytes, max_size: int) -> Any:
        """The data, unless the size that they claim to have is wrong: it is what is allocated."""
        if len(encoded) <= _HEADER:
            raise CodecError(f"data ended after {len(encoded)} encoded bytes")
        size = int.from_bytes(encoded[:_HEADER], "little")
        if size > max_size:
            raise CodecError(f"expected {max_size:,} bytes, found {size:,}")
        return library.make(self.config()).decode(encoded)
