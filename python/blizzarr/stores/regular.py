"""Opening files that users or stores name: something else there may block, or be changed by being opened."""

from __future__ import annotations

import os
import stat
import sys
from errno import EISDIR, ELOOP, ENXIO

from blizzarr.errors import ArchiveError, StoreError

if sys.platform == "win32":
    from blizzarr.stores.windows import open_file as open_file
else:
    open_file = os.open


def open_regular(path: str | os.PathLike[str], flags: int = os.O_RDONLY) -> int:
    """Return a descriptor of a regular file; nothing else is opened or waited for.

    Raise `OSError` if the file cannot be opened. Raise `StoreError` if something else is there; the text says what.
    """
    _refuse(path, os.stat(path).st_mode)
    # What is there may have been replaced since then, by a FIFO.
    more = sum(getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"))
    descriptor = open_file(path, flags | more)
    try:
        _refuse(path, os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _refuse(path: str | os.PathLike[str], mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise StoreError(f"expected a file, found {kind_of(mode)}", store=os.fsdecode(path))


def is_no_file(error: BaseException) -> bool:
    """Return whether an error is about a directory, FIFO, socket, device or broken link where a file was expected."""
    return isinstance(error, StoreError) and error.errno in (EISDIR, ELOOP, ENXIO)


def is_damage(error: BaseException) -> bool:
    """Return whether an error is about the one value that was asked for, and stays as it is however often that is."""
    return isinstance(error, ArchiveError) or is_no_file(error)


def kind_of(mode: int) -> str:
    """Describe what has this mode and is no regular file."""
    kinds = {stat.S_ISDIR: "a directory", stat.S_ISFIFO: "a FIFO", stat.S_ISSOCK: "a socket"}
    return next((name for matches, name in kinds.items() if matches(mode)), "a device")
