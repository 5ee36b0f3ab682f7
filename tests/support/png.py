"""Reading PNG files back, by the specification alone."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray


def decode(data: bytes) -> NDArray[np.uint8]:
    """The pixels of a PNG file of 8-bit samples whose rows have filter None, Sub or Up; checksums are checked."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, header, packed = 8, b"", b""
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        (crc,) = struct.unpack_from(">I", data, at + 8 + length)
        assert crc == zlib.crc32(kind + body)
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour, *_ = struct.unpack(">IIBBBBB", header)
    assert depth == 8
    samples = {0: 1, 2: 3, 6: 4}[colour]
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * samples)
    pixels = rows[:, 1:].reshape(height, width, samples).copy()
    for number, kind in enumerate(rows[:, 0]):
        if kind == 1:
            pixels[number] = np.cumsum(pixels[number], axis=0, dtype=np.uint8)
        elif kind == 2 and number:
            pixels[number] += pixels[number - 1]
    return pixels[:, :, 0] if samples == 1 else pixels
