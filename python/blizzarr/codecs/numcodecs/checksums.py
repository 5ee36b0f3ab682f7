"""Checksums of 32 bits that numcodecs stores before or after the data (bytes -> bytes).

https://numcodecs.readthedocs.io/en/stable/checksum32.html

The engine computes those that are used; the others are computed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from blizzarr import _native
from blizzarr.codecs.codec import Chunk, Codec, Option, Step, integer, one_of
from blizzarr.codecs.crc32c import Crc32cCodec
from blizzarr.codecs.numcodecs import library
from blizzarr.codecs.numcodecs.row import PREFIX, NumcodecsCodec
from blizzarr.errors import ChecksumError, CodecError

_LENGTH = 4
_LOCATION = one_of("location", ("start", "end"), required=False)


class _Checksum(NumcodecsCodec):
    """A checksum; `_sum` computes it."""

    __slots__ = ()

    fixed_size: ClassVar[bool] = True

    @property
    def at_start(self) -> bool:
        """True if the checksum is stored before the data."""
        return False

    def _sum(self, data: memoryview) -> int:
        raise NotImplementedError

    def encoded_size(self, decoded: int) -> int:
        """Return the encoded size of `decoded` bytes."""
        return decoded + _LENGTH

    def encode(self, decoded: bytes) -> bytes:
        """Return the data with their checksum."""
        checksum = self._sum(memoryview(decoded)).to_bytes(_LENGTH, "little")
        return checksum + decoded if self.at_start else decoded + checksum

    def decode(self, encoded: bytes, max_size: int) -> memoryview:
        """Return the data without the checksum; raise `ChecksumError` if the checksum does not match."""
        data, stored, computed = self._apart(encoded, self.at_start)
        if stored != computed:
            raise ChecksumError(f"checksum stored is {stored:08x}, that of the data is {computed:08x}")
        return data

    def _apart(self, encoded: bytes, at_start: bool) -> tuple[memoryview, int, int]:
        """Return the data, the stored checksum, and the computed one."""
        if len(encoded) < _LENGTH:
            raise CodecError(f"data ended after {len(encoded)} encoded bytes")
        view = memoryview(encoded)
        stored, data = (view[:_LENGTH], view[_LENGTH:]) if at_start else (view[-_LENGTH:], view[:-_LENGTH])
        return data, int.from_bytes(stored, "little"), self._sum(data)


class _OfEngine(NumcodecsCodec):
    """A checksum that the engine computes, before the data unless `location` is ``"end"``."""

    __slots__ = ()

    fixed_size: ClassVar[bool] = True

    def step(self, chunk: Chunk) -> Step:
        return (self.name.removeprefix(PREFIX), getattr(self, "location", "end") != "end")


@dataclass(frozen=True, slots=True)
class CRC32Codec(_OfEngine):
    """The CRC-32 of zlib and PNG; it is stored at the start unless `location` is ``"end"``.

    >>> CRC32Codec(location="end").config()
    {'id': 'crc32', 'location': 'end'}
    """

    name: ClassVar[str] = "numcodecs.crc32"
    options: ClassVar[tuple[Option, ...]] = (_LOCATION,)

    location: str | None = None


@dataclass(frozen=True, slots=True)
class Adler32Codec(_OfEngine):
    """The Adler-32 of zlib; it is stored at the start unless `location` is ``"end"``."""

    name: ClassVar[str] = "numcodecs.adler32"
    options: ClassVar[tuple[Option, ...]] = (_LOCATION,)

    location: str | None = None


@dataclass(frozen=True, slots=True)
class Fletcher32Codec(_OfEngine):
    """The checksum of HDF5's filter of this name, at the end."""

    name: ClassVar[str] = "numcodecs.fletcher32"


@dataclass(frozen=True, slots=True)
class NumcodecsCrc32c(_Checksum):
    """The CRC-32C; it is stored at the end unless `location` is ``"start"``.

    Without a location in the document, numcodecs 0.13 stored it at the start and later releases at the end: readers
    accept either.
    """

    name: ClassVar[str] = "numcodecs.crc32c"
    options: ClassVar[tuple[Option, ...]] = (_LOCATION,)

    location: str | None = None

    @property
    def at_start(self) -> bool:
        return self.location == "start"

    def standard(self, chunk: Chunk) -> Codec:
        return Crc32cCodec() if self.location == "end" else self

    def step(self, chunk: Chunk) -> Step:
        return ("crc32c",) if self.location == "end" else ("python", self)

    def decode(self, encoded: bytes, max_size: int) -> memoryview:
        try:
            return super(NumcodecsCrc32c, self).decode(encoded, max_size)
        except ChecksumError:
            data, stored, computed = self._apart(encoded, True)
            if self.location is None and stored == computed:
                return data
            raise

    def _sum(self, data: memoryview) -> int:
        return _native.crc32c(data)


@dataclass(frozen=True, slots=True)
class JenkinsLookup3Codec(_Checksum):
    """The checksum of HDF5's metadata, at the end; `initval` is its initial value."""

    name: ClassVar[str] = "numcodecs.jenkins_lookup3"
    needs: ClassVar[tuple[str, str] | None] = ("numcodecs", "blizzarr[codecs]")
    options: ClassVar[tuple[Option, ...]] = (integer("initval", 0, 2**32 - 1, required=False),)

    initval: int = 0

    def _sum(self, data: memoryview) -> int:
        return int(library.module("jenkins").jenkins_lookup3(np.frombuffer(data, np.uint8), self.initval))
