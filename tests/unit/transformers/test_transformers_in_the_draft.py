"""Storage transformers where the draft of December 2022 had them: in its documents, over its keys, and out of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import ShardingCodec
from blizzarr.errors import MetadataError, UnknownExtensionError
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, Store
from blizzarr.transformers import (
    ArrayKeys,
    EncodingStore,
    HashedTransformer,
    ShardingTransformer,
    StorageTransformer,
    StoreInterface,
    register,
)

DATA = np.arange(1, 8 * 12 + 1, dtype="int32").reshape(8, 12)
STORES: dict[str, Callable[[Path], Store]] = {
    "local": LocalStore,
    "memory": lambda path: MemoryStore(),
    "mapping": lambda path: MappingStore({}),
}


class Reversing(EncodingStore):
    """Chunks back to front."""

    def encode(self, name: str, value: bytes) -> bytes:
        return value[::-1]

    decode = encode


@register
class ReversingTransformer(StorageTransformer):
    name = "example.reversing"
    extension = "https://example.org/reversing/1.0"
    type = "bytes"

    def wrap(self, store: Store, keys: ArrayKeys) -> Store:
        return Reversing(store, keys)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return STORES[request.param](tmp_path)


def make(store: Store, transformers: Any = None, **options: Any) -> blizzarr.Array:
    layout = {"chunks": (2, 3), "compressors": None, **options}
    z = blizzarr.create_array(
        store, name="foo/baz", data=DATA, storage_transformers=transformers, zarr_format="v3_draft", **layout
    )
    assert (blizzarr.open(store)["foo/baz"][...] == DATA).all()
    return z


def chunks(store: Store) -> list[str]:
    return sorted(key for key in store.list() if key.startswith("data/"))


def listed(store: Store) -> Any:
    return json.loads(bytes(store.get("meta/foo/baz.array.json") or b""))["storage_transformers"]


def test_d78_d127_d144_entries_and_keys(store: Store) -> None:
    """D-78, D-127, D-144: shards and sub-directories as the document has them; chunks where they belong."""
    make(store, HashedTransformer(1, 2), shards=(4, 6))
    assert [item["extension"] for item in listed(store)] == [ShardingTransformer.extension, HashedTransformer.extension]
    assert [item["type"] for item in listed(store)] == ["indexed", "crc32"]
    assert [item["configuration"] for item in listed(store)] == [
        {"chunks_per_shard": [2, 2]},
        {"levels": 1, "width": 2},
    ]
    assert {key.rpartition("/")[2] for key in chunks(store)} == {"c0.0", "c0.1", "c1.0", "c1.1"}
    assert all(key.count("/") == 4 for key in chunks(store))


def test_d145_d158_shards_of_an_array_key_by_key(store: Store) -> None:
    """D-145 to D-158: what the array has written is read, changed and erased as chunks, and the array sees it."""
    z = make(store, shards=(4, 6))
    assert chunks(store) == [f"data/foo/baz/c{i}/{j}" for i in range(2) for j in range(2)]
    (item,) = listed(store)
    transformer = ShardingTransformer(tuple(item["configuration"]["chunks_per_shard"]))
    keys = StoreInterface(transformer.wrap(store, ArrayKeys("data/foo/baz/", "c", "/", "c", 2)))
    assert keys.list_prefix("data/foo/baz/") == [f"data/foo/baz/c{i}/{j}" for i in range(4) for j in range(4)]
    assert keys.get("data/foo/baz/c3/2") == DATA[6:8, 6:9].tobytes()
    keys.set("data/foo/baz/c3/2", np.zeros((2, 3), "int32").tobytes())
    keys.erase("data/foo/baz/c0/1")
    keys.set_partial_values([("data/foo/baz/c1/1", 4, np.int32(-9).tobytes())])
    expected = DATA.copy()
    expected[6:8, 6:9] = 0
    expected[0:2, 3:6] = 0
    expected[2, 4] = -9
    assert (z[...] == expected).all()
    assert keys.get("meta/foo/baz.array.json") == store.get("meta/foo/baz.array.json")


@pytest.mark.parametrize(
    "transformers",
    [
        [HashedTransformer()],
        [ShardingTransformer((2, 2))],
        [ShardingTransformer((2, 2)), ShardingTransformer((2, 1))],
        [ReversingTransformer(), ShardingTransformer((2, 2))],
        [ShardingTransformer((2, 2)), ReversingTransformer(), HashedTransformer()],
        [ReversingTransformer(), ShardingTransformer((2, 2)), ShardingTransformer((1, 2)), HashedTransformer()],
        [HashedTransformer(), ShardingTransformer((2, 2))],
    ],
    ids=lambda value: " ".join(type(item).__name__.removesuffix("Transformer") for item in value),
)
def test_d128_stacks_in_documents(store: Store, transformers: list[StorageTransformer]) -> None:
    """D-128: any stack is written, opened, changed, resized, copied and removed; the nearest shards are codecs."""
    make(store, transformers)
    assert [item["extension"] for item in listed(store)] == [item.extension for item in transformers]
    z = blizzarr.open(store)["foo/baz"]
    nearest = isinstance(transformers[0], ShardingTransformer)
    assert isinstance(z.metadata.codecs.serializer, ShardingCodec) == nearest
    expected = DATA.copy()
    z[3:6, ::5] = expected[3:6, ::5] = 0
    assert (z[...] == expected).all()
    z.resize(5, 12)
    z.resize(8, 12)
    expected[5:] = 0
    assert (z[...] == expected).all()
    again = blizzarr.copy(z, MemoryStore())
    assert again.storage_transformers == z.storage_transformers
    assert (again[...] == expected).all()
    del blizzarr.open(store)["foo"]
    assert chunks(store) == []


def test_d130_unknown_ones_are_refused(store: Store) -> None:
    """D-130: the array is not opened, and its neighbours are."""
    make(store, HashedTransformer())
    blizzarr.open(store).create_array("other", data=np.arange(3))
    raw = json.loads(bytes(store.get("meta/foo/baz.array.json") or b""))
    raw["storage_transformers"][0]["extension"] = "https://example.org/unknown"
    store.set("meta/foo/baz.array.json", json.dumps(raw).encode())
    with pytest.raises(UnknownExtensionError, match=r"meta/foo/baz\.array\.json.*https://example\.org/unknown"):
        blizzarr.open(store)["foo/baz"]
    assert blizzarr.open(store)["other"][...].tolist() == [0, 1, 2]


def test_upgraded_in_place(store: Store) -> None:
    """Renamed chunks are found under their new names, each in the directory that its new name gives it."""
    make(store, HashedTransformer(), shards=(4, 6))
    values = {bytes(store.get(key) or b"") for key in chunks(store)}
    blizzarr.upgrade(store, to="v3")
    z = blizzarr.open_array(store, path="foo/baz")
    assert (z[...] == DATA).all()
    assert z.storage_transformers == (HashedTransformer(),)
    here = [key for key in store.list() if not key.endswith("zarr.json")]
    assert {key.rpartition("/")[2] for key in here} == {"c.0.0", "c.0.1", "c.1.0", "c.1.1"}
    assert {bytes(store.get(key) or b"") for key in here} == values


def test_what_only_other_code_could_move_is_not_upgraded(store: Store) -> None:
    """Chunks that are changed, and get other keys: refused before anything happens, with what to do instead."""
    make(store, ReversingTransformer())
    before = {key: bytes(store.get(key) or b"") for key in store.list()}
    with pytest.raises(MetadataError, match=r"/foo/baz: storage_transformers.*only those that rename.*copy the array"):
        blizzarr.upgrade(store, to="v3")
    assert {key: bytes(store.get(key) or b"") for key in store.list()} == before
    copied = blizzarr.copy(blizzarr.open(store), MemoryStore(), zarr_format=3)
    assert (copied["foo/baz"][...] == DATA).all()


@pytest.mark.parametrize("target", [1, 2])
def test_formats_without_transformers_say_so(target: int) -> None:
    """v1 and v2 cannot express one; copies leave it behind, since it is about keys."""
    with pytest.raises(MetadataError, match="storage transformers"):
        blizzarr.create_array({}, shape=3, dtype="int8", storage_transformers="blizzarr.hashed", zarr_format=target)
    z = make(MemoryStore(), HashedTransformer())
    assert (blizzarr.copy(z, {}, zarr_format=target)[...] == DATA).all()
