"""Comparing the directory of a zip file with its local records, which repeat what it says about each entry.

A name that is damaged in the directory must not make its chunk a missing one, which would read as fill values. But to
read all local records takes too long for each opening, so they are compared where names matter:

- the local record of an entry when its value is read,
- all names before they are listed, and everything before anything is written,
- when a key is missing, the names that differ from it in one bit; all names, if there are few, or if the checksum of
  the directory is wrong.

Only a checksum that is right makes this unnecessary; blizzarr writes one, most programs do not.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from blizzarr.errors import ArchiveError, StoreError
from blizzarr.stores.zip.end import MAX32
from blizzarr.stores.zip.records import ENCRYPTED, LOCAL, SIZES_FOLLOW, UTF8, Entry, ReadAt, decoded, wide

_LENGTHS = struct.Struct("<2H")
_FEW, _MANY = 128, 4
"""So many entries, and so many for each key that was missing, are compared about as fast as the names are made that
differ from a key in one bit."""


class Names:
    """The names in a directory that has no checksum, or another one than it should.

    Entries whose names end with a slash have no value (`folders`), but one that is damaged may look like that.
    """

    def __init__(
        self, read_at: ReadAt, entries: Mapping[str, Entry], folders: Sequence[Entry], store: str, *, damaged: bool
    ) -> None:
        self._read_at = read_at
        self._entries = entries
        self._folders = folders
        self._store = store
        self._damaged = damaged
        self._hidden: dict[str, Entry] = {}
        self._astray: Entry | None = None  # its offset is wrong, so that any key may be its name
        self._missed = 0
        self._has_backslashes = any(entry.is_respelled for entry in entries.values())

    @cached_property
    def _open(self) -> dict[bytes, Entry]:
        """The entries that were not compared yet, by the names in the directory."""
        return {entry.raw_name: entry for entry in chain(self._entries.values(), self._folders)}

    @cached_property
    def _folder_names(self) -> frozenset[str]:
        return frozenset(entry.name for entry in self._folders)

    def check_missing(self, key: str) -> None:
        """Make sure that this key is missing in the file, too.

        Raise `ArchiveError` if the directory has it under another name, or may have it. Raise `StoreError` if it is a
        directory there.
        """
        if f"{key}/" in self._folder_names:
            raise StoreError("expected a value, found a directory", key=key, store=self._store, direction="read")
        self._missed += 1
        if self._damaged or self._has_backslashes or len(self._open) < _FEW + _MANY * self._missed:
            self._compare_all()
        else:
            for raw_name in _near(key):
                entry = self._open.get(raw_name)
                if entry is not None:
                    self._compare(entry)
        if key in self._hidden:
            raise self._misnamed(key)
        if self._astray is not None:
            raise self._lost(self._astray)

    def check_listing(self, *, all_keys: bool) -> None:
        """Raise `ArchiveError` unless the names are those in the file; a part of a good directory needs no check."""
        if all_keys or self._damaged:
            self._compare_all()
        for key in self._hidden:
            raise self._misnamed(key)
        if self._astray is not None:
            raise self._lost(self._astray)

    def check_entries(self) -> None:
        """Raise `ArchiveError` unless the directory agrees with the file in everything."""
        self.check_listing(all_keys=True)
        for entry in self._entries.values():
            start = check_entry(self._read_at, entry, self._store)
            if entry.is_link:
                reason = "nothing can be added to a zip file with symbolic links: they would be lost"
                raise ArchiveError(reason, key=entry.name, store=self._store, direction="write")
            if entry.flags & SIZES_FOLLOW:
                self._check_behind(entry, start + entry.stored_size)

    def _check_behind(self, entry: Entry, at: int) -> None:
        """Compare the record behind a value, which has its checksum and sizes if the local record has not."""
        record = self._read_at(at, 24).removeprefix(b"PK\7\10")
        sizes = entry.stored_size, entry.size
        narrow = struct.pack("<3I", entry.crc, *(min(size, MAX32) for size in sizes))
        if not record.startswith((narrow, struct.pack("<I2Q", entry.crc, *sizes))):
            reason = "its directory and the record behind it disagree about its size or checksum"
            raise ArchiveError(reason, key=entry.name, store=self._store, direction="write")

    def _compare_all(self) -> None:
        for entry in sorted(self._open.values(), key=lambda entry: entry.offset):
            self._compare(entry)

    def _compare(self, entry: Entry) -> None:
        local = _local(self._read_at, entry)
        name = _name(local)
        if name is None or (
            name != entry.name and (name in self._entries or difference(entry._replace(name=name), local) is not None)
        ):
            self._astray = entry
        elif name != entry.name:
            self._hidden[name] = entry
        self._open.pop(entry.raw_name, None)

    def _misnamed(self, key: str) -> ArchiveError:
        entry = self._hidden[key]
        reason = (
            f"the directory of the zip file is damaged: it lists the entry at byte {entry.offset:,} as {entry.name!r}"
        )
        return ArchiveError(reason, key=key, store=self._store, direction="read")

    def _lost(self, entry: Entry) -> ArchiveError:
        reason = (
            f"the directory of the zip file is damaged: at byte {entry.offset:,}, where it says that {entry.name!r} "
            "begins, is no such entry, so that any key that is missing may be its name; nothing is taken for missing"
        )
        return ArchiveError(reason, store=self._store)


def check_entry(read_at: ReadAt, entry: Entry, store: str) -> int:
    """Return the offset of the bytes of an entry, after its local record, which must agree with the directory.

    Raise `ArchiveError` if it does not.
    """
    local = _local(read_at, entry)
    start = _start_of(entry, local, store)
    if MAX32 in LOCAL.unpack_from(local)[-4:-2]:  # its sizes are behind its name
        _start_of(entry, read_at(entry.offset, start - entry.offset), store)
    return start


def _start_of(entry: Entry, local: bytes, store: str) -> int:
    """Return the offset of the bytes of an entry with this local record, which must agree with the directory.

    Raise `ArchiveError` if it does not.
    """
    differs = difference(entry, local)
    if differs is not None:
        reason = f"its directory and the record at byte {entry.offset:,} disagree: there is {differs}"
        raise ArchiveError(reason, key=entry.name, store=store, direction="read")
    name_length, extra_length = _LENGTHS.unpack_from(local, LOCAL.size - _LENGTHS.size)
    return entry.offset + LOCAL.size + int(name_length) + int(extra_length)


def difference(entry: Entry, local: bytes) -> str | None:
    """Return what a local record says otherwise than the directory; None if they agree."""
    if len(local) < LOCAL.size or not local.startswith(b"PK\3\4"):
        return "none"
    _, _, flags, method, _, _, crc, stored_size, size, length, extra_length = LOCAL.unpack_from(local)
    if (
        length != len(entry.raw_name)
        or not local.startswith(entry.raw_name, LOCAL.size)
        or (flags ^ entry.flags) & UTF8
    ) and (name := _name(local)) != entry.name:
        return "another entry" if name is None else f"another entry, {name!r}"
    if (flags ^ entry.flags) & ENCRYPTED:
        return "a value that is encrypted" if flags & ENCRYPTED else "a value that is not encrypted"
    if method != entry.method:
        return f"compression method {method}"
    if not flags & SIZES_FOLLOW:  # otherwise they were not known yet when the record was written
        if crc != entry.crc:
            return f"the checksum {crc:08x}"
        extra = local[LOCAL.size + length :][:extra_length]
        if MAX32 in (stored_size, size) and len(extra) == extra_length:
            try:
                size, stored_size = wide(extra, size, stored_size)
            except ValueError:
                return "no size of 64 bits"
        if stored_size not in (entry.stored_size, MAX32) or size not in (entry.size, MAX32):
            return f"a value of {size:,} bytes, stored in {stored_size:,}"
    return None


def _local(read_at: ReadAt, entry: Entry) -> bytes:
    """Return a local record as far as its name, which may be three times as long in UTF-8 as in code page 437."""
    return read_at(entry.offset, LOCAL.size + 3 * len(entry.raw_name))


def _name(local: bytes) -> str | None:
    """Return the name in a local record, which may be cut after it; None if it is no such record, or cut before."""
    if len(local) < LOCAL.size or not local.startswith(b"PK\3\4"):
        return None
    _, _, flags, _, _, _, _, _, _, length, _ = LOCAL.unpack_from(local)
    raw_name = local[LOCAL.size : LOCAL.size + length]
    return decoded(raw_name, flags) if len(raw_name) == length else None


def _near(key: str) -> Iterator[bytes]:
    """Iterate over the names that become this key with another coding, or by flipping one bit."""
    for raw_name in {key.encode("utf-8", "surrogateescape"), key.encode("cp437", "replace")}:
        yield raw_name
        number, length = int.from_bytes(raw_name, "big"), len(raw_name)
        for bit in range(8 * length):
            yield (number ^ 1 << bit).to_bytes(length, "big")
