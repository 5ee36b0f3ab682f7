"""Recognising files of other kinds that are opened as zip files, by their first bytes."""

from __future__ import annotations

from typing import Final

__all__ = ["BEGINNING", "what_it_is"]

BEGINNING: Final = 512
"""The number of bytes that are enough to recognise a file."""

_OTHERS: Final = (
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", "open it with h5py"),
    (0, b"CDF", "a netCDF file", "open it with netCDF4"),
    (0, b"\x1f\x8b", "a gzip file", "decompress it first"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file", "decompress it first"),
    (0, b"BZh", "a bzip2 file", "decompress it first"),
    (0, b"\xfd7zXZ\0", "an xz file", "decompress it first"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it, and open the directory"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unpack it, and open the directory"),
    (257, b"ustar", "a tar archive", "unpack it, and open the directory"),
    (0, b"II*\0", "a TIFF image", "open it as an image"),
    (0, b"MM\0*", "a TIFF image", "open it as an image"),
    (0, b"version https://git-lfs", "what Git LFS puts in place of a file", "fetch the file with 'git lfs pull'"),
    (0, b"<", "a document of HTML or XML", "if a server sent it in place of the file, download that again"),
    (0, b"{", "a JSON document", "open the directory that it is in"),
)
"""Offset and value of the bytes that mark a kind of file, its name, and what to do with it."""


def what_it_is(beginning: bytes) -> str:
    """Return a text about a file without the record that ends every zip file: what it is, and what to do with it.

    Examples
    --------
    >>> print(what_it_is(b"PK\\3\\4" + bytes(100)))
    no valid ZIP EOCD, the record at its end: it begins as one, but was cut, or its writer has not been closed; \
copy it again, or close the writer
    >>> print(what_it_is(b"BZh9"))
    no valid ZIP EOCD, the record at its end: it begins with b'BZh9', as a bzip2 file does; decompress it first
    >>> print(what_it_is(b"abcdefgh and so on"))
    no valid ZIP EOCD, the record at its end: it begins with b'abcdefgh', as no zip file does; is this the right file?
    """
    record = "no valid ZIP EOCD, the record at its end"
    if beginning.startswith(b"PK\3\4"):
        cut = "it begins as one, but was cut, or its writer has not been closed; copy it again, or close the writer"
        return f"{record}: {cut}"
    shown = repr(beginning[:8])
    for at, said, name, remedy in _OTHERS:
        if beginning.startswith(said, at):
            return f"{record}: it begins with {shown}, as {name} does; {remedy}"
    return f"{record}: it begins with {shown}, as no zip file does; is this the right file?"
