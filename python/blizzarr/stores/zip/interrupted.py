"""Finding the last whole directory of a zip file whose writer was interrupted while it added entries.

Such a file is a whole one, followed by the beginning of what was being added. To tell that from a file whose end is
damaged, all of it is followed from record to record: what remains after the last directory must be records that are
cut off by the end of the file, without a complete directory among them.
"""

from __future__ import annotations

from typing import Final

from blizzarr.stores.zip.end import COMMENT_SIZE, END, END64_SIZE, MAX32
from blizzarr.stores.zip.records import CENTRAL, LOCAL, ReadAt, wide

_WINDOW: Final = 4096
_LOCATOR_SIZE, _END64_FIXED = 20, END64_SIZE - 20


def last_whole_directory(read_at: ReadAt, size: int) -> int | None:
    """Return the offset of the last end record, if what follows it was left by an interrupted writer."""
    records = _Records(read_at, size)
    last: int | None = None
    at, stop = 0, 0
    while at < size:
        length = records.length(at)
        if length is None:
            return None
        if length == 0 or at + length > size:  # cut off here
            break
        if records.kind(at) == b"PK\5\6":
            last, stop = at, at + length
        at += length
    # With nothing behind it the directory would have been used, if it were sound.
    return last if stop < size else None


class _Records:
    """The records of a file, which is read through a window."""

    def __init__(self, read_at: ReadAt, size: int) -> None:
        self._read_at = read_at
        self._size = size
        self._window = (0, b"")

    def kind(self, at: int) -> bytes:
        """Return the signature of the record at this place."""
        return self._bytes(at, 4)

    def length(self, at: int) -> int | None:
        """Return the length of the record with its value; 0 if it is cut off or all zeros, None if it is no record."""
        head = self._bytes(at, CENTRAL.size)
        kind = head[:4]
        if not any(head):
            return 0  # after a power cut, a file can be as long as it was to become, with zeros for what is missing
        if kind == b"PK\3\4":
            return self._local(at, head)
        if kind == b"PK\1\2":
            return CENTRAL.size + sum(CENTRAL.unpack(head)[10:13]) if len(head) == CENTRAL.size else 0
        if kind == b"PK\6\6":
            return _END64_FIXED
        if kind == b"PK\6\7":
            return _LOCATOR_SIZE
        if kind == b"PK\5\6":
            return self._end(at, head)
        return 0 if len(kind) < 4 and b"PK".startswith(kind[:2]) else None

    def _local(self, at: int, head: bytes) -> int | None:
        if len(head) < LOCAL.size:
            return 0
        *_, flags, _, _, _, _, stored_size, plain_size, name_length, extra_length = LOCAL.unpack_from(head)
        extra_at = at + LOCAL.size + name_length
        if flags & 8 and not stored_size:
            return None  # its length is not known
        if MAX32 in (stored_size, plain_size):
            if extra_at + extra_length > self._size:
                return 0
            try:
                _, stored_size = wide(self._bytes(extra_at, extra_length), plain_size, stored_size)
            except ValueError:
                return None
        return int(LOCAL.size + name_length + extra_length + stored_size)

    def _end(self, at: int, head: bytes) -> int | None:
        if len(head) < END.size:
            return 0
        length = END.size + int(END.unpack_from(head)[-1])
        # A comment that is cut must be the one that we write: otherwise its length is damaged.
        return None if at + length > self._size and length != END.size + COMMENT_SIZE else length

    def _bytes(self, at: int, length: int) -> bytes:
        start, data = self._window
        if not start <= at <= at + length <= start + len(data):
            start, data = at, self._read_at(at, max(length, _WINDOW))
            self._window = start, data
        return data[at - start : at - start + length]
