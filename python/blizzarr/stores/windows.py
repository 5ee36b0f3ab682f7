"""Opening files and directories on Windows, where who opens something says what others may do with it meanwhile.

What `os.open` has open can be neither renamed nor replaced, and it opens no directories. What is opened here can be. It
is a lock, too: of several handles that could write, each has to share that with the others. The system closes those of
processes that die.
"""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes import wintypes

    _CreateFileW = ctypes.WinDLL("kernel32", use_last_error=True).CreateFileW
    _CreateFileW.restype = wintypes.HANDLE
    _CreateFileW.argtypes = [
        wintypes.LPCWSTR,  # the path
        wintypes.DWORD,  # what is done with it
        wintypes.DWORD,  # what others may do meanwhile
        wintypes.LPVOID,
        wintypes.DWORD,  # whether it is there
        wintypes.DWORD,
        wintypes.HANDLE,
    ]
    _GENERIC_READ, _GENERIC_WRITE, _FILE_ADD_FILE = 0x80000000, 0x40000000, 0x2
    _SHARE_READ, _SHARE_WRITE, _SHARE_DELETE = 0x1, 0x2, 0x4
    _CREATE_NEW, _OPEN_EXISTING = 1, 3
    _FLAG_BACKUP_SEMANTICS = 0x02000000
    """Without it, no directory is opened."""
    _SHARING_VIOLATION = 32

    def open_file(path: str | os.PathLike[str], flags: int, _mode: int = 0o666) -> int:
        """Return a descriptor of a file, as `os.open` does with these flags; only one at a time can write.

        Raise `BlockingIOError` if somebody else has it open for writing. Raise `OSError` if it cannot be opened.
        """
        writes = bool(flags & os.O_RDWR)
        return _opened(
            path,
            _GENERIC_READ | (_GENERIC_WRITE if writes else 0),
            0 if writes else _SHARE_WRITE,
            _CREATE_NEW if flags & os.O_CREAT else _OPEN_EXISTING,
            0,
        )

    def open_directory(path: str, *, alone: bool) -> int:
        """Return a descriptor of a directory that nobody else opens with this function, or nobody alone.

        Files are added to it by their paths, as ever: only what is opened to add files by a handle must be shared.

        Raise `BlockingIOError` if others have it open. Raise `OSError` if it cannot be opened to add files.
        """
        return _opened(path, _FILE_ADD_FILE, 0 if alone else _SHARE_WRITE, _OPEN_EXISTING, _FLAG_BACKUP_SEMANTICS)

    def _opened(path: str | os.PathLike[str], access: int, sharing: int, disposition: int, attributes: int) -> int:
        name = os.fspath(path)
        handle = _CreateFileW(name, access, sharing | _SHARE_READ | _SHARE_DELETE, None, disposition, attributes, None)
        if handle == wintypes.HANDLE(-1).value:
            number = ctypes.get_last_error()
            if number == _SHARING_VIOLATION:
                raise BlockingIOError(0, ctypes.FormatError(number), name)
            raise OSError(0, ctypes.FormatError(number), name, number)
        return msvcrt.open_osfhandle(handle, 0)
