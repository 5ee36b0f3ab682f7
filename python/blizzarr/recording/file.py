"""The file of a manifest: read and written as a whole, compressed where its name says so."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from blizzarr.errors import MetadataError, PathError, Problem, StoreError
from blizzarr.recording.manifest import Manifest
from blizzarr.stores import LocalStore

__all__ = ["read_manifest", "write_manifest"]


def read_manifest(file: str | os.PathLike[str]) -> Manifest:
    """The manifest in a file.

    Raises
    ------
    MetadataError
        When it is no manifest, or was cut off.
    StoreError
        When it cannot be read, or is not there.
    """
    path = Path(file)
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = f"expected a manifest, found none that can be read: {error.strerror}"
        raise StoreError(reason, key=str(path), errno=error.errno) from error
    try:
        text = (gzip.decompress(raw) if _compressed(path) else raw).decode()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        expected = "a manifest, compressed by gzip" if _compressed(path) else "a manifest, in UTF-8"
        raise MetadataError(key=str(path), problems=[Problem("", expected, str(error))]) from error
    return Manifest.parse(text, str(path))


def write_manifest(file: str | os.PathLike[str], manifest: Manifest) -> None:
    """Put a manifest into a file, in the place of another one perhaps; it is never seen in part."""
    path = Path(file).absolute()
    if not path.parent.is_dir():
        raise PathError(f"expected a file in a directory that is there, found {str(path)!r}")
    raw = manifest.text().encode()
    # Without the time, so that the same manifest is the same file.
    LocalStore(path.parent).set(path.name, gzip.compress(raw, mtime=0) if _compressed(path) else raw)


def _compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"
