"""Upgrading in place: the same data under the documents of another format."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import MetadataError, NodeNotFoundError, PathError, UnsupportedOperationError
from blizzarr.stores import LocalStore, MappingStore, MemoryStore
from blizzarr.upgrading.run import KEY

VALUES = np.arange(35, dtype="int32").reshape(5, 7)
TREES = ["v2", "v3_draft", "v3_draft_zarr_python"]


def a_hierarchy(store: Any, zarr_format: str) -> None:
    """Groups and arrays of several kinds, one of them empty, one with a scalar."""
    root = blizzarr.create_group(store, attributes={"title": "brain"}, zarr_format=zarr_format)
    root.create_array("t1", data=VALUES, chunks=(2, 3), fill_value=-1, attributes={"units": "mm"})
    inner = root.create_group("scans/first", attributes={"day": 1})
    inner.create_array("big", data=VALUES.astype(">f8"), chunks=(4, 4), order="F", compressors="gzip")
    inner.create_array("empty", shape=(6,), dtype="uint8", chunks=2, fill_value=9)
    root.create_array("one", data=np.float32(2.5), chunks=())


def check(store: Any, zarr_format: str) -> None:
    """What `a_hierarchy` made, in this format."""
    root = blizzarr.open_group(store, mode="r")
    assert root.metadata.format == zarr_format
    assert root.attrs.asdict() == {"title": "brain"}
    names = [name for name, _ in root.members(None)]
    assert names == ["one", "scans", "scans/first", "scans/first/big", "scans/first/empty", "t1"]
    assert np.array_equal(root["t1"][:], VALUES)
    assert root["t1"].attrs.asdict() == {"units": "mm"}
    assert root["t1"].fill_value == -1
    assert root["scans/first"].attrs.asdict() == {"day": 1}
    assert np.array_equal(root["scans/first/big"][:], VALUES)
    assert root["scans/first/empty"][:].tolist() == [9] * 6
    assert root["one"][()] == 2.5
    for name in names:
        assert root[name].metadata.format == zarr_format


def chunks_of(values: dict[str, Any]) -> list[bytes]:
    """The values that are no documents, in order of their bytes."""
    return sorted(bytes(value) for value in values.values() if not bytes(value).lstrip().startswith(b"{"))


@pytest.mark.parametrize("old", TREES)
def test_a_hierarchy(old: str) -> None:
    """Z-2, F-12: metadata become v3's, no chunk's bytes change, nothing of the old format is left."""
    values: dict[str, Any] = {}
    a_hierarchy(values, old)
    check(values, old)
    before = chunks_of(values)
    done = blizzarr.upgrade(values)
    assert (done.done, done.arrays, done.groups, done.problems) == (True, 4, 3, ())
    check(values, "v3")
    assert chunks_of(values) == before
    documents = [key for key in values if key.rpartition("/")[2] == "zarr.json"]
    assert len(documents) == 7
    assert len(values) == len(documents) + len(before)
    assert blizzarr.upgrade(values).nodes == ()


@pytest.mark.parametrize("old", TREES)
def test_a_directory(old: str, tmp_path: Path) -> None:
    """On a local file system; the old directories of the draft go too."""
    a_hierarchy(tmp_path, old)
    assert blizzarr.upgrade(tmp_path).done
    check(tmp_path, "v3")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "scans", "t1", "zarr.json"]


def test_chunks_of_v2_stay_where_they_are(tmp_path: Path) -> None:
    """F-12: v3 has the keys of v2; not even the time of a chunk's file changes."""
    blizzarr.create_array(tmp_path, name="a", data=VALUES, chunks=3, zarr_format=2)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.name[0].isdigit()}
    assert len(before) == 6
    done = blizzarr.upgrade(tmp_path)
    assert not any(node.moves_chunks for node in done.nodes)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.name[0].isdigit()} == before


def test_an_array_of_v1() -> None:
    """Z-2: a store of v1, whose fill value may be null."""
    values: dict[str, Any] = {}
    blizzarr.create_array(values, data=VALUES, chunks=(2, 3), attributes={"a": [1]}, zarr_format=1)
    meta = json.loads(values["meta"])
    values["meta"] = json.dumps(meta | {"fill_value": None}).encode()
    planned = blizzarr.upgrade(values, dry_run=True)
    assert "null" in str(planned)
    blizzarr.upgrade(values)
    array = blizzarr.open_array(values, mode="r")
    assert (array.metadata.format, array.fill_value, array.attrs.asdict()) == ("v3", 0, {"a": [1]})
    assert np.array_equal(array[:], VALUES)
    assert sorted(values)[:1] == ["0.0"]
    assert not {"meta", "attrs"} & set(values)


def test_from_v1_to_v2() -> None:
    """O-27: the same keys of chunks; meta becomes .zarray, attrs .zattrs."""
    values: dict[str, Any] = {}
    zlib = {"id": "zlib", "level": 1}
    blizzarr.create_array(values, data=VALUES, chunks=(2, 3), compressors=zlib, attributes={"a": [1]}, zarr_format=1)
    blizzarr.upgrade(values, to=2)
    assert sorted(key for key in values if not key[0].isdigit()) == [".zarray", ".zattrs"]
    document = json.loads(values[".zarray"])
    assert (document["filters"], document["compressor"]) == (None, zlib)
    assert np.array_equal(blizzarr.open_array(values, mode="r")[:], VALUES)


@pytest.mark.parametrize("old", TREES)
def test_dry_run_changes_nothing(old: str) -> None:
    """It says what would happen."""
    values: dict[str, Any] = {}
    a_hierarchy(values, old)
    before = dict(values)
    planned = blizzarr.upgrade(values, dry_run=True)
    assert values == before
    assert (planned.done, planned.arrays, planned.groups) == (False, 4, 3)
    assert f"4 arrays and 3 groups to upgrade from {old} to v3" in str(planned)
    assert json.loads(json.dumps(planned.to_dict()))["nodes"][0]["path"] == "/"


class Dies(dict[str, Any]):
    """Memory that fails before the operation of this number that changes it."""

    left = 1 << 30

    def _count(self) -> None:
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1

    def __setitem__(self, key: str, value: Any) -> None:
        self._count()
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._count()
        super().__delitem__(key)

    def pop(self, key: str, *default: Any) -> Any:
        self._count()
        return super().pop(key, *default)


def interrupted(start: dict[str, Any], to: Any) -> Iterator[tuple[int, Dies, bool]]:
    """What an upgrade leaves that dies before each of its changes, the number of that change, and if it was done."""
    done = False
    for stop in itertools.count():
        if done:
            return
        values = Dies(start)
        values.left = stop
        try:
            done = blizzarr.upgrade(values, to=to).done
        except BaseException as error:
            assert isinstance(error, KeyboardInterrupt) or "KeyboardInterrupt" in repr(error)  # noqa: PT017
        values.left = 1 << 30
        yield stop, values, done


@pytest.mark.filterwarnings("ignore:.*in two formats")
@pytest.mark.parametrize("old", TREES)
def test_interrupted_anywhere(old: str) -> None:
    """At any point either the old documents open or the new ones do, with all data; running it again finishes it."""
    values = Dies()
    a_hierarchy(values, old)
    start = dict(values)
    finished = dict(start)
    blizzarr.upgrade(finished)
    for stop, values, done in interrupted(start, "v3"):
        if done:
            break
        seen = blizzarr.open_group(values, mode="r")
        if seen.metadata.format == old:
            # What the old format's readers find is whole.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                assert np.array_equal(blizzarr.open(values, path="t1", zarr_format=old)[:], VALUES)
        assert np.array_equal(blizzarr.open(values, path="t1")[:], VALUES)
        assert np.array_equal(blizzarr.open(values, path="scans/first/big")[:], VALUES)
        assert blizzarr.upgrade(values).done
        check(values, "v3")
        assert values == finished, f"{stop}: no document of the old format is left without what made it a node"
    assert stop >= 20
    check(values, "v3")


@pytest.mark.filterwarnings("ignore:.*in two formats")
def test_interrupted_on_the_way_to_an_older_format() -> None:
    """While both documents are there, the newer format counts: its chunks stay until its documents are gone."""
    start: dict[str, Any] = {}
    root = blizzarr.create_group(start)
    for name in ("a", "b"):
        root.create_array(name, data=VALUES, chunks=(2, 3))
    finished = dict(start)
    blizzarr.upgrade(finished, to="v2")
    assert not [key for key in finished if "/c/" in key or key.endswith("zarr.json")]
    for stop, values, done in interrupted(start, "v2"):
        for name in ("a", "b"):
            assert np.array_equal(blizzarr.open_array(values, path=name, mode="r")[:], VALUES), stop
        assert done or blizzarr.upgrade(values, to="v2").done
        assert values == finished
    assert stop + 1 >= 20


@pytest.mark.filterwarnings("ignore:.*in two formats")
@pytest.mark.parametrize(
    ("old", "new"), [("v3_draft", "v3"), ("v2", "v3_draft"), ("v2", "n5"), ("v3", "v3_draft"), ("n5", "v3_draft")]
)
def test_groups_are_whole_at_any_interruption(old: str, new: str) -> None:
    """Whichever format counts, no group lacks attributes or members or has others, and members can be read."""
    start: dict[str, Any] = {}
    root = blizzarr.create_group(start, attributes={"title": "brain"}, zarr_format=old)
    root.create_group("a", attributes={"day": 1}).create_group("b", attributes={"day": 2})
    if "n5" not in (old, new):
        root.create_array("meta", data=VALUES, chunks=(2, 3), attributes={"units": "mm"})
        root.create_array("a/x", data=VALUES, chunks=(2, 3))
    expected = in_members(root)
    for stop, values, done in interrupted(start, new):
        assert in_members(blizzarr.open_group(values, mode="r")) == expected, stop
        if not done:
            blizzarr.upgrade(values, to=new)
        assert blizzarr.open_group(values, mode="r").metadata.format == new
        assert in_members(blizzarr.open_group(values, mode="r")) == expected, stop
        assert blizzarr.check(values).clean
    assert stop + 1 >= 10


def in_members(root: blizzarr.Group) -> dict[str, Any]:
    """The attributes and elements of a group and of everything in it."""
    nodes = [("", root), *root.members(None)]
    return {name: (node.attrs.asdict(), isinstance(node, blizzarr.Array) and node[:].tolist()) for name, node in nodes}


@pytest.mark.parametrize(("old", "new"), [("v1", "v3_draft"), ("v3_draft_zarr_python", "v3_draft"), ("v3_draft", "v1")])
def test_documents_that_cannot_lie_beside_each_other(old: str, new: str, tmp_path: Path) -> None:
    """They are an obstacle like any other: nothing is changed, and another upgrade is still possible."""
    blizzarr.create_array(tmp_path / "a", data=VALUES, zarr_format=old)
    with pytest.raises(MetadataError, match=r"copy (it|the hierarchy) instead"):
        blizzarr.upgrade(tmp_path / "a", to=new)
    assert blizzarr.upgrade(tmp_path / "a").done
    assert np.array_equal(blizzarr.open_array(tmp_path / "a")[:], VALUES)


@pytest.mark.filterwarnings("ignore:.*in two formats")
@pytest.mark.parametrize("old", TREES)
def test_what_is_written_after_an_interruption_is_kept(old: str) -> None:
    """Whichever document counts, going on neither brings old chunks back nor hides members meanwhile."""
    start: dict[str, Any] = {}
    a_hierarchy(start, old)
    for stop, values, done in interrupted(start, "v3"):
        members = blizzarr.open_group(values)["scans"].members(None)
        assert [name for name, _ in members] == ["first", "first/big", "first/empty"]
        big = blizzarr.open_array(values, path="scans/first/big", mode="r+")
        big[0, 0] = 99
        big[4:] = 0  # the fill value: chunks go
        assert done or blizzarr.upgrade(values).done
        expected = VALUES.copy()
        expected[0, 0], expected[4:] = 99, 0
        assert np.array_equal(blizzarr.open(values, path="scans/first/big")[:], expected), stop
    assert stop + 1 >= 20


@pytest.mark.filterwarnings("ignore:.*in two formats")
@pytest.mark.parametrize(("old", "new"), [("v2", "v3"), ("v3", "v2")])
@pytest.mark.parametrize("consolidated", [False, True])
def test_what_is_changed_after_an_interruption_is_kept(old: str, new: str, *, consolidated: bool) -> None:
    """Elements, rows, attributes and nodes, whichever document counts until the upgrade goes on."""
    start: dict[str, Any] = {}
    root = blizzarr.create_group(start, zarr_format=old)
    root.create_array("g/a", data=np.arange(4), chunks=2, attributes={"units": "mm"})
    if consolidated:
        blizzarr.consolidate_metadata(start)
    for stop, values, done in interrupted(start, new):
        array = blizzarr.open_array(values, path="g/a", mode="r+")
        array[:2] = [9, 8]
        array[2:] = 0  # the fill value: a chunk goes
        array.append([7])
        del array.attrs["units"]
        blizzarr.open_group(values, path="g", mode="r+").attrs["day"] = 1
        if not done:
            blizzarr.upgrade(values, to=new)
        root = blizzarr.open_group(values, mode="r")
        assert root.metadata.format == new
        assert root["g/a"][:].tolist() == [9, 8, 0, 0, 7], stop
        assert (root["g"].attrs.asdict(), root["g/a"].attrs.asdict()) == ({"day": 1}, {})
        assert blizzarr.check(values).clean
    assert stop + 1 >= 10


def test_a_directory_of_an_interrupted_upgrade_opens(tmp_path: Path) -> None:
    """Its chunks have directories at their new place, but no document there."""
    root = blizzarr.create_group(tmp_path / "t", zarr_format="v3_draft")
    root.create_array("g/a", data=VALUES)
    (tmp_path / "t/g/a/c/0").mkdir(parents=True)
    assert np.array_equal(blizzarr.open(tmp_path / "t/g/a")[:], VALUES)
    assert blizzarr.check(tmp_path / "t/g/a").ok
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(tmp_path / "t/g/a/c")


def test_everything_that_stands_against_it_is_told_at_once() -> None:
    """What v3 cannot express, and what cannot be read, in every node; nothing changes."""
    values: dict[str, Any] = {}
    root = blizzarr.create_group(values, zarr_format=2)
    root.create_array("good", data=VALUES)
    root.create_array("bad", data=VALUES)
    root.create_array("worse", data=VALUES)
    values["bad/.zarray"] = b"{"
    document = json.loads(values["worse/.zarray"])
    document["dtype"] = [["a", "<i4", [2]]]
    document["fill_value"] = None
    values["worse/.zarray"] = json.dumps(document).encode()
    before = dict(values)
    planned = blizzarr.upgrade(values, dry_run=True)
    assert {problem.path.split(":")[0] for problem in planned.problems} == {"/bad", "/worse"}
    (unreadable,) = [str(problem) for problem in planned.problems if problem.path == "/bad"]
    told = (
        "/bad: expected a node that can be read; restore or remove it, found bad/.zarray does not conform: the document"
    )
    assert unreadable.startswith(told)
    with pytest.raises(MetadataError) as caught:
        blizzarr.upgrade(values)
    assert caught.value.problems == planned.problems
    assert values == before


def test_consolidated_metadata_are_kept_true() -> None:
    """Z-10: those of v2 become those of v3, with the documents as they are now."""
    values: dict[str, Any] = {}
    a_hierarchy(values, "v2")
    blizzarr.consolidate_metadata(values)
    assert ".zmetadata" in values
    blizzarr.upgrade(values)
    assert ".zmetadata" not in values
    root = blizzarr.open_consolidated(values)
    assert root.metadata.consolidated is not None
    assert {meta.format for meta in root.metadata.consolidated.values()} == {"v3"}
    check(values, "v3")


@pytest.mark.parametrize("new", ["v3_draft", "n5"])
def test_consolidated_metadata_that_the_format_lacks(new: str) -> None:
    """They are left out, with a note, as by a copy."""
    values: dict[str, Any] = {}
    blizzarr.create_group(values, zarr_format=2).create_group("a", attributes={"b": 1})
    blizzarr.consolidate_metadata(values)
    assert f"/: left out: the consolidated metadata, as {new} has none" in str(blizzarr.upgrade(values, to=new))
    assert blizzarr.open_group(values, zarr_format=new)["a"].attrs.asdict() == {"b": 1}
    assert ".zmetadata" not in values


def test_names_of_dimensions() -> None:
    """The attribute in which v2 keeps them becomes the member that v3 has."""
    values: dict[str, Any] = {}
    blizzarr.create_array(values, data=VALUES, dimension_names=["y", "x"], attributes={"a": 1}, zarr_format=2)
    assert json.loads(values[".zattrs"])["_ARRAY_DIMENSIONS"] == ["y", "x"]
    blizzarr.upgrade(values)
    array = blizzarr.open_array(values, mode="r")
    assert array.metadata.dimension_names == ("y", "x")
    assert array.attrs.asdict() == {"a": 1, "_FillValue": 0}


def test_another_document_of_the_new_format_is_not_overwritten() -> None:
    """Somebody may have made it, and be right."""
    values: dict[str, Any] = {}
    a_hierarchy(values, "v2")
    other: dict[str, Any] = {}
    blizzarr.create_array(other, data=VALUES * 2)
    values["t1/zarr.json"] = other["zarr.json"]
    before = dict(values)
    with pytest.raises(MetadataError, match=r"t1/zarr\.json"):
        blizzarr.upgrade(values)
    assert values == before


def test_foreign_files_stay(tmp_path: Path) -> None:
    """Row 77: nothing goes but old documents and old keys of chunks."""
    a_hierarchy(tmp_path, "v3_draft")
    kept = tmp_path / "data" / "t1" / "notes.txt"
    kept.write_text("mine")
    blizzarr.upgrade(tmp_path)
    assert kept.read_text() == "mine"
    assert [path.name for path in (tmp_path / "data").rglob("*") if path.is_file()] == ["notes.txt"]


def test_what_is_no_root() -> None:
    """A part of a hierarchy is not upgraded: what is above would not find it."""
    with pytest.raises(PathError, match="root of a hierarchy"):
        blizzarr.upgrade("memory://a/b")
    with pytest.raises(NodeNotFoundError):
        blizzarr.upgrade({})


def test_another_target_while_one_is_under_way() -> None:
    """An upgrade that was interrupted is finished before another one begins."""
    values: dict[str, Any] = {KEY: b'{"old": "v2", "new": "v3", "switching": false}'}
    with pytest.raises(UnsupportedOperationError, match="interrupted"):
        blizzarr.upgrade(values, to=1)


@pytest.mark.parametrize("make", [MappingStore, dict])
def test_progress(make: Callable[[dict[str, Any]], Any]) -> None:
    """Steps grow to their total: 7 documents are stored and 10 are removed."""
    values: dict[str, Any] = {}
    a_hierarchy(values, "v2")
    told: list[tuple[int, int]] = []
    blizzarr.upgrade(make(values), progress=lambda done, total: told.append((done, total)))
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1] == 17
    steps = [done for done, _ in told]
    assert steps == sorted(set(steps))
    assert len(steps) > 5


def test_a_store_that_cannot_delete(tmp_path: Path) -> None:
    """D-102: a zip file is left as it is; a copy of it is what there can be."""
    place = tmp_path / "old.zip"
    with blizzarr.open_group(place, mode="w", zarr_format=2) as root:
        root.create_array("a", data=VALUES)
    before = place.read_bytes()
    for dry_run in (True, False):
        with pytest.raises(UnsupportedOperationError, match=r"blizzarr copy .*old.zip .*old-v3.zip --format v3$"):
            blizzarr.upgrade(place, dry_run=dry_run)
    assert place.read_bytes() == before
    made = blizzarr.copy(place, tmp_path / "new.zarr", zarr_format=3)
    assert np.array_equal(made["a"][:], VALUES)


def test_a_link_where_the_store_can(tmp_path: Path) -> None:
    """Chunks of the draft get a second name, and lose the first at the end; they are not copied."""
    a_hierarchy(tmp_path, "v3_draft")
    before = {path.stat().st_ino for path in (tmp_path / "data").rglob("*") if path.is_file()}
    blizzarr.upgrade(LocalStore(tmp_path))
    after = {path.stat().st_ino for path in tmp_path.rglob("*") if path.is_file() and path.name != "zarr.json"}
    assert after == before


def test_nodes_of_another_format_in_a_hierarchy_of_the_new_one(tmp_path: Path) -> None:
    place = tmp_path / "mixed.zarr"
    root = blizzarr.create_group(place, zarr_format=3)
    root.create_array("new", data=[1, 2])
    blizzarr.create_array(place / "old", data=[3, 4], zarr_format=2)
    blizzarr.create_group(place / "group", zarr_format=2).create_array("x", data=[5, 6])
    with pytest.warns(UserWarning, match=r"v3 already, but /group \(v2\), /old \(v2\) in it do not; upgrade each"):
        assert str(blizzarr.upgrade(place)).startswith("nothing to do")
    assert blizzarr.open_array(place / "old", zarr_format=2)[...].tolist() == [3, 4]
    for name in ("group", "old"):
        blizzarr.upgrade(place / name)
    with warnings.catch_warnings(action="error"):
        blizzarr.upgrade(place)
    assert {node.metadata.format for _, node in blizzarr.open_group(place).walk()} == {"v3"}
    assert blizzarr.open_array(place / "group" / "x")[...].tolist() == [5, 6]


@pytest.mark.parametrize("is_consolidated", [False, True])
def test_nothing_to_do_in_a_store_that_cannot_list(is_consolidated: bool) -> None:
    """Nobody can tell then whether the hierarchy has nodes of other formats."""

    class Unlisted(MemoryStore):
        def __init__(self) -> None:
            super().__init__()
            self.supports_list = False

        def list(self, prefix: str = "") -> Any:
            raise UnsupportedOperationError("this store cannot list", key=prefix)

        list_dir = list

    store, listed = Unlisted(), MemoryStore()
    a_hierarchy(listed, "v3")
    if is_consolidated:
        blizzarr.consolidate_metadata(listed)
    for key in listed.list():
        store.set(key, listed.get(key))
    upgraded = blizzarr.upgrade(store)
    assert str(upgraded) == f"nothing to do: {store} has format v3"
