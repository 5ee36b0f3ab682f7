"""Consolidated metadata that have what is nowhere else are not replaced; what is replaced is kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import blizzarr


def made(path: Path, zarr_format: int) -> Path:
    group = blizzarr.create_group(path, zarr_format=zarr_format)
    group.create_array("lat", data=np.arange(4), chunks=2)
    group.create_array("lon", data=np.arange(4), chunks=2)
    blizzarr.consolidate_metadata(path)
    return path


@pytest.mark.parametrize(("zarr_format", "document"), [(2, ".zarray"), (3, "zarr.json")])
def test_the_last_copy_of_a_document_stays(tmp_path: Path, zarr_format: int, document: str) -> None:
    """Readers find the array by its copy; rebuilt metadata would not have it any more."""
    path = made(tmp_path / "a.zarr", zarr_format)
    (path / "lat" / document).unlink()
    (finding,) = blizzarr.check(path).of_kind("consolidated")
    assert "lat is not there; the document of lat, whose chunks are there, exists only in them" in finding.message
    assert not finding.repairable
    assert finding.advice == "repair: they are rebuilt from the documents, once these are there and conform"
    report = blizzarr.check(path, repair=True, quarantine=tmp_path / "kept")
    assert [repair for repair in report.repairs if repair.kind == "consolidated"] == []
    assert blizzarr.open_group(path)["lat"][:].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(("zarr_format", "document"), [(2, ".zgroup"), (3, "zarr.json")])
def test_the_last_copy_of_the_document_of_a_group_stays(tmp_path: Path, zarr_format: int, document: str) -> None:
    """With rebuilt metadata, readers would find neither the group and its attributes nor what is below it."""
    path = made(tmp_path / "a.zarr", zarr_format)
    group = blizzarr.open_group(path, mode="r+").create_group("g", attributes={"a": 1})
    group.create_group("h").create_array("t", data=np.arange(4), chunks=2)
    blizzarr.consolidate_metadata(path)
    (path / "g" / document).unlink()
    (finding,) = blizzarr.check(path).of_kind("consolidated")
    assert "g is not there; the document of g, whose members are there, exists only in them" in finding.message
    assert not finding.repairable
    blizzarr.check(path, repair=True, quarantine=tmp_path / "kept")
    there = blizzarr.open_group(path)["g"]
    assert (there.attrs.asdict(), there["h/t"][:].tolist()) == ({"a": 1}, [0, 1, 2, 3])


@pytest.mark.parametrize(("zarr_format", "key"), [(2, ".zmetadata"), (3, "zarr.json")])
def test_what_is_rebuilt_is_kept(tmp_path: Path, zarr_format: int, key: str) -> None:
    path = made(tmp_path / "a.zarr", zarr_format)
    before = (path / key).read_bytes()
    assert "lon" in json.dumps(json.loads(before))
    for part in sorted((path / "lon").rglob("*"), reverse=True):
        part.rmdir() if part.is_dir() else part.unlink()
    (repair,) = blizzarr.check(path, repair=True, quarantine=tmp_path / "kept").repairs
    assert (repair.kind, repair.done) == ("consolidated", True)
    assert repair.kept is not None
    assert Path(repair.kept).read_bytes() == before
    assert list(blizzarr.open_group(path)) == ["lat"]
    assert blizzarr.check(path).clean


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_not_a_number_is_the_same_in_a_copy(zarr_format: int) -> None:
    """zarr-python and xarray store NaN in attributes, among lists and objects, too."""
    store: dict[str, bytes] = {}
    root = blizzarr.create_group(store, zarr_format=zarr_format, attributes={"missing": "N", "range": [0, "N"]})
    array = root.create_array("a", shape=1, dtype="f4", attributes={"missing": "N", "range": [0, "N"]})
    blizzarr.consolidate_metadata(store)
    store |= {key: value.replace(b'"N"', b"NaN") for key, value in store.items()}
    assert blizzarr.check(store).findings == []
    opened = blizzarr.open_group(store)
    assert opened.metadata == blizzarr.open(store).metadata != root.metadata
    assert opened["a"].metadata == blizzarr.open(store)["a"].metadata != array.metadata
