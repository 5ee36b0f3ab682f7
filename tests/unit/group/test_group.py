"""Groups: looking into them and changing what is in them."""

from __future__ import annotations

import pickle
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr import api
from blizzarr.api import consolidate_metadata
from blizzarr.array import Array
from blizzarr.config import config
from blizzarr.errors import (
    ConflictError,
    MetadataError,
    NodeExistsError,
    NodeNotFoundError,
    NodeTypeError,
    ReadOnlyError,
)
from blizzarr.group import Group
from blizzarr.hierarchy.place import place_node
from blizzarr.stores import MappingStore


@pytest.fixture
def root() -> Group:
    """A small hierarchy."""
    root = api.create_group({}, attributes={"title": "root"})
    root.create_array("x", data=np.arange(6, dtype="i4").reshape(2, 3))
    root.create_group("g", attributes={"a": 1})
    root.create_array("g/y", shape=(4,), dtype="u1")
    root.create_array("g/h/z", shape=(), dtype="f8")
    return root


def test_identity(root: Group) -> None:
    """Names and paths."""
    group = root["g/h"]
    assert isinstance(group, Group)
    assert (group.path, group.name, group.basename, group.read_only) == ("g/h", "/g/h", "h", False)
    assert (root.path, root.name, root.basename) == ("", "/", "")
    assert repr(group).startswith("<Group /g/h in ")
    assert root["g"] == root["g"] != root
    assert group.store is root.store


def test_a_mapping(root: Group) -> None:
    """Names in order, by path too; bad names are not in it."""
    assert list(root) == list(root.keys()) == ["g", "x"]
    assert len(root) == root.nmembers() == 2
    assert all(name in root for name in ("x", "g/y", "g/h/z"))
    assert not any(name in root for name in ("y", "x/y", "", "/x", "../x", "g/", 3))
    assert root.get("nothing") is None
    assert root.get("nothing", 3) == 3
    assert isinstance(root.get("x"), Array)
    assert root["g"]["h"]["z"].shape == ()
    with pytest.raises(TypeError, match="elements are read from arrays"):
        root[0]


def test_names_of_members_are_completed(root: Group) -> None:
    """IPython asks for them after ``group["``."""
    assert root._ipython_key_completions_() == list(root)


def test_members_at_every_depth(root: Group) -> None:
    """Each group comes right before what is in it."""
    assert [name for name, _ in root.members()] == ["g", "x"]
    assert [name for name, _ in root.members(max_depth=1)] == ["g", "g/h", "g/y", "x"]
    expected = ["g", "g/h", "g/h/z", "g/y", "x"]
    assert [name for name, _ in root.walk()] == [name for name, _ in root.members(max_depth=None)] == expected
    assert [node.path for _, node in root.walk()] == expected
    assert root.nmembers(max_depth=None) == 5
    for asked in (root.members, root.nmembers, root.unreadable):
        with pytest.raises(ValueError, match="max_depth must be None or"):
            asked(-1)
    group = root["g"]
    assert isinstance(group, Group)
    assert [(name, node.path) for name, node in group.walk()] == [("h", "g/h"), ("h/z", "g/h/z"), ("y", "g/y")]
    assert (list(root.array_keys()), list(root.group_keys())) == (["x"], ["g"])
    assert [name for name, _ in root.arrays()] == ["x"]
    assert [array.path for array in root.array_values()] == ["x"]
    assert [name for name, _ in root.groups()] == ["g"]
    assert [group.path for group in root.group_values()] == ["g"]


def test_what_is_looked_for_and_what_is_there(root: Group) -> None:
    """A wrong name says which names there are."""
    with pytest.raises(NodeNotFoundError, match=r"nothing is at this path; the group / has g, x$") as caught:
        root["nothing"]
    assert isinstance(caught.value, KeyError)
    assert "nothing/zarr.json (v3)" in caught.value.sought
    root.create_array("temperature", shape=1, dtype="i1")
    with pytest.raises(NodeNotFoundError, match=r"did you mean 'temperature'\? The group / has g, temperature, x$"):
        root["temprature"]
    with pytest.raises(NodeNotFoundError, match=r"did you mean 'temperature'\?.*use_consolidated=False"):
        consolidate_metadata(root)["Temprature"]
    with pytest.raises(NodeNotFoundError, match="/x is an array, which has nothing below it"):
        root["x/deeper"]


def test_one_bad_member_hides_no_other(root: Group) -> None:
    """Row 65: the others are listed, the bad one is named, and its own error says why."""
    store = root.store
    store.set("bad/zarr.json", b"{ cut off")
    store.set("odd/zarr.json", b'{"zarr_format": 3, "node_type": "array", "shape": [-1]}')
    with pytest.warns(UserWarning, match=r"2 of 4 members of / cannot be read: 'bad': bad/zarr\.json .*'odd'"):
        members = root.members()
    assert [name for name, _ in members] == ["g", "x"]
    assert sorted(root) == ["bad", "g", "odd", "x"]
    with pytest.warns(UserWarning, match="cannot be read"):
        assert [name for name, _ in root.items()] == ["g", "x"]
    with pytest.warns(UserWarning, match="cannot be read"):
        assert [node.name for node in root.values()] == ["/g", "/x"]
    assert set(root.unreadable()) == {"bad", "odd"}
    assert isinstance(root.unreadable()["bad"], MetadataError)
    assert "bad" in root
    with pytest.raises(MetadataError, match=r"shape\[0\]"):
        root["odd"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = str(root.tree())
    assert "bad (unreadable: bad/zarr.json does not conform" in text
    assert "Unreadable   : 2" in repr(root.info)
    with pytest.raises(NodeExistsError):
        root.create_group("bad")
    del root["bad"], root["odd"]
    assert root.unreadable() == {}


def test_tree(root: Group) -> None:
    """One line for each node, as deep as asked."""
    assert str(root.tree()).splitlines() == [
        "/",
        "├── g",
        "│   ├── h",
        "│   │   └── z () float64",
        "│   └── y (4,) uint8",
        "└── x (2, 3) int32",
    ]
    assert str(root.tree(level=1)).splitlines() == ["/", "├── g", "└── x (2, 3) int32"]
    group = root["g"]
    assert isinstance(group, Group)
    assert str(group.tree()).splitlines()[0] == "/g"


def test_info(root: Group) -> None:
    """Counts, as text and as a dict."""
    facts = root.info.to_dict()
    assert (facts["arrays"], facts["groups"], facts["attributes"], facts["unreadable"]) == (1, 1, 1, 0)
    assert "Arrays       : 1" in str(root.info)


def test_require(root: Group) -> None:
    """What is there is taken if it fits, else the error says what is there; what is not there is made."""
    assert root.require_group("g") == root["g"]
    assert [group.path for group in root.require_groups("n", "m/o")] == ["n", "m/o"]
    assert root.require_array("x", shape=(2, 3), dtype="i2").dtype == "i4"
    assert root.require_array("new", shape=3, dtype="u2", fill_value=4)[0] == 4
    for require, match in (
        (lambda: root.require_array("x", shape=(3, 2)), r"shape \(3, 2\), found \(2, 3\)"),
        (lambda: root.require_array("x", shape=(2, 3), dtype="i8"), "data type int64, found int32"),
        (lambda: root.require_array("x", shape=(2, 3), dtype="i2", exact=True), "data type int16, found int32"),
        (lambda: root.require_array("g", shape=3), "expected an array, found a group"),
        (lambda: root.require_group("x"), "expected a group, found an array"),
    ):
        with pytest.raises(TypeError, match=match):
            require()


@pytest.mark.parametrize(
    "dtype",
    [
        *("string", str, "bytes", bytes, "U5", "S3", "r24", ">i2", np.dtype(">f8"), "bool", "datetime64[s]"),
        *("bfloat16", "complex_float32", [("a", ">f4"), ("b", "u1")]),
    ],
    ids=str,
)
def test_an_array_is_required_a_second_time(root: Group, dtype: Any) -> None:
    """What was created with a data type is found by the same one, in the words of NumPy or of Zarr."""
    created = root.require_array("again", shape=3, dtype=dtype)
    for exact in (False, True):
        assert root.require_array("again", shape=3, dtype=dtype, exact=exact).metadata == created.metadata


@pytest.mark.parametrize(
    ("stored", "wanted", "fits"),
    [
        *(("string", "U3", True), ("bytes", "S3", True), ("string", "bytes", False), ("string", "i4", False)),
        *(("string", "S3", False), ("i4", "string", False)),
        *(("f8", "f4", True), ("f4", "f8", False), ("i2", "u2", False)),
    ],
)
def test_other_data_types_are_those_that_lose_nothing(root: Group, stored: str, wanted: str, fits: bool) -> None:
    root.create_array("other", shape=3, dtype=stored)
    with nullcontext() if fits else pytest.raises(TypeError, match="expected 'other' to have data type"):
        assert root.require_array("other", shape=3, dtype=wanted).shape == (3,)
    with pytest.raises(TypeError, match="expected 'other' to have data type"):
        root.require_array("other", shape=3, dtype=wanted, exact=True)


def test_making_members(root: Group) -> None:
    """All the short ways, with the options of create_array."""
    assert root.zeros("a", (2,), dtype="u1")[:].tolist() == [0, 0]
    assert root.ones("b", 2)[:].tolist() == [1.0, 1.0]
    assert root.full("c", 2, 7, dtype="i2")[:].tolist() == [7, 7]
    assert root.empty("d", 2).shape == (2,)
    for name in ("empty_like", "zeros_like", "ones_like"):
        assert getattr(root, name)(name, root["x"]).dtype == "i4"
    assert root.full_like("e", np.zeros(3, "u1"), 5)[2] == 5
    root["f"] = [1, 2]
    root["f"] = np.eye(2)
    assert root["f"].shape == (2, 2)
    with pytest.raises(NodeExistsError, match="a group is here already"):
        root["g"] = [1]
    with pytest.raises(NodeTypeError, match="nothing can be below it"):
        root.create_group("x/y")
    with pytest.raises(NodeExistsError):
        root.create_array("x", shape=1, dtype="u1")


def test_removing_members() -> None:
    """A member goes with all that is in it; its neighbours and files of others stay (row 77)."""
    values: dict[str, bytes] = {}
    root = api.create_group(values)
    for name in ("g/a", "g/h/b", "gg"):
        root.create_array(name, data=np.arange(1, 9), chunks=2)
    values["g/notes.txt"] = b"mine"
    del root["g/h"]
    assert "g/h" not in root
    assert "g/a" in root
    with pytest.raises(NodeExistsError, match=r"not ours: g/notes\.txt;"):
        del root["g"]
    assert "g/a" in root
    with config.set(keep_foreign_files=True):
        del root["g"]
    assert list(root) == ["gg"]
    assert [key for key in values if key.startswith("g/")] == ["g/notes.txt"]
    with pytest.raises(NodeNotFoundError, match="no member 'g' to remove"):
        del root["g"]
    root.create_array("g", shape=8, dtype="i8", chunks=2)
    assert root["g"][:].tolist() == [0] * 8


def test_reading_only(tmp_path: Path) -> None:
    """Row 89: every change is refused, and leaves no trace on the disk."""
    api.create_group(tmp_path / "x").create_array("a", data=[1])
    before = sorted(tmp_path.rglob("*"))
    root = api.open_group(tmp_path / "x", mode="r")
    assert root.read_only
    for change in (
        lambda: root.create_group("b"),
        lambda: root.create_array("b", shape=1, dtype="u1"),
        lambda: root.__setitem__("b", [1]),
        lambda: root.__delitem__("a"),
        lambda: root.attrs.update(a=1),
        lambda: root["a"].attrs.update(a=1),
    ):
        with pytest.raises(ReadOnlyError):
            change()
    assert sorted(tmp_path.rglob("*")) == before


def test_pickling(tmp_path: Path) -> None:
    """Row 109: a group of a directory opens elsewhere."""
    root = api.create_group(tmp_path / "x", attributes={"a": 1})
    root["b"] = [1, 2]
    again = pickle.loads(pickle.dumps(root))
    assert again == root
    assert again.attrs["a"] == 1
    assert again["b"][:].tolist() == [1, 2]


class TestConsolidated:
    """F-13, row 64: the copies are used when they are there, and go when they would be stale."""

    def test_one_request_for_everything(self) -> None:
        asked: list[str] = []

        class Watched(dict[str, bytes]):
            def __getitem__(self, key: str) -> bytes:
                asked.append(key)
                return super().__getitem__(key)

        values = Watched()
        root = api.create_group(values)
        for name in ("a/x", "a/b/y", "z"):
            root.create_array(name, shape=3, dtype="u1")
        api.consolidate_metadata(values)
        asked.clear()
        root = api.open_consolidated(values)
        names = [name for name, _ in root.walk()]
        inner = root["a"]
        assert isinstance(inner, Group)
        assert [name for name, _ in inner.walk()] == ["b", "b/y", "x"]
        assert inner["b/y"].path == "a/b/y"
        assert (list(root), len(root), "a/b" in root, "q" in root) == (["a", "z"], 2, True, False)
        assert names == ["a", "a/b", "a/b/y", "a/x", "z"]
        # The documents that the root may have, in whatever format, once each; nothing of what is below it.
        assert "zarr.json" in asked
        assert len(asked) == len(set(asked))
        assert not [key for key in asked if key.startswith(("a/", "z/"))]
        with pytest.raises(NodeNotFoundError, match="consolidated metadata of / list no 'q', but 'a', 'z'"):
            root["q"]

    def test_changes_remove_them(self) -> None:
        changes: list[Any] = [
            lambda root: root.create_group("new"),
            lambda root: root.create_array("a/new", shape=1, dtype="u1"),
            lambda root: root.__delitem__("a"),
            lambda root: root["a/x"].attrs.update(b=1),
            lambda root: root["a/x"].resize(9),
            lambda root: root["a/x"].append([1]),
            lambda root: root["a"].attrs.update(b=1),
            lambda root: root["a"].create_group("b"),
        ]
        for change in changes:
            values: dict[str, bytes] = {}
            api.create_array(values, name="a/x", data=[1, 2])
            api.consolidate_metadata(values)
            change(api.open_consolidated(values))
            with pytest.raises(MetadataError, match="consolidate_metadata makes them"):
                api.open_consolidated(values)
            assert api.open_group(values).metadata.consolidated is None

    def test_attributes_of_the_group_itself_keep_them(self) -> None:
        values: dict[str, bytes] = {}
        api.create_array(values, name="a", data=[1, 2])
        root = api.consolidate_metadata(values)
        root.attrs["b"] = 1
        assert list(root) == ["a"]
        assert list(api.open_consolidated(values).metadata.consolidated or ()) == ["a"]

    def test_not_using_them(self) -> None:
        values: dict[str, bytes] = {}
        api.create_array(values, name="a", data=[1, 2])
        api.consolidate_metadata(values)
        values["b/zarr.json"] = values["a/zarr.json"]
        assert list(api.open_group(values)) == ["a"]
        plain = api.open_group(values, use_consolidated=False)
        assert list(plain) == ["a", "b"]
        plain.attrs["c"] = 1
        assert list(plain) == ["a", "b"]

    def test_a_member_that_cannot_be_read(self) -> None:
        values: dict[str, bytes] = {}
        root = api.create_group(values)
        values["bad/zarr.json"] = b"{"
        before = dict(values)
        with pytest.raises(MetadataError, match=r"bad/zarr\.json"):
            api.consolidate_metadata(root)
        assert values == before


def test_listing_asks_once_per_level() -> None:
    """A group of many arrays is one listing and one batch of documents."""
    calls: list[str] = []

    class Counting(MappingStore):
        def get(self, key: str) -> Any:
            calls.append("get")
            return super().get(key)

        def get_many(self, keys: Any) -> Any:
            calls.append(f"get_many {len(keys)}")
            return [MappingStore.get(self, key) for key in keys]

        def list_dir(self, prefix: str = "") -> Any:
            calls.append("list_dir")
            return super().list_dir(prefix)

    store = Counting({})
    root = api.create_group(store)
    for number in range(50):
        root.create_array(f"a{number:02}", shape=3, dtype="u1")
    calls.clear()
    assert len(root.members()) == 50
    assert calls == ["list_dir", "get_many 50"]
    calls.clear()
    assert len(list(root.keys())) == 50
    assert calls == ["list_dir", "get_many 50"]


def test_names_that_a_store_cannot_have_are_not_in_a_group(tmp_path: Path) -> None:
    """One that is too long for a file, for example."""
    assert "x" * 300 not in api.create_group(tmp_path / "a.zarr")


def test_consolidating_while_others_make_nodes() -> None:
    """Neither the one nor the other leaves consolidated metadata that lack a node."""
    values: dict[str, bytes] = {}
    store = MappingStore(values)
    root = api.create_group(store)
    meta = root.create_array("a", shape=(1,), dtype="u1").metadata
    place_node(store, "b", meta, before=lambda: api.consolidate_metadata(store) and None)
    assert list(api.open_group(store)) == ["a", "b"]

    class Busy(MappingStore):
        left = 1

        def replace(self, key: str, expected: Any, value: Any) -> bool:
            if self.left:
                self.left -= 1
                root.create_array(f"c{self.left}", shape=(1,), dtype="u1")
            return super().replace(key, expected, value)

    assert list(api.consolidate_metadata(Busy(values))) == ["a", "b", "c0"]
    root.create_group("d")
    busy = Busy(values)
    busy.left = 99
    with pytest.raises(ConflictError):
        api.consolidate_metadata(busy)
    assert api.open_group(store).metadata.consolidated is None


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_change_of_what_a_consolidated_group_returned_is_seen_there(zarr_format: int) -> None:
    store: dict[str, bytes] = {}
    made = api.create_group(store, zarr_format=zarr_format)
    made.create_array("a/b/x", shape=2, chunks=2, dtype="i1")
    made.create_array("a/b/y", shape=2, chunks=2, dtype="i1")
    api.consolidate_metadata(store)

    def opened() -> Group:
        return api.open_group(store, use_consolidated=True)

    root = opened()
    root["a/b/x"].attrs["unit"] = "mm"
    assert root["a/b/x"].attrs["unit"] == "mm"
    api.consolidate_metadata(store)
    root = opened()
    group = root["a"]
    group["b"]["x"].append(np.array([1, 2], "i1"))
    assert root["a/b/x"].shape == group["b/x"].shape == (4,)
    api.consolidate_metadata(store)
    root = opened()
    del root["a"]["b"]["y"]
    assert sorted(root["a/b"]) == ["x"]
    api.consolidate_metadata(store)
    root = opened()
    root["a"].refresh()
    assert root.metadata.consolidated is not None
