"""An open zip file: reading its entries, and appending new ones."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path

from blizzarr.errors import ConflictError, StoreError
from blizzarr.stores.protocol import ByteRange, Value
from blizzarr.stores.zip.directory import read_directory
from blizzarr.stores.zip.entries import read_entry, read_entry_ranges
from blizzarr.stores.zip.file import AppendFile, sync_directory
from blizzarr.stores.zip.records import DEFLATED, STORED, Entry, new_entry, pack_directory, pack_local

__all__ = ["Archive"]

_numbers = itertools.count()


class Archive:
    """The entries of a zip file, which is created when the first entry is added.

    New entries are appended after the directory of the last flush, which stays in the file unused: so the entries that
    it lists survive the death of a writer.
    """

    def __init__(self, path: Path, file: AppendFile | None, final: Path | None = None) -> None:
        self.path = path
        self.entries: dict[str, Entry] = {}
        self.complaints: tuple[str, ...] = ()
        self._file = file
        self._final = final  # where the file goes on the first flush, when it is written under another name
        self._renamed = False  # to where it goes, which is not known to be on the device yet
        self._changed = False
        self._closed = False
        self._reads_only = False  # as long as nothing is added, so that nobody else is kept from adding
        self._writer = os.getpid()  # what a forked child inherits is not its to finish: two would write one end
        self._files = [] if file is None else [file]
        if file is not None and file.size:
            directory = read_directory(file.read_at, file.size, str(path))
            self.entries, self.complaints = directory.entries, directory.complaints

    @classmethod
    def open(cls, path: Path, mode: str) -> Archive:
        """Open a file to read (``"r"``), to add to (``"a"``), or to replace (``"w"``)."""
        if mode == "r":
            return cls(path, AppendFile(path, os.O_RDONLY))
        if mode == "a" and path.exists():
            archive = cls(path, AppendFile(path, os.O_RDONLY))
            archive._reads_only = True
            return archive
        return cls(path, None, path if mode == "w" else None)

    @property
    def is_open(self) -> bool:
        """True until it is closed."""
        return not self._closed

    @property
    def is_current(self) -> bool:
        """True if the file at the path is the open one, others have not changed it, and this process opened it."""
        if self._closed or self._writer != os.getpid():
            return False
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return self._file is None
        return self._file is not None and self._file.is_at(found)

    def read(self, key: str, limit: int) -> bytes | None:
        """Return the value of a key; None if there is none."""
        entry = self.entries.get(key)
        return None if entry is None else read_entry(self._opened(), entry, limit)

    def read_ranges(self, key: str, ranges: Sequence[ByteRange], limit: int) -> list[Value] | None:
        """Return parts of the value of a key; None if there is none."""
        entry = self.entries.get(key)
        return None if entry is None else read_entry_ranges(self._opened(), entry, ranges, limit)

    def append(self, key: str, plain: memoryview, crc: int, packed: bytes | None) -> None:
        """Append a value to the file, compressed if `packed` is given. One caller at a time."""
        file = self._for_writing()
        data = plain if packed is None else packed
        method = STORED if packed is None else DEFLATED
        entry = new_entry(key, method=method, crc=crc, stored_size=len(data), size=len(plain), offset=file.size)
        file.append(pack_local(entry), data)
        self.entries[key] = entry
        self._changed = True

    def flush(self) -> None:
        """Write the directory of all entries and publish the file. One caller at a time."""
        if not self._changed or self._writer != os.getpid():
            return
        file = self._opened()
        file.append(pack_directory(self.entries.values(), file.size))
        file.sync()
        if self._final is not None:
            os.replace(file.path, self._final)
            file.path, self._final, self._renamed = self._final, None, True
        if self._renamed:
            sync_directory(file.path.parent)
            self._renamed = False
        self._changed = False

    def close(self) -> None:
        """Flush, and close the file."""
        if self._closed:
            return
        self.flush()
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

        Raises
        ------
        ConflictError
            If another process writes it, or has changed it since it was opened.
        """
        before = self._opened()
        if self._reads_only:
            file = AppendFile(self.path, os.O_RDWR)
            if file.size != before.size or not file.is_same(before):
                file.close()
                raise ConflictError(
                    "another writer changed this zip file since it was opened; open it again", store=str(self.path)
                )
            self._files.append(file)
            self._file = file
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

        Raises
        ------
        ConflictError
            If another writer has created it in the meantime.
        """
        self._writer = os.getpid()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        path = self.path
        if self._final is not None:
            path = path.with_name(f"{path.name}.{os.getpid():x}-{next(_numbers)}.partial")
        file = AppendFile(path, os.O_RDWR | os.O_CREAT)
        if file.size:
            file.close()
            raise ConflictError("another writer made this file in the meantime", store=str(path))
        return file
