"""C-26: groups without a document, as Zarr v3 had them until April 2024."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import Array, Group
from blizzarr.errors import NodeExistsError, NodeNotFoundError
from blizzarr.stores import LocalStore, MemoryStore

WARNS = "no document says that /.* is a group, as Zarr v3 wants it since 2024"


def hierarchy(store: Any) -> Any:
    """Arrays as they were written without groups above them: color/1, color/2, and deep/er/x."""
    for path in ("color/1", "color/2", "deep/er/x"):
        other: dict[str, bytes] = {}
        blizzarr.create_array(other, data=np.arange(4), chunks=2)
        for key, value in other.items():
            store.set(f"{path}/{key}", value)
    return store


@pytest.mark.parametrize("where", ["memory", "local"])
def test_it_is_read_as_a_group(where: str, tmp_path: Path) -> None:
    """C-26 F-8: with a warning, when it is opened itself; all that leads to a node is a group in it."""
    store = hierarchy(MemoryStore() if where == "memory" else LocalStore(tmp_path))
    store.set("notes/a/b/readme.txt", b"nothing of ours")
    with pytest.warns(UserWarning, match=WARNS) as issued:
        root = blizzarr.open(store)
    assert issued[0].filename == __file__
    assert isinstance(root, Group)
    assert [path for path, _ in root.walk()] == ["color", "color/1", "color/2", "deep", "deep/er", "deep/er/x"]
    array = root["color/2"]
    assert isinstance(array, Array)
    assert array[...].tolist() == [0, 1, 2, 3]
    with pytest.warns(UserWarning, match=WARNS):
        assert list(blizzarr.open_group(store, mode="r", path="deep")) == ["er"]
    with pytest.raises(NodeNotFoundError):
        blizzarr.open(store, path="notes")


def test_groups_with_documents_list_what_has_documents() -> None:
    """F-8: in a hierarchy as it should be, what has no document is nothing, and is not searched."""
    store = hierarchy(MemoryStore())
    root = blizzarr.create_group(store)
    assert list(root) == []
    with pytest.warns(UserWarning, match=WARNS):
        color = root["color"]
    assert isinstance(color, Group)
    assert list(color) == ["1", "2"]


def test_upgrade_stores_the_documents() -> None:
    """C-26: then it is a hierarchy like others, without a warning."""
    store = hierarchy(MemoryStore())
    with pytest.warns(UserWarning, match="if it is meant to be one, blizzarr.upgrade stores"):
        done = blizzarr.upgrade(store)
    assert (done.arrays, done.groups) == (3, 4)
    assert [path for path, _ in blizzarr.open_group(store).walk()][:3] == ["color", "color/1", "color/2"]


def test_what_is_made_in_it_is_plain() -> None:
    """C-26: new nodes, attributes and copies make groups with documents."""
    store = hierarchy(MemoryStore())
    with pytest.warns(UserWarning, match=WARNS):
        root = blizzarr.open(store)
    assert isinstance(root, Group)
    made = root.create_array("color/new", data=np.arange(3))
    made.append([3])
    assert (made.metadata.format, made[...].tolist()) == ("v3", [0, 1, 2, 3])
    assert json.loads(store.get("color/zarr.json"))["node_type"] == "group"
    assert json.loads(store.get("zarr.json"))["node_type"] == "group"
    assert list(blizzarr.open(store)) == ["color"]
    with pytest.warns(UserWarning, match=WARNS):
        deep = blizzarr.open(store, path="deep", mode="r+")
    deep.attrs["x"] = 1
    assert json.loads(store.get("deep/zarr.json"))["attributes"] == {"x": 1}
    target = MemoryStore()
    with pytest.warns(UserWarning, match=WARNS):
        source = blizzarr.open_group(hierarchy(MemoryStore()), mode="r")
    copied = blizzarr.copy(source, target, path="all")
    assert copied.metadata.format == "v3"
    assert [path for path, _ in copied.walk()] == ["color", "color/1", "color/2", "deep", "deep/er", "deep/er/x"]
    assert list(blizzarr.open(target)) == ["all"]


def test_members_are_found_and_not_hidden() -> None:
    """What is listed is `in` the group and can be removed; an array in its place would hide what is below it."""
    store = hierarchy(MemoryStore())
    with pytest.warns(UserWarning, match=WARNS):
        root = blizzarr.open_group(store)
    assert [name in root for name in ("color", "deep/er", "shape")] == [True, True, False]
    with pytest.raises(NodeExistsError, match="arrays or groups are below this path"):
        root.create_array("color", shape=4, dtype="int8", overwrite=True)
    del root["deep"]
    assert list(root) == ["color"]
    assert not list(store.list("deep/"))


def test_what_is_created_while_it_is_looked_for_has_its_attributes() -> None:
    """F-8: a group whose document and member are stored between two looks of a reader is shown with its document."""

    made: dict[str, bytes] = {}
    blizzarr.create_group(made, attributes={"by": "another"}).create_array("x", data=[1])

    class Late(MemoryStore):
        """Somebody creates the group just before the reader lists its prefix."""

        def list_dir(self, prefix: str) -> Any:
            for key, value in made.items():
                self.set(f"late/{key}", value)
            return super().list_dir(prefix)

    group = blizzarr.open(Late(), path="late")
    assert isinstance(group, Group)
    assert (group.attrs.get("by"), group.metadata.format) == ("another", "v3")
