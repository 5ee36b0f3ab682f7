"""A copy says what it leaves behind: files that others keep among the groups."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import blizzarr


def hierarchy(path: Path, form: str) -> blizzarr.Group:
    root = blizzarr.create_group(path, zarr_format=form)
    root.create_array("images/im", data=[[1, 2], [3, 4]], chunks=(1, 1), attributes={"a": 1})
    root.create_group("points/p", attributes={"kind": "points"})
    (path / ".DS_Store").touch()
    return root


@pytest.mark.parametrize("form", ["v3", "v2", "n5", "v3_draft"])
def test_a_copy_of_all_there_is_warns_of_nothing(tmp_path: Path, form: str) -> None:
    root = hierarchy(tmp_path / "a.zarr", form)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        packed = blizzarr.copy(root, tmp_path / "packed.zip")
        assert blizzarr.copy(packed, {})["points/p"].attrs.asdict() == {"kind": "points"}


@pytest.mark.parametrize("form", ["v3", "v2"])
def test_files_within_groups_are_named(tmp_path: Path, form: str) -> None:
    """SpatialData has its points in a directory of Parquet, which nobody misses until the original is deleted."""
    root = hierarchy(tmp_path / "a.zarr", form)
    (tmp_path / "a.zarr/points/p/points.parquet").mkdir()
    (tmp_path / "a.zarr/points/p/points.parquet/part.0").write_bytes(b"PAR1")
    (tmp_path / "a.zarr/notes.txt").touch()
    told = "not copied, since no document of Zarr leads to them: "
    with pytest.warns(UserWarning, match=f"{told}notes.txt, points/p/points.parquet/; a check tells .*; copy them"):
        copied = blizzarr.copy(root, tmp_path / "copied.zarr")
    assert copied["points/p"].attrs.asdict() == {"kind": "points"}
    assert copied["images/im"][:].tolist() == [[1, 2], [3, 4]]
    with pytest.warns(UserWarning, match=f"{told}points/p/points.parquet/;"):
        blizzarr.copy(root["points"], {})
    for number in range(5):
        (tmp_path / f"a.zarr/images/{number}.csv").touch()
    with pytest.warns(UserWarning, match=f"{told}images/0.csv, images/1.csv, images/2.csv and 2 more;"):
        blizzarr.copy(root["images"], {})


def test_arrays_below_a_lost_group_are_not_called_foreign(tmp_path: Path) -> None:
    """The warning may be all that tells somebody, before the source is deleted, that arrays stay behind."""
    root = hierarchy(tmp_path / "a.zarr", "v3")
    (tmp_path / "a.zarr/images/zarr.json").unlink()
    told = "not copied, since no document of Zarr leads to them: images/; a check tells which of them are arrays;"
    with pytest.warns(UserWarning, match=told):
        copied = blizzarr.copy(blizzarr.open(tmp_path / "a.zarr"), tmp_path / "copied.zarr")
    assert "images" not in copied
    (finding,) = blizzarr.check(root).of_kind("unreachable")
    assert "images/im" in finding.message
