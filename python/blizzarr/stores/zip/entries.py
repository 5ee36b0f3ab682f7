"""Reading the bytes of an entry, and checking its size and checksum."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from blizzarr.errors import ArchiveError, LimitError
from blizzarr.stores.protocol import ByteRange, Value
from blizzarr.stores.ranges import resolve_range, slice_ranges
from blizzarr.stores.zip.file import AppendFile
from blizzarr.stores.zip.names import check_entry
from blizzarr.stores.zip.records import DEFLATED, STORED, Entry

__all__ = ["read_entry", "read_entry_ranges"]


def read_entry(file: AppendFile, entry: Entry, limit: int) -> bytes:
    """Return the value of an entry; a compressed one must not be larger than `limit` bytes."""
    if entry.method != STORED and entry.size > limit:
        raise LimitError(
            f"it says it decompresses to {entry.size:,} bytes, more than the limit of {limit:,}; "
            "open the store with a higher 'limit' if that is right",
            key=entry.name,
            store=str(file.path),
            direction="read",
        )
    start = _start(file, entry)
    stored = file.read_at(start, entry.stored_size)
    if len(stored) != entry.stored_size:
        raise _damaged(file, entry, f"the file ended after {len(stored):,} of {entry.stored_size:,} bytes")
    value = stored if entry.method == STORED else _inflate(file, entry, stored)
    if len(value) != entry.size:
        raise _damaged(file, entry, f"expected {entry.size:,} bytes as its directory says, found {len(value):,}")
    if zlib.crc32(value) != entry.crc:
        raise _damaged(file, entry, f"checksum mismatch: expected {entry.crc:08x}, found {zlib.crc32(value):08x}")
    return value


def read_entry_ranges(file: AppendFile, entry: Entry, ranges: Sequence[ByteRange], limit: int) -> list[Value]:
    """Return parts of the value; of an uncompressed entry only these are read, so its checksum is not verified.

    Raises
    ------
    ArchiveError
        If the entry is damaged.
    """
    if entry.method != STORED:
        return slice_ranges(read_entry(file, entry, limit), ranges)
    begin = _start(file, entry)
    parts: list[Value] = []
    for start, length in ranges:
        low, high = resolve_range(start, length, entry.size)
        part = file.read_at(begin + low, high - low)
        if len(part) != high - low:
            raise _damaged(file, entry, f"the file ended after {low + len(part):,} of {entry.size:,} bytes")
        parts.append(part)
    return parts


def _start(file: AppendFile, entry: Entry) -> int:
    """Return the offset of the bytes, after the local record, which must be that of this entry."""
    if entry.encrypted:
        raise _damaged(file, entry, "it is encrypted, which is not supported")
    if entry.method not in (STORED, DEFLATED):
        raise _damaged(file, entry, f"compression method {entry.method} is not supported, only stored and deflated")
    if entry.method == STORED and entry.stored_size != entry.size:
        raise _damaged(file, entry, f"it is stored, but said to be {entry.stored_size:,} and {entry.size:,} bytes")
    if entry.is_link:
        raise _damaged(file, entry, "it is a symbolic link, which is not followed")
    return check_entry(file.read_at, entry, str(file.path))


def _inflate(file: AppendFile, entry: Entry, stored: bytes) -> bytes:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        # One byte more than the directory says is enough to find out that it is wrong.
        value = stream.decompress(stored, entry.size + 1)
    except zlib.error as error:
        raise _damaged(file, entry, f"its deflated bytes are damaged: {error}") from error
    if len(value) > entry.size:
        raise _damaged(file, entry, f"it decompresses to more than the {entry.size:,} bytes that its directory says")
    return value


def _damaged(file: AppendFile, entry: Entry, reason: str) -> ArchiveError:
    return ArchiveError(reason, key=entry.name, store=str(file.path), direction="read")
