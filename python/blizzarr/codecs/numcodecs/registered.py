"""``numcodecs.blosc``, ``numcodecs.gzip`` and ``numcodecs.zstd`` (bytes -> bytes): registered ones spelled otherwise.

The bytes are those of ``blosc``, ``gzip`` and ``zstd``; the options are spelled as numcodecs spells them. In v1 and v2
there is no other spelling, so there they are read as the registered codecs (`standard`).

>>> NumcodecsBlosc(shuffle=2).config()
{'id': 'blosc', 'cname': 'lz4', 'clevel': 5, 'shuffle': 2, 'blocksize': 0}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from blizzarr.codecs.blosc import SHUFFLES, BloscCodec
from blizzarr.codecs.codec import Chunk, Codec, Option, Step, integer
from blizzarr.codecs.gzip import GzipCodec
from blizzarr.codecs.numcodecs.compressors import DEFAULT_LEVEL, ZlibCodec
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.codecs.zstd import ZstdCodec
from blizzarr.dtypes import DataType

_ZSTD_MAX: Final = 22
_BYTE: Final = DataType.parse("uint8")


@dataclass(frozen=True, slots=True)
class NumcodecsBlosc(NumcodecsCodec):
    """Blosc; `shuffle` is 0 (none), 1 (bytes), 2 (bits) or -1 (bits for elements of one byte, else bytes)."""

    name: ClassVar[str] = "numcodecs.blosc"
    options: ClassVar[tuple[Option, ...]] = (
        BloscCodec.option("cname").optional(),
        BloscCodec.option("clevel").optional(),
        integer("shuffle", -1, len(SHUFFLES) - 1, required=False),
        BloscCodec.option("blocksize").optional(),
        integer("typesize", 1, 2**31 - 1, required=False),
    )

    cname: str = "lz4"
    clevel: int = 5
    shuffle: int = 1
    blocksize: int = 0
    typesize: int | None = None

    def _registered(self, typesize: int | None) -> BloscCodec:
        shuffle = None if self.shuffle < 0 else SHUFFLES[self.shuffle]
        return BloscCodec(self.cname, self.clevel, shuffle, typesize, self.blocksize)

    def standard(self, chunk: Chunk) -> Codec:
        return self._registered(self.typesize).resolve(chunk)

    def step(self, chunk: Chunk) -> Step:
        # In v3, the codec is given bytes, whatever they were before: numcodecs sees elements of one byte.
        return self._registered(self.typesize or 1).step(chunk._replace(dtype=_BYTE))


@dataclass(frozen=True, slots=True)
class NumcodecsGzip(NumcodecsCodec):
    """Gzip; `level` is from 0 (stored) to 9 (smallest), or -1 for the library's default."""

    name: ClassVar[str] = "numcodecs.gzip"
    options: ClassVar[tuple[Option, ...]] = (ZlibCodec.option("level"),)

    level: int = 1

    def standard(self, chunk: Chunk) -> Codec:
        return GzipCodec(DEFAULT_LEVEL if self.level < 0 else self.level)

    def step(self, chunk: Chunk) -> Step:
        return self.standard(chunk).step(chunk)


@dataclass(frozen=True, slots=True)
class NumcodecsZstd(NumcodecsCodec):
    """Zstandard; a `level` above the highest means the highest, as numcodecs has it."""

    name: ClassVar[str] = "numcodecs.zstd"
    options: ClassVar[tuple[Option, ...]] = (
        integer("level", -131072, 2**31 - 1, required=False),
        ZstdCodec.option("checksum"),
    )

    level: int = 0
    checksum: bool = False

    def standard(self, chunk: Chunk) -> Codec:
        return ZstdCodec(min(self.level, _ZSTD_MAX), self.checksum)

    def step(self, chunk: Chunk) -> Step:
        return self.standard(chunk).step(chunk)
