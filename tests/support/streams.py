"""Encoded streams made by hand, honest and lying: what no encoder would write, a damaged file may hold."""

from __future__ import annotations

import struct
import zlib

__all__ = ["crc32c", "gzip_bomb", "gzip_member", "with_crc32c", "zstd_frame", "zstd_zeros"]

_POLYNOMIAL = 0x82F63B78
_TABLE = []
for _byte in range(256):
    _value = _byte
    for _ in range(8):
        _value = _value >> 1 ^ (_POLYNOMIAL if _value & 1 else 0)
    _TABLE.append(_value)

ZSTD_MAGIC = struct.pack("<I", 0xFD2FB528)
ZSTD_BLOCK = 128 << 10
"""The most bytes that one block can decode to."""
_RAW, _RLE = 0, 1


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli), bit by bit as RFC 3720 has it."""
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ _TABLE[(value ^ byte) & 0xFF]
    return value ^ 0xFFFFFFFF


def with_crc32c(data: bytes) -> bytes:
    """What the `crc32c` codec makes of these bytes."""
    return data + struct.pack("<I", crc32c(data))


def gzip_member(data: bytes, level: int = 6) -> bytes:
    """One gzip member (RFC 1952)."""
    stream = zlib.compressobj(level, zlib.DEFLATED, 31)
    return stream.compress(data) + stream.flush()


def gzip_bomb(megabytes: int) -> bytes:
    """A gzip member of so many MiB of zeros; its checksum is right for none of them."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    one = stream.compress(bytes(1 << 20)) + stream.flush(zlib.Z_FULL_FLUSH)
    end = b"\x03\x00" + struct.pack("<II", 0, megabytes << 20 & 0xFFFFFFFF)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + one * megabytes + end


def zstd_frame(blocks: list[tuple[int, int, bytes]], *, claim: int | None = None, window_log: int = 17) -> bytes:
    """One zstd frame (RFC 8878) of blocks (type, size, content), which may claim any decoded size and window."""
    descriptor = 0 if claim is None else 0xC0
    head = struct.pack("<BB", descriptor, (window_log - 10) << 3)
    size = b"" if claim is None else struct.pack("<Q", claim)
    body = b""
    for number, (kind, length, content) in enumerate(blocks, 1):
        header = (number == len(blocks)) | kind << 1 | length << 3
        body += struct.pack("<I", header)[:3] + content
    return ZSTD_MAGIC + head + size + body


def zstd_zeros(size: int, *, claim: int | None = None, window_log: int = 17) -> bytes:
    """A frame that decodes to `size` zeros, from four bytes for each 128 KiB."""
    whole, rest = divmod(size, ZSTD_BLOCK)
    blocks = [(_RLE, ZSTD_BLOCK, b"\0")] * whole
    if rest or not whole:
        blocks.append((_RLE, rest, b"\0") if rest else (_RAW, 0, b""))
    return zstd_frame(blocks, claim=claim, window_log=window_log)
