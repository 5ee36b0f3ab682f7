"""The sharding storage transformer, version 1.0: many chunks in one stored object, a shard.

The key of a shard is that of its chunks, with each index divided by the number of chunks in a shard along that axis:
with ``chunks_per_shard = [32, 2]`` the chunks ``c96/18`` to ``c127/19`` are in the shard ``c3/9``.

Reading and writing an array goes through the engine, to which such a shard is the codec ``sharding_indexed``. This
transformer is for code that works with chunk keys; it reads and writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, Final

from blizzarr.problems import MISSING, Problems, lengths
from blizzarr.stores import Store
from blizzarr.transformers.array_keys import ArrayKeys
from blizzarr.transformers.base import StorageTransformer
from blizzarr.transformers.shard import ENTRY
from blizzarr.transformers.sharded import ShardedStore

MAX_INDEX_BYTES: Final = 2**30
"""The largest index of a shard, in bytes; it is held in memory as a whole."""


@dataclass(frozen=True, slots=True)
class ShardingTransformer(StorageTransformer):
    """Shards of `chunks_per_shard` chunks along each axis.

    Examples
    --------
    >>> from blizzarr.stores import MemoryStore
    >>> memory = MemoryStore()
    >>> store = ShardingTransformer((32, 2)).wrap(memory, ArrayKeys("data/foo/baz/", "c", "/", "c", 2))
    >>> store.set("data/foo/baz/c96/18", b"chunk")
    >>> list(memory.list()), memory.size("data/foo/baz/c3/9")
    (['data/foo/baz/c3/9'], 1029)
    >>> store.get("data/foo/baz/c96/18"), store.get("data/foo/baz/c96/19"), store.list_dir("data/foo/baz/c96/").keys
    (b'chunk', None, ('data/foo/baz/c96/18',))
    """

    name: ClassVar[str] = "sharding"
    """Used in the months before Zarr v3 was final, which has a codec instead."""
    extension: ClassVar[str] = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0"
    type: ClassVar[str] = "indexed"

    chunks_per_shard: tuple[int, ...]

    @classmethod
    def examine(cls, configuration: Mapping[str, Any], path: str, problems: Problems, rank: int | None) -> None:
        where = f"{path}.configuration.chunks_per_shard"
        counts = lengths(configuration.get("chunks_per_shard", MISSING), where, problems, 1)
        if counts is None:
            return
        if rank is not None and len(counts) != rank:
            problems.add(where, f"{rank} lengths, one for each dimension", list(counts))
        elif ENTRY * prod(counts) > MAX_INDEX_BYTES:
            problems.limit(where, f"an index of at most {MAX_INDEX_BYTES:,} bytes", ENTRY * prod(counts))

    def wrap(self, store: Store, keys: ArrayKeys) -> ShardedStore:
        return ShardedStore(store, keys, self.chunks_per_shard)
