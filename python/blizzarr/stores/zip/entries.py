"""Reading the bytes of an entry, and checking its size and checksum."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Final

from blizzarr.errors import ArchiveError, LimitError
from blizzarr.stores.protocol import ByteRange, Value
from blizzarr.stores.ranges import resolve_range
from blizzarr.stores.zip.file import AppendFile
from blizzarr.stores.zip.names import check_entry
from blizzarr.stores.zip.records import DEFLATED, STORED, Entry

_BLOCK: Final = 1 << 20
_ADVICE: Final = "a copy with skip_damaged=True saves what is intact"


def read_entry(file: AppendFile, entry: Entry, limit: int) -> bytes:
    """Return the value of an entry; a compressed one must not be larger than `limit` bytes."""
    _refuse_beyond(file, entry, limit)
    return b"".join(_checked(file, entry))


def read_beginning(file: AppendFile, entry: Entry, length: int) -> bytes:
    """Return the first `length` bytes of the value of an entry; no more than these are decompressed."""
    value = b"".join(_plain(file, entry, length))[:length]
    if len(value) < length:  # then it is the whole value
        _check(file, entry, len(value), zlib.crc32(value))
    return value


def read_entry_ranges(file: AppendFile, entry: Entry, ranges: Sequence[ByteRange], limit: int) -> list[Value]:
    """Return parts of the value; of an uncompressed entry only these are read, so its checksum is not verified.

    Raise `ArchiveError` if the entry is damaged.
    """
    spans = [resolve_range(start, length, entry.size) for start, length in ranges]
    if entry.method != STORED:
        _refuse_beyond(file, entry, limit)
        return _cut(_checked(file, entry), spans)
    begin = _start(file, entry)
    parts: list[Value] = []
    for low, high in spans:
        part = file.read_at(begin + low, high - low)
        if len(part) != high - low:
            raise _damaged(file, entry, f"the file ended after {low + len(part):,} of {entry.size:,} bytes")
        parts.append(part)
    return parts


def _refuse_beyond(file: AppendFile, entry: Entry, limit: int) -> None:
    if entry.exceeds(limit):
        raise LimitError(
            f"it says it decompresses to {entry.size:,} bytes, more than the limit of {limit:,}; "
            "open the store with a higher 'limit' if that is right",
            key=entry.name,
            store=str(file.path),
            direction="read",
        )


def _checked(file: AppendFile, entry: Entry) -> Iterator[bytes]:
    """Iterate over the parts of a value; after the last one, size and checksum are compared with the directory."""
    size = crc = 0
    for part in _plain(file, entry, entry.size):
        size += len(part)
        crc = zlib.crc32(part, crc)
        yield part
    _check(file, entry, size, crc)


def _check(file: AppendFile, entry: Entry, size: int, crc: int) -> None:
    if size != entry.size:
        raise _damaged(file, entry, f"expected {entry.size:,} bytes as its directory says, found {size:,}; {_ADVICE}")
    if crc != entry.crc:
        raise _damaged(file, entry, f"checksum mismatch: expected {entry.crc:08x}, found {crc:08x}; {_ADVICE}")


def _cut(parts: Iterator[bytes], spans: Sequence[tuple[int, int]]) -> list[Value]:
    """Return the spans of a value that is given in parts."""
    cut = [bytearray() for _ in spans]
    at = 0
    for part in parts:
        for piece, (low, high) in zip(cut, spans, strict=True):
            piece += part[max(0, low - at) : max(0, high - at)]
        at += len(part)
    return list(cut)


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


def _plain(file: AppendFile, entry: Entry, wanted: int) -> Iterator[bytes]:
    """Iterate over the parts of a value, up to `wanted` bytes, or one more, which shows that the directory is wrong."""
    start = _start(file, entry)
    if start + entry.stored_size > file.size:
        there = max(0, file.size - start)
        raise _damaged(file, entry, f"the file ended after {there:,} of {entry.stored_size:,} bytes; {_ADVICE}")
    if entry.method == STORED:
        yield file.read_at(start, min(wanted, entry.stored_size))
        return
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    stop, left, data = start + entry.stored_size, wanted + 1, b""
    try:
        while left > 0 and not stream.eof:
            if not data:
                data = file.read_at(start, min(_BLOCK, stop - start))
                start += len(data)
            part = stream.decompress(data, min(left, _BLOCK))
            if not part and not data:
                break
            data = stream.unconsumed_tail
            left -= len(part)
            yield part
    except zlib.error as error:
        raise _damaged(file, entry, f"its deflated bytes are damaged: {error}; {_ADVICE}") from error
    if left <= 0 and wanted == entry.size:
        reason = f"it decompresses to more than the {entry.size:,} bytes that its directory says; {_ADVICE}"
        raise _damaged(file, entry, reason)


def _damaged(file: AppendFile, entry: Entry, reason: str) -> ArchiveError:
    return ArchiveError(reason, key=entry.name, store=str(file.path), direction="read")
