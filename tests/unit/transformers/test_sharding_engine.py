"""Shards written key by key and shards written by the engine are the same bytes, and each reads the other's."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.array import Array
from blizzarr.codecs import BytesCodec, CodecChain, ShardingCodec
from blizzarr.dtypes import DataType
from blizzarr.model import ArrayMeta, ChunkKeys, RegularGrid
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, Store
from blizzarr.transformers import ArrayKeys, ShardingTransformer, wrap

KEYS = {
    "draft": ChunkKeys("draft", "/", "c", "c"),
    "draft with dots": ChunkKeys("draft", ".", "c", "c"),
    "zarr-python": ChunkKeys("draft_zarr_python", "/", "c", "c0"),
    "v3": ChunkKeys.default(),
}
PATH = "data/foo/baz"


def array(
    store: Store, shape: tuple[int, ...], dtype: Any, chunks: tuple[int, ...], codecs: Any, keys: ChunkKeys
) -> Array:
    """An array without a document, with any codecs and any keys."""
    kind = DataType.parse(dtype)
    chain = CodecChain.from_list(codecs, kind, chunks)
    return Array(store, PATH, ArrayMeta(shape, kind, RegularGrid(chunks), keys, kind.fill(0), chain))


def folded(chunks: tuple[int, ...], counts: list[tuple[int, ...]], codecs: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and codecs of what is stored, when shards of so many chunks are codecs; the first are the innermost."""
    for numbers in counts:
        codecs = [ShardingCodec(chunks, codecs, [BytesCodec("little")], "end")]
        chunks = tuple(length * count for length, count in zip(chunks, numbers, strict=True))
    return chunks, codecs


CASES: list[tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, ...]], Any]] = [
    ((8, 8), (2, 2), [(2, 2)], ["bytes"]),
    ((13, 7), (2, 3), [(4, 2)], ["bytes", "gzip"]),
    ((64, 6), (1, 3), [(32, 2)], ["bytes", "zstd"]),
    ((40,), (3,), [(5,)], ["bytes", "crc32c"]),
    ((5, 6, 7), (2, 2, 2), [(1, 2, 3)], [{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, "bytes"]),
    ((), (), [()], ["bytes"]),
    ((30, 30), (2, 3), [(2, 2), (3, 2)], ["bytes", "gzip"]),
    ((50,), (2,), [(3,), (2,), (2,)], ["bytes"]),
]
STORES = {
    "memory": lambda path: MemoryStore(),
    "local": lambda path: LocalStore(path),
    "mapping": lambda path: MappingStore({}),
}


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
@pytest.mark.parametrize("encoding", KEYS)
@pytest.mark.parametrize("case", range(len(CASES)))
def test_both_write_the_same_shards(case: int, encoding: str, dtype: str) -> None:
    """D-146 to D-150, W-15: bit by bit, stacked too, with all key layouts, and with chunks that are only fill."""
    shape, chunks, counts, codecs = CASES[case]
    keys = KEYS[encoding]
    data = np.asarray(np.random.default_rng(case).integers(0, 200, shape).astype(dtype))
    if shape:
        data[: shape[0] // 3] = 0
    plain, engine, ours = MemoryStore(), MemoryStore(), MemoryStore()
    for inner in (plain, engine):
        inner.has_documents = False
        inner.set(f"{PATH}/zarr.json", b"{}")  # what writers lock
    array(plain, shape, dtype, chunks, codecs, keys)[...] = data
    array(engine, shape, dtype, *folded(chunks, counts, codecs), keys)[...] = data
    for inner in (plain, engine):
        inner.delete(f"{PATH}/zarr.json")
    transformers = [ShardingTransformer(numbers) for numbers in counts]
    array_keys = ArrayKeys(PATH + "/", keys.head, keys.separator, keys.scalar, len(shape))
    store = wrap(ours, transformers, array_keys)
    for key in reversed(plain.list()):
        store.set(key, plain.get(key) or b"")
    assert {key: ours.get(key) for key in ours.list()} == {key: engine.get(key) for key in engine.list()}
    # Each reads what the other wrote.
    through = wrap(engine, transformers, array_keys)
    assert list(through.list()) == plain.list()
    assert {key: bytes(through.get(key) or b"") for key in plain.list()} == {
        key: plain.get(key) for key in plain.list()
    }
    assert (array(ours, shape, dtype, *folded(chunks, counts, codecs), keys)[...] == data).all()


@pytest.mark.parametrize("name", STORES)
def test_changes_by_either_are_seen_by_the_other(name: str, tmp_path: Any) -> None:
    """D-155, D-156: parts of shards, written by turns as elements and as keys."""
    inner = STORES[name](tmp_path)
    keys = KEYS["draft"]
    inner.has_documents = False
    inner.set(f"{PATH}/zarr.json", b"{}")
    z = array(inner, (12, 12), "int32", *folded((2, 2), [(3, 2)], ["bytes"]), keys)
    store = ShardingTransformer((3, 2)).wrap(inner, ArrayKeys(PATH + "/", keys.head, keys.separator, keys.scalar, 2))
    expected = np.zeros((12, 12), "int32")
    rng = np.random.default_rng(1)
    for turn in range(60):
        row, column = map(int, rng.integers(0, 6, 2))
        key, box = f"{PATH}/c{row}/{column}", (slice(2 * row, 2 * row + 2), slice(2 * column, 2 * column + 2))
        if turn % 3 == 0:
            z[box] = expected[box] = turn + 1
        elif turn % 3 == 1:
            store.delete(key)
            expected[box] = 0
        else:
            value = np.full((2, 2), -turn, "int32")
            store.set(key, value.tobytes())
            expected[box] = value
        assert (z[...] == expected).all()
        for row, column in product(range(6), repeat=2):
            there = expected[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            found = store.get(f"{PATH}/c{row}/{column}")
            assert bytes(found or bytes(16)) == there.tobytes()


@pytest.mark.parametrize("name", STORES)
def test_arrays_through_the_transformer(name: str, tmp_path: Any) -> None:
    """An array whose transformer is not made a codec works too, and stores the same bytes."""
    inner, other = STORES[name](tmp_path / "a"), MemoryStore()
    data = np.arange(70).reshape(10, 7)
    z = blizzarr.create_array(
        inner, name="a", data=data, chunks=(2, 2), storage_transformers=ShardingTransformer((2, 3)), compressors=None
    )
    blizzarr.create_array(
        other,
        name="a",
        data=data,
        chunks=(4, 6),
        codecs=[ShardingCodec((2, 2), ["bytes"], [BytesCodec("little")])],
    )
    shards = [key for key in other.list() if "/c/" in key]
    assert {key: bytes(inner.get(key) or b"") for key in shards} == {key: other.get(key) for key in shards}
    z = blizzarr.open_array(inner, path="a", mode="r+")
    assert z.storage_transformers == (ShardingTransformer((2, 3)),)
    z[3:5, 1::2] = 0
    data[3:5, 1::2] = 0
    assert (z[...] == data).all()
    assert (z[9, 3:], z.nchunks_initialized) == (pytest.approx(data[9, 3:]), 20)
    z.resize(3, 7)
    z.resize(6, 7)
    assert (z[...] == np.vstack([data[:3], np.zeros((3, 7))])).all()
    del blizzarr.open_group(inner, mode="r+")["a"]
    assert list(inner.list()) == ["zarr.json"]
