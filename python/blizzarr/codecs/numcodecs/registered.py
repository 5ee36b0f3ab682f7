"""``numcodecs.blosc``, ``numcodecs.gzip`` and ``numcodecs.zstd`` (bytes -> bytes): registered ones spelled otherwise.

The bytes are those of ``blosc``, ``gzip`` and ``zstd``; the options are spelled as numcodecs spells them. In v1 and v2
there is no other spelling, so there they are read as the registered codecs (`standard`).

>>> NumcodecsBlosc(shuffle=2).config()
{'id': 'blosc', 'cname': 'lz4', 'clevel': 5, 'shuffle': 2, 'blocksize': 0}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from blizzarr.codecs.blosc import BloscCodec
from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, flag, integer, one_of
from blizzarr.codecs.gzip import GzipCodec
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.codecs.numcodecs.zlib import DEFAULT_LEVEL
from blizzarr.codecs.zstd import ZstdCodec
from blizzarr.dtypes import DataType

__all__ = ["NumcodecsBlosc", "NumcodecsGzip", "NumcodecsZstd"]

_SHUFFLES: Final[dict[int, str | None]] = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle", -1: None}
_ZSTD_MAX: Final = 22
_BYTE: Final = DataType.parse("uint8")


@dataclass(frozen=True, slots=True)
class NumcodecsBlosc(NumcodecsCodec):
    """Blosc; `shuffle` is 0 (none), 1 (bytes), 2 (bits) or -1 (bits for elements of one byte, else bytes)."""

    name: ClassVar[str] = "numcodecs.blosc"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (
        one_of("cname", ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"), required=False),
        integer("clevel", 0, 9, required=False),
        integer("shuffle", -1, 2, required=False),
        integer("blocksize", 0, 2**31 - 1, required=False),
        integer("typesize", 1, 2**31 - 1, required=False),
    )

    cname: str = "lz4"
    clevel: int = 5
    shuffle: int = 1
    blocksize: int = 0
    typesize: int | None = None

    def standard(self, chunk: Chunk) -> Codec:
        codec = BloscCodec(self.cname, self.clevel, _SHUFFLES[self.shuffle], self.typesize, self.blocksize)
        return codec.resolve(chunk)

    def step(self, chunk: Chunk) -> Step:
        # In v3 it is bytes that the codec is given, whatever they were: numcodecs sees elements of one byte.
        codec = BloscCodec(self.cname, self.clevel, _SHUFFLES[self.shuffle], self.typesize or 1, self.blocksize)
        return codec.step(chunk._replace(dtype=_BYTE))


@dataclass(frozen=True, slots=True)
class NumcodecsGzip(NumcodecsCodec):
    """Gzip; `level` is from 0 (stored) to 9 (smallest), or -1 for the library's default."""

    name: ClassVar[str] = "numcodecs.gzip"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("level", -1, 9, required=False),)

    level: int = 1

    def standard(self, chunk: Chunk) -> Codec:
        return GzipCodec(DEFAULT_LEVEL if self.level < 0 else self.level)

    def step(self, chunk: Chunk) -> Step:
        return self.standard(chunk).step(chunk)


@dataclass(frozen=True, slots=True)
class NumcodecsZstd(NumcodecsCodec):
    """Zstandard; a `level` above the highest means the highest, as numcodecs has it."""

    name: ClassVar[str] = "numcodecs.zstd"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (
        integer("level", -131072, 2**31 - 1, required=False),
        flag("checksum", required=False),
    )

    level: int = 0
    checksum: bool = False

    def standard(self, chunk: Chunk) -> Codec:
        return ZstdCodec(min(self.level, _ZSTD_MAX), self.checksum)

    def step(self, chunk: Chunk) -> Step:
        return self.standard(chunk).step(chunk)
