"""Decoding with the decompressors of the standard library, never past the size that is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from blizzarr.errors import CodecError

__all__ = ["Decompressor", "decode_streams"]


_UNIT = 4
"""Padding has whole units of so many bytes (the .xz file format, 2.2)."""


class Decompressor(Protocol):
    """What `bz2` and `lzma` have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


def decode_streams(make: Callable[[], Decompressor], encoded: bytes, max_size: int, padding: bytes = b"") -> bytes:
    """The data of the streams that stand one behind the other; `padding` may follow each.

    Raises
    ------
    CodecError
        When there are more than `max_size` bytes, when the last stream ends early, or when something else follows.
    """
    parts: list[bytes] = []
    room = max_size
    rest = encoded
    while True:
        stream = make()
        while not stream.eof:
            # One byte more than there may be, as an exact fit leaves the end of the stream unread.
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
