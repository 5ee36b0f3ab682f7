"""Transactions on volumes of Neuroglancer in shards, which are the values that are stored, or are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blizzarr.errors import ShardIndexError, TransactionError
from tensorstore_face import ours, same, theirs

DRIVER = "neuroglancer_precomputed"


def sharded(path: Path, library: Any = ours, **more: Any) -> Any:
    """A new volume of 64 chunks, by default in four shards."""
    sharding = {
        "@type": "neuroglancer_uint64_sharded_v1",
        "hash": "identity",
        "preshift_bits": 0,
        "minishard_bits": 0,
        "shard_bits": 2,
        **more,
    }
    return library.open(
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
    """The others are stored, and the transaction tells which were."""
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
    assert list(transaction.not_stored) == [str(shards[1])]
    assert sorted(transaction.stored) == [str(shard) for shard in shards if shard != shards[1]]
    shards[1].write_bytes(good)
    found = np.asarray(volume)
    assert (found[:, 1::2] == 1).all()
    # All of a chunk, or nothing.
    assert set(found[::2, ::2, ::2].flat) == {1, 2}
    for part in np.s_[1::2, ::2, ::2], np.s_[::2, ::2, 1::2]:
        assert (found[part] == found[::2, ::2, ::2]).all()


@pytest.mark.parametrize("hash_", ["identity", "murmurhash3_x86_128"])
def test_which_shard(hash_: str, tmp_path: Path) -> None:
    """The shard that the metadata tells for a chunk is the one that it is stored in."""
    volume = sharded(tmp_path, hash=hash_, preshift_bits=1, minishard_bits=2, shard_bits=9)
    keys = volume._driver._array.metadata.chunk_keys
    told = set()
    for at in np.ndindex(4, 4, 4):
        volume[tuple(slice(2 * index, 2 * index + 2) for index in at)] = 1
        (path,) = tmp_path.glob("*/*.shard")
        assert path.name == keys.value_key((*at, 0))
        told.add(path.name)
        path.unlink()
    assert len(told) > 7


def test_shards_as_values(tmp_path: Path) -> None:
    """What is read of a shard in the transaction has the elements; one that is replaced or removed later has not."""

    def seen(library: Any) -> Any:
        volume = sharded(tmp_path / library.__name__, library, shard_bits=1)
        volume[...] = 1
        found = []
        shard = "1_1_1/0.shard"
        for act in (
            lambda inside: inside.kvstore.read(shard).result().value == volume.kvstore[shard],
            lambda inside: inside.kvstore.__setitem__(shard, volume.kvstore[shard]),
            lambda inside: inside.kvstore.__delitem__(shard),
            lambda inside: sorted(inside.kvstore.list().result()),
        ):
            txn = library.Transaction()
            inside = volume.with_transaction(txn)
            inside[0, 0, 0] = 5
            found.append(act(inside))
            found.append(inside[:3, 0, 0].read().result().tolist())
            txn.commit_sync()
            found.append(volume[:3, 0, 0].read().result().tolist())
        return repr(found)

    same(seen)


def test_what_is_one_value(tmp_path: Path) -> None:
    """An atomic transaction may write as many chunks as it likes of one shard, and of no other."""
    volume = sharded(tmp_path, shard_bits=1)
    expected = np.zeros((8, 8, 8, 1), "uint8")
    with ours.Transaction(atomic=True) as txn:
        volume.with_transaction(txn)[::4] = expected[::4] = 5
    assert (volume.read().result() == expected).all()
    txn = ours.Transaction(atomic=True)
    with pytest.raises(TransactionError, match=r"0\.shard.*1\.shard.* as single atomic transaction"):
        volume.with_transaction(txn)[::2] = 6
    assert txn.aborted
    assert (volume.read().result() == expected).all()


@pytest.mark.parametrize("place", ["memory", "file"])
@pytest.mark.parametrize("more", [{}, {"chunk_size": [4, 4, 4]}, {"size": [4, 4, 4]}, {"sharding": None}], ids=repr)
def test_several_scales(more: dict[str, Any], place: str, tmp_path: Path) -> None:
    """What is written to one does not matter to another, however alike they are; all of it goes when all of them go."""

    def seen(library: Any) -> Any:
        context = library.Context()
        sharding = {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity"}
        sharding |= {"preshift_bits": 0, "minishard_bits": 0, "shard_bits": 1}
        scale = {"size": [8, 8, 8], "chunk_size": [2, 2, 2], "sharding": sharding, "resolution": [4, 4, 4]}
        scales = [scale, {**scale, **more, "resolution": [8, 8, 8]}]
        where = "memory://a/" if place == "memory" else f"file://{tmp_path}/{library.__name__}/"

        def opened(number: int, **mode: Any) -> Any:
            of_all = {"data_type": "uint8", "num_channels": 1, "type": "image"}
            said = {"driver": DRIVER, "kvstore": where, "multiscale_metadata": of_all}
            return library.open({**said, "scale_metadata": scales[number]}, context=context, **mode).result()

        first, second = opened(0, create=True), opened(1, create=True)
        found = []
        with library.Transaction() as txn:
            inside = [volume.with_transaction(txn) for volume in (first, second)]
            inside[0][0] = 1
            inside[1][1] = 2
            inside[0][2] = 3
            found += [volume[:3, 0, 0].read().result().tolist() for volume in inside]
        found += [volume[:3, 0, 0].read().result().tolist() for volume in (first, second)]
        with library.Transaction() as txn:
            first.with_transaction(txn)[0] = 5
            second.with_transaction(txn)[0] = 6
            anew = opened(0, create=True, delete_existing=True, transaction=txn)
            anew[1] = 7
        found.append(opened(0, open=True)[:3, 0, 0].read().result().tolist())
        found.append(sorted(name.split(b"/")[0] for name in first.kvstore.list().result()))
        return repr(found)

    same(seen)


@pytest.mark.parametrize("library", [theirs, ours], ids=["theirs", "ours"])
def test_a_volume_that_a_transaction_has_replaced_is_another(library: Any, tmp_path: Path) -> None:
    """Also for a handle that was opened with the same context before."""
    context, url = library.Context(), f"file://{tmp_path}/"
    spec = {"driver": DRIVER, "kvstore": url, "scale_metadata": {"encoding": "raw"}}
    given = {"create": True, "dtype": "uint8", "chunk_layout": library.ChunkLayout(chunk_shape=[2, 2, 2, 1])}
    old = library.open(spec, shape=[4, 4, 4, 1], context=context, **given).result()
    transaction = library.Transaction()
    new = library.open(
        spec, shape=[6, 4, 4, 1], context=context, delete_existing=True, transaction=transaction, **given
    ).result()
    new[5] = 9
    assert old.resolve().result().shape == (4, 4, 4, 1)
    transaction.commit_sync()
    with pytest.raises(ValueError, match="FAILED_PRECONDITION"):
        old.resolve().result()
