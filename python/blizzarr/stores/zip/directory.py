"""Finding and reading the directory of a zip file, and making sure that it agrees with the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from blizzarr.errors import ArchiveError, PathError
from blizzarr.stores.keys import are_keys, check_key
from blizzarr.stores.other_files import BEGINNING, as_no_zip
from blizzarr.stores.zip.end import COMMENT_SIZE, END, END64_SIZE, MAX32, End, unpack_end
from blizzarr.stores.zip.names import check_entry
from blizzarr.stores.zip.records import CENTRAL, LOCAL, SIZES_FOLLOW, Entry, ReadAt, unpack_directory, wide

_SIGNATURE = b"PK\5\6"
_MAX_COMMENT = 0xFFFF


@dataclass(frozen=True, slots=True)
class Directory:
    """The entries of a zip file."""

    entries: dict[str, Entry]
    """The usable entries by key; the last of several with one name."""
    folders: tuple[Entry, ...]
    """The entries of directories, which have no values."""
    complaints: tuple[str, ...]
    """The entries that were skipped and why, for a warning."""
    is_complete: bool
    """True if no entry was skipped, but for directories."""
    intact: bool | None
    """True if the bytes of the directory have the checksum that its writer noted; None if the writer noted none."""
    stop: int
    """The size of the file without what an interrupted writer left, and with what is missing of its comment."""


class _Found(NamedTuple):
    """A directory, as it is in the file."""

    end: End
    entries: list[Entry]
    intact: bool | None


def read_directory(read_at: ReadAt, size: int, name: str) -> Directory:
    """Read the last directory in a file of `size` bytes.

    If a writer was interrupted while it added entries, the file goes on after the directory, and a complaint says how
    much.

    Raise `ArchiveError` if it is not a zip file, or its directory is damaged.
    """
    damage: ValueError | None = None
    shifted: _Found | None = None
    for at in _candidates(read_at, size):
        try:
            last = _read_at_end(read_at, at, size)
        except ValueError as error:
            damage = damage or error
            continue
        if not last.end.shift:
            return _usable(read_at, last, [], name)
        # Either something precedes the first entry (a self-extracting program), or this is the end of a zip file that
        # is a value in this one, which was cut there. The latter must not hide the real directory.
        shifted = shifted or last
    if damage is not None:
        # The end of an interrupted writer's file is not where that of a whole one is.
        raise _damaged(damage, name) from damage
    at_last = _last_whole_directory(read_at, size)
    if at_last is not None:
        try:
            last = _read_at_end(read_at, at_last, size)
        except ValueError as error:
            raise _damaged(error, name) from error
        rest = f"{size - last.end.stop:,} bytes follow the directory: what the last writer added was never listed"
        return _usable(read_at, last, [rest], name)
    if shifted is not None:
        return _usable(read_at, shifted, [], name)
    raise ArchiveError(f"expected a zip file, found {as_no_zip(read_at(0, BEGINNING))}", store=name)


def _candidates(read_at: ReadAt, size: int) -> Iterator[int]:
    """Iterate over the offsets of what may be the end record, from the back: its comment ends where the file does.

    The comment that we write may be cut there: others then read all entries, and none of them is in it.
    """
    base = max(0, size - END.size - _MAX_COMMENT)
    tail = read_at(base, size - base)
    at = tail.rfind(_SIGNATURE, 0, max(0, len(tail) - END.size + len(_SIGNATURE)))
    while at >= 0:
        comment, rest = END.unpack_from(tail, at)[-1], len(tail) - at - END.size
        if comment == rest or comment == COMMENT_SIZE > rest:
            yield base + at
        at = tail.rfind(_SIGNATURE, 0, at + len(_SIGNATURE) - 1)


def _read_at_end(read_at: ReadAt, at: int, size: int) -> _Found:
    """Read the end record at this place, and its directory; raise `ValueError` if they do not agree."""
    low = max(0, at - END64_SIZE)
    end = unpack_end(read_at(low, min(at + END.size + _MAX_COMMENT, size) - low), at - low, low)
    listed, checksum = unpack_directory(read_at, end.start, end.size, end.entries, end.shift)
    if end.shift and listed:
        # What precedes the archive cannot be told from an offset that is damaged, but for what is there.
        first = min(listed, key=lambda entry: entry.offset)
        check_entry(read_at, first, "")
    return _Found(end, listed, None if end.checksum is None else end.checksum == checksum)


def _usable(read_at: ReadAt, last: _Found, complaints: list[str], name: str) -> Directory:
    """Return the entries that are values; directories are skipped, and bad names are skipped with a complaint.

    Raise `ArchiveError` if the name of one that is skipped, or that is there twice, is another in the file; or if there
    is none in a file that has more than its directory.
    """
    entries: dict[str, Entry] = {}
    folders: dict[int, Entry] = {}
    skipped: list[str] = []
    if last.end.shift and not last.entries:
        # Nothing shows that what precedes it is no archive.
        raise _damaged(ValueError(f"it has no entries, but {last.end.shift:,} bytes precede it"), name)
    if last.intact is False:
        complaints.append("its directory has a wrong checksum; its names are compared with those in the file")
    respelled = [entry.raw_name for entry in last.entries if entry.is_respelled]
    if respelled:
        first = repr(respelled[0])[1:]
        complaints.append(f"names like {first} have backslashes, which are read as slashes: {len(respelled):,} in all")
    by_name = {entry.name: entry for entry in last.entries}
    if len(by_name) == len(last.entries) and are_keys(by_name):
        return Directory(by_name, (), tuple(complaints), True, last.intact, last.end.stop)
    for entry in last.entries:
        key = entry.name
        if key.endswith("/") and not entry.size:
            if entry.offset in folders:
                raise _damaged(ValueError(f"entry {key!r} is there twice"), name)
            folders[entry.offset] = entry
            continue
        reason = _reason(key)
        if key in entries and (last.intact is False or entries[key].offset == entry.offset):
            # We write each name once, and others each value: this record is in the place of another one.
            raise _damaged(ValueError(f"entry {key!r} is there twice"), name)
        if key in entries and entries[key].is_respelled != entry.is_respelled:
            raise _damaged(ValueError(f"entry {key!r} is there with slashes and with backslashes"), name)
        if not last.intact and (reason is not None or key in entries):
            # One flipped bit can make such a name, and would hide the entry that has the right one.
            check_entry(read_at, entry, name)
            if reason is None:
                check_entry(read_at, entries[key], name)
        if reason is None:
            entries[key] = entry
        else:
            skipped.append(f"entry {key!r}: {reason}")
    return Directory(entries, tuple(folders.values()), (*complaints, *skipped), not skipped, last.intact, last.end.stop)


def _reason(key: str) -> str | None:
    """Return why this is no name of a value."""
    try:
        check_key(key)
    except PathError as error:
        return error.reason
    return None


def _damaged(error: ValueError, name: str) -> ArchiveError:
    reason = f"the directory of the zip file is damaged: {error}"
    return ArchiveError(f"{reason}; nothing is read or written, so that no entry is taken for missing", store=name)


_WINDOW: Final = 4096
_BLOCK: Final = 1 << 20
_NEXT: Final = re.compile(rb"PK(?:\x03\x04|\x01\x02)")
"""The signature of what can follow a value."""
_LOCATOR_SIZE, _END64_FIXED = 20, END64_SIZE - 20


def _last_whole_directory(read_at: ReadAt, size: int) -> int | None:
    """Return the offset of the last end record, if what follows it was left by an interrupted writer.

    Such a file is a whole one, followed by the beginning of what was being added. To tell that from a file whose end is
    damaged, all of it is followed from record to record: what remains after the last directory must be records that are
    cut off by the end of the file, without a complete directory among them.
    """
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
        if flags & SIZES_FOLLOW:
            stop = self._behind_sizes(extra_at + extra_length)
            return None if stop is None else stop - at
        if MAX32 in (stored_size, plain_size):
            if extra_at + extra_length > self._size:
                return 0
            try:
                _, stored_size = wide(self._bytes(extra_at, extra_length), plain_size, stored_size)
            except ValueError:
                return None
        return int(LOCAL.size + name_length + extra_length + stored_size)

    def _behind_sizes(self, start: int) -> int | None:
        """Return the end of the record behind a value, which has its sizes; None if there is none.

        The signature of the record may be missing, and the sizes have 32 bits or 64.

        - `start`: where the value starts.
        """
        at = start
        while block := self._read_at(at, _BLOCK):
            for found in _NEXT.finditer(block):
                stop = at + found.start()
                size, sizes = stop - start, self._read_at(stop - 16, 16)
                narrow, full = int.from_bytes(sizes[8:12], "little"), int.from_bytes(sizes[:8], "little")
                if narrow in (size - 12, size - 16) or full in (size - 20, size - 24):
                    return stop
            at += max(1, len(block) - 3)
        return None

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
