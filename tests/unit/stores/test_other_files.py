"""Files that are no directories: zip files under another name, and what is not Zarr at all."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import blizzarr
from blizzarr.errors import StoreError


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"\x89HDF\r\n\x1a\n" + bytes(99),
            r"x is an HDF5 file, not Zarr; open it with h5py; create_array\(path, data=dataset\) stores a dataset$",
        ),
        (b"CDF\2" + bytes(99), "x is a netCDF file, not Zarr; open it with xarray$"),
        (b"\x89PNG\r\n\x1a\n", "x is a PNG image, not Zarr; open it as an image$"),
        (
            b"\x93NUMPY\1\0",
            r"x is a NumPy file, not Zarr; convert it by blizzarr\.copy, or load it by numpy\.load$",
        ),
        (bytes(257) + b"ustar\0", "x is a tar archive, not Zarr; unpack it, and open the directory$"),
        (b'{"zarr_format": 3}', "x is a JSON document, not Zarr; open the directory that it is in$"),
        (b"PK\3\4", "x is a zip file; open it with "),
        (b"", "x is empty$"),
        (b"something", "x is neither Zarr nor a zip file$"),
    ],
)
def test_a_file_that_is_no_zarr_says_what_it_is(tmp_path: Path, content: bytes, said: str) -> None:
    """The error was "expected a directory, found a file", whatever the file was."""
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(StoreError, match=f"^expected a directory, found a file: .*{said}"):
        blizzarr.open(tmp_path / "x")
    with pytest.raises(StoreError, match=f"^expected a directory, found a file: .*{said}"):
        blizzarr.open(tmp_path / "x" / "group" / "array")


def test_zipped_ome_zarr_opens_by_its_path(tmp_path: Path) -> None:
    """The file that OME-NGFF calls ``.ozx`` is a zip file, to be read and to be made."""
    with zipfile.ZipFile(tmp_path / "x.OZX", "w") as archive:
        archive.writestr("zarr.json", b'{"zarr_format": 3, "node_type": "group", "attributes": {"ome": 1}}')
        archive.writestr("a/zarr.json", b'{"zarr_format": 3, "node_type": "group"}')
    assert dict(blizzarr.open(tmp_path / "x.OZX", mode="r").attrs) == {"ome": 1}
    assert blizzarr.open(tmp_path / "x.OZX" / "a", mode="r").path == "a"
    blizzarr.copy(tmp_path / "x.OZX", tmp_path / "y.ozx")
    assert zipfile.is_zipfile(tmp_path / "y.ozx")
    (tmp_path / "d.ozx").mkdir()
    assert list(blizzarr.open_group(tmp_path / "d.ozx", mode="a")) == []
