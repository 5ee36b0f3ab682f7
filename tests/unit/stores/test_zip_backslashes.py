"""Zip files whose names have backslashes for slashes, as some programs for Windows wrote them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ArchiveError
from blizzarr.stores import ZipStore

DOCUMENT = {
    "zarr_format": 2,
    "shape": [2, 4],
    "chunks": [2, 2],
    "dtype": "|u1",
    "compressor": None,
    "fill_value": 9,
    "order": "C",
    "filters": None,
    "dimension_separator": "/",
}


def made(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in entries.items():
            archive.writestr(name, value)
    return path


def test_they_are_read_as_slashes(tmp_path: Path) -> None:
    """They were skipped with a warning, and their chunks read as fill values."""
    entries = {".zgroup": b'{"zarr_format": 2}', "a\\.zarray": json.dumps(DOCUMENT).encode(), "a\\0\\1": b"\1\2\3\4"}
    path = made(tmp_path / "x.zip", entries)
    with pytest.warns(UserWarning, match=r"read as slashes: 2 in all"):
        group = blizzarr.open_group(path, mode="r")
    assert list(group) == ["a"]
    np.testing.assert_array_equal(group["a"][...], [[9, 9, 1, 2], [9, 9, 3, 4]])


def test_adding_keeps_them(tmp_path: Path) -> None:
    path = made(tmp_path / "x.zip", {"a\\b": b"1"})
    with pytest.warns(UserWarning, match="backslashes"), ZipStore(path, "a") as store:
        store.set("a/c", b"2")
    with pytest.warns(UserWarning, match="backslashes"):
        assert [ZipStore(path).get(key) for key in ("a/b", "a/c")] == [b"1", b"2"]


def test_a_damaged_name_among_many_is_no_missing_key(tmp_path: Path) -> None:
    path = made(tmp_path / "x.zip", {f"a\\{number}": b"1" for number in range(300)})
    data = path.read_bytes()
    at = data.rindex(b"a\\77")
    path.write_bytes(data[:at] + b"a\\7w" + data[at + 4 :])
    with pytest.warns(UserWarning, match="backslashes"):
        store = ZipStore(path)
    with pytest.raises(ArchiveError, match="damaged"):
        store.get("a/77")


def test_both_spellings_of_one_name_are_an_error(tmp_path: Path) -> None:
    path = made(tmp_path / "x.zip", {"a/b": b"1", "a\\b": b"2"})
    with pytest.raises(ArchiveError, match="with slashes and with backslashes"):
        ZipStore(path)


def test_they_lead_out_as_little_as_slashes(tmp_path: Path) -> None:
    path = made(tmp_path / "x.zip", {"..\\x": b"1", "a\\..\\y": b"1", "\\abs": b"1", "good": b"1"})
    with pytest.warns(UserWarning, match=r"'\.\./x'"):
        assert ZipStore(path).list() == ["good"]
