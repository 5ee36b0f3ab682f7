"""Zip files as several programs write them, with the same keys and values."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from blizzarr.stores import ZipStore

__all__ = ["WRITERS", "ours", "python"]

Values = Mapping[str, bytes]
NTFS_TIMES = struct.pack("<2HI2H3Q", 10, 32, 0, 1, 24, *3 * [0x01DA_0000_0000_0000])
"""What 7-Zip adds to each record."""


def ours(path: Path, values: Values) -> None:
    with ZipStore(path, "w") as store:
        for key, value in values.items():
            store.set(key, value)


def ours_in_two_parts(path: Path, values: Values) -> None:
    """The directory of the first part stays in the file, and lists less."""
    with ZipStore(path, "w") as store:
        for number, (key, value) in enumerate(values.items()):
            store.set(key, value)
            if number == 1:
                store.flush()


def ours_added_to_a_file_of_another(path: Path, values: Values) -> None:
    python(path, dict([*values.items()][:2]), comment=b"of another program")
    with ZipStore(path, "a") as store:
        for key, value in [*values.items()][2:]:
            store.set(key, value)


def python(
    path: Path,
    values: Values,
    method: int = zipfile.ZIP_STORED,
    *,
    comment: bytes = b"",
    front: bytes = b"",
    extra: bytes = b"",
) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for key, value in values.items():
            info = zipfile.ZipInfo(key)
            info.extra = extra
            archive.writestr(info, value, method)
        archive.comment = comment
    path.write_bytes(front + file.getvalue())


def python_with_data_descriptors(path: Path, values: Values) -> None:
    """As it is written to a pipe: sizes and checksums follow the values."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

        def seek(self, *_: int) -> int:
            raise OSError

    file = Pipe()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, value in values.items():
            archive.writestr(key, value)
    path.write_bytes(file.getvalue())


def wide(path: Path, values: Values) -> None:
    """With the 64-bit records that only archives of more than 65,535 entries, or 4 GiB, need."""
    python(path, values)
    data = path.read_bytes()
    at = len(data) - 22
    count, size, start = (int.from_bytes(data[at + a : at + b], "little") for a, b in ((10, 12), (12, 16), (16, 20)))
    words = [b"PK\6\6", (44).to_bytes(8, "little"), b"\x2d\3\x2d\0", bytes(8)]
    words += [number.to_bytes(8, "little") for number in (count, count, size, start)]
    words += [b"PK\6\7", bytes(4), at.to_bytes(8, "little"), b"\1\0\0\0"]
    words += [b"PK\5\6", bytes(4), b"\xff" * 12, bytes(2)]
    path.write_bytes(data[:at] + b"".join(words))


def wide_entries(path: Path, values: Values) -> None:
    """With 64-bit sizes and offsets of each entry, and 64-bit records at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile, "ZIP64_LIMIT", 0)
        patch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 0)
        python(path, values)


def info_zip(path: Path, values: Values) -> None:
    if shutil.which("zip") is None:
        pytest.skip("Info-ZIP is not installed")
    folder = path.with_suffix(".folder")
    for key, value in values.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(value)
    subprocess.run(["zip", "-q", "-r", str(path), "."], cwd=folder, check=True)


def zarr_python(path: Path, values: Values) -> None:
    """As its `ZipStore` sets them."""
    zarr = pytest.importorskip("zarr")
    buffers = pytest.importorskip("zarr.core.buffer")
    with zarr.storage.ZipStore(path, mode="w") as store:
        for key, value in values.items():
            store._set(key, buffers.default_buffer_prototype().buffer.from_bytes(value))


WRITERS: dict[str, Callable[[Path, Values], None]] = {
    "ours": ours,
    "ours, in two parts": ours_in_two_parts,
    "ours, added to one of another program": ours_added_to_a_file_of_another,
    "Python": python,
    "Python, deflated": lambda path, values: python(path, values, zipfile.ZIP_DEFLATED),
    "Python, with a comment": lambda path, values: python(path, values, comment=b"a comment"),
    "Python, after a program": lambda path, values: python(path, values, front=b"#!/bin/sh\n" * 7),
    "Python, to a pipe": python_with_data_descriptors,
    "64-bit records": wide,
    "64-bit entries": wide_entries,
    "7-Zip's times": lambda path, values: python(path, values, zipfile.ZIP_DEFLATED, extra=NTFS_TIMES),
    "Info-ZIP": info_zip,
    "zarr-python": zarr_python,
}
