"""Placing nodes: what is refused changes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import blizzarr
from blizzarr.config import config
from blizzarr.creation.describe import describe_array, describe_group
from blizzarr.errors import (
    BlizzarrError,
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    PathError,
    ReadOnlyError,
    StoreError,
)
from blizzarr.formats import read_node
from blizzarr.hierarchy.consolidate import consolidate
from blizzarr.hierarchy.documents import revise
from blizzarr.hierarchy.place import place_node
from blizzarr.model import GroupMeta
from blizzarr.stores import LocalStore, MappingStore

ARRAY = describe_array(shape=(4, 6), dtype="int16", chunks=2)
OLDER = describe_array(shape=(4, 6), dtype="int16", chunks=2, zarr_format=2, attributes={"a": 1})
GROUP = describe_group({"a": 1})


def test_groups_above_are_made() -> None:
    """F-8: there are no implicit groups, so they are stored, and those that are there stay as they are."""
    values: dict[str, bytes] = {}
    store = MappingStore(values)
    place_node(store, "", GROUP)
    place_node(store, "x/y/z", ARRAY)
    assert sorted(values) == ["x/y/z/zarr.json", "x/y/zarr.json", "x/zarr.json", "zarr.json"]
    assert json.loads(values["x/zarr.json"])["node_type"] == "group"
    assert json.loads(values["zarr.json"])["attributes"] == {"a": 1}
    assert json.loads(values["x/y/z/zarr.json"])["shape"] == [4, 6]


REFUSED: list[tuple[dict[str, bytes], str, Any, type[BlizzarrError]]] = [
    ({}, "a/../b", ARRAY, PathError),
    ({}, "/a", ARRAY, PathError),
    ({}, "__a", ARRAY, PathError),
    ({"a/zarr.json": b"{}"}, "a", ARRAY, NodeExistsError),
    ({"a/zarr.json": b""}, "a", GROUP, NodeExistsError),
    ({"a/zarr.json": b"cut off {"}, "a", ARRAY, NodeExistsError),
    ({"a/.zarray": b"{}"}, "a", GROUP, NodeExistsError),
    ({"a/c/0/0": b"old data"}, "a", ARRAY, NodeExistsError),
    ({"zarr.json": b"cut off {"}, "a", ARRAY, MetadataError),
]


@pytest.mark.parametrize(("before", "path", "meta", "error"), REFUSED)
def test_refused_and_nothing_changed(before: dict[str, bytes], path: str, meta: Any, error: type[Exception]) -> None:
    """Rows 66, 67: names that may not be, places that are taken, also by what cannot be read."""
    values = dict(before)
    with pytest.raises(error):
        place_node(MappingStore(values), path, meta)
    assert values == before


def test_nothing_can_be_below_an_array() -> None:
    """An array among the nodes above is named."""
    values: dict[str, bytes] = {}
    place_node(MappingStore(values), "a", ARRAY)
    before = dict(values)
    with pytest.raises(NodeTypeError, match="/a: expected a group, found an array") as caught:
        place_node(MappingStore(values), "a/b/c", GROUP)
    assert caught.value.array == "/a"
    assert values == before


@pytest.mark.parametrize("leftover", ["a/zarr.json", "a/c/0/0", "a/c/9", "a/.zgroup"])
def test_overwrite_clears_what_was_there(leftover: str) -> None:
    """No chunk of what was there before shows in the new array; foreign files stay (row 77)."""
    values = {leftover: b"", "a/notes.txt": b"mine"}
    with pytest.raises(NodeExistsError, match=r"not ours: a/notes\.txt;"):
        place_node(MappingStore(values), "a", ARRAY, overwrite=True)
    assert values == {leftover: b"", "a/notes.txt": b"mine"}
    with config.set(keep_foreign_files=True):
        place_node(MappingStore(values), "a", ARRAY, overwrite=True)
    assert sorted(values) == ["a/notes.txt", "a/zarr.json", "zarr.json"]
    assert json.loads(values["a/zarr.json"])["shape"] == [4, 6]


def test_read_only_is_said_before_any_work() -> None:
    """Row 89: nothing is read or written."""
    with pytest.raises(ReadOnlyError):
        place_node(MappingStore({}, read_only=True), "a", ARRAY)


@pytest.mark.parametrize(
    ("meta", "fails_at"),
    [(ARRAY, 0), (ARRAY, 1), (ARRAY, 2), (OLDER, 2), (OLDER, 3)],
)
def test_a_full_disk_leaves_nothing_half_made(meta: Any, fails_at: int) -> None:
    """Row 85: groups that were made on the way go again, and so do attributes in a document of their own."""

    class Full(dict[str, bytes]):
        left = fails_at

        def __setitem__(self, key: str, value: bytes) -> None:
            if self.left == 0:
                raise OSError(28, "No space left on device")
            self.left -= 1
            super().__setitem__(key, value)

    values = Full()
    with pytest.raises(StoreError, match="No space left") as caught:
        place_node(MappingStore(values), "a/b", meta)
    assert caught.value.errno == 28
    assert values == {}


def test_revise_keeps_both_of_two_changes() -> None:
    """Row 102: attributes set by many threads are all kept."""
    store = MappingStore({})
    place_node(store, "a", ARRAY)

    def work(worker: int) -> None:
        for turn in range(10):
            name = f"{worker}-{turn}"
            revise(store, "a", lambda meta: meta.with_attributes(meta.attributes | {name: turn}))  # noqa: B023

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    meta = read_node(store, "a")
    assert meta.attributes == {f"{worker}-{turn}": turn for worker in range(8) for turn in range(10)}


def test_revise_of_what_is_gone() -> None:
    """Row 104: the loser of a race with a removal is told."""
    with pytest.raises(NodeNotFoundError, match="was removed"):
        revise(MappingStore({}), "a", lambda meta: meta)


def test_consolidated_metadata_go_when_they_would_be_stale() -> None:
    """Row 64, Z-10: a change below drops the copies above it, and nothing else of those groups."""
    for change in ("place", "revise"):
        store = MappingStore({})
        place_node(store, "g/a", ARRAY)
        for path in ("g", ""):
            revise(store, path, lambda meta: replace(meta, attributes={"kept": 1}, consolidated={"x": ARRAY}))
            before = read_node(store, path)
            assert isinstance(before, GroupMeta)
            assert before.consolidated is not None
        if change == "place":
            place_node(store, "g/b", GROUP)
        else:
            revise(store, "g/a", lambda meta: meta.with_attributes({"new": 1}))
        for path in ("", "g"):
            meta = read_node(store, path)
            assert isinstance(meta, GroupMeta)
            assert meta.consolidated is None
            assert meta.attributes == {"kept": 1}


def test_consolidated_metadata_go_that_lack_a_group_made_again() -> None:
    """Somebody removes the group above, and somebody consolidates what is left, before the group is made again."""

    class Meanwhile(MappingStore):
        def replace(self, key: str, *values: Any) -> Any:
            if key == "g/zarr.json":
                consolidate(self, "", GroupMeta())
            return super().replace(key, *values)

    values: dict[str, bytes] = {}
    place_node(MappingStore(values), "g", GROUP)
    store = Meanwhile(values)
    place_node(store, "g/x", GROUP, before=lambda: store.delete("g/zarr.json"))
    assert read_node(store, "g") == GroupMeta()
    root = read_node(store, "")
    assert isinstance(root, GroupMeta)
    assert root.consolidated is None


def test_of_two_who_make_one_node_one_is_told() -> None:
    """Who comes second between the look and the document loses nothing of the first, nor of the groups above."""
    values: dict[str, bytes] = {}
    store = MappingStore(values)
    with pytest.raises(NodeExistsError, match="another writer"):
        place_node(store, "g/x", GROUP, before=lambda: place_node(store, "g/x", ARRAY))
    assert read_node(store, "g/x") == ARRAY
    assert sorted(values) == ["g/x/zarr.json", "g/zarr.json", "zarr.json"]
    place_node(store, "g/y/z", GROUP, before=lambda: place_node(store, "g/y", GROUP))
    assert read_node(store, "g/y") == GROUP
    with pytest.raises(NodeTypeError, match="another writer"):
        place_node(store, "g/a/z", GROUP, before=lambda: place_node(store, "g/a", ARRAY))
    others = iter([lambda: place_node(store, "g/x", ARRAY)])
    place_node(store, "g/x", GROUP, overwrite=True, before=lambda: next(others, lambda: None)())
    assert read_node(store, "g/x") == GROUP
    with pytest.raises(NodeExistsError, match="another writer"):
        place_node(store, "g/x", GROUP, overwrite=True, before=lambda: place_node(store, "g/x", ARRAY))


def test_a_group_of_n5_is_not_replaced_unasked() -> None:
    store = MappingStore({"a/attributes.json": b"{}", "a/c/0": b""})
    with pytest.raises(NodeExistsError, match=r"\(a/attributes\.json of a group, and all that is below it\); over"):
        place_node(store, "a", ARRAY)


def test_nodes_of_two_formats_are_not_consolidated(tmp_path: Path) -> None:
    """Readers would take those of v2 for nodes of v3, and find other documents there."""
    blizzarr.create_group(tmp_path / "x")
    blizzarr.create_array(tmp_path / "x" / "new", data=[1])
    blizzarr.create_array(tmp_path / "x" / "old", data=[2], zarr_format=2)
    before = (tmp_path / "x" / "zarr.json").read_bytes()
    with pytest.raises(NodeTypeError, match="found 'old' in v2, and 0 more"):
        blizzarr.consolidate_metadata(tmp_path / "x")
    assert (tmp_path / "x" / "zarr.json").read_bytes() == before
    assert blizzarr.open_group(tmp_path / "x", mode="r")["old"][...].tolist() == [2]


def test_new_place_is_asked_for_older_formats_at_once(tmp_path: Path) -> None:
    """That nothing of an older format is in a new place is one request, not one for each format."""
    requests: list[list[str]] = []

    class Counting(LocalStore):
        def get_many(self, keys: Sequence[str]) -> list[Any]:
            requests.append([*keys])
            return super().get_many(keys)

    place_node(Counting(tmp_path / "a.zarr"), "", ARRAY)
    (older,) = requests
    assert {".zarray", ".zgroup", "attributes.json", "meta/root.array.json"} <= {*older}
    assert read_node(LocalStore(tmp_path / "a.zarr"), "") == ARRAY
    (tmp_path / "b.zarr").mkdir()
    (tmp_path / "b.zarr" / "attributes.json").write_text('{"n5": "2.0.0"}')
    with pytest.raises(NodeExistsError, match=r"attributes\.json"):
        place_node(LocalStore(tmp_path / "b.zarr"), "", ARRAY)
