"""Shards that others replace while they are read in parts, through stores whose requests are answered one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ShardIndexError
from blizzarr.stores import MappingStore

SHAPE = (1024,)


class Alternating(dict[str, bytes]):
    """A mapping in which each look at the shard finds another version of it than the look before."""

    versions: tuple[bytes, ...] = ()
    looks = 0

    def __getitem__(self, key: str) -> bytes:
        if key == "c/0" and self.versions:
            self.looks += 1
            return self.versions[self.looks % len(self.versions)]
        return super().__getitem__(key)


def written(values: Any) -> tuple[dict[str, bytes], bytes]:
    content: dict[str, bytes] = {}
    blizzarr.create_array(content, data=values, chunks=(64,), shards=SHAPE)
    return content, content["c/0"]


@pytest.mark.parametrize("pool", [False, True])
def test_one_who_replaces_a_shard_faster_than_it_is_read(pool: bool) -> None:
    """P7: a shorter shard has no bytes where the index of the longer one says."""
    rng = np.random.default_rng(0)
    long, short = rng.integers(0, 2**62, SHAPE), np.full(SHAPE, 7)
    content, first = written(long)
    second = written(short)[1]
    assert len(second) < len(first) // 4
    mapping = Alternating(content)
    array = blizzarr.open_array(MappingStore(mapping), mode="r")
    if pool:
        array = array.cached(blizzarr.CachePool(1 << 20), recheck=True)
    mapping.versions = first, second
    for start in range(0, 1024, 64):
        part = slice(start + 3, start + 60)
        found = array[part]
        assert any(np.array_equal(found, version[part]) for version in (long, short)), start


def test_an_index_that_is_wrong_is_still_told() -> None:
    content, first = written(np.random.default_rng(1).integers(0, 2**62, SHAPE))
    content["c/0"] = first[len(first) // 2 :]
    array = blizzarr.open_array(MappingStore(content), mode="r")
    with pytest.raises(ShardIndexError, match="reaches beyond"):
        array[1000:1010]
