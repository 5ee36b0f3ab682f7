"""Many writers behind storage transformers: threads and processes lose nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, Store
from blizzarr.transformers import (
    ArrayKeys,
    EncodingStore,
    HashedTransformer,
    RenamingStore,
    ShardingTransformer,
    StorageTransformer,
    StoreInterface,
    register,
    wrap,
)
from support.child import Child

KEYS = ArrayKeys("data/a/", "c", "/", "c", 2)
STORES: dict[str, Callable[[Path], Store]] = {
    "local": LocalStore,
    "memory": lambda path: MemoryStore(),
    "mapping": lambda path: MappingStore({}),
}


class Mirrored(RenamingStore):
    """Chunks under their names, backwards."""

    def stored(self, name: str) -> str:
        return "m" + name[::-1]

    def original(self, name: str) -> str:
        return name[:0:-1]


@register
class MirroredTransformer(StorageTransformer):
    name = "example.mirrored"
    extension = "https://example.org/mirrored/1.0"
    type = "backwards"

    def wrap(self, store: Store, keys: ArrayKeys) -> Store:
        return Mirrored(store, keys)


class Scrambled(EncodingStore):
    """Values with all bits the other way."""

    def encode(self, name: str, value: bytes) -> bytes:
        return bytes(255 - byte for byte in value)

    decode = encode


@register
class ScrambledTransformer(StorageTransformer):
    name = "example.scrambled"
    extension = "https://example.org/scrambled/1.0"
    type = "bits"

    def wrap(self, store: Store, keys: ArrayKeys) -> Store:
        return Scrambled(store, keys)


TRANSFORMERS = {
    "hashed": HashedTransformer(1, 1),
    "sharded": ShardingTransformer((4,)),
    "stacked": [ShardingTransformer((2,)), ShardingTransformer((2,)), HashedTransformer(1, 1)],
    "renamed": MirroredTransformer(),
    "scrambled": ScrambledTransformer(),
    "renamed and scrambled": [ScrambledTransformer(), MirroredTransformer()],
    "renamed twice": [MirroredTransformer(), HashedTransformer()],
}


@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize("kind", STORES)
def test_threads_that_set_chunks_of_one_shard(kind: str, stacked: bool, tmp_path: Path) -> None:
    """D-155: each has a store of its own over the same place; nobody's chunk is lost."""
    inner = STORES[kind](tmp_path)
    transformers = [ShardingTransformer((8, 4)), *([ShardingTransformer((2, 2))] if stacked else [])]

    def work(worker: int) -> None:
        store = StoreInterface(wrap(inner, transformers, KEYS))
        for turn in range(8):
            store.set(f"data/a/c{turn}/{worker}", b"%d" % worker)
            store.set_partial_values([(f"data/a/c{turn}/{worker}", 1, b"-%d" % turn)])
            if turn % 2:
                store.erase(f"data/a/c{turn}/{worker}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    store = wrap(inner, transformers, KEYS)
    assert {key: bytes(store.get(key) or b"") for key in store.list()} == {
        f"data/a/c{turn}/{worker}": b"%d-%d" % (worker, turn) for turn in range(0, 8, 2) for worker in range(4)
    }


SET_CHUNKS = """
    from blizzarr.stores import LocalStore
    from blizzarr.transformers import ArrayKeys, ShardingTransformer
    store = ShardingTransformer((40, 3)).wrap(LocalStore(ARGUMENTS["root"]), ArrayKeys("data/a/", "c", "/", "c", 2))
    tell(ready=True)
    sys.stdin.readline()
    for turn in range(40):
        store.set(f"data/a/c{turn}/{ARGUMENTS['writer']}", b"%d" % turn)
    tell(done=True)
"""


def test_processes_that_set_chunks_of_one_shard(tmp_path: Path) -> None:
    """D-155: a directory can compare before it replaces, so a change that somebody else has overtaken is made again."""
    children = [Child(SET_CHUNKS, root=str(tmp_path), writer=writer) for writer in range(3)]
    run(children)
    store = ShardingTransformer((40, 3)).wrap(LocalStore(tmp_path), KEYS)
    assert len(store.list()) == 120
    assert all(store.get(f"data/a/c{turn}/{writer}") == b"%d" % turn for turn in range(40) for writer in range(3))


def run(children: list[Child]) -> list[dict[str, Any]]:
    """Let them begin together, and wait for what they say in the end."""
    try:
        for child in children:
            child.hear()
        for child in children:
            child.start()
        return [child.finish() for child in children]
    finally:
        for child in children:
            child.process.kill()


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("name", TRANSFORMERS)
def test_threads_that_write_parts_of_one_chunk(name: str, kind: str, tmp_path: Path) -> None:
    """Through handles of their own, the place of each is that of the store underneath: they take turns."""
    root = blizzarr.create_group(STORES[kind](tmp_path))
    root.create_array("a", shape=512, dtype="uint16", chunks=128, storage_transformers=TRANSFORMERS[name])
    lost: list[int] = []
    go = threading.Barrier(4)

    def work(writer: int) -> None:
        mine = blizzarr.open_array(root.store, path="a", mode="r+")
        go.wait()
        for turn in range(1, 6):
            mine[writer::4] = turn * 10 + writer
            if not (mine[writer::4] == turn * 10 + writer).all():
                lost.append(turn)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert lost == []
    found = root["a"][...]
    for writer in range(4):
        assert (found[writer::4] == 50 + writer).all()


WRITE_PARTS = """
    from blizzarr.transformers import *
    sys.path.insert(0, sys.argv[1] + "/unit/transformers")
    import test_transformer_concurrency
    array = blizzarr.open_array(ARGUMENTS["root"])
    writer, lost = ARGUMENTS["writer"], 0
    tell(ready=True)
    sys.stdin.readline()
    for turn in range(1, 26):
        array[writer::3] = turn * 10 + writer
        lost += int(not (array[writer::3] == turn * 10 + writer).all())
    tell(lost=lost)
"""


@pytest.mark.parametrize(
    "name",
    ["stacked", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("hashed", "renamed", "scrambled"))],
)
def test_processes_that_write_parts_of_one_chunk(name: str, tmp_path: Path) -> None:
    """The locks are those of the directory underneath, for transformers in Rust and in Python."""
    array = blizzarr.create_array(
        tmp_path, shape=300, dtype="uint16", chunks=75, storage_transformers=TRANSFORMERS[name]
    )
    children = [Child(WRITE_PARTS, root=str(tmp_path), writer=writer) for writer in range(3)]
    assert [said["lost"] for said in run(children)] == [0, 0, 0]
    for writer in range(3):
        assert (array[writer::3] == 250 + writer).all()


def test_threads_that_change_the_same_shards_in_opposite_order() -> None:
    """Stacked shards take their locks from the array to the store, so nobody waits for ever."""
    inner = MemoryStore()
    transformers = [ShardingTransformer((2, 2)), ShardingTransformer((2, 2)), ShardingTransformer((2, 2))]

    def work(worker: int) -> None:
        store = wrap(inner, transformers, KEYS)
        order = range(16) if worker % 2 else range(15, -1, -1)
        for index in order:
            store.set(f"data/a/c{index}/{worker}", b"x")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4), timeout=60))
    store: Any = wrap(inner, transformers, KEYS)
    assert len(list(store.list())) == 64
    # With one set of locks, two that hold one each and want the other's would be rare, but for ever.
    sets = {id(level._locks) for level in (store, store.store, store.store.store)}
    assert len(sets) == 3


def test_the_engine_takes_the_native_route_where_it_can(tmp_path: Path) -> None:
    """Renaming stores over native ones have a handle of their own; others name the one underneath for its locks."""
    for inner in (LocalStore(tmp_path), MemoryStore()):
        hashed = HashedTransformer().wrap(inner, KEYS)
        assert type(hashed.native).__name__ == "RenamedStore"
        assert type(Mirrored(inner, KEYS).native).__name__ == "RenamedStore"
        # Renamed twice: the inner one is native, and the locks are its.
        twice = Mirrored(hashed, KEYS)
        assert not hasattr(twice, "native")
        assert type(twice.locks).__name__ == "RenamedStore"
        sharded = ShardingTransformer((2, 2)).wrap(inner, KEYS)
        assert not hasattr(sharded, "native")
        assert sharded.locks is inner.native
    foreign = HashedTransformer().wrap(MappingStore({}), KEYS)
    assert not hasattr(foreign, "native")
    assert foreign.locks is None


def test_both_routes_agree_on_names() -> None:
    """What the engine stores natively lies where the Python side looks for it, and the reverse."""
    data = np.arange(1000).reshape(10, 10, 10)
    for levels, width in ((1, 1), (2, 2), (4, 2), (8, 1), (1, 8), (2, 3)):
        inner, values = MemoryStore(), MappingStore({})
        for store in (inner, values):
            blizzarr.create_array(
                store, name="a", data=data, chunks=(3, 4, 5), storage_transformers=HashedTransformer(levels, width)
            )
        assert inner.list() == values.list()
        assert all(inner.get(key) == values.get(key) for key in inner.list())
