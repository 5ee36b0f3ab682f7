"""The file of a manifest: read and written as a whole, compressed where its name says so."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final

from blizzarr.errors import MetadataError, PathError, Problem, StoreError
from blizzarr.recording.manifest import Manifest
from blizzarr.stores import LocalStore

__all__ = ["read_manifest", "write_manifest"]

LINE: Final = 1 << 20
"""No line of a manifest is longer, which bounds what is in memory of a file that is none."""


def read_manifest(file: str | os.PathLike[str]) -> Manifest:
    """The manifest in a file.

    Raises
    ------
    MetadataError
        When it is no manifest, or was cut off.
    StoreError
        When it cannot be read, or is not there.
    """
    path = _path(file)
    expected = "a manifest, compressed by gzip" if _compressed(path) else "a manifest, in UTF-8"
    try:
        with _opened(path) as stream:
            return Manifest.read(_lines(stream), str(path))
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise MetadataError(key=str(path), problems=[Problem("", expected, str(error))]) from error
    except OSError as error:
        reason = f"expected a manifest, found none that can be read: {error.strerror}"
        raise StoreError(reason, key=str(path), errno=error.errno) from error


def _opened(path: Path) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path) if _compressed(path) else path.open("rb")


def _lines(stream: gzip.GzipFile | BufferedReader) -> Iterator[str]:
    """The lines without their ends, one in memory: what is compressed may be a thousand times as large as its file."""
    ended = True
    while line := stream.readline(LINE):
        ended = line.endswith(b"\n")
        yield line.removesuffix(b"\n").decode()
    if ended:
        yield ""


def write_manifest(file: str | os.PathLike[str], manifest: Manifest) -> None:
    """Put a manifest into a file, in the place of another one perhaps; it is never seen in part."""
    path = _path(file).absolute()
    if not path.parent.is_dir():
        raise PathError(f"expected a file in a directory that is there, found {str(path)!r}")
    raw = manifest.text().encode()
    # Without the time, so that the same manifest is the same file.
    LocalStore(path.parent).set(path.name, gzip.compress(raw, mtime=0) if _compressed(path) else raw)


def _path(file: str | os.PathLike[str]) -> Path:
    path = Path(file)
    if "\0" in str(path):
        raise PathError(f"expected the name of a file, found NUL in {str(path)!r}")
    return path


def _compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
