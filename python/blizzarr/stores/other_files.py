"""Recognising files of other kinds that are opened as directories or zip files, by their first bytes."""

from __future__ import annotations

import os
from typing import Final

BEGINNING: Final = 512
"""The number of bytes that are enough to recognise a file."""

_OTHERS: Final = (
    (
        0,
        b"\x89HDF\r\n\x1a\n",
        "an HDF5 file",
        "open it with h5py; create_array(path, data=dataset) stores a dataset",
    ),
    (0, b"CDF", "a netCDF file", "open it with xarray"),
    (0, b"\x1f\x8b", "a gzip file", "decompress it first"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file", "decompress it first"),
    (0, b"BZh", "a bzip2 file", "decompress it first"),
    (0, b"\xfd7zXZ\0", "an xz file", "decompress it first"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it, and open the directory"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unpack it, and open the directory"),
    (257, b"ustar", "a tar archive", "unpack it, and open the directory"),
    (0, b"II*\0", "a TIFF image", "read it with tifffile"),
    (0, b"MM\0*", "a TIFF image", "read it with tifffile"),
    (0, b"\x89PNG", "a PNG image", "open it as an image"),
    (0, b"\xff\xd8\xff", "a JPEG image", "open it as an image"),
    (0, b"GIF8", "a GIF image", "open it as an image"),
    (0, b"\x93NUMPY", "a NumPy file", "convert it by blizzarr.copy, or load it by numpy.load"),
    (0, b"GRIB", "a GRIB file", "open it with cfgrib"),
    (0, b"PAR1", "a Parquet file", "open it with pyarrow"),
    (0, b"version https://git-lfs", "what Git LFS puts in place of a file", "fetch the file with 'git lfs pull'"),
    (0, b"<", "a document of HTML or XML", "if a server sent it in place of the file, download that again"),
    (0, b"{", "a JSON document", "open the directory that it is in"),
)
"""Offset and value of the bytes that mark a kind of file, its name, and what to do with it."""


def what_it_is(beginning: bytes) -> tuple[str, str] | None:
    """Return what a file is that begins so, and what to do with it; None if that is not known."""
    for at, mark, name, remedy in _OTHERS:
        if beginning.startswith(mark, at):
            return name, remedy
    return None


def as_no_zip(beginning: bytes) -> str:
    """Return a text about a file without the record that ends every zip file: what it is, and what to do with it.

    >>> print(as_no_zip(b"PK\\3\\4" + bytes(100)))
    no valid ZIP EOCD, the record at its end: it begins as one, but was cut, or its writer has not been closed; \
copy it again, or close the writer
    >>> print(as_no_zip(b"BZh9"))
    no valid ZIP EOCD, the record at its end: it begins with b'BZh9', as a bzip2 file does; decompress it first
    >>> print(as_no_zip(b"abcdefgh and so on"))
    no valid ZIP EOCD, the record at its end: it begins with b'abcdefgh', as no zip file does; is this the right file?
    """
    record = "no valid ZIP EOCD, the record at its end"
    if beginning.startswith(b"PK\3\4"):
        cut = "it begins as one, but was cut, or its writer has not been closed; copy it again, or close the writer"
        return f"{record}: {cut}"
    name, remedy = what_it_is(beginning) or ("no zip file", "is this the right file?")
    return f"{record}: it begins with {beginning[:8]!r}, as {name} does; {remedy}"


def as_no_directory(path: str) -> str:
    """Return a text about a file at a path, or above it: its path, what it is, and what to do with it."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    if not os.path.isfile(path):
        return f"neither that nor a file: {path}"
    try:
        with open(path, "rb") as file:
            beginning = file.read(BEGINNING)
    except OSError:
        beginning = b"?"
    if beginning.startswith(b"PK\3\4"):
        if path.endswith(".npz"):
            return f"a file: {path} is a NumPy file, not Zarr; convert it by blizzarr.copy, or load it by numpy.load"
        return f"a file: {path} is a zip file; open it with blizzarr.stores.ZipStore, or give it a name like 'data.zip'"
    if beginning.startswith(b"{") and b'"refs"' in beginning:
        what_to_do = 'open blizzarr.stores.FsspecStore.from_url("reference://", {"fo": path})'
        return f"a file: {path} has references of kerchunk; {what_to_do}"
    kind = what_it_is(beginning)
    if kind is None:
        return f"a file: {path} is " + ("neither Zarr nor a zip file" if beginning else "empty")
    return f"a file: {path} is {kind[0]}, not Zarr; {kind[1]}"
