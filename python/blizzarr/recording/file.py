"""Reading and writing manifest files, which are compressed if their name ends with ``.gz``."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Final

from blizzarr.errors import MetadataError, PathError, Problem, StoreError
from blizzarr.recording.manifest import Manifest
from blizzarr.stores import LocalStore
from blizzarr.stores.regular import open_regular

LINE: Final = 1 << 20
"""Lines are read up to this length, which bounds the memory taken by files that are not manifests."""


def read_manifest(file: str | os.PathLike[str]) -> Manifest:
    """Read the manifest in a file.

    Raise `MetadataError` if the file is not a manifest, or is truncated. Raise `StoreError` if the file does not exist
    or cannot be read.
    """
    path = _path(file)
    expected = "a manifest, compressed by gzip" if _compressed(path) else "a manifest, in UTF-8"
    try:
        with _opened(path) as stream:
            return Manifest.read(_lines(stream), str(path))
    except (gzip.BadGzipFile, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise MetadataError(key=str(path), problems=[Problem("", expected, str(error))]) from error
    except StoreError:
        raise
    except OSError as error:
        reason = f"expected a manifest, found none that can be read: {error.strerror}"
        raise StoreError(reason, key=str(path), errno=error.errno) from error


@contextmanager
def _opened(path: Path) -> Iterator[gzip.GzipFile | BufferedReader]:
    with open(open_regular(path), "rb") as file:
        yield gzip.GzipFile(fileobj=file) if _compressed(path) else file


def _lines(stream: gzip.GzipFile | BufferedReader) -> Iterator[str]:
    """Yield the lines without their ends, one at a time: a compressed file may expand a thousandfold."""
    ended = True
    while line := stream.readline(LINE):
        ended = line.endswith(b"\n")
        yield line.removesuffix(b"\n").decode()
    if ended:
        yield ""


def write_manifest(file: str | os.PathLike[str], manifest: Manifest) -> None:
    """Write a manifest to a file, replacing an existing one atomically."""
    path = _path(file).absolute()
    if not path.parent.is_dir():
        raise PathError(f"expected a file in a directory that is there, found {str(path)!r}")
    # Line by line: as objects, the lines of a million checksums take twice the memory of the file.
    content = BytesIO()
    if _compressed(path):
        # Without the time, so that equal manifests give equal files.
        with gzip.GzipFile(filename="", fileobj=content, mode="wb", mtime=0) as stream:
            stream.writelines(line.encode() for line in manifest.lines())
    else:
        content.writelines(line.encode() for line in manifest.lines())
    LocalStore(path.parent).set(path.name, content.getbuffer())


def _path(file: str | os.PathLike[str]) -> Path:
    path = Path(os.fsdecode(file))
    if "\0" in str(path):
        raise PathError(f"expected the name of a file, found NUL in {str(path)!r}")
    return path


def _compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
