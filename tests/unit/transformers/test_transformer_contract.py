"""What transformers make of stores keeps the contract of stores, for keys of chunks and for all others."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from blizzarr.stores import BaseStore, ByteRange, LocalStore, MappingStore, MemoryStore, Store, Value, ZipStore
from blizzarr.stores.keys import check_key, check_prefix
from blizzarr.testing.stores import StoreContract
from blizzarr.transformers import ArrayKeys, EncodingStore, HashedTransformer, ShardingTransformer, wrap

KEYS = ArrayKeys("a/b/", "c/", "/", "c", 2)
"""Of these the contract itself uses some."""
CHUNKS = ArrayKeys("data/", "c", "/", "c", 2)


class InChunks(BaseStore):
    """Any keys, each of which stands for a chunk of its own."""

    def __init__(self, store: Store) -> None:
        self.store: Any = store
        self.supports_delete = bool(getattr(store, "supports_delete", True))
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def _chunk(self, key: str) -> str:
        with self._lock:
            number = self._numbers.setdefault(check_key(key), len(self._numbers))
        return CHUNKS.key(divmod(number, 7))

    def get(self, key: str) -> Value | None:
        found: Value | None = self.store.get(self._chunk(key))
        return found

    def get_ranges(self, key: str, ranges: Sequence[ByteRange]) -> builtins.list[Value] | None:
        found: builtins.list[Value] | None = self.store.get_ranges(self._chunk(key), ranges)
        return found

    def set(self, key: str, value: Value) -> None:
        self.store.set(self._chunk(key), value)

    def replace(self, key: str, expected: Value | None, value: Value) -> bool:
        return bool(self.store.replace(self._chunk(key), expected, value))

    def size(self, key: str) -> int | None:
        found: int | None = self.store.size(self._chunk(key))
        return found

    def delete(self, key: str) -> object:
        return self.store.delete(self._chunk(key))

    def list(self, prefix: str = "") -> Iterable[str]:
        prefix = check_prefix(prefix)
        there = set(self.store.list())
        return sorted(key for key in tuple(self._numbers) if key.startswith(prefix) and self._chunk(key) in there)


class TestHashedLocalStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return HashedTransformer().wrap(LocalStore(tmp_path / "root"), KEYS)


class TestHashedMemoryStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return HashedTransformer(1, 1).wrap(MemoryStore(), KEYS)


class TestHashedZipStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return HashedTransformer().wrap(ZipStore(tmp_path / "root.zip", mode="w"), KEYS)


class TestHashedChunks(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return InChunks(HashedTransformer().wrap(LocalStore(tmp_path / "root"), CHUNKS))


class TestHashedChunksOfMapping(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return InChunks(HashedTransformer(3, 1).wrap(MappingStore({}), CHUNKS))


class TestShardedLocalStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return ShardingTransformer((2, 3)).wrap(LocalStore(tmp_path / "root"), KEYS)


class TestShardedZipStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return ShardingTransformer((2, 3)).wrap(ZipStore(tmp_path / "root.zip", mode="w"), KEYS)


class TestShardedChunks(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return InChunks(ShardingTransformer((2, 3)).wrap(LocalStore(tmp_path / "root"), CHUNKS))


class TestShardedChunksOfMemory(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return InChunks(ShardingTransformer((50, 7)).wrap(MemoryStore(), CHUNKS))


class Counted(EncodingStore):
    """Behind each value how often one was stored, so that the same value is never stored as the same bytes."""

    count = 0

    def encode(self, name: str, value: bytes) -> bytes:
        self.count += 1
        return value + self.count.to_bytes(8, "big")

    def decode(self, name: str, value: bytes) -> bytes:
        return value[:-8]


class TestEncodedChunks(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return InChunks(Counted(LocalStore(tmp_path / "root"), CHUNKS))


class TestEncodedMemoryStore(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return Counted(MemoryStore(), KEYS)


class TestShardedEncodedChunks(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        return InChunks(ShardingTransformer((2, 3)).wrap(Counted(MemoryStore(), CHUNKS), CHUNKS))


class TestStackedChunks(StoreContract):
    def make(self, tmp_path: Path) -> Store:
        transformers = [ShardingTransformer((2, 2)), ShardingTransformer((2, 2)), HashedTransformer()]
        return InChunks(wrap(LocalStore(tmp_path / "root"), transformers, CHUNKS))
