"""Copies of damaged data: what is intact arrives, and what is lost is told."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr import api
from blizzarr.array import Array
from blizzarr.config import config
from blizzarr.errors import (
    ArchiveError,
    BlizzarrError,
    ChecksumError,
    CodecError,
    ConflictError,
    MetadataError,
    StoreError,
    UnknownExtensionError,
)
from blizzarr.group import Group

DATA = np.arange(1, 1201, dtype="i4").reshape(30, 40)


def damage(values: dict[str, Any], key: str) -> None:
    """Flip a bit in the middle."""
    value = bytearray(values[key])
    value[len(value) // 2] ^= 16
    values[key] = bytes(value)


@pytest.mark.parametrize("new", [{}, {"chunks": (7, 9)}, {"chunks": 6, "shards": 12}, {"dtype": "f8"}])
@pytest.mark.parametrize("limit", [1, 1000, 1 << 20])
def test_only_the_damaged_chunks_are_left_out(new: dict[str, Any], limit: int) -> None:
    """In every layout, and however the copy is divided; each damaged chunk is told once."""
    values: dict[str, Any] = {}
    source = api.create_array(values, data=DATA, chunks=10, compressors=["zstd", "crc32c"], fill_value=-1)
    for key in ("c/0/0", "c/2/1", "c/2/3"):
        damage(values, key)
    lost: list[BlizzarrError] = []
    with config.set(copy_bytes=limit):
        with pytest.raises(ChecksumError):
            api.copy(source, {}, chunks=6)
        made = api.copy(source, {}, skip_damaged=lost.append, **new)
    expected = DATA.copy()
    expected[:10, :10] = expected[20:, 10:20] = expected[20:, 30:] = 0 if "dtype" in new else -1
    assert isinstance(made, Array)
    np.testing.assert_array_equal(made[...], expected)
    assert sorted((error.key, error.chunk) for error in lost) == [
        ("c/0/0", (0, 0)),
        ("c/2/1", (2, 1)),
        ("c/2/3", (2, 3)),
    ]
    assert all(isinstance(error, ChecksumError) for error in lost)


def test_what_is_lost_reads_as_the_fill_value_of_the_source_where_the_copy_has_none() -> None:
    """Null stands for no value that xarray would mask; a masked value says more than the fill value."""
    for attributes, expected, fill in (({}, 7, None), ({"_FillValue": -5}, -5, -5)):
        values: dict[str, Any] = {}
        names = {"dimension_names": ["y", "x"], "attributes": attributes}
        source = api.create_array(values, data=DATA, chunks=10, compressors="crc32c", fill_value=7, **names)
        damage(values, "c/1/1")
        made = api.copy(source, {}, zarr_format=2, compressors="zlib", skip_damaged=[].append)
        assert isinstance(made, Array)
        assert made.fill_value == fill
        assert np.unique(made[10:20, 10:20]).tolist() == [expected]
        assert np.array_equal(made[20:], DATA[20:])


@pytest.mark.parametrize("new", [{}, {"chunks": 7}])
def test_a_copy_that_has_failed_goes_on_without_what_is_damaged(new: dict[str, Any]) -> None:
    values: dict[str, Any] = {}
    group = api.create_group(values)
    for name in "abc":
        group.create_array(name, data=DATA, chunks=10, compressors="crc32c", fill_value=-1)
    damage(values, "b/c/2/1")
    values["b/c/2/1"] = values["b/c/2/1"][:-1]
    made: dict[str, Any] = {}
    lost: list[BlizzarrError] = []
    with config.set(copy_bytes=1000):
        if new:
            with pytest.raises(CodecError):
                api.copy(group, made, **new)
        else:
            with pytest.raises(ZeroDivisionError):
                api.copy(group, made, progress=lambda done, total: done and 1 / 0)
        copied = api.copy(group, made, resume=True, skip_damaged=lost.append, **new)
    expected = DATA.copy()
    expected[20:, 10:20] = -1
    assert isinstance(copied, Group)
    for name in "abc":
        assert np.array_equal(copied[name][...], expected if name == "b" else DATA)
    assert [error.key for error in lost] == ["b/c/2/1"]
    assert not [key for key in made if "blizzarr" in key]


@pytest.mark.parametrize("new", [{}, {"chunks": (7, 9)}])
def test_a_directory_in_the_place_of_a_chunk_is_left_out(tmp_path: Path, new: dict[str, Any]) -> None:
    """The copy ended there, although a check calls it an error like others."""
    source = api.create_array(tmp_path / "a", data=DATA, chunks=10, fill_value=-1)
    (tmp_path / "a/c/1/2").unlink()
    (tmp_path / "a/c/1/2").mkdir()
    lost: list[BlizzarrError] = []
    made = api.copy(source, {}, skip_damaged=lost.append, **new)
    expected = DATA.copy()
    expected[10:20, 20:30] = -1
    np.testing.assert_array_equal(made[...], expected)
    assert [str(error) for error in lost] == [f"chunk c/1/2 of {tmp_path / 'a'}: expected a file, found a directory"]


def test_inner_chunks_of_shards_one_by_one() -> None:
    """A damaged inner chunk costs itself, and a damaged index the shard."""
    values: dict[str, Any] = {}
    source = api.create_array(values, data=DATA, chunks=5, shards=10, compressors=["crc32c"], fill_value=7)
    value = bytearray(values["c/0/0"])
    value[3] ^= 1  # in the first inner chunk
    values["c/0/0"] = bytes(value)
    values["c/1/1"] = bytes(values["c/1/1"])[:-3]
    lost: list[BlizzarrError] = []
    made = api.copy(source, {}, skip_damaged=lost.append)
    expected = DATA.copy()
    expected[:5, :5] = expected[10:20, 10:20] = 7
    np.testing.assert_array_equal(made[...], expected)
    assert [error.chunk for error in lost] == [(0, 0, 0, 0), (1, 1)]


@pytest.mark.parametrize("values", [["a", "bb", "ccc", "d"], [b"a", b"b", b"cc", b"d"], [[1], [2, 3], [], [4]]])
def test_elements_of_any_type(values: list[Any]) -> None:
    """Also of such as have no zero."""
    kind = {str: "str", bytes: "variable_length_bytes", list: "vlen-array"}[type(values[0])]
    if kind == "vlen-array":
        data = np.empty(4, object)
        data[:] = [np.array(each) for each in values]
        options: dict[str, Any] = {"dtype": object, "filters": [{"id": "vlen-array", "dtype": "<i8"}]}
        options |= {"zarr_format": 2}
    else:
        data, options = np.array(values, object), {"dtype": kind}
    stored: dict[str, Any] = {}
    source = api.create_array(stored, shape=4, chunks=2, compressors="zstd", **options)
    source[...] = data
    key = next(key for key in stored if key in ("c/0", "0"))
    stored[key] = b"damaged"
    lost: list[BlizzarrError] = []
    made = api.copy(source, {}, skip_damaged=lost.append)
    assert isinstance(made, Array)
    assert [list(each) if kind == "vlen-array" else each for each in made[2:]] == values[2:]
    assert [error.key for error in lost] == [key]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A zip file of two arrays, with consolidated metadata, in which one chunk and one document are damaged."""
    root = api.create_group({})
    for name in "xy":
        root.create_array(name, data=DATA, chunks=10)
    file = tmp_path / "damaged.zip"
    api.copy(root, file)
    with zipfile.ZipFile(file) as packed:
        at = {info.filename: info.header_offset + 30 + len(info.filename) for info in packed.infolist()}
    raw = bytearray(file.read_bytes())
    raw[at["x/c/1/1"] + 12] ^= 4
    raw[at["y/zarr.json"] + 12] ^= 4
    file.write_bytes(raw)
    return file


def test_a_nul_at_the_end_of_the_only_element() -> None:
    """NumPy drops it from a byte string that becomes an array."""
    source = api.create_array({}, shape=(), dtype="bytes")
    source[...] = b"a\0"
    assert api.copy(source, {}, skip_damaged=True)[()] == b"a\0"


def test_a_damaged_zip_file(archive: Path) -> None:
    """Chunks and documents with a wrong checksum of the zip file; check and its repair advise to do this."""
    lost: list[BlizzarrError] = []
    made = api.copy(archive, {}, skip_damaged=lost.append)
    assert isinstance(made, Group)
    assert list(made) == ["x"]
    expected = DATA.copy()
    expected[10:20, 10:20] = 0
    np.testing.assert_array_equal(made["x"][...], expected)
    assert {error.key: type(error) for error in lost} == {"x/c/1/1": ArchiveError, "y/zarr.json": ArchiveError}
    report = api.check(archive)
    assert {finding.key: finding.kind for finding in report.findings} == {
        "x/c/1/1": "archive",
        "y/zarr.json": "archive",
    }
    assert "copy --skip-damaged" in str(report.to_dict())
    with pytest.raises(StoreError, match="copy what is intact to another one, with skip_damaged=True"):
        api.check(archive, repair=True)
    with pytest.raises(ArchiveError, match=r"checksum mismatch.*a copy with skip_damaged=True saves what is intact"):
        api.open(archive, path="x")[10, 10]


def test_true_warns() -> None:
    values: dict[str, Any] = {}
    source = api.create_array(values, data=DATA, chunks=10)
    values["c/0/0"] = b"damaged"
    with pytest.warns(UserWarning, match=r"not copied: cannot decode chunk c/0/0") as caught:
        made = api.copy(source, {}, skip_damaged=True)
    assert caught[0].filename == __file__
    assert made[0, 0] == 0
    assert made[29, 39] == 1200


def test_a_copy_that_skips_is_not_resumed_by_one_that_does_not() -> None:
    """The second would take for copied what the first has left out."""

    class Full(dict[str, Any]):
        full = True

        def __setitem__(self, key: str, value: Any) -> None:
            if key == "c/2/2" and self.full:
                raise OSError(28, "No space left on device")
            super().__setitem__(key, value)

    values: dict[str, Any] = {}
    source = api.create_array(values, data=DATA, chunks=10)
    values["c/0/0"] = b"damaged"
    target = Full()
    lost: list[BlizzarrError] = []
    with config.set(copy_bytes=1):
        with pytest.raises(StoreError, match="No space left"):
            api.copy(source, target, skip_damaged=lost.append)
        target.full = False
        with pytest.raises(ConflictError):
            api.copy(source, target, resume=True)
        made = api.copy(source, target, resume=True, skip_damaged=lost.append)
    assert len(lost) == 1
    assert isinstance(lost[0], CodecError)
    np.testing.assert_array_equal(made[10:], DATA[10:])


def test_members_that_cannot_be_read_are_an_error() -> None:
    """The copy lacked them, and returned as if nothing were missing."""
    values: dict[str, Any] = {}
    group = api.create_group(values, zarr_format=2)
    for name in ("a", "b", "c/d"):
        group.create_array(name, data=DATA)
    values["a/.zarray"] = bytes(values["a/.zarray"]).replace(b'"filters": null', b'"filters":[{"id":"nobody\'s"}]')
    dest: dict[str, Any] = {}
    with pytest.raises(UnknownExtensionError, match=r"were not copied; .*'a': a/\.zarray.*nobody"):
        api.copy(values, dest)
    assert sorted(name for name, _ in api.open_group(dest).walk()) == ["b", "c", "c/d"]
    assert not [key for key in dest if "blizzarr" in key]
    with pytest.raises(UnknownExtensionError, match=r"nothing was loaded.*'a': a/\.zarray"):
        api.load(values)
    with pytest.warns(UserWarning, match=r"not copied: a/\.zarray"):
        assert np.array_equal(api.copy(values, {}, skip_damaged=True)["b"], DATA)
    values["b/.zarray"] = b"{}"
    with pytest.raises(MetadataError, match=r"'a': .*'b': ") as told:
        api.copy(values, {})
    assert type(told.value) is MetadataError
    assert api.load(dest)["b"].tolist() == DATA.tolist()
