"""Transactions on volumes of Neuroglancer whose chunks are in shards: what is stored of them when a shard cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr.tensorstore as ours
from blizzarr.errors import ShardIndexError

DRIVER = "neuroglancer_precomputed"


def sharded(path: Path, **more: Any) -> Any:
    """A new volume of 64 chunks, by default in four shards."""
    sharding = {
        "@type": "neuroglancer_uint64_sharded_v1",
        "hash": "identity",
        "preshift_bits": 0,
        "minishard_bits": 0,
        "shard_bits": 2,
        **more,
    }
    return ours.open(
        {
            "driver": DRIVER,
            "kvstore": {"driver": "file", "path": f"{path}/"},
            "scale_metadata": {"size": [8, 8, 8], "chunk_size": [2, 2, 2], "sharding": sharding},
            "multiscale_metadata": {"data_type": "uint8", "num_channels": 1},
        },
        create=True,
    ).result()


@pytest.mark.parametrize("hash_", ["identity", "murmurhash3_x86_128"])
def test_a_shard_that_is_damaged(hash_: str, tmp_path: Path) -> None:
    """The others are stored, and the transaction tells which chunks were, as for values that are one chunk each."""
    volume = sharded(tmp_path, hash=hash_)
    volume[...] = 1
    shards = sorted(tmp_path.glob("*/*.shard"))
    assert len(shards) == 4
    good = shards[1].read_bytes()
    shards[1].write_bytes(b"\xff" * 100)
    transaction = ours.Transaction()
    inside = volume.with_transaction(transaction)
    inside[:, ::2] = 2
    with pytest.raises(ShardIndexError, match=f"{shards[1].name}.*of what was committed"):
        transaction.commit_sync()
    shards[1].write_bytes(good)
    found = np.asarray(volume)
    bad = (found[:, ::2] == 1).sum() // 4
    assert (len(transaction.stored), len(transaction.not_stored)) == (64 - bad, bad)
    assert 0 < bad < 64
    assert (found[:, 1::2] == 1).all()
    # All of a chunk, or nothing.
    assert set(found[::2, ::2, ::2].flat) == {1, 2}
    for part in np.s_[1::2, ::2, ::2], np.s_[::2, ::2, 1::2]:
        assert (found[part] == found[::2, ::2, ::2]).all()


@pytest.mark.parametrize("hash_", ["identity", "murmurhash3_x86_128"])
def test_which_shard(hash_: str, tmp_path: Path) -> None:
    """The shard that the metadata tells for a chunk is the one that it is stored in."""
    volume = sharded(tmp_path, hash=hash_, preshift_bits=1, minishard_bits=2, shard_bits=9)
    places = volume.driver.array.metadata.chunk_keys.places
    told = set()
    for at in np.ndindex(4, 4, 4):
        volume[tuple(slice(2 * index, 2 * index + 2) for index in at)] = 1
        (path,) = tmp_path.glob("*/*.shard")
        assert path.name == f"{places.shard((*at, 0)):03x}.shard"
        told.add(path.name)
        path.unlink()
    assert len(told) > 7
