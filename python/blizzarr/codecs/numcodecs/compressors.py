"""Compressors of numcodecs (bytes -> bytes) that no registry of Zarr has under another name.

https://numcodecs.readthedocs.io/en/stable/compression/
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Final, Self

from blizzarr.codecs.codec import Chunk, Codec, Option, Step, integer
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.errors import CodecError
from blizzarr.problems import MISSING, Problems

_UNIT = 4
"""The unit of padding in bytes (the .xz file format, 2.2)."""


def decode_streams(make: Callable[[], Any], encoded: bytes, max_size: int, padding: bytes = b"") -> bytes:
    """Decode concatenated streams, each perhaps followed by `padding`, by decompressors of `bz2` or `lzma`.

    Raise `CodecError` if there are more than `max_size` bytes, the last stream ends early, or something else follows.
    """
    parts: list[bytes] = []
    room = max_size
    rest = encoded
    while True:
        stream = make()
        while not stream.eof:
            # One byte more than allowed, because with an exact fit the end of the stream would stay unread.
            part = stream.decompress(rest, room + 1)
            rest = b""
            if len(part) > room:
                raise CodecError(f"expected {max_size:,} bytes, found more")
            room -= len(part)
            parts.append(part)
            if not stream.eof and stream.needs_input:
                raise CodecError(f"data ended after {max_size - room:,} of {max_size:,} bytes")
        rest = stream.unused_data.lstrip(padding) if padding else stream.unused_data
        if (len(stream.unused_data) - len(rest)) % _UNIT:
            raise CodecError(f"{len(stream.unused_data):,} bytes follow the end of the encoded data")
        if not rest:
            return parts[0] if len(parts) == 1 else b"".join(parts)
        if room == 0:
            raise CodecError(f"{len(rest):,} bytes follow the end of the encoded data")


@dataclass(frozen=True, slots=True)
class Base64Codec(NumcodecsCodec):
    """Base64 (RFC 4648) with ``+`` and ``/``, padded.

    >>> Base64Codec().encode(b"abc")
    b'YWJj'
    """

    name: ClassVar[str] = "numcodecs.base64"
    fixed_size: ClassVar[bool] = True

    def encoded_size(self, decoded: int) -> int:
        """Return the encoded size of `decoded` bytes."""
        return -(-decoded // 3) * 4

    def encode(self, decoded: bytes) -> bytes:
        """Return the data as Base64 text."""
        return binascii.b2a_base64(decoded, newline=False)

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        """Return the data of a Base64 text."""
        return binascii.a2b_base64(encoded, strict_mode=True)


@dataclass(frozen=True, slots=True)
class BZ2Codec(NumcodecsCodec):
    """Bzip2, by the standard library; `level` is from 1 (blocks of 100 kB) to 9 (of 900 kB).

    The module `bz2` is imported when it is used: some builds of Python lack it.

    >>> codec = BZ2Codec(level=9)
    >>> codec.decode(codec.encode(b"abc" * 100), 300) == b"abc" * 100
    True
    """

    name: ClassVar[str] = "numcodecs.bz2"
    options: ClassVar[tuple[Option, ...]] = (integer("level", 1, 9, required=False),)

    level: int = 1

    def encode(self, decoded: bytes) -> bytes:
        """Return the data as one stream."""
        import bz2

        return bz2.compress(decoded, self.level)

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        """Return the data of all streams, of which there are several when several writers appended."""
        import bz2

        return decode_streams(bz2.BZ2Decompressor, encoded, max_size)


@dataclass(frozen=True, slots=True)
class LZ4Codec(NumcodecsCodec):
    """One LZ4 block behind the size of the data, in four bytes.

    A higher `acceleration` is faster and compresses less.

    >>> LZ4Codec(acceleration=3).config()
    {'id': 'lz4', 'acceleration': 3}
    """

    name: ClassVar[str] = "numcodecs.lz4"
    options: ClassVar[tuple[Option, ...]] = (integer("acceleration", -(2**31), 2**31 - 1, required=False),)

    acceleration: int = 1

    def step(self, chunk: Chunk) -> Step:
        return ("lz4", self.acceleration)


_XZ: Final = 1
_RAW: Final = 3
_MAX_CHECK: Final = 15
_EXTREME: Final = 1 << 31
_XZ_PADDING: Final = b"\0"
PRESET: Final = integer("preset", 0, 9)
"""The levels of `LZMACodec` in formats that do not have the slower variants."""


def _is_filters(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(
        isinstance(item, Mapping) and all(type(number) is int for number in item.values()) for item in value
    )


@dataclass(frozen=True, slots=True)
class LZMACodec(NumcodecsCodec):
    """LZMA in its three containers, by the standard library; the numbers are those of Python's `lzma`.

    `format` is 1 (xz), 2 (the older lzma) or 3 (no container); `check` the kind of checksum in xz, or -1 for the
    default; `preset` a level from 0 to 9, plus 2^31 for the slower variant; `filters` takes the place of a preset. The
    module `lzma` is imported when it is used: some builds of Python lack it.

    >>> codec = LZMACodec(preset=1)
    >>> codec.decode(codec.encode(b"abc" * 100), 300) == b"abc" * 100
    True
    """

    name: ClassVar[str] = "numcodecs.lzma"
    options: ClassVar[tuple[Option, ...]] = (
        integer("format", _XZ, _RAW, required=False),
        integer("check", -1, _MAX_CHECK, required=False),
        integer("preset", 0, 9 | _EXTREME, required=False),
        Option("filters", "a list of objects with integers", _is_filters, required=False),
    )

    format: int = _XZ
    check: int = -1
    preset: int | None = None
    filters: Sequence[Mapping[str, int]] | None = field(default=None, hash=False)

    def fits(self, chunk: Chunk, path: str, problems: Problems) -> bool:
        if self.format == _RAW and self.filters is None:
            problems.add(f"{path}.configuration.filters", "filters, as there is no container that says them", MISSING)
            return False
        if self.filters is not None and self.preset is not None:
            problems.add(f"{path}.configuration.preset", "null, as there are filters", self.preset)
            return False
        return True

    def encode(self, decoded: bytes) -> bytes:
        """Return the data as one stream."""
        import lzma

        filters = None if self.filters is None else [dict(item) for item in self.filters]
        return lzma.compress(decoded, self.format, self.check, self.preset, filters)

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        """Return the data of all streams; only what has no container needs the filters to be told."""
        import lzma

        raw = self.format == _RAW and self.filters is not None
        filters = [dict(item) for item in self.filters or ()] if raw else None
        make = partial(lzma.LZMADecompressor, self.format, None, filters)
        return decode_streams(make, encoded, max_size, _XZ_PADDING if self.format == _XZ else b"")

    def configuration(self) -> dict[str, Any]:
        options = super(LZMACodec, self).configuration()
        if self.filters is not None:
            options["filters"] = [dict(item) for item in self.filters]
        return options

    def config(self) -> dict[str, Any]:
        # All of the options, as numcodecs writes them.
        return {"id": "lzma", "preset": None, "filters": None, **self.configuration()}


_DEFAULT_SIZE: Final = 4
"""The `elementsize` of documents of v1 and v2 that leave it out."""


@dataclass(frozen=True, slots=True)
class ShuffleCodec(NumcodecsCodec):
    """The first bytes of all elements, then the second bytes, and so on (https://numcodecs.readthedocs.io/en/stable/filter/).

    Elements have `elementsize` bytes; None stands for the size of the array's elements.

    >>> ShuffleCodec(elementsize=2).config()
    {'id': 'shuffle', 'elementsize': 2}
    """

    name: ClassVar[str] = "numcodecs.shuffle"
    options: ClassVar[tuple[Option, ...]] = (integer("elementsize", 0, 2**31 - 1, required=False),)
    fixed_size: ClassVar[bool] = True

    elementsize: int | None = None

    def standard(self, chunk: Chunk) -> Codec:
        return replace(self, elementsize=_DEFAULT_SIZE) if self.elementsize is None else self

    def resolve(self, chunk: Chunk) -> Self:
        if self.elementsize is not None or chunk.dtype is None:
            return self
        return replace(self, elementsize=chunk.dtype.itemsize)

    def step(self, chunk: Chunk) -> Step:
        return ("shuffle", self.resolve(chunk).elementsize or 1)


DEFAULT_LEVEL: Final = 6
"""The level that zlib uses for -1."""


@dataclass(frozen=True, slots=True)
class ZlibCodec(NumcodecsCodec):
    """The codec ``numcodecs.zlib`` (bytes -> bytes): compresses with Deflate, in the format of RFC 1950.

    Source: https://numcodecs.readthedocs.io/en/stable/compression/zlib.html

    Parameters
    ----------
    level
        The level, from 0 (no compression) to 9 (smallest), or -1 for zlib's default, which is 6.

    Examples
    --------
    >>> ZlibCodec(level=3).to_json()
    {'name': 'numcodecs.zlib', 'configuration': {'level': 3}}
    """

    name: ClassVar[str] = "numcodecs.zlib"
    options: ClassVar[tuple[Option, ...]] = (integer("level", -1, 9, required=False),)

    level: int = 1

    def step(self, chunk: Chunk) -> Step:
        return ("zlib", DEFAULT_LEVEL if self.level < 0 else self.level)
