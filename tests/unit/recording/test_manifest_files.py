"""Checks with a manifest: what was recorded, and what has changed since, in the report."""

from __future__ import annotations

import gzip
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ConflictError, MetadataError, PathError, StoreError
from blizzarr.recording import read_manifest


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A hierarchy with a plain array and one of shards."""
    root = blizzarr.create_group(tmp_path / "d.zarr")
    root.create_array("g/a", data=np.arange(1, 65).reshape(8, 8), chunks=(4, 4), codecs=["bytes"])
    root.create_array("s", data=np.arange(1, 65).reshape(8, 8), chunks=(2, 2), shards=(4, 4))
    return tmp_path / "d.zarr"


@pytest.mark.parametrize("fast", [False, True])
def test_a_flipped_bit_that_decodes_is_found(stored: Path, tmp_path: Path, fast: bool) -> None:
    file = tmp_path / "m.sha256"
    done: list[tuple[int, int]] = []
    report = blizzarr.check(stored, record=file, fast=fast, progress=lambda *told: done.append(told))
    assert (report.ok, str(report.manifest)) == (True, f"12 checksums recorded in {file}")
    assert done[0] == (0, 16)
    assert done[-1] == (16, 16)
    assert done == sorted(done)
    again = blizzarr.check(stored, against=file, fast=fast)
    assert (again.findings, again.manifest and again.manifest.done) == ([], "compared")
    chunk = stored / "g/a/c/0/1"
    chunk.write_bytes(bytes([chunk.read_bytes()[0] ^ 1]) + chunk.read_bytes()[1:])
    assert blizzarr.check(stored).ok
    (finding,) = blizzarr.check(stored, against=file, fast=fast).findings
    assert finding.to_dict() == {
        "kind": "changed",
        "severity": "error",
        "path": "/g/a",
        "key": "g/a/c/0/1",
        "chunk": [0, 1],
        "codec": None,
        "message": "its checksum is not the one that was recorded",
        "advice": "restore it from a copy; or record anew, if the change was meant",
        "repairable": False,
    }


def test_what_is_gone_is_damage_and_what_is_new_is_not(stored: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.sha256"
    blizzarr.check(stored, record=file)
    blizzarr.create_array(stored, name="n", data=[1, 2])
    report = blizzarr.check(stored, against=file)
    assert [(found.kind, found.path, found.key, found.chunk) for found in report.findings] == [
        ("new", "/n", "n/zarr.json", None),
        ("new", "/n", "n/c/0", (0,)),
    ]
    assert (report.ok, report.clean) == (True, False)
    os.remove(stored / "s/c/1/0")
    report = blizzarr.check(stored, against=file)
    assert [(found.kind, found.path, found.key, found.chunk) for found in report.findings[:1]] == [
        ("missing", "/s", "s/c/1/0", (1, 0))
    ]
    assert not report.ok


def test_documents_that_are_gone_or_damaged(stored: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.sha256"
    blizzarr.check(stored, record=file)
    os.remove(stored / "g/a/zarr.json")
    (stored / "zarr.json").write_text("{")
    report = blizzarr.check(stored, against=file, fast=True)
    assert [(found.kind, found.key) for found in report.findings] == [
        ("document", "zarr.json"),
        ("no-document", "g/a/c/0/0"),
        ("changed", "zarr.json"),
        ("missing", "g/a/zarr.json"),
    ]


@pytest.mark.parametrize("zarr_format", ["v3_draft", "v3_draft_zarr_python"])
@pytest.mark.parametrize("path", ["", "g"])
def test_damaged_documents_of_the_draft_are_told(tmp_path: Path, zarr_format: str, path: str) -> None:
    """Its manifest has the keys of the store, which do not depend on what the damaged document says."""
    root, file = tmp_path / "d.zarr", tmp_path / "m.sha256"
    group = blizzarr.create_group(root, zarr_format=zarr_format)
    group.create_array("g/a", data=np.arange(1, 5), chunks=2)
    blizzarr.check(root, path, record=file)
    for document in [root / "zarr.json", *root.glob("meta/**/*.json")]:
        key, stored = document.relative_to(root).as_posix(), document.read_bytes()
        if key not in read_manifest(file).digests:
            continue
        for damaged in (stored[:-3], b"", b"{}"):
            document.write_bytes(damaged)
            found = blizzarr.check(root, path, against=file, fast=True).of_kind("changed", "missing", "new")
            assert [(finding.kind, finding.key) for finding in found] == [("changed", key)]
        document.write_bytes(stored)
    assert blizzarr.check(root, path, against=file).findings == []


@pytest.mark.parametrize("zarr_format", ["v3", "v2", "v3_draft", "v3_draft_zarr_python", "n5"])
def test_a_directory_in_the_place_of_a_document_is_told(tmp_path: Path, zarr_format: str) -> None:
    """The rest is compared."""
    root, file = tmp_path / "d.zarr", tmp_path / "m.sha256"
    group = blizzarr.create_group(root, zarr_format=zarr_format, attributes={"a": 1})
    group.create_array("a", data=np.arange(1, 5), chunks=2)
    blizzarr.check(root, record=file)
    chunk = next(key for key in read_manifest(file).digests if key.endswith("1"))
    (root / chunk).unlink()
    for document in [*root.glob("*.json"), *root.glob(".z*"), *root.glob("meta/*.json")]:
        stored = document.read_bytes()
        document.unlink()
        document.mkdir()
        report = blizzarr.check(root, against=file, fast=True)
        key = document.relative_to(root).as_posix()
        assert [finding.key for finding in report.of_kind("no-file")] == [key]
        assert [finding.key for finding in report.of_kind("changed", "missing", "new", "unreadable")] == [chunk]
        document.rmdir()
        document.write_bytes(stored)


def test_damaged_data_are_not_recorded(stored: Path, tmp_path: Path) -> None:
    (stored / "s/c/0/0").write_bytes(b"")
    report = blizzarr.check(stored, record=tmp_path / "m.sha256")
    assert str(report.manifest) == f"not recorded in {tmp_path / 'm.sha256'}: something is damaged"
    assert not (tmp_path / "m.sha256").exists()


@pytest.mark.parametrize("path", ["", "g"])
@pytest.mark.parametrize("name", ["m.sha256", "g/a/c/m", "../other.zarr/../d.zarr/m"])
def test_no_manifest_among_the_data(stored: Path, path: str, name: str) -> None:
    before = sorted(stored.rglob("*"))
    with pytest.raises(PathError, match="expected a file outside of the data for the manifest"):
        blizzarr.check(stored, path, record=stored / name)
    assert sorted(stored.rglob("*")) == before


def test_a_zip_file_is_not_replaced_by_its_manifest(stored: Path, tmp_path: Path) -> None:
    blizzarr.copy(blizzarr.open(stored), tmp_path / "d.zip")
    with pytest.raises(PathError, match="outside of the data"):
        blizzarr.check(tmp_path / "d.zip", record=tmp_path / "d.zip")
    assert blizzarr.check(tmp_path / "d.zip", record=tmp_path / "m.sha256").ok
    assert blizzarr.check(tmp_path / "d.zip", against=tmp_path / "m.sha256").ok


def test_compressed_files_are_the_same_each_time(stored: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.sha256.gz"
    blizzarr.check(stored, record=file)
    assert gzip.decompress(file.read_bytes()).startswith(b"# blizzarr manifest 1\n")
    assert blizzarr.check(stored, against=file).clean
    # A hierarchy that has moved, and one that has not the same objects.
    os.rename(stored, tmp_path / "moved.zarr")
    assert blizzarr.check(tmp_path / "moved.zarr", against=file).clean
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(MetadataError, match="expected a manifest, compressed by gzip"):
        read_manifest(file)


def test_what_is_no_manifest_is_an_error(stored: Path, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="expected a manifest, found none that can be read: No such file"):
        blizzarr.check(stored, against=tmp_path / "none")
    (tmp_path / "cut").write_text("# blizzarr manifest 1\n")
    with pytest.raises(MetadataError, match="expected the head of a manifest"):
        blizzarr.check(stored, against=tmp_path / "cut")
    with pytest.raises(PathError, match="expected a file in a directory that is there"):
        blizzarr.check(stored, record=tmp_path / "no/such/file")
    with pytest.raises(ValueError, match="expected one of record, against and repair"):
        blizzarr.check(stored, against=tmp_path / "cut", repair=True)
    blizzarr.create_array(tmp_path / "draft", name="a", data=[1], zarr_format="v3_draft")
    blizzarr.check(tmp_path / "draft", record=tmp_path / "m")
    with pytest.raises(ConflictError, match="expected a manifest of this node"):
        blizzarr.check(stored, against=tmp_path / "m")


@pytest.mark.parametrize("name", ["record", "against"])
def test_row_067_a_name_with_nul_is_none(stored: Path, name: str) -> None:
    with pytest.raises(PathError, match="expected the name of a file, found NUL"):
        blizzarr.check(stored, **{name: "a\0b"})


def test_row_018_a_manifest_that_is_a_bomb(stored: Path, tmp_path: Path) -> None:
    blizzarr.check(stored, record=tmp_path / "whole")
    for head in (b"", b"# blizzarr manifest 1\n", (tmp_path / "whole").read_bytes()):
        bomb = tmp_path / "bomb.gz"
        with gzip.open(bomb, "wb") as file:
            file.write(head)
            for _ in range(128):
                file.write(bytes(1 << 20))
        tracemalloc.start()
        try:
            with pytest.raises(MetadataError, match="does not conform"):
                blizzarr.check(stored, against=bomb)
            assert tracemalloc.get_traced_memory()[1] < 32 << 20
        finally:
            tracemalloc.stop()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
@pytest.mark.parametrize("name", ["sums", "sums.gz"])
def test_a_fifo_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(StoreError, match="expected a file, found a FIFO"):
        read_manifest(tmp_path / name)
