"""An open zip file: reading its entries, and appending new ones."""

from __future__ import annotations

import errno
import itertools
import os
import weakref
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from blizzarr import _native
from blizzarr.errors import ArchiveError, ConflictError, StoreError
from blizzarr.problems import warn
from blizzarr.stores.protocol import ByteRange, Value
from blizzarr.stores.regular import open_file
from blizzarr.stores.zip.directory import read_directory
from blizzarr.stores.zip.entries import read_beginning, read_entry, read_entry_ranges
from blizzarr.stores.zip.file import AppendFile, Row, sync_directory
from blizzarr.stores.zip.names import Names
from blizzarr.stores.zip.records import DEFLATED, STORED, Entry, new_entry, pack_directory, pack_local

_FEW = 32
"""Fewer values are read sooner one by one than after all entries were given to the engine."""


class Archive:
    """The entries of a zip file, which is created when the first entry is added, and gets its name on the first flush.

    New entries are appended after the directory of the last flush, which stays in the file unused: so the entries that
    it lists survive the death of a writer.
    """

    def __init__(self, path: Path, file: AppendFile | None, *, replaces: bool = False) -> None:
        self.path = path
        self.entries: dict[str, Entry] = {}
        self.complaints: tuple[str, ...] = ()
        self._names: Names | None = None  # of a directory without a checksum
        self._links: tuple[str, ...] = ()  # the beginnings of keys that lie behind a symbolic link
        self._is_complete = True  # without entries that cannot be values, and that a new directory would not list
        self._stop = 0  # of what is listed, in the file as it was when it was opened
        self._file = file
        self._new: NewFile | None = None  # until the first flush, if the file is created
        self._replaces = replaces
        self._number = next(_numbers)  # a later one has a greater number
        self._was_replaced = False  # by a later one, before this one was published
        self._renamed = False  # to where it goes, which is not known to be on the device yet
        self._changed = False
        self._closed = False
        self._asked = 0  # values by the engine
        self._lacking: set[str] = set()  # keys whose values could not be appended
        self._reads_only = file is not None  # as long as nothing is added, so that nobody else is kept from adding
        self._writer = os.getpid()  # what a forked child inherits is not its to finish: two would write one end
        self._files = [] if file is None else [file]
        _made.add(self)
        if file is not None and file.size:
            directory = read_directory(file.read_at, file.size, str(path))
            self.entries, self.complaints = directory.entries, directory.complaints
            self._links = tuple(f"{key}/" for key, entry in self.entries.items() if entry.is_link)
            self._stop = directory.stop
            self._is_complete = directory.is_complete
            if not directory.intact:
                damaged = directory.intact is False
                self._names = Names(file.read_at, self.entries, directory.folders, str(path), damaged=damaged)

    @classmethod
    def open(cls, path: Path, mode: str) -> Archive:
        """Open a file to read (``"r"``), to add to (``"a"``), or to replace (``"w"``)."""
        if mode == "r" or (mode == "a" and os.path.lexists(path)):
            file = AppendFile.open(path)
            try:
                return cls(path, file)
            except BaseException:
                file.close()
                raise
        return cls(path, None, replaces=mode == "w")

    @property
    def is_open(self) -> bool:
        """True until it is closed."""
        return not self._closed

    @property
    def is_current(self) -> bool:
        """True if the file at the path is the open one, others have not changed it, and this process opened it."""
        if self._closed or self._writer != os.getpid():
            return False
        if self._file is None or self._new is not None:
            return not os.path.lexists(self.path)
        try:
            return self._file.is_unchanged()
        except FileNotFoundError:
            return False

    def find(self, key: str) -> Entry | None:
        """Return the entry of a key; None if there is none. Raise `ArchiveError` if it lies behind a symbolic link."""
        entry = self.entries.get(key)
        if entry is None and self._names is not None:
            self._names.check_missing(key)
        if entry is None and (link := self.link_above(key)) is not None:
            raise ArchiveError(f"{link!r} is a symbolic link, which is not followed", key=key, store=str(self.path))
        return entry

    def link_above(self, key: str) -> str | None:
        """Return the name of the symbolic link that is the key, or in the place of a directory that it is in."""
        return next((link[:-1] for link in self._links if f"{key}/".startswith(link)), None)

    def check_listing(self, *, all_keys: bool) -> None:
        """Raise `ArchiveError` if an entry has another name in the directory than in the file."""
        if self._names is not None:
            self._names.check_listing(all_keys=all_keys)

    def native_file(self) -> _native.OpenFile | None:
        """Return the file for the engine, which reads from it what is neither compressed nor encrypted.

        None while few values were asked for, and if the file is open for writing, or on Windows.
        """
        file = self._file
        self._asked += 1
        if file is None or self._asked < _FEW:
            return None
        native = file.native(partial(self._rows, file.size))
        if self._file is not file:  # another thread has begun to write
            file.withdraw()
            return None
        return native

    def _rows(self, size: int) -> list[Row]:
        return [
            (key, entry.offset, entry.raw_name, entry.flags, entry.crc, entry.size)
            for key, entry in list(self.entries.items())
            if entry.is_plain and 0 <= entry.offset < size
        ]

    def read(self, key: str, limit: int) -> bytes | None:
        """Return the value of a key; None if there is none."""
        entry = self.find(key)
        return None if entry is None else read_entry(self._opened(), entry, limit)

    def read_up_to(self, key: str, wanted: int, limit: int) -> bytes | None:
        """Return the value of a key, or its first ``wanted + 1`` bytes if it is longer; None if there is none."""
        entry = self.find(key)
        if entry is None:
            return None
        file = self._opened()
        whole = entry.size <= wanted or entry.exceeds(limit)
        return read_entry(file, entry, limit) if whole else read_beginning(file, entry, wanted + 1)

    def read_ranges(self, key: str, ranges: Sequence[ByteRange], limit: int) -> list[Value] | None:
        """Return parts of the value of a key; None if there is none."""
        entry = self.find(key)
        return None if entry is None else read_entry_ranges(self._opened(), entry, ranges, limit)

    def append(self, key: str, plain: memoryview, crc: int, packed: bytes | None) -> None:
        """Append a value to the file, compressed if `packed` is given. One caller at a time."""
        file = self._for_writing()
        data = plain if packed is None else packed
        method = STORED if packed is None else DEFLATED
        entry = new_entry(key, method=method, crc=crc, stored_size=len(data), size=len(plain), offset=file.size)
        self._lacking.add(key)
        file.append(pack_local(entry), data)
        self._lacking.discard(key)
        self.entries[key] = entry
        self._changed = True

    def unlist(self, key: str) -> None:
        """Leave an entry out of the directories that are written from now on; its bytes stay in the file."""
        self._for_writing()
        del self.entries[key]
        self._changed = bool(self.entries) or self._new is None

    def flush(self) -> None:
        """Write the directory of all entries and publish the file. One caller at a time.

        Raise `ConflictError` if the file was removed: what is written to it could not be read again. If it was renamed,
        the values are in it under its new name.
        """
        if not self._changed or self._writer != os.getpid():
            return
        file = self._opened()
        if self._new is None and not file.has_name:
            reason = "the file was removed or replaced while this store had it open; copy the values into another file"
            raise ConflictError(reason, store=str(self.path))
        file.append(pack_directory(self.entries.values(), file.size))
        file.sync()
        if self._new is not None:
            if self._was_replaced:
                raise self._not_ours()
            try:
                self._new.publish(replace=self._replaces)
            except FileExistsError as error:
                raise self._not_ours() from error
            for other in list(_made):
                # Finalizers run in any order: an older file that is forgotten must not replace this one.
                if other.path == self.path and other._number < self._number:
                    other._was_replaced = True
            self._new, self._renamed = None, True
        if self._renamed:
            sync_directory(self.path.parent)
            self._renamed = False
        self._changed = False

    def close(self) -> None:
        """Flush, and close the file."""
        if self._closed:
            return
        self.flush()
        self._release()

    def abandon(self) -> bool:
        """Close the file without publishing it, and return True, if it was to replace one that is there."""
        if self._closed or not self._replaces or self._new is None or self._writer != os.getpid():
            return False
        if not os.path.lexists(self.path):
            return False
        self._release()
        self._new.discard()
        return True

    def finish(self) -> None:
        """Close the file for good, also if it cannot be flushed; abandon one that lacks a value, or was replaced."""
        try:
            if self._was_replaced:
                self.abandon()
            elif self._lacking and self.abandon():
                lacking = ", ".join(sorted(self._lacking)[:5])
                warn(f"{self.path}: the file that was there stays, as {lacking} could not be stored in the new one")
            self.close()
        finally:
            self._release()
            if self._new is not None and self._writer == os.getpid():
                self._new.discard()

    def _release(self) -> None:
        self._closed = True
        for file in self._files:
            file.close()

    def _opened(self) -> AppendFile:
        if self._closed:
            raise StoreError("the zip file has been closed", store=str(self.path))
        if self._file is None:
            self._file = self._make()
            self._files.append(self._file)
        return self._file

    def _for_writing(self) -> AppendFile:
        """Return the file, locked for writing. One that was opened for reading stays open, as other threads may use it.

        Raise `ConflictError` if another process writes it, or has changed it since it was opened. Raise `ArchiveError`
        if its directory does not agree with its entries, or lists what the next directory would not.
        """
        before = self._opened()
        if self._reads_only:
            if not self._is_complete:
                reason = "it has entries with names that keys cannot have, which would be lost; copy it into a new file"
                raise ArchiveError(f"nothing can be added to this zip file: {reason}", store=str(self.path))
            if self._names is not None:
                self._names.check_entries()
            file = AppendFile.open(self.path, writes=True)
            try:
                if not before.is_unchanged():
                    raise ConflictError(
                        "another writer changed this zip file since it was opened; open it again", store=str(self.path)
                    )
                if self._stop < file.size:  # what was never listed would otherwise be in the way of the next reader
                    file.cut(self._stop)
                # A comment that is cut would reach into what follows.
                file.append(bytes(self._stop - file.size))
            except BaseException:
                file.close()
                raise
            self._files.append(file)
            self._file = file
            before.withdraw()
            self._reads_only = False
            self._writer = os.getpid()
        elif self._writer != os.getpid():
            raise ConflictError(
                "another process, of which this is a fork, is writing this zip file; only that one can add to it",
                store=str(self.path),
            )
        return self._file or before

    def _make(self) -> AppendFile:
        """Create the file, when the first entry is added.

        Raise `ConflictError` if another writer has created it in the meantime.
        """
        self._writer = os.getpid()
        try:
            os.lstat(self.path)  # now is the time to learn that it cannot have this name
        except FileNotFoundError:
            pass
        else:
            if not self._replaces:
                raise self._not_ours()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._new = NewFile(self.path)
        return AppendFile(self.path, self._new.descriptor, writes=True)

    def _not_ours(self) -> ConflictError:
        return ConflictError("another writer made this file in the meantime", store=str(self.path))


_numbers = itertools.count()
_made: weakref.WeakSet[Archive] = weakref.WeakSet()
"""Those of this process that may still be written."""
_LONGEST_STEM = 200
"""The bytes that a name may have so that a temporary one can be made of it."""
_UNSUPPORTED = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
"""The errors of systems and file systems that have no files without a name."""


class NewFile:
    """A file that is to be at a path: it has no name until then, or a temporary one where that cannot be."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._temporary: Path | None = None
        flags = os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        if hasattr(os, "O_TMPFILE"):
            try:
                self.descriptor = os.open(path.parent, flags | os.O_TMPFILE, 0o666)
            except OSError as error:
                if error.errno not in _UNSUPPORTED:
                    raise
            else:
                if os.path.exists(self._link):
                    return
                os.close(self.descriptor)
        self._temporary = self._temporary_name()
        self.descriptor = open_file(self._temporary, flags | os.O_CREAT | os.O_EXCL, 0o666)

    @property
    def _link(self) -> str:
        return f"/proc/self/fd/{self.descriptor}"

    def publish(self, *, replace: bool) -> None:
        """Give the file its name; raise `FileExistsError` if something has that name, and it is not to be replaced.

        It can be called again after it was interrupted.
        """
        if not self._is_at(self.path):
            if replace:
                self._temporary = self._temporary or self._temporary_name()
                if not self._is_at(self._temporary):
                    self._link_to(self._temporary)
                os.replace(self._temporary, self.path)
            elif self._temporary is None:
                self._link_to(self.path)
            elif os.name == "nt":
                os.rename(self._temporary, self.path)  # which refuses to replace
            else:
                self._take_name(self._temporary)
        self.discard()

    def discard(self) -> None:
        """Remove the temporary name, if there is one."""
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None

    def _take_name(self, temporary: Path) -> None:
        try:
            os.link(temporary, self.path)
        except FileExistsError:
            # A file server whose answer was lost finds its own link when it is asked again.
            if not self._is_at(self.path):
                raise
        except OSError:
            # There are no links on FAT, for example: an empty file takes the name, which then nobody else can.
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL, 0o666))
            try:
                os.replace(temporary, self.path)
            except BaseException:
                if not self._is_at(self.path):
                    self.path.unlink()  # the empty file, which nobody could replace
                raise

    def _is_at(self, path: Path) -> bool:
        try:
            return os.path.samestat(os.lstat(path), os.fstat(self.descriptor))
        except FileNotFoundError:
            return False

    def _link_to(self, path: Path) -> None:
        # Only with a descriptor of a directory does `link` follow the link that leads to the file.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.link(self._link, path, src_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)

    def _temporary_name(self) -> Path:
        name = self.path.name
        if len(os.fsencode(name)) > _LONGEST_STEM:
            name = name[:50]
        return self.path.with_name(f"{name}.{os.getpid():x}-{next(_numbers)}.partial")
