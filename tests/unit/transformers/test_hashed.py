"""Chunks in hashed sub-directories: where they lie, and that everything finds them there."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from typing import Any

import pytest

from blizzarr.errors import MetadataError, PathError
from blizzarr.problems import Problems
from blizzarr.stores import Listing, MappingStore, MemoryStore
from blizzarr.transformers import ArrayKeys, HashedTransformer, decode, decode_draft, transformers_of

KEYS = ArrayKeys("data/foo/", "c", "/", "c", 2)


def over(inner: Any, levels: int = 2, width: int = 2, keys: ArrayKeys = KEYS) -> Any:
    return HashedTransformer(levels, width).wrap(inner, keys)


@pytest.mark.parametrize(
    ("levels", "width", "stored"),
    [
        (1, 1, "data/foo/0/c1.0"),
        (1, 8, "data/foo/00a031d6/c1.0"),
        (2, 2, "data/foo/00/a0/c1.0"),
        (2, 3, "data/foo/00a/031/c1.0"),
        (8, 1, "data/foo/0/0/a/0/3/1/d/6/c1.0"),
    ],
)
def test_z11_where_a_chunk_lies(levels: int, width: int, stored: str) -> None:
    """Z-11: as the documentation says, so that others can find it too."""
    inner = MemoryStore()
    over(inner, levels, width).set("data/foo/c1/0", b"chunk")
    assert inner.list() == [stored]
    assert f"{zlib.crc32(b'c1.0'):08x}" == "00a031d6"


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (ArrayKeys("", "c/", "/", "c", 3), "c/1/2/3"),
        (ArrayKeys("a/b/", "c.", ".", "c", 3), "c.1.2.3"),
        (ArrayKeys("a/", "", ".", "0", 2), "17.4"),
        (ArrayKeys("a/", "", "/", "0", 2), "17/4"),
        (ArrayKeys("a/", "c/", "/", "c", 0), "c"),
        (ArrayKeys("a/", "", ".", "0", 0), "0"),
        (ArrayKeys("data/root/a/", "c", "/", "c0", 0), "c0"),
    ],
)
def test_z11_chunks_of_every_key_encoding(keys: ArrayKeys, name: str) -> None:
    """Whatever its chunks are called, what is listed are their own names."""
    inner = MemoryStore()
    store = over(inner, 1, 2, keys)
    key, dotted = keys.prefix + name, name.replace("/", ".")
    store.set(key, b"0123456789")
    assert inner.list() == [f"{keys.prefix}{zlib.crc32(dotted.encode()) >> 24:02x}/{dotted}"]
    assert store.list() == [key]
    assert store.get(key) == b"0123456789"
    assert store.get_ranges(key, [(1, 2), (-1, None)]) == [b"12", b"9"]
    assert store.get_many([key, keys.prefix + "zarr.json"]) == [b"0123456789", None]
    assert store.size(key) == 10
    assert store.replace(key, b"0123456789", b"new")
    assert not store.replace(key, None, b"newer")
    assert store.delete(key)
    assert inner.list() == []


@pytest.mark.parametrize(
    "key", ["zarr.json", "meta/foo.array.json", "data/foo/zarr.json", "data/foo/c1", "data/bar/c1/0"]
)
def test_d145_z11_other_keys_pass_through(key: str) -> None:
    """Metadata, and chunks of other arrays, lie where they always do."""
    inner = MappingStore({})
    store = over(inner)
    store.set(key, b"value")
    assert inner.mapping == {key: b"value"}
    assert (store.get(key), store.list(), store.size(key)) == (b"value", [key], 5)
    with pytest.raises(PathError):
        store.get(key + "/../x")


def test_z11_listing() -> None:
    """All levels show the original keys and no directory of ours."""
    inner = MemoryStore()
    store = over(inner)
    for key in (
        "data/foo/c0/0",
        "data/foo/c0/1",
        "data/foo/c12/5",
        "data/foo/.zattrs",
        "data/bar/c0/0",
        "meta/foo.array.json",
    ):
        store.set(key, b"1")
    own = ["data/foo/.zattrs", "data/foo/c0/0", "data/foo/c0/1", "data/foo/c12/5"]
    assert store.list() == ["data/bar/c0/0", *own, "meta/foo.array.json"]
    assert store.list("data/foo") == store.list("data/foo/") == own
    assert store.list("data/foo/c0") == own[1:3]
    assert store.list("data/foo/c7/") == []
    assert store.list("meta/") == ["meta/foo.array.json"]
    assert store.list_dir() == Listing((), ("data/", "meta/"))
    assert store.list_dir("data/") == Listing((), ("data/bar/", "data/foo/"))
    assert store.list_dir("data/foo/") == Listing(("data/foo/.zattrs",), ("data/foo/c0/", "data/foo/c12/"))
    assert store.list_dir("data/foo/c12/") == Listing(("data/foo/c12/5",), ())
    assert store.list_dir("data/bar/") == Listing((), ("data/bar/c0/",))


def test_z11_deleting_prefixes() -> None:
    """A part of the array's chunks, all of them, and what is beside them."""
    store = over(MemoryStore())
    for key in ("data/foo/c0/0", "data/foo/c0/1", "data/foo/c12/5", "data/foo/x", "data/bar/c0/0", "zarr.json"):
        store.set(key, b"1")
    store.delete_prefix("data/foo/c0")
    assert store.list("data/foo") == ["data/foo/c12/5", "data/foo/x"]
    store.delete_prefix("data/bar")
    store.delete_prefix("data/foo/")
    assert store.list() == store.store.list() == ["zarr.json"]


def test_what_is_not_ours_in_the_store() -> None:
    """A chunk in the wrong directory is somebody's file; one in no directory would be a chunk, and is none."""
    inner = MemoryStore()
    store = over(inner)
    store.set("data/foo/c1/0", b"chunk")
    for key in (
        "data/foo/00/a1/c1.0",
        "data/foo/00/a0/notes.txt",
        "data/foo/00/a0/c01.0",
        "data/foo/c1/0",
        "data/foo/c5/5",
    ):
        inner.set(key, b"foreign")
    assert store.get("data/foo/c1/0") == b"chunk"
    assert store.get("data/foo/c5/5") is None
    assert store.list() == ["data/foo/00/a0/c01.0", "data/foo/00/a0/notes.txt", "data/foo/00/a1/c1.0", "data/foo/c1/0"]


def test_chunks_are_spread_evenly() -> None:
    """No directory has many more chunks than another, whatever the grid."""
    for keys, grid in (
        (KEYS, (200, 200)),
        (ArrayKeys("", "", ".", "0", 2), (16, 4096)),
        (ArrayKeys("", "c/", "/", "c", 1), (65536,)),
    ):
        store = over(MappingStore({}), 1, 2, keys)
        names = (
            keys.name((i, j) if len(grid) > 1 else (i,))
            for i in range(grid[0])
            for j in range(grid[-1] if len(grid) > 1 else 1)
        )
        counts = Counter(store.stored(name)[:2] for name in names)
        mean = sum(counts.values()) / 256
        assert len(counts) == 256
        assert 0.75 * mean < min(counts.values()) <= max(counts.values()) < 1.25 * mean


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": 0}, r"levels: expected an integer in \[1, 8\], found 0"),
        ({"levels": 9, "width": 1}, "levels: expected an integer"),
        ({"width": 2.0}, "width: expected an integer"),
        ({"width": True}, "width: expected an integer"),
        ({"levels": "2"}, "levels: expected an integer"),
        ({"levels": 3, "width": 3}, "product is at most 8"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    """By the constructor, and in both kinds of documents."""
    with pytest.raises(MetadataError, match=message):
        HashedTransformer(**options)
    configuration = {"levels": 1, "width": 1, **options}
    for read, item in (
        (decode, {"name": HashedTransformer.name, "configuration": configuration}),
        (decode_draft, {"extension": HashedTransformer.extension, "type": "crc32", "configuration": configuration}),
    ):
        problems = Problems()
        assert read([item], 2, problems) == ()
        assert re.search(message, str(problems.items[0]))
    with pytest.raises(MetadataError, match=message):
        transformers_of({"name": HashedTransformer.name, "configuration": configuration}, 2)


@pytest.mark.parametrize("configuration", [{}, {"levels": 2}, {"width": 2}, {"levels": 2, "width": 2, "hash": "md5"}])
def test_documents_leave_nothing_out_and_add_nothing(configuration: dict[str, Any]) -> None:
    """Defaults are for users; a document says everything."""
    problems = Problems()
    decode([{"name": HashedTransformer.name, "configuration": configuration}], 2, problems)
    assert problems.items
