"""Nodes in a store: found, missing, damaged, listed."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import pytest

from blizzarr import check, formats
from blizzarr.codecs import CodecChain
from blizzarr.dtypes import DataType
from blizzarr.errors import ArchiveError, MetadataError, NodeNotFoundError
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta, RegularGrid
from blizzarr.stores import ZipStore
from support.arrays import write_node


class DictStore:
    """The least that formats need of a store."""

    def __init__(self, **values: bytes) -> None:
        self.values = dict(values)
        self.gets: list[str] = []

    def __str__(self) -> str:
        return "a dict"

    def get(self, key: str) -> bytes | None:
        self.gets.append(key)
        return self.values.get(key)

    def set(self, key: str, value: bytes) -> None:
        self.values[key] = value

    def list_dir(self, prefix: str = "") -> tuple[list[str], list[str]]:
        rests = sorted({key[len(prefix) :].partition("/")[:2] for key in self.values if key.startswith(prefix)})
        return [prefix + name for name, slash in rests if not slash], [
            prefix + name + "/" for name, slash in rests if slash
        ]


def an_array() -> ArrayMeta:
    dtype = DataType.parse("int8")
    chain = CodecChain.from_user(dtype=dtype, chunk_shape=(2,))
    return ArrayMeta((4,), dtype, RegularGrid((2,)), ChunkKeys.default(), dtype.default_fill, chain)


def a_hierarchy() -> DictStore:
    store = DictStore()
    write_node(store, "", GroupMeta({"root": True}))
    write_node(store, "g", GroupMeta())
    write_node(store, "g/x", an_array())
    store.set("g/x/c/0", b"data")
    store.set("readme/text", b"no node")
    return store


def test_read_and_write() -> None:
    """A node is written as one document and read by one get."""
    store = a_hierarchy()
    store.gets.clear()
    assert formats.read_node(store, "g/x") == an_array()
    assert store.gets[0] == "g/x/zarr.json"
    assert formats.read_node(store, "") == GroupMeta({"root": True})
    assert (formats.chunk_prefix("g/x", an_array()),) == formats.node_prefixes("g/x", an_array()) == ("g/x/",)
    assert formats.document_keys("g", GroupMeta()) == ("g/zarr.json",)


def test_children() -> None:
    """Z-9: members by listing one level; folders that are no nodes are not members."""
    store = a_hierarchy()
    root, g, x = formats.below(store, [(path, GroupMeta()) for path in ("", "g", "g/x")])
    assert [(child.name, type(child.meta)) for child in root] == [("g", GroupMeta)]
    assert [(child.name, type(child.meta)) for child in g] == [("x", ArrayMeta)]
    assert x == []


def test_a_damaged_child_hides_no_other() -> None:
    """rows 53 and 65: it is named, with its error; the others are there."""
    store = a_hierarchy()
    store.set("g/bad/zarr.json", b"{")
    bad, good = formats.below(store, [("g", GroupMeta())])[0]
    assert (bad.name, bad.meta, type(bad.error)) == ("bad", None, MetadataError)
    assert (good.name, good.error) == ("x", None)
    assert "g/bad/zarr.json" in str(bad.error)


def test_names_that_may_not_be_are_not_listed() -> None:
    """F-7: names that mean another place are no children; v2 has some that v3 reserves."""
    store = a_hierarchy()
    store.set("__x/.zgroup", b'{"zarr_format": 2}')
    assert [child.name for child in formats.below(store, [("", GroupMeta())])[0]] == ["__x", "g"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("g/y", "nothing is at this path; the group /g has x"),
        ("g/x/deep", "; /g/x is an array, which has nothing below it"),
        ("nowhere/at/all", "the group / has g, readme"),
        ("readme", "found text"),
    ],
)
def test_not_found(path: str, text: str) -> None:
    """The error says what was looked for, and what is there."""
    with pytest.raises(NodeNotFoundError) as caught:
        formats.read_node(a_hierarchy(), path)
    assert text in str(caught.value)
    assert str(caught.value).startswith(f"/{path} in a dict: no array or group here")
    assert (caught.value.array, caught.value.store) == (f"/{path}", "a dict")
    assert caught.value.sought[:2] == (f"{path}/zarr.json (v3)", f"{path}/.zarray or {path}/.zgroup (v2)")
    assert pickle.loads(pickle.dumps(caught.value)).sought == caught.value.sought
    assert len(str(caught.value)) < 160


def test_an_empty_store() -> None:
    """Nothing at all is said so."""
    with pytest.raises(NodeNotFoundError, match=r"^a dict: no array or group here: the store is empty$"):
        formats.read_node(DictStore(), "")
    with pytest.raises(NodeNotFoundError, match="nothing is at this path; there is no group above it either"):
        formats.read_node(DictStore(), "a/b")


def test_a_damaged_document_is_not_missing() -> None:
    """row 48: an empty document is damage, with the key in the error."""
    with pytest.raises(MetadataError, match=r"zarr\.json"):
        formats.read_node(DictStore(**{"zarr.json": b""}), "")


def test_damage_of_an_older_format_hides_no_node(tmp_path: Path) -> None:
    """Damaged entries have the keys of documents of N5 and v1, beside groups of v2 and where there is no node."""
    damaged = ["attributes.json", "a/meta", "b/meta"]
    documents = {".zgroup": b'{"zarr_format": 2}', "a/.zgroup": b'{"zarr_format": 2}'}
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for key, text in {**documents, **dict.fromkeys(damaged, b"intact")}.items():
            archive.writestr(key, text)
    (tmp_path / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes().replace(b"intact", b"broken"))
    with ZipStore(tmp_path / "a.zip") as store:
        *groups, missing = formats.find_many(store, ["", "a", "b"])
        assert [group.meta.format for group in groups if isinstance(group, formats.StoredNode)] == ["v2", "v2"]
        assert isinstance(missing, ArchiveError)
        assert [(one.kind, one.key) for one in check(store).findings] == [("foreign", key) for key in damaged]


def test_many_documents_in_one_request() -> None:
    """One batched request decides: the documents of all formats are asked for together, where the store can."""

    class Batching(DictStore):
        def get_many(self, keys: list[str]) -> list[bytes | None]:
            self.batches = [*getattr(self, "batches", []), list(keys)]
            return [self.values.get(key) for key in keys]

    store = Batching(**{"zarr.json": b'{"zarr_format": 3, "node_type": "group"}'})
    assert formats.detect(store, "") == GroupMeta()
    assert store.batches == [
        list(dict.fromkeys(key for form in formats.FORMATS.values() for key in form.document_keys("")))
    ]


@pytest.mark.parametrize("raw", [b"{", b'{"zarr_format": 3, "node_type": "array"}', b"[" * 30_000])
def test_the_traceback_of_a_bad_document_begins_with_its_own_error(raw: bytes) -> None:
    """It began with `KeyError: b'<the whole document>'`."""
    store = DictStore(**{"zarr.json": raw})
    with pytest.raises(MetadataError) as caught:
        formats.read_node(store, "")
    contexts = []
    error: BaseException | None = caught.value
    while error is not None and error.__context__ is not None:
        error = error.__context__
        contexts.append(type(error))
    assert KeyError not in contexts
    assert caught.value.key == "zarr.json"
