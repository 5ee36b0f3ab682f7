"""The records of a zip file that a store needs (PKWARE APPNOTE 6.3, sections 4.3.7 to 4.3.16)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = [
    "DEFLATED",
    "END",
    "END64_SIZE",
    "LOCAL",
    "STORED",
    "End",
    "Entry",
    "new_entry",
    "pack_directory",
    "pack_local",
    "unpack_end",
    "unpack_entries",
]

LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
_LOCATOR = struct.Struct("<4sIQI")
_END64 = struct.Struct("<4sQ2H2I4Q")
END64_SIZE = _END64.size + _LOCATOR.size
"""The bytes before the end record that the 64-bit records take up."""

STORED, DEFLATED = 0, 8
_ENCRYPTED, _UTF8 = 0x0001, 0x0800
_MAX16, _MAX32 = 0xFFFF, 0xFFFFFFFF
_ZIP64 = 0x0001
_EPOCH = 0x21
"""1 January 1980, the earliest date; a constant, so that equal values make equal files."""
_UNIX, _REGULAR = 3 << 8, 0o100644 << 16
_KIND_MASK, _SYMLINK = 0o170000, 0o120000


@dataclass(frozen=True, slots=True)
class Entry:
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
        return bool(self.flags & _ENCRYPTED)


@dataclass(frozen=True, slots=True)
class End:
    """The end record, which describes the directory."""

    count: int
    size: int
    offset: int
    trailer: int
    """The bytes between the end of the directory and the end record (the 64-bit records)."""


def unpack_end(data: bytes, at: int) -> End:
    """Return the end record at this place; `data` must include the bytes before it, for the 64-bit form."""
    _, _, _, _, count, size, offset, _ = END.unpack_from(data, at)
    start64 = at - END64_SIZE
    if (count == _MAX16 or _MAX32 in (size, offset)) and start64 >= 0 and data[start64 : start64 + 4] == b"PK\6\6":
        *_, count, size, offset = _END64.unpack_from(data, start64)
        return End(count, size, offset, END64_SIZE)
    return End(count, size, offset, 0)


def unpack_entries(data: bytes, count: int) -> Iterator[Entry]:
    """Iterate over the entries of a directory.

    Raises
    ------
    ValueError
        If an entry is cut or damaged.
    """
    at = 0
    for number in range(count):
        if len(data) - at < _CENTRAL.size or data[at : at + 4] != b"PK\1\2":
            raise ValueError(f"entry {number} of {count} is cut or damaged")
        (_, made_by, _, flags, method, _, _, crc, stored_size, size, name_length, extra_length, comment_length, _, _,
         attributes, offset) = _CENTRAL.unpack_from(data, at)  # fmt: skip
        at += _CENTRAL.size
        raw_name = data[at : at + name_length]
        extra = data[at + name_length : at + name_length + extra_length]
        at += name_length + extra_length + comment_length
        if at > len(data):
            raise ValueError(f"entry {number} of {count} is cut")
        size, stored_size, offset = _wide(extra, size, stored_size, offset)
        is_link = made_by >> 8 == _UNIX >> 8 and attributes >> 16 & _KIND_MASK == _SYMLINK
        name = raw_name.decode("utf-8" if flags & _UTF8 else "cp437", "surrogateescape")
        yield Entry(name, raw_name, method, flags, crc, stored_size, size, offset, is_link)


def _wide(extra: bytes, *fields: int) -> tuple[int, ...]:
    """Replace the fields that did not fit by their 64-bit values."""
    if _MAX32 not in fields:
        return fields
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == _ZIP64:
            wide = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4) if at + 4 + length <= len(extra) else ())
            return tuple(next(wide, field) if field == _MAX32 else field for field in fields)
        at += 4 + length
    return fields


def pack_local(entry: Entry) -> bytes:
    """Return the local record, which precedes the bytes of an entry."""
    sizes, extra = _narrow(entry.stored_size, entry.size)
    if extra:  # here, unlike in the directory, both must be given, the plain size first
        sizes, extra = (_MAX32, _MAX32), struct.pack("<2H2Q", _ZIP64, 16, entry.size, entry.stored_size)
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
            _CENTRAL.pack(b"PK\1\2", _UNIX | 45, 45 if extra else 20, entry.flags, entry.method, 0, _EPOCH, entry.crc,
                          stored_size, size, len(entry.raw_name), len(extra), 0, 0, 0, _REGULAR, where),
            entry.raw_name,
            extra,
        )  # fmt: skip
    directory = b"".join(parts)
    count, size = len(parts) // 3, len(directory)
    if count >= _MAX16 or size >= _MAX32 or offset >= _MAX32:
        end64 = offset + size
        directory += _END64.pack(b"PK\6\6", _END64.size - 12, _UNIX | 45, 45, 0, 0, count, count, size, offset)
        directory += _LOCATOR.pack(b"PK\6\7", 0, end64, 1)
        count, size, offset = min(count, _MAX16), min(size, _MAX32), min(offset, _MAX32)
    return directory + END.pack(b"PK\5\6", 0, 0, count, count, size, offset, 0)


def _narrow(*fields: int) -> tuple[tuple[int, ...], bytes]:
    """Return the fields in 32 bits, and the extra block for those that do not fit."""
    wide = [field for field in fields if field >= _MAX32]
    if not wide:
        return fields, b""
    return tuple(min(field, _MAX32) for field in fields), struct.pack(f"<2H{len(wide)}Q", _ZIP64, 8 * len(wide), *wide)


def new_entry(name: str, *, method: int, crc: int, stored_size: int, size: int, offset: int) -> Entry:
    """Return the entry of a value that is about to be appended."""
    flags = 0 if name.isascii() else _UTF8
    return Entry(name, name.encode(), method, flags, crc, stored_size, size, offset)
