"""The records of a zip file that a store needs (PKWARE APPNOTE 6.3, sections 4.3.7 to 4.3.16)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

from blizzarr import _native
from blizzarr.stores.zip.end import MAX16, MAX32, pack_end

LOCAL: Final = struct.Struct("<4s5H3I2H")
CENTRAL: Final = struct.Struct("<4s6H3I5H2I")

STORED, DEFLATED = 0, 8
ENCRYPTED, SIZES_FOLLOW, UTF8 = 0x0001, 0x0008, 0x0800
_ZIP64 = 0x0001
_EPOCH = 0x21
"""1 January 1980, the earliest date; a constant, so that equal values make equal files."""
_UNIX, _REGULAR = 3 << 8, 0o100644 << 16
_KIND_MASK, _SYMLINK = 0o170000, 0o120000
_BACKSLASH: Final = ord("\\")
"""A number, which Python finds in bytes ten times as fast as it finds other bytes."""
_BLOCK: Final = 1 << 20
_LONGEST: Final = CENTRAL.size + 3 * MAX16

ReadAt: TypeAlias = Callable[[int, int], bytes]
"""Reads up to so many bytes from an offset on; fewer at the end of the file."""


class Entry(NamedTuple):
    """One value in the file, as the directory describes it."""

    name: str
    raw_name: bytes
    method: int
    flags: int
    crc: int
    stored_size: int
    size: int
    offset: int
    """The offset of its local record."""
    is_link: bool = False

    @property
    def encrypted(self) -> bool:
        """True if its bytes cannot be read without a password."""
        return bool(self.flags & ENCRYPTED)

    @property
    def is_respelled(self) -> bool:
        """True if its name in the file has backslashes, which are read as slashes."""
        return _BACKSLASH in self.raw_name

    @property
    def is_plain(self) -> bool:
        """True if its value lies in the file as it is."""
        return self.method == STORED and self.stored_size == self.size and not self.encrypted and not self.is_link

    def exceeds(self, limit: int) -> bool:
        """Return whether it is compressed, and longer than this when it is not."""
        return self.method != STORED and self.size > limit


def unpack_directory(read_at: ReadAt, start: int, size: int, count: int, shift: int) -> tuple[list[Entry], int]:
    """Return the entries of a directory, with `shift` added to their offsets, and the checksum of its bytes.

    Raise `ValueError` if an entry is cut or damaged, or the entries do not fill the directory.
    """
    entries: list[Entry] = []
    data, at, stop, checksum = b"", 0, start + size, 0
    while len(entries) < count:
        if len(data) - at < _LONGEST and start < stop:
            # Block by block, so that a size that lies takes no memory.
            block = read_at(start, min(_BLOCK, stop - start))
            start += _BLOCK
            checksum = zlib.crc32(block, checksum)
            data, at = data[at:] + block, 0
        usual, at = _native.usual_entries(data, at, count - len(entries), shift, Entry)
        entries += usual
        if not usual:
            entry, at = _unpack_entry(data, at, shift, f"entry {len(entries):,} of {count:,}")
            entries.append(entry)
    if len(data) != at or start < stop:
        raise ValueError(f"its {size:,} bytes hold more than the {count:,} entries that its end record counts")
    return entries, checksum


def _unpack_entry(data: bytes, at: int, shift: int, name: str) -> tuple[Entry, int]:
    """Return the entry at this place, which need not be a usual one, and where the next one begins.

    Raise `ValueError` if the entry, which the error calls `name`, is cut or damaged.
    """
    if len(data) - at < CENTRAL.size or data[at : at + 4] != b"PK\1\2":
        raise ValueError(f"{name} is cut or damaged")
    (_, made_by, _, flags, method, _, _, crc, stored_size, plain_size, name_length, extra_length, comment_length,
     _, _, attributes, offset) = CENTRAL.unpack_from(data, at)  # fmt: skip
    name_end = at + CENTRAL.size + name_length
    raw_name = data[at + CENTRAL.size : name_end]
    end = name_end + extra_length + comment_length
    if end > len(data):
        raise ValueError(f"{name} is cut")
    if MAX32 in (plain_size, stored_size, offset):
        extra = data[name_end : name_end + extra_length]
        plain_size, stored_size, offset = wide(extra, plain_size, stored_size, offset)
    is_link = made_by >> 8 == _UNIX >> 8 and attributes & (_KIND_MASK << 16) == _SYMLINK << 16
    key = decoded(raw_name, flags)
    return Entry(key, raw_name, method, flags, crc, stored_size, plain_size, offset + shift, is_link), end


def decoded(raw_name: bytes, flags: int) -> str:
    """Return a name as text; some programs for Windows wrote backslashes in place of slashes.

    >>> decoded(b"a\\\\0", 0)
    'a/0'
    """
    if raw_name.isascii():
        text = raw_name.decode("ascii")
    else:
        text = raw_name.decode("utf-8" if flags & UTF8 else "cp437", "surrogateescape")
    return text.replace("\\", "/")


def wide(extra: bytes, *fields: int) -> tuple[int, ...]:
    """Replace the fields that did not fit by their 64-bit values; raise `ValueError` if a value is missing."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == _ZIP64:
            if at + 4 + length > len(extra) or length < 8 * fields.count(MAX32):
                break
            values = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            return tuple(next(values) if field == MAX32 else field for field in fields)
        at += 4 + length
    raise ValueError("a size or an offset of more than 32 bits is not there")


def pack_local(entry: Entry) -> bytes:
    """Return the local record, which precedes the bytes of an entry."""
    sizes, extra = _narrow(entry.stored_size, entry.size)
    if extra:  # here, unlike in the directory, both must be given, the plain size first
        sizes, extra = (MAX32, MAX32), struct.pack("<2H2Q", _ZIP64, 16, entry.size, entry.stored_size)
    return (
        LOCAL.pack(b"PK\3\4", 45 if extra else 20, entry.flags, entry.method, 0, _EPOCH, entry.crc, *sizes,
                   len(entry.raw_name), len(extra))
        + entry.raw_name
        + extra
    )  # fmt: skip


def pack_directory(entries: Iterable[Entry], offset: int) -> bytes:
    """Return the directory that begins at `offset`, and the records that end the file."""
    parts: list[bytes] = []
    for entry in entries:
        (size, stored_size, where), extra = _narrow(entry.size, entry.stored_size, entry.offset)
        parts += (
            CENTRAL.pack(b"PK\1\2", _UNIX | 45, 45 if extra else 20, entry.flags, entry.method, 0, _EPOCH, entry.crc,
                          stored_size, size, len(entry.raw_name), len(extra), 0, 0, 0, _REGULAR, where),
            entry.raw_name,
            extra,
        )  # fmt: skip
    directory = b"".join(parts)
    count, size = len(parts) // 3, len(directory)
    return directory + pack_end(count, size, offset, zlib.crc32(directory))


def _narrow(*fields: int) -> tuple[tuple[int, ...], bytes]:
    """Return the fields in 32 bits, and the extra block for those that do not fit."""
    large = [field for field in fields if field >= MAX32]
    if not large:
        return fields, b""
    return tuple(min(field, MAX32) for field in fields), struct.pack(
        f"<2H{len(large)}Q", _ZIP64, 8 * len(large), *large
    )


def new_entry(name: str, *, method: int, crc: int, stored_size: int, size: int, offset: int) -> Entry:
    """Return the entry of a value that is about to be appended."""
    flags = 0 if name.isascii() else UTF8
    return Entry(name, name.encode(), method, flags, crc, stored_size, size, offset)
