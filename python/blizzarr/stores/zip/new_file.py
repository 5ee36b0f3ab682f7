"""Files that get their name when they are complete: a writer that dies, or finds no room, leaves none behind."""

from __future__ import annotations

import errno
import itertools
import os
from pathlib import Path

from blizzarr.stores.regular import open_file

_numbers = itertools.count()
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
        """Give the file its name; raise `FileExistsError` if something has that name, and it is not to be replaced."""
        if replace:
            if self._temporary is None:
                temporary = self._temporary_name()
                self._link_to(temporary)
                self._temporary = temporary
            os.replace(self._temporary, self.path)
        elif self._temporary is None:
            self._link_to(self.path)
        elif os.name == "nt":
            os.rename(self._temporary, self.path)  # which refuses to replace
        else:
            os.link(self._temporary, self.path)
            os.unlink(self._temporary)
        self._temporary = None

    def discard(self) -> None:
        """Remove the temporary name, if there is one."""
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None

    def _link_to(self, path: Path) -> None:
        # Only with a descriptor of a directory does `link` follow the link that leads to the file.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.link(self._link, path, src_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)

    def _temporary_name(self) -> Path:
        return self.path.with_name(f"{self.path.name}.{os.getpid():x}-{next(_numbers)}.partial")
