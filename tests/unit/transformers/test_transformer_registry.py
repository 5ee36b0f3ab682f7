"""Storage transformers in documents and from users: names, URIs, what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import LimitError, MetadataError, UnknownExtensionError
from blizzarr.problems import Problems
from blizzarr.stores import MemoryStore, Store, StoreWrapper
from blizzarr.transformers import (
    ArrayKeys,
    EncodingStore,
    HashedTransformer,
    ShardingTransformer,
    StorageTransformer,
    StoreInterface,
    decode,
    decode_draft,
    register,
    registry,
    transformers_of,
    wrap,
)


class Prefixed(EncodingStore):
    """Values behind a word, to see what went through where."""

    def __init__(self, store: Store, keys: ArrayKeys, word: bytes) -> None:
        super().__init__(store, keys)
        self.word = word

    def encode(self, name: str, value: bytes) -> bytes:
        return self.word + value

    def decode(self, name: str, value: bytes) -> bytes:
        return value.removeprefix(self.word)


@dataclass(frozen=True)
class WordTransformer(StorageTransformer):
    name: ClassVar[str] = "example.word"
    extension: ClassVar[str] = "https://example.org/word/1.0"
    type: ClassVar[str] = "front"
    spellings: ClassVar[tuple[str, ...]] = ("https://example.org/WORD/1.0",)

    word: str
    also: tuple[int, ...] = (1, 2)

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        if type(configuration.get("word")) is not str:
            problems.add(f"{path}.configuration.word", "a string", configuration.get("word"))
        if rank is not None and rank > 2:
            problems.add(path, "an array of at most 2 dimensions", rank)

    def wrap(self, store: Store, keys: ArrayKeys) -> Store:
        return Prefixed(store, keys, self.word.encode())


@pytest.fixture
def words() -> Iterator[type[WordTransformer]]:
    places, here = dict(registry._REGISTRY.places), dict(registry._REGISTRY._here)
    yield register(WordTransformer)
    registry._REGISTRY.places, registry._REGISTRY._here = places, here


def problems_of(read: Any, listed: Any, rank: int | None = 2) -> list[str]:
    problems = Problems()
    read(listed, rank, problems)
    return [str(problem) for problem in (*problems.items, *problems.limits)]


def test_d127_transformers_are_of_an_array_or_only_of_a_handle(words: type[WordTransformer]) -> None:
    """D-127: configured in an array's document; one that changes nothing can be put around the store instead."""

    class Counting(StoreWrapper):
        gets = 0

        def get_many(self, keys: Any) -> Any:
            self.gets += len(keys)
            return super().get_many(keys)

    memory = MemoryStore()
    root = blizzarr.create_group(memory)
    root.create_array("plain", data=np.arange(3))
    root.create_array("worded", data=np.arange(3), storage_transformers=words("word"), compressors=None)
    document = json.loads(memory.get("worded/zarr.json") or b"")
    assert document["storage_transformers"] == [
        {"name": "example.word", "configuration": {"word": "word", "also": [1, 2]}}
    ]
    assert json.loads(memory.get("plain/zarr.json") or b"")["storage_transformers"] == []
    assert (memory.get("worded/c/0") or b"")[:4] == b"word"
    counting = Counting(memory)
    opened = blizzarr.open_group(counting, mode="r")
    assert opened["worded"][...].tolist() == opened["plain"][...].tolist() == [0, 1, 2]
    assert counting.gets


def test_d128_the_first_listed_is_nearest_to_the_array(words: type[WordTransformer]) -> None:
    """D-128: its word is put in front first, so the last one's comes first in the store."""
    memory = MemoryStore()
    keys = ArrayKeys("a/", "c", "/", "c", 1)
    store = wrap(memory, [words("near "), words("far ")], keys)
    store.set("a/c0", b"chunk")
    assert memory.get("a/c0") == b"far near chunk"
    assert store.get("a/c0") == b"chunk"


def test_d129_nothing_outside_the_chain_is_needed() -> None:
    """D-129: another store object, made from the document alone, finds everything."""
    values: dict[str, bytes] = {}
    transformers = [ShardingTransformer((2, 2)), HashedTransformer()]
    data = np.arange(36).reshape(6, 6)
    blizzarr.create_array(values, data=data, chunks=(2, 2), storage_transformers=transformers)
    copied = dict(values)
    assert (blizzarr.open_array(copied)[...] == data).all()
    listed = json.loads(copied["zarr.json"])["storage_transformers"]
    assert transformers_of(listed, 2) == tuple(transformers)


def test_a_transformer_that_need_not_be_understood_is_passed_over() -> None:
    """F-4: the array reads as if it were not there, and a document that is stored again keeps it."""
    store: dict[str, bytes] = {}
    blizzarr.create_array(store, data=np.arange(3))
    raw = json.loads(store["zarr.json"])
    raw["storage_transformers"] = [{"name": "example.unknown", "must_understand": False}]
    store["zarr.json"] = json.dumps(raw).encode()
    array = blizzarr.open_array(store)
    array.resize(2)
    array.attrs["a"] = 1
    assert blizzarr.open_array(store)[...].tolist() == [0, 1]
    assert json.loads(store["zarr.json"])["storage_transformers"] == raw["storage_transformers"]


@pytest.mark.parametrize("also", [{}, {"must_understand": True}])
def test_d130_an_unknown_transformer_is_refused(also: dict[str, Any]) -> None:
    """D-130: the error names it and says what to do."""
    document = {"name": "example.unknown", **also}
    problems = Problems()
    assert decode([document], 2, problems) == ()
    with pytest.raises(
        UnknownExtensionError, match=r'\[0\]\.name.*"example.unknown": nobody has registered it; import'
    ):
        problems.raise_any()
    assert problems.extensions == ["example.unknown"]
    store = {}
    blizzarr.create_array(store, shape=3, dtype="uint8")
    raw = json.loads(store["zarr.json"])
    raw["storage_transformers"] = [document]
    store["zarr.json"] = json.dumps(raw).encode()
    with pytest.raises(UnknownExtensionError, match=r"example\.unknown"):
        blizzarr.open(store)[:]


def test_d130_an_unknown_transformer_of_the_draft_is_refused() -> None:
    """D-130: the same in the draft's form, whose URI is what names it."""
    problems = Problems()
    decode_draft([{"extension": "https://example.org/unknown/1.0", "type": "x"}], 2, problems)
    with pytest.raises(UnknownExtensionError, match=r'\[0\]\.extension.*"https://example.org/unknown/1.0"'):
        problems.raise_any()


def test_d131_sharding_is_predefined() -> None:
    """D-131: known without anybody's registering it; by its URIs, and by its name of early 2023."""
    entry = {"extension": ShardingTransformer.extension, "type": "indexed", "configuration": {"chunks_per_shard": [2]}}
    assert decode_draft([entry], 1, Problems()) == (ShardingTransformer((2,)),)
    assert decode([{"name": "sharding", "configuration": {"chunks_per_shard": [2]}}], 1, Problems()) == (
        ShardingTransformer((2,)),
    )


def test_d126_every_transformer_has_the_whole_interface(words: type[WordTransformer]) -> None:
    """D-126: each serves all operations of the draft's interface, on top of any other."""
    keys = ArrayKeys("a/", "c", "/", "c", 1)
    for transformer in (HashedTransformer(), ShardingTransformer((2,))):
        store = StoreInterface(transformer.wrap(ShardingTransformer((3,)).wrap(MemoryStore(), keys), keys))
        store.set("a/c5", b"0123")
        store.set_partial_values([("a/c5", 1, b"xy"), ("a/c4", 0, b"new"), ("meta/a", 0, b"m")])
        assert store.get_partial_values([("a/c4", (1, None)), ("a/c5", (0, 3)), ("a/c0", (0, 1))]) == [
            b"ew",
            b"0xy",
            None,
        ]
        assert store.list_prefix("a/") == ["a/c4", "a/c5"]
        assert store.list_dir("a/").keys == ("a/c4", "a/c5")
        store.erase("a/c4")
        store.erase_values(["meta/a"])
        assert store.list() == ["a/c5"]
        store.erase_prefix("a/")
        assert store.list() == []


def test_both_documents_and_back(words: type[WordTransformer]) -> None:
    """Whatever the options, what is written is read, by all spellings."""
    for transformer in (words("x"), words("y", (3,)), HashedTransformer(1, 3), ShardingTransformer((4, 5))):
        assert decode([transformer.to_json()], 2, Problems()) == (transformer,)
        assert decode_draft([transformer.to_draft()], 2, Problems()) == (transformer,)
        assert hash(transformer) == hash(decode([transformer.to_json()], 2, Problems())[0])
    spelled = {"extension": "https://example.org/WORD/1.0", "type": "front", "configuration": {"word": "x"}}
    assert decode_draft([spelled], 2, Problems()) == (words("x"),)


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        (None, "storage_transformers: expected a list of storage transformers, found null"),
        ({}, "expected a list"),
        ([1], r"storage_transformers[0]: expected the storage transformer: an object with a name, or a name, found 1"),
        ([{}], "storage_transformers[0].name: expected the name of a storage transformer, found nothing"),
        (
            [{"name": "example.word", "configuration": {"word": 1}}],
            "[0].configuration.word: expected a string, found 1",
        ),
        (["example.word"], "[0].configuration.word: expected a string"),
        ([{"name": "example.word", "configuration": {"word": "x", "more": 1}}], "more: expected no such option"),
        ([{"name": "example.word", "options": {}}], "[0].options: expected no such member"),
        (["example.word"] * 17, "storage_transformers: expected at most 16 storage transformers, found 17"),
    ],
)
def test_what_is_wrong_with_a_list(words: type[WordTransformer], listed: Any, problem: str) -> None:
    """Each problem has its place; the rest of the list is looked at too."""
    assert any(problem in found for found in problems_of(decode, listed))


def test_all_problems_of_a_list_at_once(words: type[WordTransformer]) -> None:
    """Those of every transformer in it, and that the array has too many dimensions for one."""
    listed = [
        {"name": "example.word", "configuration": {"word": 1}},
        {"name": "sharding", "configuration": {"chunks_per_shard": [0, 1]}},
        "blizzarr.hashed",
    ]
    found = problems_of(decode, listed, 3)
    assert len(found) == 5
    assert "storage_transformers[0]: expected an array of at most 2 dimensions, found 3" in found


def test_what_users_may_give(words: type[WordTransformer]) -> None:
    """One, several, none; objects, names, documents; options that have a default may be left out."""
    assert transformers_of(None, 2) == ()
    assert transformers_of(words("x"), 2) == (words("x"),)
    assert transformers_of({"name": "example.word", "configuration": {"word": "x"}}, 2) == (words("x", (1, 2)),)
    assert transformers_of(["blizzarr.hashed", words("x")], 2) == (HashedTransformer(), words("x"))
    with pytest.raises(UnknownExtensionError, match=r"there are blizzarr\.hashed, .*example\.word, .*sharding"):
        transformers_of("hashed", 2)
    with pytest.raises(MetadataError, match="at most 2 dimensions"):
        transformers_of(words("x"), 3)
    with pytest.raises(MetadataError, match="word: expected a string"):
        transformers_of("example.word", 2)
    with pytest.raises(LimitError, match="at most 16"):
        transformers_of([words("x")] * 17, 2)


def test_nothing_is_made_that_could_not_be_opened() -> None:
    """A transformer that nobody would find by its name is refused before anything is stored."""
    store: dict[str, bytes] = {}
    with pytest.raises(
        MetadataError, match=r"\[0\]: expected a registered storage transformer .*found .*WordTransformer"
    ):
        blizzarr.create_array(store, shape=3, dtype="uint8", storage_transformers=WordTransformer("x"))
    assert store == {}


def test_names_are_not_taken_away(words: type[WordTransformer]) -> None:
    """A name or URI that another one has is refused; the same class, defined again, takes its own place."""

    class Thief(WordTransformer):
        name = "blizzarr.hashed"

    with pytest.raises(
        ValueError, match=r"'blizzarr\.hashed', which is blizzarr\.transformers\.hashed\.HashedTransformer"
    ):
        register(Thief)
    again = type("WordTransformer", (WordTransformer,), {"__module__": __name__, "__qualname__": "WordTransformer"})
    assert register(again) is again
    assert type(transformers_of({"name": "example.word", "configuration": {"word": "x"}}, 1)[0]) is again


def test_a_transformer_without_a_uri_is_not_registered() -> None:
    with pytest.raises(TypeError, match="Nameless to have extension, type, "):

        @register
        class Nameless(StorageTransformer):
            name = "example.nameless"

            def wrap(self, store: Store, keys: ArrayKeys) -> Store:
                return store


def test_a_transformer_without_options_needs_no_dataclass() -> None:
    """Its entry in a document has no configuration."""

    class Plain(StorageTransformer):
        name = "example.plain"
        extension = "https://example.org/plain/1.0"
        type = "plain"

        def wrap(self, store: Store, keys: ArrayKeys) -> Store:
            return store

    assert Plain() == Plain() != HashedTransformer()
    assert (hash(Plain()), repr(Plain())) == (hash(Plain()), "Plain()")
    assert Plain().to_json() == {"name": "example.plain"}
    assert Plain().to_draft() == {"extension": "https://example.org/plain/1.0", "type": "plain"}
    assert Plain.from_configuration({}, "here", Problems(), 1) is not None
    problems = Problems()
    assert Plain.from_configuration({"x": 1}, "here", problems, 1) is None
    assert str(problems.items[0]) == "here.configuration.x: expected no such option, found 1"


def test_a_missing_option_is_named_without_looking_at_values() -> None:
    """A class that does not look at its options is told of those that are missing."""

    @dataclass(frozen=True)
    class Lazy(StorageTransformer):
        name: ClassVar[str] = "example.lazy"
        extension: ClassVar[str] = "https://example.org/lazy/1.0"
        type: ClassVar[str] = "lazy"
        first: int
        second: int = 2

        def wrap(self, store: Store, keys: ArrayKeys) -> Store:
            return store

    problems = Problems()
    assert Lazy.from_configuration({"second": 3}, "here", problems, 1) is None
    assert [str(problem) for problem in problems.items] == ["here.configuration.first: expected a value, found nothing"]
    assert Lazy.from_configuration({"first": 1}, "here", Problems(), 1) == Lazy(1, 2)
