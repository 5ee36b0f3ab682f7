"""The draft: keys of documents and chunks, names of nodes, what a listing shows."""

from __future__ import annotations

import pytest

from blizzarr.errors import MetadataError, UnknownExtensionError
from blizzarr.formats import FORMATS, format_named
from blizzarr.formats.draft import DOCUMENT, ZARR_PYTHON, Draft, Spelling, draft_named
from blizzarr.formats.draft.entry import read
from blizzarr.model import ArrayMeta, ChunkKeys, GroupMeta


@pytest.mark.parametrize(
    ("form", "path", "array", "group", "chunks"),
    [
        (DOCUMENT, "", "meta/array.json", "meta/group.json", "data/"),
        (DOCUMENT, "foo", "meta/foo.array.json", "meta/foo.group.json", "data/foo/"),
        (DOCUMENT, "foo/bar", "meta/foo/bar.array.json", "meta/foo/bar.group.json", "data/foo/bar/"),
        (ZARR_PYTHON, "", "meta/root.array.json", "meta/root.group.json", "data/root/"),
        (ZARR_PYTHON, "foo", "meta/root/foo.array.json", "meta/root/foo.group.json", "data/root/foo/"),
        (Draft(Spelling.DOCUMENT, ".x"), "a", "meta/a.array.x", "meta/a.group.x", "data/a/"),
        (Draft(Spelling.DOCUMENT, ""), "a", "meta/a.array", "meta/a.group", "data/a/"),
        (Draft(Spelling.ZARR_PYTHON, ".x"), "", "meta/root.array.x", "meta/root.group.x", "data/root/"),
    ],
)
def test_keys_of_nodes(form: Draft, path: str, array: str, group: str, chunks: str) -> None:
    """D-4 D-5 D-103 D-104 D-105 D-106 D-107 D-108 D-109 D-111 D-122 W-3: tables 3 and 4, the array first."""
    assert form.node_keys(path) == (array, group)
    assert form.document_keys(path)[:2] == (array, group)
    assert form.chunk_prefix(path) == chunks
    assert form.entry_key == "zarr.json"
    assert list(form.entry_documents()) == ["zarr.json"]


@pytest.mark.parametrize(
    ("form", "key", "path"),
    [
        (DOCUMENT, "meta/foo/baz.array.json", "foo/baz"),
        (DOCUMENT, "meta/foo.group.json", "foo"),
        (DOCUMENT, "meta/array.json", ""),
        (DOCUMENT, "meta/group.json", ""),
        (DOCUMENT, "meta/array.group.json", "array"),
        (DOCUMENT, "meta/a.array.json.group.json", "a.array.json"),
        (DOCUMENT, "meta/foo.json", None),
        (DOCUMENT, "meta/foo.array.jsn", None),
        (DOCUMENT, "data/foo/c0/0", None),
        (DOCUMENT, "meta/.array.json", None),
        (DOCUMENT, "zarr.json", None),
        (Draft(Spelling.DOCUMENT, ".jsn"), "meta/foo.array.jsn", "foo"),
        (ZARR_PYTHON, "meta/root/foo.array.json", "foo"),
        (ZARR_PYTHON, "meta/root.group.json", ""),
        (ZARR_PYTHON, "meta/root/consolidated/.zmetadata", ""),
        (ZARR_PYTHON, "meta/foo.array.json", None),
    ],
)
def test_path_of_a_key(form: Draft, key: str, path: str | None) -> None:
    """C-20 D-113 W-14: what stands between the tree and the suffix that the hierarchy has, not ``.json``."""
    assert form.node_of(key) == path


def test_children_by_a_listing() -> None:
    """C-22 D-116: documents name arrays and groups, prefixes implicit groups; the root's own document names nothing."""
    keys = ["meta/array.json", "meta/group.json", "meta/a.array.json", "meta/b.group.json", "meta/notes.txt"]
    assert DOCUMENT.listing_prefix("") == "meta/"
    assert DOCUMENT.child_names("", keys, ["meta/b/", "meta/c/", "meta/../"]) == ["a", "b", "c"]
    assert ZARR_PYTHON.listing_prefix("x") == "meta/root/x/"
    assert ZARR_PYTHON.child_names("x", ["meta/root/x/a.array.json"], ["meta/root/x/y/"]) == ["a", "y"]
    assert DOCUMENT.groups_above("a/b/c") == ()
    assert DOCUMENT.implicit_groups
    assert DOCUMENT.node_prefixes("a") == ("meta/a/", "data/a/")


@pytest.mark.parametrize("name", ["", ".", "..", "...", "é", "a b", "a:b", "a\n", "日", "a\\b"])
def test_names_that_may_not_be(name: str) -> None:
    """D-10 D-11 D-12: a name is not empty, has only ASCII letters, digits and ``-_.``, and is not of periods only."""
    for form in (DOCUMENT, ZARR_PYTHON):
        with pytest.raises(MetadataError) as caught:
            form.encode(GroupMeta(), f"a/{name}")
        assert [problem.path for problem in caught.value.problems] == ["the path"]


@pytest.mark.parametrize("name", ["a", "A-z_0.9", "__x", ".a", "...a", "-", "x" * 300])
def test_names_that_may_be(name: str) -> None:
    """D-11 D-13 D-15: capital letters are others than small ones, and paths have no limit of 255 characters."""
    key = DOCUMENT.node_keys(f"a/{name}")[1]
    assert list(DOCUMENT.encode(GroupMeta(), f"a/{name}")) == [key]
    assert DOCUMENT.node_of(key) == f"a/{name}"


def test_keys_of_chunks() -> None:
    """D-36 D-37 D-38 W-3: the separator is what arrays choose; scalars are ``c`` here and ``c0`` there."""
    assert DOCUMENT.chunk_keys(None).key((1, 23, 45)) == "c1/23/45"
    assert DOCUMENT.chunk_keys(ChunkKeys.v2(".")).key((1, 23, 45)) == "c1.23.45"
    assert (DOCUMENT.chunk_keys(None).key(()), ZARR_PYTHON.chunk_keys(None).key(())) == ("c", "c0")


def test_formats_by_name() -> None:
    """D-57: both spellings are formats; one with another suffix has it in its name."""
    assert FORMATS["v3_draft"] is DOCUMENT
    assert FORMATS["v3_draft_zarr_python"] is ZARR_PYTHON
    assert format_named("v3_draft") is DOCUMENT
    jsn = format_named("v3_draft_zarr_python:.jsn")
    assert (jsn, jsn.name) == (Draft(Spelling.ZARR_PYTHON, ".jsn"), "v3_draft_zarr_python:.jsn")
    assert draft_named("v3_draft:/") is None
    assert draft_named("v3") is None
    with pytest.raises(UnknownExtensionError, match="v3_drafts"):
        format_named("v3_drafts")


@pytest.mark.parametrize(
    "form", [DOCUMENT, ZARR_PYTHON, Draft(Spelling.DOCUMENT, ".x"), Draft(Spelling.ZARR_PYTHON, "")]
)
def test_entry_points_are_read_as_they_are_written(form: Draft) -> None:
    """D-52 D-55 W-2: each says its own spelling and suffix, and no other format takes the hierarchy for its own."""
    raw = form.entry_documents()["zarr.json"]
    entry = read(raw)
    assert entry is not None
    assert (entry.spelling, entry.suffix) == (form.spelling, form.suffix)
    others = [DOCUMENT, ZARR_PYTHON, Draft(Spelling.DOCUMENT, ".y"), *FORMATS.values()]
    for other in others:
        if other.name != form.name:
            assert other.decode("", {"zarr.json": raw}) is None
    assert isinstance(form.decode("", {"zarr.json": raw}), GroupMeta)


def test_documents_of_other_hierarchies_are_none() -> None:
    """D-124: without the entry point, or beside the document of another format, they make no node."""
    document = b'{"attributes": {}}'
    key = DOCUMENT.node_keys("a")[1]
    assert DOCUMENT.decode("a", {key: document}) is None
    assert DOCUMENT.decode("a", {key: document, "zarr.json": b'{"zarr_format": 3, "node_type": "group"}'}) is None
    assert DOCUMENT.decode("a", {key: document, **ZARR_PYTHON.entry_documents()}) is None
    assert DOCUMENT.decode("a", DOCUMENT.entry_documents()) is None
    assert DOCUMENT.decode("a", {key: document, **DOCUMENT.entry_documents()}) == GroupMeta(format="v3_draft")


def test_of_an_array_and_a_group_the_array_counts() -> None:
    """D-115 D-122: nobody may make both, but if both are there, the array is looked for first."""
    array, group = DOCUMENT.node_keys("a")
    raw = b"""{"shape": [], "data_type": "int8", "chunk_grid": {"type": "regular", "chunk_shape": [], "separator": "/"},
        "chunk_memory_layout": "C", "fill_value": 0, "extensions": [], "attributes": {}}"""
    found = DOCUMENT.decode("a", {array: raw, group: b'{"attributes": {}}', **DOCUMENT.entry_documents()})
    assert isinstance(found, ArrayMeta)
