"""Finding and reading the directory of a zip file, also after its writer was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from blizzarr.errors import ArchiveError, PathError
from blizzarr.stores.keys import check_key
from blizzarr.stores.zip.others import BEGINNING, what_it_is
from blizzarr.stores.zip.records import END, END64_SIZE, End, Entry, unpack_end, unpack_entries

__all__ = ["Directory", "read_directory"]

ReadAt = Callable[[int, int], bytes]

_SIGNATURE = b"PK\5\6"
_MAX_COMMENT = 0xFFFF
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Directory:
    """The entries of a zip file."""

    entries: dict[str, Entry]
    """The usable entries by key; the last of several with one name."""
    complaints: tuple[str, ...]
    """The entries that were skipped and why, for a warning."""


def read_directory(read_at: ReadAt, size: int, name: str) -> Directory:
    """Read the last directory in a file of `size` bytes.

    If a writer was interrupted while it added entries, the file goes on after the directory. The directory is then
    searched for backwards, and a complaint says how much follows it.

    Raises
    ------
    ArchiveError
        If it is not a zip file, or its directory is damaged.
    """
    shifted: tuple[int, End, int] | None = None
    for at, interrupted in _candidates(read_at, size):
        low = max(0, at - END64_SIZE)
        end = unpack_end(read_at(low, at + END.size - low), at - low)
        start = at - end.trailer - end.size
        before = start - end.offset
        if start < 0 or before < 0 or (end.count and read_at(start, 4) != b"PK\1\2"):
            continue
        if before:
            # Either something precedes the first entry (a self-extracting program), or this is the end of a zip file
            # that is a value in this one, which was cut there. The latter must not hide the real directory.
            if not interrupted:
                shifted = shifted or (start, end, before)
            continue
        complaints: list[str] = []
        if interrupted:
            rest = size - at - END.size
            complaints.append(f"{rest:,} bytes follow the directory: what the last writer added was never listed")
        break
    else:
        if shifted is None:
            raise ArchiveError(f"expected a zip file, found {what_it_is(read_at(0, BEGINNING))}", store=name)
        start, end, before = shifted
        complaints = []
    entries = _usable(_listed(read_at, start, end, name), before, complaints)
    return Directory(entries, tuple(complaints))


def _candidates(read_at: ReadAt, size: int) -> Iterator[tuple[int, bool]]:
    """Iterate over possible offsets of the end record, likeliest first, and whether the file goes on after it."""
    base = max(0, size - END.size - _MAX_COMMENT)
    tail = read_at(base, size - base)
    for at in _found(tail):
        comment = int.from_bytes(tail[at + END.size - 2 : at + END.size], "little")
        if at + END.size + comment == len(tail):
            yield base + at, False
    # There is no end record at the end: look for the last one before more was appended.
    high = size
    while high > 0:
        low = max(0, high - _BLOCK)
        # Blocks overlap by one record, so that a record across a border is found.
        for at in _found(read_at(low, min(size, high + END.size) - low)):
            if low + at < high:
                yield low + at, True
        high = low


def _found(data: bytes) -> Iterator[int]:
    """Iterate over the offsets of complete end records in the data, from the back."""
    at = data.rfind(_SIGNATURE, 0, max(0, len(data) - END.size + len(_SIGNATURE)))
    while at >= 0:
        yield at
        at = data.rfind(_SIGNATURE, 0, at + len(_SIGNATURE) - 1)


def _listed(read_at: ReadAt, start: int, end: End, name: str) -> list[Entry]:
    try:
        return list(unpack_entries(read_at(start, end.size), end.count))
    except ValueError as error:
        raise ArchiveError(f"the directory of the zip file is damaged: {error}", store=name) from error


def _usable(listed: Iterable[Entry], before: int, complaints: list[str]) -> dict[str, Entry]:
    """Return the entries that are values; directories are skipped, and bad names are skipped with a complaint."""
    entries: dict[str, Entry] = {}
    for entry in listed:
        if entry.name.endswith("/"):
            continue
        if entry.is_link:
            complaints.append(f"entry {entry.name!r} is a symbolic link")
            continue
        try:
            check_key(entry.name)
        except PathError as error:
            complaints.append(f"entry {entry.name!r}: {error.reason}")
            continue
        entries[entry.name] = replace(entry, offset=entry.offset + before) if before else entry
    return entries
