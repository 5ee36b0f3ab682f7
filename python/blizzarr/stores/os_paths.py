"""Paths as Python's `os` has them, and as keys and the engine have them.

Keys and the engine's paths are text in UTF-8. Python decodes the bytes of a path in the encoding of the locale, so that
where it is another one, the same file has two spellings: the bytes of ``é`` are ``Ã©`` in a locale of ISO-8859-1.
"""

from __future__ import annotations

import os
import sys

IS_UTF8 = sys.getfilesystemencoding() == "utf-8"


def os_path(key: str) -> str:
    """Return the path of a key, or of the engine, for the functions of `os`."""
    return key if IS_UTF8 or key.isascii() else os.fsdecode(key.encode("utf-8", "surrogateescape"))


def engine_path(path: str) -> str:
    """Return a path, or a name, that `os` knows, for the engine; bytes that are no UTF-8 become lone surrogates.

    Raise `UnicodeEncodeError` if the path has characters that the locale lacks: no file has it.
    """
    return path if IS_UTF8 or path.isascii() else os.fsencode(path).decode("utf-8", "surrogateescape")


def advice_on_encoding() -> str:
    """Return what to do about a path that is not in UTF-8."""
    if IS_UTF8:
        return "rename the directory, or open it through a link"
    return f"by its locale, this process takes paths for {sys.getfilesystemencoding()}: start Python with PYTHONUTF8=1"
