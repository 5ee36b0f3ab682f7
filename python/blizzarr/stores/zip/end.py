"""The records that end a zip file: where its directory is, and how many entries it has."""

from __future__ import annotations

import re
import struct
from typing import Final, NamedTuple

END: Final = struct.Struct("<4s4H2IH")
_LOCATOR: Final = struct.Struct("<4sIQI")
_END64: Final = struct.Struct("<4sQ2H2I4Q")
END64_SIZE: Final = _END64.size + _LOCATOR.size
"""The bytes before the end record that the 64-bit records take up."""

MAX16, MAX32 = 0xFFFF, 0xFFFFFFFF
_MADE_BY, _NEEDED = 3 << 8 | 45, 45
_CHECKSUM: Final = re.compile(rb"directory at ([0-9a-f]{16}), bytes ([0-9a-f]{16}), crc32 ([0-9a-f]{8})")


class End(NamedTuple):
    """The contents of the end record about the directory."""

    entries: int
    size: int
    start: int
    """The offset of the directory."""
    shift: int
    """The number of bytes in front of the archive, which its offsets do not count."""
    stop: int
    """The offset of what follows the end record and its comment."""
    checksum: int | None
    """The CRC-32 of the directory, if its writer noted it."""


def unpack_end(data: bytes, at: int, offset: int) -> End:
    """Return the end record at this place.

    `data` begins at `offset` of the file, and includes the bytes before the record, for the 64-bit form, and its
    comment.

    Raise `ValueError` if the records contradict each other.
    """
    _, disk, first_disk, here, count, size, where, comment_length = END.unpack_from(data, at)
    directory_stop = at
    if data[max(0, at - _LOCATOR.size) :].startswith(b"PK\6\7"):
        short = (here, count, size, where)
        directory_stop = at - END64_SIZE
        if directory_stop < 0 or not data.startswith(b"PK\6\6", directory_stop):
            raise ValueError("its 64-bit end record is damaged")
        _, length, _, _, disk, first_disk, here, count, size, where = _END64.unpack_from(data, directory_stop)
        _, _, end64, _ = _LOCATOR.unpack_from(data, at - _LOCATOR.size)
        if length != _END64.size - 12 or end64 not in (where + size, offset + directory_stop):
            raise ValueError("its 64-bit end record is damaged")
        for narrow, full, most in zip(short, (here, count, size, where), (MAX16, MAX16, MAX32, MAX32), strict=True):
            if narrow not in (full, most):
                raise ValueError(f"its end records say {narrow:,} and {full:,} of the same")
    if disk or first_disk:
        raise ValueError(f"it says that it is part {disk:,} of several, of which only one can be read")
    if here != count:
        raise ValueError(f"its end record counts {here:,} and {count:,} entries")
    start = offset + directory_stop - size
    if start < where:
        raise ValueError(f"its end record puts a directory of {size:,} bytes at {where:,}, where there are fewer")
    stop = at + END.size + comment_length
    noted = _CHECKSUM.fullmatch(data, at + END.size, stop)
    # Other programs keep the comment when they write another directory.
    current = noted is not None and (int(noted[1], 16), int(noted[2], 16)) == (start, size)
    checksum = int(noted[3], 16) if current and noted is not None else None
    return End(count, size, start, start - where, offset + stop, checksum)


def pack_end(count: int, size: int, start: int, crc: int) -> bytes:
    """Return the records behind a directory, with the checksum of it, which zip lacks, in the comment of the file."""
    records = b""
    comment = b"directory at %016x, bytes %016x, crc32 %08x" % (start, size, crc)
    if count >= MAX16 or size >= MAX32 or start >= MAX32:
        records += _END64.pack(b"PK\6\6", _END64.size - 12, _MADE_BY, _NEEDED, 0, 0, count, count, size, start)
        records += _LOCATOR.pack(b"PK\6\7", 0, start + size, 1)
        count, size, start = min(count, MAX16), min(size, MAX32), min(start, MAX32)
    return records + END.pack(b"PK\5\6", 0, 0, count, count, size, start, len(comment)) + comment


COMMENT_SIZE: Final = len(pack_end(0, 0, 0, 0)) - END.size
"""The length of the comment with the checksum."""
