"""Decoding with the decompressors of the standard library, up to the allowed size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from blizzarr.errors import CodecError

_UNIT = 4
"""The unit of padding in bytes (the .xz file format, 2.2)."""


class Decompressor(Protocol):
    """The interface of the decompressors of `bz2` and `lzma`."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


def decode_streams(make: Callable[[], Decompressor], encoded: bytes, max_size: int, padding: bytes = b"") -> bytes:
    """Decode concatenated streams, each perhaps followed by `padding`.

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
