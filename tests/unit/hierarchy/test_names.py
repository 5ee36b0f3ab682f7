"""Which names nodes may have is for their format to say."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import zarr

import blizzarr
from blizzarr.errors import MetadataError, PathError
from blizzarr.formats import FORMATS
from blizzarr.model import GroupMeta

XARRAY = "__xarray_dataarray_variable__"
"""What xarray calls an array without a name."""


def test_names_of_v2() -> None:
    """V-1: two underscores at the start, and three dots, are no special names."""
    store: dict[str, bytes] = {}
    root = blizzarr.create_group(store, zarr_format=2)
    for name in (XARRAY, "...", "a/__b"):
        root.create_array(name, shape=(2,), dtype="u1")[...] = 7
    assert list(root) == ["...", XARRAY, "a"]
    assert XARRAY in root
    assert root[XARRAY][0] == root["a/__b"][0] == root["..."][0] == 7
    assert blizzarr.create_array(store, name="a/__c", shape=(2,), dtype="u1").metadata.format == "v2"
    del root[XARRAY]
    assert XARRAY not in root
    for name in ("..", ".", "", "a//b", "a\\b", ".zarray"):
        with pytest.raises(PathError, match=r"a name may not|expected the name"):
            root.create_group(name)


RESERVED = (XARRAY, "...", "a/__b", "__g/x")


def written_by_zarr_python(root: Path, zarr_format: int) -> Path:
    """A group with these names, which zarr-python writes in all formats."""
    group = zarr.create_group(store=root, zarr_format=zarr_format)
    for name in RESERVED:
        group.create_array(name, shape=(2,), dtype="u1")[...] = 7
    return root


def test_new_names_of_v3() -> None:
    """F-7: reserved ones are refused, unless they are allowed."""
    root = blizzarr.create_group({})
    for name in RESERVED:
        with pytest.raises(PathError, match=r"a name may not .*; such names are read, and .*reserved_names=True"):
            root.create_group(name)
    assert list(root.store.list()) == ["zarr.json"]
    with blizzarr.config.set(reserved_names=True):
        root.create_group("__g")
    root.create_array("__g/a", shape=(2,), dtype="u1")
    root["__g"].create_group("b")
    assert list(root["__g"]) == ["a", "b"]
    with blizzarr.config.set(reserved_names=True):
        for name in ("..", ".", "", "a//b", "a\\b", "zarr.json"):
            with pytest.raises(PathError, match=r"a name may not|expected the name"):
                root.create_group(name)


@pytest.mark.parametrize("consolidated", [False, True])
def test_reserved_names_of_others_are_read_in_v3(tmp_path: Path, consolidated: bool) -> None:
    """They were listed, but neither opened nor copied; with consolidated metadata the group could not be opened."""
    where = written_by_zarr_python(tmp_path / "x.zarr", 3)
    if consolidated:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            zarr.consolidate_metadata(where)
    root = blizzarr.open_group(where, mode="r")
    assert (root.metadata.consolidated is not None) == consolidated
    assert list(root) == ["...", "__g", XARRAY, "a"]
    for name in RESERVED:
        assert name in root
        assert root[name][...].tolist() == blizzarr.open(where / name)[...].tolist() == [7, 7]
    assert {path for path, _ in root.walk()} == {*RESERVED, "a", "__g"}
    assert XARRAY in str(root.tree())
    report = blizzarr.check(where)
    assert (report.kinds(), report.arrays) == ({}, 4)
    blizzarr.copy(where, tmp_path / "copied")
    assert blizzarr.diff(where, tmp_path / "copied").same
    assert zarr.open_group(tmp_path / "copied", mode="r")["a/__b"][0] == 7
    blizzarr.consolidate_metadata(where)
    writable = blizzarr.open_group(where, mode="r+")
    writable[XARRAY].resize((3,))
    del writable["__g"], writable["..."]
    assert list(blizzarr.open_group(where)) == [XARRAY, "a"]


@pytest.mark.parametrize("consolidated", [False, True])
def test_an_upgrade_keeps_reserved_names_and_says_so(tmp_path: Path, consolidated: bool) -> None:
    where = written_by_zarr_python(tmp_path / "x.zarr", 2)
    if consolidated:
        zarr.consolidate_metadata(where)
    planned = str(blizzarr.upgrade(where, dry_run=True))
    done = str(blizzarr.upgrade(where))
    for text in (planned, done):
        notes = {note: paths.split(", ") for paths, _, note in (line.partition(": ") for line in text.splitlines())}
        assert f"/{XARRAY}" in notes['in v3 a name may not start with "__", which is reserved; it is kept']
        assert "/...: in v3 a name may not consist of dots only; it is kept" in text
    assert zarr.open_group(where, mode="r")["__g/x"][0] == blizzarr.open_group(where)["__g/x"][0] == 7


@pytest.mark.parametrize(("form", "name"), [("v3", "a/.."), ("v2", "a/.."), ("v3_draft", "größe")])
def test_what_cannot_be_stored_is_said_before(form: str, name: str) -> None:
    """A format that cannot have the name of a node refuses to make its documents."""
    with pytest.raises(MetadataError, match="the path: expected names"):
        FORMATS[form].encode(GroupMeta(format=form), name)


def test_copies_into_a_format_without_such_names() -> None:
    """The node is named, and nothing is stored."""
    root = blizzarr.create_group({}, zarr_format=2)
    root.create_array("g/größe", shape=(2,), dtype="u1")
    target: dict[str, bytes] = {}
    with pytest.raises(MetadataError, match=r"/g/größe: the path: expected names that this format allows|/g/größe: "):
        blizzarr.copy(root, target, zarr_format="v3_draft")
    assert target == {}
