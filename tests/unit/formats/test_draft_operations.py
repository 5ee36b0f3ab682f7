"""What the draft says about creating, finding and erasing nodes, and about keys as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import NodeNotFoundError, NodeTypeError, UnsupportedOperationError
from blizzarr.formats import find
from blizzarr.stores import ForeignStore, LocalStore

VALUES = np.arange(6, dtype="int16").reshape(2, 3)


def an_array(store: Any, name: str, **options: Any) -> Any:
    return blizzarr.create_array(store, name=name, data=VALUES, zarr_format="v3_draft", **options)


def test_no_ancestors_are_needed() -> None:
    """D-114, D-8, D-83: one document for the node, the entry point once; groups above it are implied."""
    store: dict[str, Any] = {}
    an_array(store, "a/b/c", chunks=(2, 3), compressors=None)
    assert sorted(store) == ["data/a/b/c/c0/0", "meta/a/b/c.array.json", "zarr.json"]
    for path in ("", "a", "a/b"):
        group = blizzarr.open_group(store, mode="r", path=path)
        assert group.attrs.asdict() == {}
    assert [name for name, _ in blizzarr.open_group(store).members(None)] == ["a", "a/b", "a/b/c"]


def test_an_array_and_a_group_at_one_path() -> None:
    """D-115: a friendly library checks."""
    store: dict[str, Any] = {}
    an_array(store, "a")
    with pytest.raises(NodeTypeError, match="nothing can be below it"):
        an_array(store, "a/b")
    with pytest.raises(blizzarr.errors.NodeExistsError):
        blizzarr.create_group(store, path="a", zarr_format="v3_draft")


def test_erasing_an_array() -> None:
    """D-119: its document and everything below its prefix in data; its neighbours stay."""
    store: dict[str, Any] = {}
    an_array(store, "foo/a")
    an_array(store, "foo/ab")
    root = blizzarr.open_group(store)
    del root["foo/a"]
    assert all("/ab" in key or key == "zarr.json" for key in store)
    assert np.array_equal(root["foo/ab"][:], VALUES)


def test_erasing_groups() -> None:
    """D-120, D-121: of an implicit group what is below it, of an explicit one its document too."""
    for explicit in (False, True):
        store: dict[str, Any] = {}
        if explicit:
            blizzarr.create_group(store, path="g", attributes={"a": 1}, zarr_format="v3_draft")
        an_array(store, "g/inner/x")
        an_array(store, "other")
        root = blizzarr.open_group(store)
        del root["g"]
        assert not any("g" in key.split("/")[1:2] or key.startswith("meta/g") for key in store if "other" not in key)
        assert list(root) == ["other"]


def test_an_implicit_parent_goes_with_its_last_child() -> None:
    """D-125: nothing says any more that it was there; one with a document stays."""
    store: dict[str, Any] = {}
    an_array(store, "implicit/x")
    blizzarr.create_group(store, path="explicit", zarr_format="v3_draft")
    an_array(store, "explicit/x")
    root = blizzarr.open_group(store)
    del root["implicit/x"]
    del root["explicit/x"]
    assert list(root) == ["explicit"]
    with pytest.raises(NodeNotFoundError):
        root["implicit"]


def test_whether_there_is_a_node() -> None:
    """D-122, D-123: by its documents, else by something below it."""
    store: dict[str, Any] = {}
    an_array(store, "a/b")
    root = blizzarr.open_group(store)
    assert ("a" in root, "a/b" in root, "a/c" in root, "b" in root) == (True, True, False, False)


def test_a_store_that_cannot_list() -> None:
    """D-118: nodes whose path is known open, discovery says that it is impossible."""

    class Blind:
        def __init__(self, values: dict[str, Any]) -> None:
            self.values = values

        def get(self, key: str) -> Any:
            return self.values.get(key)

    values: dict[str, Any] = {}
    an_array(values, "a/b")
    store = ForeignStore(Blind(values))
    assert np.array_equal(blizzarr.open_array(store, mode="r", path="a/b")[:], VALUES)
    with pytest.raises(UnsupportedOperationError):
        list(blizzarr.open_group(store, mode="r"))


def test_a_default_fill_value_is_written_out() -> None:
    """D-71: the document says what unwritten elements are, whoever chose it."""
    store: dict[str, Any] = {}
    an_array(store, "a")
    assert json.loads(store["meta/a.array.json"])["fill_value"] == 0


def test_keys_are_files(tmp_path: Path) -> None:
    """D-170 to D-172: a key is a path below the directory, and back; get, set, delete and listing go by it."""
    store = LocalStore(tmp_path)
    an_array(store, "foo/bar", chunks=(1, 3))
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert files == ["data/foo/bar/c0/0", "data/foo/bar/c1/0", "meta/foo/bar.array.json", "zarr.json"]
    assert store.list() == files
    assert store.list("data/foo") == files[:2]
    assert store.list_dir("meta/foo") == (("meta/foo/bar.array.json",), ())
    store.delete("data/foo/bar/c0/0")
    assert store.get("data/foo/bar/c0/0") is None
    store.delete_prefix("data/foo")
    assert not (tmp_path / "data").exists()


def test_data_describe_themselves() -> None:
    """Z-4: all that is needed to read them is in their documents, extensions among it."""
    store: dict[str, Any] = {}
    times = np.array(["2022-12-02", "NaT"], "M8[D]")
    blizzarr.create_array(store, name="t", data=times, zarr_format="v3_draft")
    moved = {key: bytes(value) for key, value in store.items()}
    found = find(blizzarr.stores.MappingStore(moved), "t")
    assert found is not None
    assert (blizzarr.open_array(moved, path="t", mode="r")[:] == times)[0]
    assert "extension" in json.loads(moved["meta/t.array.json"])["data_type"]
