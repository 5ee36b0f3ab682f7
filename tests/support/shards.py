"""Shards taken apart and put together by hand: any index over any bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from support.streams import with_crc32c

__all__ = ["MISSING", "index_bytes", "join", "lay_down", "split"]

MAX = 2**64 - 1
MISSING = (MAX, MAX)
"""The entry of an inner chunk that is not stored."""
Entries = list[tuple[int, int]]


def index_bytes(entries: Sequence[tuple[int, int]], *, checksum: bool = True) -> bytes:
    """The stored index: little-endian pairs of offset and length, and their checksum."""
    pairs = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    return with_crc32c(pairs) if checksum else pairs


def split(shard: bytes, count: int, *, at_start: bool = False) -> tuple[bytes, Entries]:
    """The bytes besides the index, and the entries of `count` inner chunks."""
    size = 16 * count + 4
    index, body = (shard[:size], shard[size:]) if at_start else (shard[-size:], shard[:-size])
    return body, [struct.unpack_from("<QQ", index, 16 * number) for number in range(count)]


def join(body: bytes, entries: Sequence[tuple[int, int]], *, at_start: bool = False) -> bytes:
    """A shard of this body and this index, whatever the index says."""
    index = index_bytes(entries)
    return index + body if at_start else body + index


def lay_down(chunks: Sequence[bytes | None], *, at_start: bool = False) -> bytes:
    """A shard of these encoded inner chunks, one behind the other; None for one that is missing."""
    body = b""
    first = 16 * len(chunks) + 4 if at_start else 0
    entries: Entries = []
    for chunk in chunks:
        entries.append(MISSING if chunk is None else (first + len(body), len(chunk)))
        body += chunk or b""
    return join(body, entries, at_start=at_start)
