"""What a repair does: what is intact stays or is saved, what goes is kept elsewhere first."""

from __future__ import annotations

import fcntl
import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.array.exclusive import exclusive
from blizzarr.checking import Repair, Report
from blizzarr.display.reports import repairs_tree
from blizzarr.errors import PathError, ReadOnlyError
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, Store
from support import shards
from support.damaged import DATA, LAYOUTS, STORES, Damaged, contents

SHARDS = [layout for layout in LAYOUTS if layout != "plain"]


def done(report: Report) -> list[tuple[str, str | None, bool]]:
    return [(repair.kind, repair.key, repair.done) for repair in report.repairs]


def kept(store: Store) -> dict[str, bytes]:
    """What is in a quarantine, without the date in front."""
    return {key.partition("/")[2]: bytes(store.get(key) or b"") for key in store.list()}


def flip(value: bytes, at: int) -> bytes:
    return value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]


# Shards


@pytest.mark.parametrize("layout", SHARDS)
@pytest.mark.parametrize("store", STORES)
def test_intact_inner_chunks_are_saved(layout: str, store: str, tmp_path: Path) -> None:
    damaged = Damaged("crc32c", layout, STORES[store](tmp_path / "data"))
    damaged.plant(flip(damaged.encoded, 3))
    before, quarantine = contents(damaged.store), MemoryStore()
    report = blizzarr.check(damaged.store, repair=True, quarantine=quarantine)
    (repair,) = report.repairs
    assert (repair.kind, repair.key, repair.done) == ("inner-chunk", damaged.key, True)
    assert repair.message == "rebuilt from 3 intact inner chunks, 1 inner chunk lost"
    assert repair.lost[0][:2] == (0, 0)
    assert len(repair.lost) == 1
    assert not report.repaired
    assert kept(quarantine) == {damaged.key: before[damaged.key]}
    expected = DATA.copy()
    expected[8:, :8] = -1
    assert np.array_equal(damaged.array[...], expected)
    assert blizzarr.check(damaged.store).findings == []
    assert {key for key, value in contents(damaged.store).items() if value != before[key]} == {damaged.key}


def test_a_dry_run_changes_nothing_and_says_the_same(tmp_path: Path) -> None:
    damaged = Damaged("crc32c", "shard", LocalStore(tmp_path / "d.zarr"))
    damaged.plant(flip(damaged.encoded, 3))
    damaged.store.set("a/c/7/7", b"outside")
    before = contents(damaged.store)
    thought = blizzarr.check(damaged.store, repair=True, dry_run=True)
    assert contents(damaged.store) == before
    assert [path.name for path in tmp_path.iterdir()] == ["d.zarr"]
    did = blizzarr.check(damaged.store, repair=True)
    assert done(thought) == done(did) == [("inner-chunk", "a/c/0/0", True), ("outside", "a/c/7/7", True)]
    assert [repair.lost for repair in thought.repairs] == [repair.lost for repair in did.repairs]
    assert "would be repaired: a/c/7/7: moved away" in str(thought)


def test_the_quarantine_lies_beside_the_data_and_is_never_overwritten(tmp_path: Path) -> None:
    for number in range(3):
        damaged = Damaged("crc32c", "shard", LocalStore(tmp_path / f"d{number}" / "x.zarr"))
    folders = []
    for number in range(3):
        damaged.plant(flip(damaged.encoded, number))
        before = contents(damaged.store)[damaged.key]
        (repair,) = blizzarr.check(damaged.store, "a", repair=True).repairs
        place = Path(str(repair.kept))
        assert place.read_bytes() == before
        assert place.is_relative_to(tmp_path / "d2" / "x.zarr.quarantine")
        folders.append(place.relative_to(tmp_path / "d2" / "x.zarr.quarantine").parts[0])
    assert len(set(folders)) == 3


def test_the_quarantine_of_a_node_lies_beside_its_hierarchy(tmp_path: Path) -> None:
    damaged = Damaged("crc32c", "shard", LocalStore(tmp_path / "x.zarr"))
    damaged.plant(flip(damaged.encoded, 3))
    (repair,) = blizzarr.check(tmp_path / "x.zarr" / "a", repair=True).repairs
    assert Path(str(repair.kept)).is_relative_to(tmp_path / "x.zarr.quarantine")


def test_the_quarantine_may_not_be_among_the_data(tmp_path: Path) -> None:
    damaged = Damaged("crc32c", "shard", LocalStore(tmp_path / "x.zarr"))
    damaged.plant(flip(damaged.encoded, 3))
    before = contents(damaged.store)
    with pytest.raises(PathError, match="outside of the data"):
        blizzarr.check(damaged.store, repair=True, quarantine=tmp_path / "x.zarr" / "kept")
    assert contents(damaged.store) == before


def test_other_stores_need_to_be_told_where_to_keep_things() -> None:
    damaged = Damaged("crc32c", "shard")
    damaged.plant(flip(damaged.encoded, 3))
    before = contents(damaged.store)
    with pytest.raises(PathError, match="name a directory or a store"):
        blizzarr.check(damaged.store, repair=True)
    assert contents(damaged.store) == before


def test_what_cannot_be_kept_is_not_replaced() -> None:
    class Full(MemoryStore):
        def set(self, key: str, value: Any) -> None:
            raise OSError(28, "No space left on device")

    damaged = Damaged("crc32c", "shard")
    damaged.plant(flip(damaged.encoded, 3))
    before = contents(damaged.store)
    (repair,) = blizzarr.check(damaged.store, repair=True, quarantine=Full()).repairs
    assert not repair.done
    assert "No space left on device" in repair.message
    assert contents(damaged.store) == before


@pytest.mark.parametrize("store", STORES)
def test_writers_wait_until_the_shard_is_made_anew(store: str, tmp_path: Path) -> None:
    damaged = Damaged("crc32c", "shard", STORES[store](tmp_path / "data"))
    damaged.plant(flip(damaged.encoded, 3))
    writers = []

    class Watching(MemoryStore):
        def set(self, key: str, value: Any) -> None:
            writer = threading.Thread(target=lambda: damaged.array.__setitem__((0, 0), 5))
            writer.start()
            writers.append(writer)
            time.sleep(0.1)
            assert writer.is_alive()
            super().set(key, value)

    report = blizzarr.check(damaged.store, repair=True, quarantine=Watching())
    assert report.repairs[0].done
    writers[0].join()
    expected = DATA.copy()
    expected[8:, :8] = -1
    expected[0, 0] = 5
    assert np.array_equal(damaged.array[...], expected)


@pytest.mark.parametrize("codecs", ["zstd", "raw"])
def test_an_index_with_a_wrong_checksum(codecs: str) -> None:
    damaged = Damaged(codecs, "shard")
    damaged.store.set(damaged.key, flip(damaged.shard, len(damaged.shard) - 1))
    (repair,) = blizzarr.check(damaged.store, repair=True, quarantine=MemoryStore()).repairs
    assert repair.message == "rebuilt from 4 intact inner chunks, 0 inner chunks lost"
    assert np.array_equal(damaged.array[...], DATA)


@pytest.mark.parametrize("codecs", ["zstd", "raw"])
def test_an_index_of_which_nothing_is_certain(codecs: str) -> None:
    """Any entry may name another inner chunk, so none is followed."""
    damaged = Damaged(codecs, "shard")
    body, (one, other, *rest) = shards.split(damaged.shard, 4)
    wrong = shards.join(body, [other, one, *rest])[:-4] + damaged.shard[-4:]
    damaged.store.set(damaged.key, wrong)
    report = blizzarr.check(damaged.store, repair=True, quarantine=MemoryStore())
    assert [repair.message for repair in report.repairs] == [
        "nothing of it can be saved for certain, so it stays; quarantine_damaged=True moves it away"
    ]
    assert (report.repaired, damaged.store.get(damaged.key)) == (False, wrong)


@pytest.mark.parametrize("cut", [0, 3, 67])
def test_a_shard_without_its_index_stays_and_is_reported(cut: int) -> None:
    damaged = Damaged("zstd", "shard")
    damaged.store.set(damaged.key, damaged.shard[:cut])
    report = blizzarr.check(damaged.store, repair=True, quarantine=MemoryStore())
    assert done(report) == [("shard-index", damaged.key, False)]
    assert "quarantine_damaged=True moves it away" in report.repairs[0].message
    assert damaged.store.get(damaged.key) == damaged.shard[:cut]


def test_a_shard_that_is_cut_keeps_what_its_index_still_finds() -> None:
    damaged = Damaged("zstd", "shard, index first")
    _, entries = shards.split(damaged.shard, 4, at_start=True)
    damaged.store.set(damaged.key, damaged.shard[: entries[2][0] + 1])
    quarantine = MemoryStore()
    (repair,) = blizzarr.check(damaged.store, repair=True, quarantine=quarantine).repairs
    assert (repair.done, repair.lost) == (True, ((0, 0, 1, 0), (0, 0, 1, 1)))
    assert np.array_equal(damaged.array[:8], DATA[:8])
    assert (damaged.array[8:] == -1).all()


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("what", ["the index", "every inner chunk"])
def test_a_shard_of_which_nothing_is_left_is_lost_as_a_whole(what: str, dry_run: bool) -> None:
    damaged = Damaged("zstd", "shard")
    spoilt = damaged.shard[:5]
    if what == "every inner chunk":
        spoilt = damaged.shard
        for at, _ in shards.split(damaged.shard, 4, at_start=False)[1]:
            spoilt = flip(spoilt, at)
    damaged.store.set(damaged.key, spoilt)
    quarantine = None if dry_run else MemoryStore()
    report = blizzarr.check(damaged.store, repair=True, quarantine=quarantine, quarantine_damaged=True, dry_run=dry_run)
    (repair,) = report.repairs
    assert (repair.done, repair.lost, report.repaired) == (True, ((0, 0),), False)
    leaves = [str(leaf.label) for leaf in repairs_tree(report, 9).children[0].children]
    assert leaves[-1] == "lost: the whole shard"


# Chunks


def test_chunks_that_cannot_be_decoded_stay_unless_they_may_be_moved(tmp_path: Path) -> None:
    damaged = Damaged("zstd", "plain", LocalStore(tmp_path / "d"))
    damaged.plant(damaged.encoded[:-2])
    report = blizzarr.check(damaged.store, repair=True)
    stays = "nothing of it can be saved for certain, so it stays; quarantine_damaged=True moves it away"
    assert f"not repaired: {damaged.key}: {stays}" in str(report)
    assert (done(report), report.ok, report.repaired) == ([("chunk", damaged.key, False)], False, False)
    report = blizzarr.check(damaged.store, repair=True, quarantine_damaged=True)
    (repair,) = report.repairs
    assert (repair.done, repair.message) == (True, "nothing of it can be saved; it reads as fill value")
    assert f"moved away: {damaged.key}: nothing of it" in str(report)
    assert Path(str(repair.kept)).read_bytes() == damaged.encoded[:-2]
    assert (repair.lost, report.repaired) == ((repair.chunk,), False)
    assert [str(leaf.label) for leaf in repairs_tree(report, 9).children[0].children][1:] == ["lost: the whole chunk"]
    assert (damaged.array[8:, :8] == -1).all()
    assert blizzarr.check(damaged.store).findings == []


def test_chunks_outside_the_shape_are_moved_away(tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path / "d.zarr", data=np.arange(1, 9), chunks=2)
    store = array.store
    store.set("c/4", b"outside")
    report = blizzarr.check(tmp_path / "d.zarr", repair=True)
    (repair,) = report.repairs
    assert (repair.kind, repair.key, repair.done) == ("outside", "c/4", True)
    assert Path(str(repair.kept)).read_bytes() == b"outside"
    assert store.get("c/4") is None
    array.resize(10)
    assert array[:].tolist() == [*range(1, 9), 0, 0]


def test_whoever_changes_the_shape_is_waited_for(tmp_path: Path) -> None:
    array = blizzarr.create_array(tmp_path / "d.zarr", data=np.arange(1, 9), chunks=2)
    array.store.set("c/4", bytes(array.store.get("c/0") or b""))
    reports = []
    with exclusive(array.store, "", "zarr.json"):
        thread = threading.Thread(target=lambda: reports.append(blizzarr.check(tmp_path / "d.zarr", repair=True)))
        thread.start()
        time.sleep(0.1)
        assert thread.is_alive()
        # As an append does, which has stored its rows by now.
        document = json.loads(bytes(array.store.get("zarr.json") or b""))
        array.store.set("zarr.json", json.dumps({**document, "shape": [10]}).encode())
    thread.join()
    (repair,) = reports[0].repairs
    assert (repair.done, repair.message) == (False, "the array has changed since; it stays")
    assert blizzarr.open_array(tmp_path / "d.zarr")[8:].tolist() == [1, 2]


# Leftovers


def test_leftovers_of_dead_writers_are_removed_and_of_living_ones_not_even_found(tmp_path: Path) -> None:
    blizzarr.create_array(tmp_path, name="a", data=np.arange(1, 9), chunks=2)
    for name in (".blizzarr-1", "a/c/.blizzarr-2"):
        (tmp_path / name).write_bytes(b"half a val")
    with (tmp_path / "a/c/.blizzarr-3").open("wb") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        report = blizzarr.check(tmp_path)
        assert [(one.kind, one.path, one.key) for one in report.findings] == [
            ("leftover", "/", ".blizzarr-1"),
            ("leftover", "/a", "a/c/.blizzarr-2"),
        ]
        assert report.ok
        thought = blizzarr.check(tmp_path, repair=True, dry_run=True)
        assert done(thought) == [("leftover", ".blizzarr-1", True), ("leftover", "a/c/.blizzarr-2", True)]
        assert done(blizzarr.check(tmp_path, repair=True)) == done(thought)
        assert blizzarr.check(tmp_path).findings == []
        assert (tmp_path / "a/c/.blizzarr-3").exists()


# Consolidated metadata


@pytest.fixture(params=["v3", "v2", "v3_draft_zarr_python"])
def consolidated(request: pytest.FixtureRequest) -> blizzarr.Group:
    root = blizzarr.create_group(MappingStore({}), zarr_format=request.param, attributes={"title": "t"})
    root.create_array("a", data=np.arange(1, 5), chunks=2)
    root.create_array("g/b", data=np.arange(1, 5), chunks=2)
    return blizzarr.consolidate_metadata(root)


def _document(root: blizzarr.Group, path: str) -> str:
    return next(
        key
        for key in root.store.list()
        if key.endswith((f"{path}/zarr.json", f"{path}/.zarray", f"{path}.array.json")) or key == f"{path}/zarr.json"
    )


def test_copies_that_are_as_the_documents_are_right(consolidated: blizzarr.Group) -> None:
    assert blizzarr.check(consolidated.store).findings == []


@pytest.mark.parametrize("how", ["changed", "gone", "new"])
def test_stale_copies_are_found_and_made_anew(consolidated: blizzarr.Group, how: str) -> None:
    store = consolidated.store
    key = _document(consolidated, "a")
    value = bytes(store.get(key) or b"")
    if how == "changed":
        store.set(key, json.dumps({**json.loads(value), "fill_value": 77}).encode())
        said = "a has other metadata by now"
    elif how == "gone":
        for other in list(store.list()):
            if other == key or other.startswith(("a/", "data/root/a/")):
                store.delete(other)
        said = "a is not there"
    else:
        for other in list(store.list()):
            if other.startswith(("a/", "data/root/a/", "meta/root/a.")):
                new = other.replace("a/", "new/", 1) if other.startswith("a/") else other.replace("/a", "/new", 1)
                store.set(new, bytes(store.get(other) or b""))
        said = "new is not in them"
    (finding,) = blizzarr.check(store).findings
    assert (finding.kind, finding.path, finding.message, finding.repairable) == ("consolidated", "/", said, True)
    report = blizzarr.check(store, repair=True, quarantine=MemoryStore())
    assert done(report) == [("consolidated", finding.key, True)]
    assert report.repaired
    assert blizzarr.check(store).findings == []
    names = sorted(blizzarr.open_group(store).metadata.consolidated or ())
    assert names == {"changed": ["a", "g", "g/b"], "gone": ["g", "g/b"], "new": ["a", "g", "g/b", "new"]}[how]


def test_a_v2_copy_of_the_group_itself_counts_too() -> None:
    memory: dict[str, Any] = {}
    blizzarr.consolidate_metadata(blizzarr.create_group(memory, zarr_format=2, attributes={"a": 1}))
    memory[".zattrs"] = b'{"a": 2}'
    (finding,) = blizzarr.check(memory).findings
    assert (finding.kind, finding.key) == ("consolidated", ".zmetadata")
    assert finding.message == "the group itself has other metadata"
    assert blizzarr.check(memory, repair=True, quarantine=MemoryStore()).repaired
    assert json.loads(memory[".zmetadata"])["metadata"][".zattrs"] == {"a": 2}


def test_groups_above_keep_theirs() -> None:
    memory: dict[str, Any] = {}
    root = blizzarr.create_group(memory)
    root.create_array("g/b", data=[1, 2, 3])
    blizzarr.consolidate_metadata(memory, path="g")
    blizzarr.consolidate_metadata(memory)
    document = json.loads(memory["g/zarr.json"])
    document["consolidated_metadata"]["metadata"]["b"]["shape"] = [4]
    memory["g/zarr.json"] = json.dumps(document).encode()
    assert [finding.path for finding in blizzarr.check(memory).findings] == ["/g"]
    report = blizzarr.check(memory, repair=True, quarantine=MemoryStore())
    assert [(repair.path, repair.done) for repair in report.repairs] == [("/g", True), ("/", True)]
    assert sorted(blizzarr.open_group(memory).metadata.consolidated or ()) == ["g", "g/b"]
    assert blizzarr.check(memory).findings == []


def test_what_cannot_be_read_cannot_be_consolidated() -> None:
    memory: dict[str, Any] = {}
    root = blizzarr.create_group(memory)
    root.create_array("a", data=[1, 2, 3])
    root.create_array("b", data=[1, 2, 3])
    blizzarr.consolidate_metadata(memory)
    memory["b/zarr.json"] = b"{"
    memory["a/zarr.json"] = memory["a/zarr.json"].replace(b'"fill_value": 0', b'"fill_value": 5')
    before = dict(memory)
    report = blizzarr.check(memory, repair=True, quarantine=MemoryStore())
    assert [finding.kind for finding in report.findings] == ["document", "consolidated"]
    (repair,) = report.repairs
    assert not repair.done
    assert repair.message.startswith("cannot be rebuilt: b/zarr.json does not conform")
    assert memory == before


# The report


def test_what_is_read_only_is_not_repaired(tmp_path: Path) -> None:
    blizzarr.create_array(tmp_path, data=[1, 2, 3])
    with pytest.raises(ReadOnlyError):
        blizzarr.check(blizzarr.open_array(tmp_path, mode="r"), repair=True)
    with pytest.raises(ValueError, match="dry_run with repair=True"):
        blizzarr.check(tmp_path, dry_run=True)


def test_a_report_is_plain_data() -> None:
    damaged = Damaged("crc32c", "shard")
    damaged.plant(flip(damaged.encoded, 3))
    report = blizzarr.check(damaged.store, repair=True, quarantine=MemoryStore())
    found = json.loads(json.dumps(report.to_dict()))
    assert (found["blizzarr_check"], found["ok"], found["errors"], found["chunks"]) == (1, False, 1, 4)
    (finding,) = found["findings"]
    assert set(finding) == {"kind", "severity", "path", "key", "chunk", "codec", "message", "advice", "repairable"}
    assert (finding["chunk"], finding["codec"], finding["severity"]) == ([0, 0, 1, 0], "crc32c", "error")
    (repair,) = found["repairs"]
    assert (repair["lost"], repair["done"], repair["key"]) == ([[0, 0, 1, 0]], True, "a/c/0/0")
    assert str(Repair("outside", "/a", "a/c/9", "moved away", True)) == "a/c/9: moved away"


@pytest.mark.parametrize("layout", SHARDS)
def test_lost_inner_chunks_are_shown_without_the_position_of_their_shard(layout: str) -> None:
    """A shard in a shard has a position of its own."""
    damaged = Damaged("crc32c", layout)
    damaged.plant(flip(damaged.encoded, 3))
    report = blizzarr.check(damaged.store, repair=True, quarantine=MemoryStore())
    (repair,) = report.repairs
    shown = [str(leaf.label) for leaf in repairs_tree(report, 9).children[0].children]
    assert repair.chunk == (0, 0)
    assert shown[1:] == [f"lost: inner chunk {list(repair.lost[0][2:])}"]
    assert len(repair.lost[0]) == (6 if layout == "nested" else 4)
