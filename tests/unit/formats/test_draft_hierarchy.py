"""The draft through the objects that a user holds: implicit groups, the entry point, consolidated metadata, data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import Array, Group
from blizzarr.config import config
from blizzarr.errors import MetadataError, NodeExistsError, NodeNotFoundError, NodeTypeError, UnknownExtensionError
from blizzarr.formats import find
from blizzarr.formats.draft import DOCUMENT, ZARR_PYTHON
from blizzarr.stores import LocalStore, MemoryStore, Store

NAMES = ["v3_draft", "v3_draft_zarr_python", "v3_draft:.jsn", "v3_draft_zarr_python:.x"]


def filled(name: str, store: Any = None) -> tuple[Any, Group]:
    """A hierarchy with an array at /a/b/c, and explicit groups nowhere."""
    store = MemoryStore() if store is None else store
    blizzarr.create_array(store, name="a/b/c", data=np.arange(6), chunks=4, zarr_format=name)
    root = blizzarr.open(store, mode="r+")
    assert isinstance(root, Group)
    return store, root


def documents(store: Any) -> list[str]:
    return [key for key in store.list() if not key.startswith("data/")]


@pytest.mark.parametrize("name", NAMES)
def test_groups_above_are_implied(name: str) -> None:
    """D-8 D-9 D-114 D-116 D-122 D-123 W-12: creating an array stores its document only; groups above are implied."""
    store, root = filled(name)
    assert len(documents(store)) == 2
    assert (root.metadata.format, list(root), list(root["a"]), list(root["a/b"])) == (name, ["a"], ["b"], ["c"])
    assert [path for path, _ in root.walk()] == ["a", "a/b", "a/b/c"]
    assert isinstance(root["a/b"], Group)
    assert "a" in root
    assert "x" not in root
    with pytest.raises(NodeNotFoundError):
        root["x"]


@pytest.mark.parametrize("name", NAMES)
def test_implicit_groups_become_explicit(name: str) -> None:
    """D-83 D-125: by attributes, or by being created; then they stay when what was below them goes."""
    store, root = filled(name)
    root["a"].attrs["x"] = 1
    root.create_group("a/b", attributes={"y": 2})
    assert (dict(root["a"].attrs), dict(root["a/b"].attrs)) == ({"x": 1}, {"y": 2})
    assert len(documents(store)) == 4
    del root["a/b/c"]
    assert [path for path, _ in root.walk()] == ["a", "a/b"]


@pytest.mark.parametrize("name", NAMES)
def test_implicit_groups_go_with_what_is_below_them(name: str) -> None:
    """D-119 D-120 D-121 D-125: removing an array, an implicit or an explicit group leaves nothing of it."""
    store, root = filled(name)
    root.create_group("a/g/h")
    del root["a/b"]
    assert [path for path, _ in root.walk()] == ["a", "a/g", "a/g/h"]
    del root["a/g/h"]
    assert list(root) == []
    assert list(store.list()) == ["zarr.json"]
    assert list(blizzarr.open(store)) == []


def test_empty_directories_imply_nothing(tmp_path: Path) -> None:
    """D-120 D-122: on a file system directories may be left; a group is where keys are below."""
    _, root = filled("v3_draft", LocalStore(tmp_path))
    (tmp_path / "meta" / "empty" / "inner").mkdir(parents=True)
    assert list(root) == ["a"]
    (tmp_path / "meta" / "empty" / "x.group.json").write_text('{"attributes": {}}')
    assert list(root) == ["a", "empty"]


@pytest.mark.parametrize("name", NAMES)
def test_an_array_and_a_group_are_not_in_one_place(name: str) -> None:
    """D-2 D-115: no array where something is below, nothing below an array, no group where an array is."""
    _, root = filled(name)
    with pytest.raises(NodeExistsError, match=r"something is here already \(meta/"):
        root.create_array("a", shape=1, dtype="u1")
    with pytest.raises(NodeExistsError):
        root.create_group("a/b/c")
    with pytest.raises(NodeTypeError, match="found an array: nothing can be below it"):
        root.create_group("a/b/c/d")
    root.create_array("a", shape=1, dtype="u1", overwrite=True)
    assert [path for path, _ in root.walk()] == ["a"]


@pytest.mark.parametrize("name", NAMES)
def test_the_root(name: str) -> None:
    """D-52 D-104 D-105 D-124: a hierarchy is opened at its root, which may be implicit, a group or an array."""
    store, root = filled(name)
    assert dict(root.attrs) == {}
    root.attrs["title"] = "explicit"
    assert dict(blizzarr.open(store).attrs) == {"title": "explicit"}
    blizzarr.create_array(store, data=np.arange(3), overwrite=True, zarr_format=name)
    alone = blizzarr.open(store)
    assert isinstance(alone, Array)
    assert alone[...].tolist() == [0, 1, 2]
    assert len(documents(store)) == 2


def test_no_sub_path_is_a_hierarchy(tmp_path: Path) -> None:
    """D-124: a path within the trees has no entry point, so nothing is there."""
    filled("v3_draft", LocalStore(tmp_path))
    with pytest.raises(NodeNotFoundError, match="no array or group here") as caught:
        blizzarr.open(tmp_path / "meta")
    assert "meta/array.json" in str(caught.value.sought)


def test_other_formats_keep_out() -> None:
    """D-52: a node of another format is refused where the entry point says that this is the draft, and the reverse."""
    store, root = filled("v3_draft")
    for other in (3, 2, "v3_draft_zarr_python"):
        with pytest.raises((NodeTypeError, NodeExistsError)):
            blizzarr.create_array(store, name="q", shape=1, dtype="u1", zarr_format=other)
        with pytest.raises((NodeTypeError, NodeExistsError)):
            blizzarr.create_group(store, zarr_format=other)
    newest = blizzarr.create_group(MemoryStore())
    with pytest.raises(NodeTypeError):
        blizzarr.create_array(newest.store, name="q", shape=1, dtype="u1", zarr_format="v3_draft")
    assert list(root) == ["a"]


def test_required_extensions_stop_everything() -> None:
    """D-59 D-132 Z-4 Z-5: an extension of the hierarchy that must be understood and is not; its name is said."""
    store, _ = filled("v3_draft")
    entry = json.loads(bytes(store.get("zarr.json")))
    entry["extensions"] = [{"extension": "https://example.org/foo", "must_understand": True}]
    store.set("zarr.json", json.dumps(entry).encode())
    for path in ("", "a", "a/b/c"):
        with pytest.raises(UnknownExtensionError, match=r"https://example\.org/foo") as caught:
            blizzarr.open(store, path=path)
        assert caught.value.extensions == ("https://example.org/foo",)
    with pytest.raises(UnknownExtensionError):
        blizzarr.create_array(store, name="q", shape=1, dtype="u1", zarr_format="v3_draft")


def test_one_damaged_document_hides_no_other() -> None:
    """D-79 D-117: a document with an unknown member is an error where it is, and is listed."""
    store, root = filled("v3_draft")
    store.set("meta/a/bad.group.json", b'{"attributes": {}, "version": 1}')
    assert list(root["a"]) == ["b", "bad"]
    with pytest.raises(MetadataError, match=r"meta/a/bad.group.json .*version: expected no such member"):
        root["a/bad"]
    assert root["a/b/c"][0] == 0


class Unlistable(MemoryStore):
    def list_dir(self, prefix: str = "") -> Any:
        raise blizzarr.errors.UnsupportedOperationError("this store cannot list", store=str(self))


def test_stores_that_cannot_list() -> None:
    """D-102 D-118: arrays are opened by their paths; what is in a group cannot be found out, and the error says so."""
    store, root = filled("v3_draft", Unlistable())
    assert blizzarr.open(store, path="a/b/c")[...].tolist() == list(range(6))
    with pytest.raises(blizzarr.errors.UnsupportedOperationError, match="cannot list"):
        list(root)
    with pytest.raises(NodeNotFoundError, match=r"no document of one, .*, and the store cannot list what is there$"):
        blizzarr.open(store, path="a")


def test_consolidated_metadata_of_zarr_python() -> None:
    """W-14 Z-10: made and used like those of other formats, hidden from listings, removed when something changes."""
    store, root = filled("v3_draft_zarr_python")
    root.create_group("g", attributes={"x": 1})
    whole = blizzarr.consolidate_metadata(store)
    assert list(whole.metadata.consolidated) == ["a", "a/b", "a/b/c", "g"]  # type: ignore[arg-type]
    # As zarr-python leaves it: the place is a group of its own.
    store.set("meta/root/consolidated.group.json", b'{"attributes": {}}')
    opened = blizzarr.open_consolidated(store)
    assert (list(opened), list(opened["a"]), opened["g"].attrs["x"]) == (["a", "g"], ["b"], 1)
    assert opened["a/b/c"][...].tolist() == list(range(6))
    plain = blizzarr.open_group(store, use_consolidated=False)
    assert list(plain) == ["a", "g"]
    assert "consolidated" not in plain
    plain["a/b/c"].resize((7,))
    assert store.get("meta/root/consolidated/.zmetadata") is None
    assert list(blizzarr.open_group(store)) == ["a", "g"]
    plain.create_array("consolidated/really", shape=1, dtype="u1")
    assert list(blizzarr.open_group(store)) == ["a", "consolidated", "g"]


def test_damaged_consolidated_metadata() -> None:
    """W-14: an error with its place, and only for whoever uses them."""
    store, _ = filled("v3_draft_zarr_python")
    key = "meta/root/consolidated/.zmetadata"
    store.set(key, b'{"zarr_consolidated_format": 2, "metadata": {"x": {}, "meta/root/a.array.json": 1}}')
    assert blizzarr.open_group(store, use_consolidated=False)["a/b/c"][0] == 0
    with pytest.raises(MetadataError) as caught:
        list(blizzarr.open_group(store))
    assert caught.value.key == key
    assert [problem.path for problem in caught.value.problems] == [
        "zarr_consolidated_format",
        "metadata",
        'metadata["meta/root/a.array.json"]',
    ]
    document = {"meta/root/a.array.json": {"shape": [], "data_type": "x"}, "zarr.json": {}}
    store.set(key, json.dumps({"zarr_consolidated_format": 1, "metadata": document}).encode())
    group = blizzarr.open_group(store)
    assert list(group) == ["a"]
    with pytest.raises(MetadataError, match=r'metadata."meta/root/a.array.json"..data_type: expected'):
        group["a"]


def test_fallbacks_are_never_silent() -> None:
    """D-64 D-65: a warning when a fallback data type is used; a setting forbids it, and then the type is unknown."""
    store, root = filled("v3_draft")
    root.create_array("x", data=np.arange(3, dtype="int32"), compressors=None)
    document = json.loads(bytes(store.get("meta/x.array.json")))
    document["data_type"] = {"extension": "https://example.org/decimal", "type": "d9", "fallback": ["d9", "int32"]}
    store.set("meta/x.array.json", json.dumps(document).encode())
    with pytest.warns(UserWarning, match='"d9" of https://example.org/decimal .*fallback "int32"'):
        assert root["x"][...].tolist() == [0, 1, 2]
    with config.set(use_fallback_data_types=False), pytest.raises(UnknownExtensionError, match="decimal") as caught:
        root["x"]
    assert caught.value.extensions == ("https://example.org/decimal",)
    assert "use_fallback_data_types=True" in str(caught.value)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shards", [None, (4, 8)])
def test_data(name: str, order: Any, shards: Any, tmp_path: Path) -> None:
    """D-39 D-42 D-128 D-147 D-155 D-156: arrays of every layout are written, part by part, resized, erased."""
    store = LocalStore(tmp_path)
    expected = np.zeros((9, 10), "f4")
    options = {"shape": (9, 10), "chunks": (2, 4), "dtype": "f4", "order": order, "shards": shards}
    array = blizzarr.create_array(store, name="deep/x", zarr_format=name, **options)
    for number, part in enumerate([np.s_[1:3, 2:9], np.s_[8], np.s_[:, 3], np.s_[2:4, 4:8]], 1):
        array[part] = number
        expected[part] = number
    array.resize((11, 7))
    array.append(np.full((2, 7), 5, "f4"))
    grown = np.zeros((13, 7), "f4")
    grown[:9] = expected[:, :7]
    grown[11:] = 5
    again = blizzarr.open(store, path="deep/x")
    assert isinstance(again, Array)
    np.testing.assert_array_equal(again[...], grown)
    assert (again.shards, again.metadata.order) == (shards, order)
    array[...] = 0
    assert [key for key in store.list() if key.startswith("data/")] == []


def test_the_shard_of_the_checklist() -> None:
    """W-15: the bytes that zarr-python wrote for an array of 8 by 8 in shards of 2 by 2 chunks, read and written on."""
    store = MemoryStore()
    array = blizzarr.create_array(
        store,
        name="x",
        shape=(8, 8),
        chunks=(2, 2),
        shards=(4, 4),
        dtype="i4",
        compressors=None,
        zarr_format="v3_draft_zarr_python",
    )
    empty = b"\xff" * 16
    first, second = (np.full(4, value, "<i4").tobytes() for value in (6, 5))
    index = b"".join(number.to_bytes(8, "little") for number in (0, 16, 16, 16))
    store.set("data/root/x/c0/0", first + second + empty + index + empty)
    expected = np.zeros((8, 8), "i4")
    expected[:2, 2:4], expected[2:4, :2] = 6, 5
    np.testing.assert_array_equal(array[...], expected)
    array[3, 3] = 1
    expected[3, 3] = 1
    np.testing.assert_array_equal(blizzarr.open(store, path="x")[...], expected)


def test_scalars_lie_where_each_spelling_has_them() -> None:
    """D-38 W-3: under ``c`` in the document's spelling, under ``c0`` in zarr-python's."""
    for name, key in (("v3_draft", "data/s/c"), ("v3_draft_zarr_python", "data/root/s/c0")):
        store = MemoryStore()
        blizzarr.create_array(store, name="s", shape=(), dtype="u1", zarr_format=name, compressors=None)[...] = 7
        assert store.get(key) == b"\x07"
        assert blizzarr.open(store, path="s")[...] == 7


def test_transformers_of_the_array_are_used() -> None:
    """D-126 D-127 D-129 Z-11: chunks go through what the document lists, and are found again without anything else."""
    store = MemoryStore()
    root = blizzarr.create_group(store, zarr_format="v3_draft")
    root.create_array("x", shape=(4, 4), chunks=(1, 2), dtype="u1", storage_transformers="blizzarr.hashed")[...] = 3
    chunks = [key for key in store.list() if key.startswith("data/")]
    assert len(chunks) == 8
    assert all(re.fullmatch(r"data/x/[0-9a-f]{2}/[0-9a-f]{2}/c\d[./]\d", key) for key in chunks)
    assert (blizzarr.open(store, path="x")[...] == 3).all()
    del root["x"]
    assert list(store.list()) == ["meta/group.json", "zarr.json"]


class Counting(MemoryStore):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def get(self, key: str) -> Any:
        self.asked.append(key)
        return super().get(key)

    def list_dir(self, prefix: str = "") -> Any:
        self.asked.append(prefix)
        return super().list_dir(prefix)


def test_listing_does_not_touch_data() -> None:
    """Z-9: what is in a group is one listing of the documents' tree and one batch of documents."""
    store: Store = Counting()
    root = blizzarr.create_group(store, zarr_format="v3_draft")
    for number in range(20):
        root.create_array(f"x{number}", shape=(4,), chunks=(1,), dtype="u1")[...] = 1
    assert isinstance(store, Counting)
    store.asked.clear()
    assert len(list(root.members())) == 20
    assert [key for key in store.asked if key.endswith("/")] == ["meta/"]
    assert not [key for key in store.asked if key.startswith("data/")]


def test_finding_says_which_documents_there_are() -> None:
    """D-8: an implicit group has none, so that making it explicit cannot overwrite anybody's."""
    store, _ = filled("v3_draft")
    found = find(store, "a")
    assert found is not None
    assert found.documents == {}
    assert find(store, "a", DOCUMENT) == found
    assert find(store, "a", ZARR_PYTHON) is None


@pytest.mark.parametrize("name", NAMES[:2])
def test_copies_of_shards(name: str) -> None:
    """D-147 D-148: indexes of shards are stored as each format has them, also within each other; the rest stays."""
    values = np.arange(256).reshape(16, 16)
    inner = {"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2]}}
    outer = {"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 4], "codecs": [inner]}}
    source = blizzarr.create_array({}, data=values, chunks=(8, 8), codecs=[outer])
    copied = blizzarr.copy(source, {}, zarr_format=name)
    assert isinstance(copied, Array)
    assert (copied.metadata.format, copied.chunks, copied.shards) == (name, (2, 2), (8, 8))
    np.testing.assert_array_equal(copied[...], values)
    back = blizzarr.copy(copied, {}, zarr_format=3)
    assert isinstance(back, Array)
    assert (back.chunks, back.shards) == (copied.chunks, copied.shards)
    np.testing.assert_array_equal(back[...], values)
