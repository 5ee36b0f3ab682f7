"""What newcomers stumble over: paths, names and words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.cli.failing import as_options
from blizzarr.errors import MetadataError, NodeTypeError, StoreError


def test_the_home_directory_behind_a_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    blizzarr.save("file:~/a.zarr", np.arange(3))
    assert blizzarr.load(tmp_path / "a.zarr").tolist() == [0, 1, 2]


def test_a_dimension_without_a_name_cannot_be_named() -> None:
    array = blizzarr.create_array({}, shape=(3, 4), dtype="i4", dimension_names=["x", None])
    with pytest.raises(ValueError, match="expected the name of a dimension, found None; there are x"):
        blizzarr.copy(array, {}, chunks={None: 3})
    assert blizzarr.copy(array, {}, chunks={"x": 2}).chunks == (2, 4)


@pytest.mark.parametrize("form", ["n5", "v2"])
def test_formats_without_shards_say_how_to_leave_them_out(form: str) -> None:
    array = blizzarr.create_array({}, data=np.arange(16).reshape(4, 4), chunks=2, shards=4)
    with pytest.raises(
        MetadataError, match=r"no shards, as this format has none \(shards=None leaves them out\)"
    ) as told:
        blizzarr.copy(array, {}, zarr_format=form)
    assert "--shards none leaves them out" in as_options(str(told.value))
    assert np.array_equal(blizzarr.copy(array, {}, zarr_format=form, shards=None)[...], array[...])


def test_errors_of_the_system_are_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError) as told:
        blizzarr.stores.LocalStore(tmp_path).set("file/a", b"")
    assert "os error" not in str(told.value)
    assert told.value.errno == 20


def test_what_a_repair_has_kept_is_no_finding(tmp_path: Path) -> None:
    """By default, it lies beside the data, where a check of the directory above comes upon it."""
    values = np.arange(16, dtype="i1").reshape(4, 4)
    blizzarr.create_array(tmp_path / "a.zarr", data=values, chunks=2, shards=4, compressors="crc32c")
    chunk = tmp_path / "a.zarr/c/0/0"
    chunk.write_bytes(bytes([chunk.read_bytes()[0] ^ 1]) + chunk.read_bytes()[1:])
    report = blizzarr.check(tmp_path / "a.zarr", repair=True)
    assert [repair.done for repair in report.repairs] == [True]
    assert [path.read_bytes() for path in (tmp_path / "a.zarr.quarantine").rglob("0/0")] != []
    assert blizzarr.check(tmp_path).kinds() == {"standalone": 1}


def test_a_path_into_an_array_is_refused_like_a_name_below_it(tmp_path: Path) -> None:
    """Such nodes were created, but `tree` did not show them, and copies left them out."""
    for zarr_format in (2, 3):
        above = tmp_path / f"v{zarr_format}.zarr"
        blizzarr.create_array(above / "a", data=[1], zarr_format=zarr_format)
        for create in (
            lambda path: blizzarr.create_array(path, data=[1]),
            lambda path: blizzarr.create_array(path, name="c", data=[1]),
            lambda path: blizzarr.save(path, [1]),
            lambda path: blizzarr.save(path, one=[1]),
            lambda path: blizzarr.copy(np.arange(3), path),
            lambda path: blizzarr.open_group(path, mode="a"),
        ):
            for name in ("b", "b/c"):
                with pytest.raises(NodeTypeError, match=f"nothing can be below it, like '{name}'"):
                    create(above / "a" / name)
        assert not (above / "a" / "b").exists()
        assert blizzarr.create_array(above / "a", data=[2], overwrite=True)[0] == 2


def test_a_path_into_a_group_is_a_member(tmp_path: Path) -> None:
    group = blizzarr.create_group(tmp_path / "p.zarr")
    blizzarr.create_array(tmp_path / "p.zarr" / "a", data=[1])
    assert list(group) == ["a"]


def test_an_array_in_a_zip_file_closes_it_like_a_group(tmp_path: Path) -> None:
    with blizzarr.create_array(tmp_path / "a.zip", data=[1, 2]) as array:
        array[0] = 3
    assert blizzarr.load(tmp_path / "a.zip").tolist() == [3, 2]
    with pytest.raises(KeyError), blizzarr.create_array(tmp_path / "a.zip", data=[1], overwrite=True):
        raise KeyError
    assert blizzarr.load(tmp_path / "a.zip").tolist() == [3, 2]
