"""Faults: documents, opened from a store, that do not conform (rows 36 to 38, 40 to 64).

What is wrong with which document is told in `tests/conformance`; here each of its documents lies in a store, and is
opened, listed and created over.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, LimitError, MetadataError, NodeExistsError, UnknownExtensionError
from support.child import answer
from support.corpus import Corpus

CORPUS = Corpus("v3")
GROUP = json.dumps(CORPUS.base["group"]).encode()


def array_document(**members: Any) -> bytes:
    return CORPUS.document({"set": members})


OPENED: dict[str, Callable[[Any], Any]] = {
    "to change": lambda store: blizzarr.open(store, path="a"),
    "to read or make": lambda store: blizzarr.open(store, path="a", mode="a"),
    "as a member": lambda store: blizzarr.open_group(store, mode="r")["a"],
}
MADE: dict[str, Callable[[Any], Any]] = {
    "array": lambda store: blizzarr.create_array(store, name="a", shape=4, dtype="int8"),
    "group": lambda store: blizzarr.create_group(store, path="a"),
}


@pytest.mark.parametrize("file", sorted((CORPUS.folder / "bad").glob("*.json")), ids=lambda file: file.stem)
def test_rows_041_to_064_and_066_bad_documents_in_a_store(file: Path) -> None:
    """Never read, always named, never replaced by a new array or group; its neighbours stay usable."""
    for case in json.loads(file.read_text()):
        raw = CORPUS.document(case)
        store = {"zarr.json": GROUP, "a/zarr.json": raw, "b/zarr.json": array_document(), "a/c/0/0": b"precious"}
        before = dict(store)
        begun = time.process_time()
        for opened in OPENED.values():
            with pytest.raises((MetadataError, LimitError)) as caught:
                # What is not supported here is opened without its data.
                opened(store)[...]
            assert caught.value.key == "a/zarr.json", case["name"]
            assert "a/zarr.json" in str(caught.value), case["name"]
        for made in MADE.values():
            with pytest.raises(NodeExistsError, match="already"):
                made(store)
        assert time.process_time() - begun < 1
        assert store == before, case["name"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert list(blizzarr.open_group(store, mode="r").array_keys()) == ["b"]
        assert blizzarr.open(store, path="b")[0, 0] == 0


@pytest.mark.parametrize("length", [2**40, 2**62])
def test_row_044_reading_all_of_a_huge_array(length: int) -> None:
    """More than there is memory for is an error, and the process lives; parts of it can be read and written."""
    array = blizzarr.create_array({}, shape=(length,), chunks=(1 << 20,), dtype="uint8")
    if length > 2**40:
        with pytest.raises(LimitError, match="read a part at a time"):
            array[...]
    array[length - 3 :] = [1, 2, 3]
    assert array[-2:].tolist() == [2, 3]
    assert array[length // 2] == 0


def test_rows_042_043_044_huge_chunks_in_bounded_memory() -> None:
    """Metadata that claim huge chunks open; what must be held whole is refused before it is allocated."""
    facts = answer(
        """
        from test_bad_documents import array_document
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        from support.streams import zstd_zeros
        zstd = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
        before, seen = peak(), []
        for size in (2**34, 2**37, 2**40, 2**60):
            for codecs in (["bytes"], ["bytes", zstd]):
                grid = {"name": "regular", "configuration": {"chunk_shape": [size]}}
                store = {"zarr.json": array_document(shape=[2**62], data_type="uint8", chunk_grid=grid, codecs=codecs)}
                array = blizzarr.open(store)
                for stored in (None, b"xyz", zstd_zeros(300)):
                    if stored is not None:
                        store["c/0"] = stored
                    for do in (lambda: array[:4], lambda: array.__setitem__(3, 1), lambda: array[...]):
                        try:
                            do()
                            seen.append("fine")
                        except (LimitError, ChunkError) as error:
                            seen.append(type(error).__name__)
        tell(seen=sorted(set(seen)), mebibytes=peak() - before)
        """
    )
    assert "LimitError" in facts["seen"]
    assert facts["mebibytes"] < 64


@pytest.mark.parametrize("rank", [0, 1, 8, 32, 64])
def test_row_045_ranks_that_work(rank: int) -> None:
    shape = (2,) * min(rank, 3) + (1,) * (rank - 3)
    array = blizzarr.create_array({}, shape=shape, chunks=(1,) * rank, dtype="int8")
    array[...] = 5
    array[(0,) * rank] = 7
    assert array[(0,) * rank] == 7
    if rank <= 64:  # as many as NumPy has
        assert np.count_nonzero(array[...] == 7) == 1


@pytest.mark.parametrize("rank", [65, 1000])
def test_row_045_ranks_that_do_not(rank: int) -> None:
    with pytest.raises(MetadataError, match="at most 64 dimensions"):
        blizzarr.create_array({}, shape=(1,) * rank, dtype="int8")


def test_row_046_duplicate_attributes_warn() -> None:
    text = array_document(attributes={}).decode().replace('"attributes": {}', '"attributes": {"x": 1, "x": 2}')
    with pytest.warns(UserWarning, match=r"attributes\.x is there more than once"):
        assert blizzarr.open({"zarr.json": text.encode()}).attrs["x"] == 2


@pytest.mark.parametrize("depth", [1_000, 100_000])
@pytest.mark.parametrize("place", ["attributes", "codecs", "chunk_grid"])
def test_row_047_deep_nesting(place: str, depth: int) -> None:
    """No stack overflow, neither of Python nor of C."""
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        deep = opening * depth + "1" + closing * depth
        text = array_document(**{place: "DEEP"}).decode().replace('"DEEP"', '{"a": ' + deep + "}")
        with pytest.raises(MetadataError):
            blizzarr.open({"zarr.json": text.encode()})


def test_row_048_a_huge_document() -> None:
    """Beyond 256 MiB a document is not even parsed."""
    facts = answer(
        """
        from blizzarr.formats.document import MAX_BYTES
        store = {"zarr.json": b" " * (MAX_BYTES + 1)}
        before, begun = peak(), time.process_time()
        try:
            blizzarr.open(store)
        except MetadataError as error:
            tell(text=str(error), mebibytes=peak() - before, seconds=time.process_time() - begun)
        """
    )
    assert "at most 268,435,456 bytes" in facts["text"]
    assert facts["mebibytes"] < 300
    assert facts["seconds"] < 2


@pytest.mark.parametrize("element", ["{}", "[]", '{"a":[1]}'])
def test_row_048_a_document_of_many_small_objects(element: str) -> None:
    """Three bytes of text take 72 bytes of memory: such a document is not parsed."""
    facts = answer(
        """
        element = ARGUMENTS["element"]
        store = {"zarr.json": b'{"zarr_format":3,"node_type":"group","attributes":{"a":[%s]}}'
                              % ",".join([element] * 4_000_000)[:12_000_000].encode()}
        before = peak()
        try:
            blizzarr.open(store)
        except MetadataError as error:
            tell(text=str(error), mebibytes=peak() - before)
        """,
        element=element,
    )
    assert re.search(r"at most 1,423,577 objects and lists in 12,000,\d+ bytes, found more", facts["text"])
    assert facts["mebibytes"] < 40


def test_row_048_brackets_in_text_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do quotation marks that are escaped end a text; and what could not be read is not written."""
    monkeypatch.setattr("blizzarr.formats.document._CONTAINERS", 1000)
    text = '[{"\\' * 10_000
    group = blizzarr.create_group({}, attributes={"a": text, "b": [[]] * 500})
    assert blizzarr.open_group(group.store, mode="r").attrs["a"] == text
    with pytest.raises(MetadataError, match="objects and lists"):
        group.attrs["c"] = [[]] * 10_000
    assert blizzarr.open_group(group.store, mode="r").attrs.keys() == {"a", "b"}


def test_row_050_numbers_in_attributes_survive() -> None:
    """Integers beyond 64 bits, and floats to the last bit, through a rewrite of the document."""
    store: dict[str, bytes] = {}
    numbers = {"big": 2**200 + 1, "negative": -(2**64), "float": 0.1 + 0.2, "tiny": 5e-324}
    blizzarr.create_array(store, shape=4, dtype="int8", attributes=numbers)
    array = blizzarr.open(store)
    array.attrs["more"] = 1
    assert dict(blizzarr.open(store).attrs) == numbers | {"more": 1}


def test_row_052_unknown_members_that_may_be_ignored_are_kept() -> None:
    extra = {"must_understand": False, "anything": [1, {"deep": None}]}
    store = {"zarr.json": array_document(note=extra)}
    array = blizzarr.open(store)
    array.attrs["x"] = 1
    array.resize((3, 3))
    assert json.loads(store["zarr.json"])["note"] == extra


@pytest.mark.parametrize(
    "members",
    [
        {"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "x.codec"]},
        {"data_type": "x.type"},
        {"chunk_grid": {"name": "x.grid"}},
        {"chunk_key_encoding": {"name": "x.keys"}},
        {"storage_transformers": [{"name": "x.transformer"}]},
    ],
    ids=lambda members: next(iter(members)),
)
def test_row_053_unknown_extensions_leave_the_attributes_readable(members: dict[str, Any]) -> None:
    """The array is listed with the reason, and what its document says about itself can be had from the error."""
    store = {"zarr.json": GROUP, "a/zarr.json": array_document(attributes={"title": "brain"}, **members)}
    array = blizzarr.open(store, path="a")
    assert array.attrs == {"title": "brain"}
    with pytest.raises(UnknownExtensionError) as caught:
        array[...]
    assert any(name.startswith("x.") for name in caught.value.extensions)
    assert caught.value.document["attributes"] == {"title": "brain"}
    assert "a" in str(blizzarr.tree(store))


def test_row_065_one_bad_member_of_many() -> None:
    """A thousand members, one cut: the others are listed and usable, and the bad one is named."""
    store: dict[str, Any] = {"zarr.json": GROUP}
    good = array_document()
    store.update({f"m{number:03}/zarr.json": good for number in range(1000)})
    store["m500/zarr.json"] = good[:100]
    group = blizzarr.open_group(store, mode="r")
    with pytest.warns(UserWarning, match="m500"):
        members = dict(group.members())
    assert len(members) == 999
    assert members["m501"].shape == (10, 20)
    with pytest.raises(MetadataError, match=r"m500/zarr\.json"):
        group["m500"]


def test_row_064_stale_and_escaping_consolidated_metadata() -> None:
    """What is consolidated but gone says so when it is opened; nothing in it leads elsewhere (see the corpus)."""
    store: dict[str, Any] = {}
    group = blizzarr.create_group(store)
    group.create_array("a", shape=4, dtype="int8")
    blizzarr.consolidate_metadata(store)
    del store["a/zarr.json"]
    with pytest.raises(BlizzarrError, match="a"):
        blizzarr.open_group(store)["a"].attrs["x"] = 1
    assert "a/zarr.json" not in store


@pytest.mark.parametrize("raw", [b"", b"{", b"null", b'{"zarr_format": 4}', b"\xff"])
@pytest.mark.parametrize("kind", ["array", "group"])
def test_row_066_creating_over_what_cannot_be_read(raw: bytes, kind: str) -> None:
    """Without overwrite it stays; with it, it is replaced, and its chunks do not show through."""
    store = {"a/zarr.json": raw, "a/c/0": b"old chunk"}
    make = blizzarr.create_array if kind == "array" else blizzarr.create_group
    options = {"shape": 4, "dtype": "int8", "name": "a"} if kind == "array" else {"path": "a"}
    with pytest.raises(NodeExistsError, match="something is here already"):
        make(store, **options)
    assert store == {"a/zarr.json": raw, "a/c/0": b"old chunk"}
    made = make(store, overwrite=True, **options)
    assert "a/c/0" not in store
    if kind == "array":
        assert made[...].tolist() == [0] * 4


@pytest.mark.parametrize("grid", [2**30, 2**40, 2**62])
def test_row_038_too_many_inner_chunks(grid: int) -> None:
    """An index of more than 1 GiB is refused at open."""
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    sharding = {"chunk_shape": [1], "codecs": ["bytes"], "index_codecs": [little]}
    chunk_grid = {"name": "regular", "configuration": {"chunk_shape": [grid]}}
    codecs = [{"name": "sharding_indexed", "configuration": sharding}]
    raw = array_document(shape=[grid], data_type="uint8", chunk_grid=chunk_grid, codecs=codecs)
    with pytest.raises(LimitError, match="an index of at most 1,073,741,824 bytes"):
        blizzarr.open({"zarr.json": raw})


def test_row_040_the_index_of_draft_sharding() -> None:
    """The draft had sharding as a storage transformer: refused, and named."""
    transformer = {"type": "indexed", "extension": "https://purl.org/zarr/spec/storage_transformers/sharding/1.0"}
    with pytest.raises(MetadataError, match="storage_transformers"):
        blizzarr.open({"zarr.json": array_document(storage_transformers=[transformer])})


LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
SHARD_LIES: dict[str, dict[str, Any]] = {
    "row 36: an index of variable size": {"index_codecs": [LITTLE, {"name": "gzip", "configuration": {"level": 1}}]},
    "row 36: an index of unknown size": {"index_codecs": [LITTLE, {"name": "numcodecs.lzma", "configuration": {}}]},
    "row 36: no array-to-bytes codec in the index": {"index_codecs": [{"name": "crc32c"}]},
    "row 36: no index codecs": {"index_codecs": []},
    "row 36: two of them inside": {"codecs": [LITTLE, LITTLE]},
    "row 37: an inner length of 0": {"chunk_shape": [0, 5]},
    "row 37: a negative one": {"chunk_shape": [-1, 5]},
    "row 37: one that does not divide": {"chunk_shape": [3, 5]},
    "row 37: too few axes": {"chunk_shape": [5]},
    "row 37: too many axes": {"chunk_shape": [5, 5, 1]},
    "row 37: no axes": {"chunk_shape": []},
    "row 37: larger than the shard": {"chunk_shape": [10, 20]},
    "row 37: much larger": {"chunk_shape": [2**62, 2**62]},
    "row 37: no number": {"chunk_shape": [5, "5"]},
}


@pytest.mark.parametrize("lie", SHARD_LIES)
def test_rows_036_037_shards_that_cannot_be(lie: str) -> None:
    options = {"chunk_shape": [5, 5], "codecs": [LITTLE], "index_codecs": [LITTLE, {"name": "crc32c"}]}
    grid = {"name": "regular", "configuration": {"chunk_shape": [5, 10]}}

    def raw(options: dict[str, Any]) -> bytes:
        return array_document(chunk_grid=grid, codecs=[{"name": "sharding_indexed", "configuration": options}])

    assert blizzarr.open({"zarr.json": raw(options)}).chunks == (5, 5)
    store = {"zarr.json": GROUP, "a/zarr.json": raw(options | SHARD_LIES[lie]), "a/c/0/0": bytes(200)}
    before, begun = dict(store), time.process_time()
    for opened in OPENED.values():
        with pytest.raises(MetadataError, match="codecs") as caught:
            opened(store)
        assert caught.value.key == "a/zarr.json"
        assert any(problem.path.startswith("codecs[0].configuration") for problem in caught.value.problems)
    assert time.process_time() - begun < 1
    assert store == before


def test_row_036_inner_codecs_of_the_year_before_v3() -> None:
    """Before v3 was final a chain could do without a codec that makes bytes of arrays: that is a warning."""
    options = {"chunk_shape": [5, 5], "codecs": [{"name": "crc32c"}], "index_codecs": [LITTLE, {"name": "crc32c"}]}
    grid = {"name": "regular", "configuration": {"chunk_shape": [5, 10]}}
    raw = array_document(chunk_grid=grid, codecs=[{"name": "sharding_indexed", "configuration": options}])
    with pytest.warns(UserWarning, match="no codec that makes bytes of arrays"):
        array = blizzarr.open({"zarr.json": raw})
    assert array[0, 0] == 0
