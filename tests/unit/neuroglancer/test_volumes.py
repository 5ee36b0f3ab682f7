"""Volumes of Neuroglancer in a directory: opened, read, written in part; the tutorial of TensorStore that opens one."""

from __future__ import annotations

import json
import pickle
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore as theirs

import blizzarr.tensorstore as ours
from blizzarr.errors import (
    BlizzarrError,
    CodecError,
    MetadataError,
    NodeExistsError,
    SpecError,
    UnsupportedOperationError,
)

SCALE = {
    "key": "8_8_8",
    "resolution": [8, 8, 8],
    "size": [5, 3, 2],
    "voxel_offset": [-3, 10, 0],
    "chunk_sizes": [[4, 2, 2]],
    "encoding": "raw",
}
INFO = {"type": "image", "data_type": "uint16", "num_channels": 2, "scales": [SCALE]}
VALUES = np.arange(1, 61, dtype="uint16").reshape(5, 3, 2, 2)


def spec(path: Path, **more: Any) -> dict[str, Any]:
    """The volume in a directory."""
    return {"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": f"{path}/"}, **more}


def stored(path: Path, scale: dict[str, Any] | None = None, **more: Any) -> Any:
    """A volume with this document, opened."""
    path.mkdir(exist_ok=True)
    (path / "info").write_text(json.dumps({**INFO, "scales": [{**SCALE, **(scale or {})}], **more}))
    return ours.open(spec(path)).result()


def test_what_is_stored(tmp_path: Path) -> None:
    """Chunks are named by where they begin and end, and end with the volume; x is fastest, the channel slowest."""
    volume = stored(tmp_path)
    volume[...] = VALUES
    assert sorted(path.name for path in (tmp_path / "8_8_8").iterdir()) == [
        "-3-1_10-12_0-2",
        "-3-1_12-13_0-2",
        "1-2_10-12_0-2",
        "1-2_12-13_0-2",
    ]
    last = VALUES[4:, 2:].transpose(3, 2, 1, 0)
    assert (tmp_path / "8_8_8" / "1-2_12-13_0-2").read_bytes() == last.astype("<u2").tobytes()
    assert (theirs.open(spec(tmp_path)).result().read().result() == VALUES).all()


def test_what_is_written_in_part(tmp_path: Path) -> None:
    """A chunk that has nothing but zeros goes; others keep what was not written."""
    volume = stored(tmp_path)
    volume[...] = VALUES
    volume[1, 12, :, 1] = 9
    volume[-3:1, 10:12] = 0
    expected = VALUES.copy()
    expected[4, 2, :, 1] = 9
    expected[:4, :2] = 0
    assert not (tmp_path / "8_8_8" / "-3-1_10-12_0-2").exists()
    assert (volume.read().result() == expected).all()
    assert (theirs.open(spec(tmp_path)).result().read().result() == expected).all()


def test_domains_begin_where_the_volume_does(tmp_path: Path) -> None:
    """Indices are those of the volume, in views, errors, specs and pickles."""
    volume = stored(tmp_path)
    volume[...] = VALUES
    assert str(volume.domain) == '{ "x": [-3, 2), "y": [10, 13), "z": [0, 2), "channel": [0, 2) }'
    with pytest.raises(IndexError, match=r"13 .*\[10, 13\)"):
        volume[0, 13]
    view = volume[-2:2, 11, 1][ours.d["channel"][1]]
    assert (view.read().result() == VALUES[1:, 1, 1, 1]).all()
    again = ours.open(view.spec()).result()
    assert again.domain == view.domain
    assert (again.read().result() == VALUES[1:, 1, 1, 1]).all()
    assert (pickle.loads(pickle.dumps(view)).read().result() == VALUES[1:, 1, 1, 1]).all()
    assert volume.resolve().result().domain == volume.domain
    assert volume.dimension_units == (ours.Unit("8 nm"), ours.Unit("8 nm"), ours.Unit("8 nm"), None)
    with pytest.raises(SpecError, match="Cannot change explicit upper bound"):
        volume.resize(exclusive_max=[5, 13, 2, 2]).result()


def test_caches_and_batches(tmp_path: Path) -> None:
    """Chunks at the ends are kept as they are stored."""
    stored(tmp_path)[...] = VALUES
    context = ours.Context({"cache_pool": {"total_bytes_limit": 100_000}})
    volume = ours.open(spec(tmp_path), context=context, recheck_cached_data="open").result()
    for _ in range(2):
        assert (volume.read().result() == VALUES).all()
    assert [int(volume[x, 12, 1, 0].read().result()) for x in range(-3, 2)] == VALUES[:, 2, 1, 0].tolist()
    with ours.Batch() as batch:
        reads = [volume[x].read(batch=batch) for x in range(-3, 2)]
    assert (np.stack([read.result() for read in reads]) == VALUES).all()


def test_transactions(tmp_path: Path) -> None:
    """What is written is seen in the transaction, and stored when it is committed."""
    volume = stored(tmp_path)
    volume[...] = VALUES
    with ours.Transaction() as transaction:
        inside = volume.with_transaction(transaction)
        inside[1, 12] = 7
        assert (inside[1, 12].read().result() == 7).all()
        assert (volume.read().result() == VALUES).all()
    expected = VALUES.copy()
    expected[4, 2] = 7
    assert (theirs.open(spec(tmp_path)).result().read().result() == expected).all()


def test_how_much_is_stored(tmp_path: Path) -> None:
    """Chunks count by their names."""
    volume = stored(tmp_path)
    volume[:1] = 1

    def found(view: Any) -> tuple[bool, bool]:
        told = view.storage_statistics(query_not_stored=True, query_fully_stored=True).result()
        return told.not_stored, told.fully_stored

    assert (found(volume), found(volume[:1]), found(volume[1:])) == ((False, False), (False, True), (True, False))
    strict = ours.open(spec(tmp_path, fill_missing_data_reads=False)).result()
    assert (strict[:1].read().result() == 1).all()
    with pytest.raises(SpecError, match=r"1-2_10-12_0-2.* is missing"):
        strict[1:].read().result()


def test_scales(tmp_path: Path) -> None:
    """Each by its number, key or resolution; two that are open at once are not taken for each other."""
    half = {**SCALE, "key": "../half", "resolution": [16, 8, 8], "size": [3, 3, 2], "voxel_offset": [0, 0, 0]}
    place = tmp_path / "a"
    place.mkdir()
    (place / "info").write_text(json.dumps({**INFO, "scales": [SCALE, {**half, "key": "half/b"}]}))
    context = ours.Context({"cache_pool": {"total_bytes_limit": 100_000}})
    first, second = (ours.open(spec(place, scale_index=number), context=context).result() for number in range(2))
    first[...] = 1
    second[...] = 2
    assert (first.read().result() == 1).all()
    assert sorted(path.name for path in (place / "half").iterdir()) == ["b"]
    by_key = ours.open(spec(place, scale_metadata={"key": "half/b"})).result()
    by_unit = ours.open(spec(place), dimension_units=["16 nm", None, None, None]).result()
    for found in (by_key, by_unit):
        assert (found.read().result() == 2).all()
        assert found.spec().to_json()["scale_index"] == 1
    with pytest.raises(SpecError, match="non-zero scale_index"):
        by_key.url  # noqa: B018
    (place / "info").write_text(json.dumps({**INFO, "scales": [half]}))
    with pytest.raises(SpecError, match="a place within the store"):
        ours.open(spec(place)).result()


def test_damaged_chunks(tmp_path: Path) -> None:
    """They are named, with what is wrong with them."""
    volume = stored(tmp_path)
    volume[...] = VALUES
    chunk = tmp_path / "8_8_8" / "1-2_12-13_0-2"
    chunk.write_bytes(b"abc")
    with pytest.raises(CodecError, match="1-2_12-13_0-2") as caught:
        volume.read().result()
    assert isinstance(caught.value, ValueError)
    volume[1:, 12:] = 5
    assert (volume[1:, 12:].read().result() == 5).all()
    labels = stored(
        tmp_path / "b",
        {"encoding": "compressed_segmentation", "compressed_segmentation_block_size": [2, 2, 2]},
        data_type="uint32",
    )
    (tmp_path / "b" / "8_8_8").mkdir()
    (tmp_path / "b" / "8_8_8" / "1-2_12-13_0-2").write_bytes(struct.pack("<4I", 2, 2, 1 << 24, 99))
    with pytest.raises(CodecError, match="block 0 lies outside of 8 bytes"):
        labels.read().result()


def sharded(path: Path, **more: Any) -> Any:
    """A volume whose chunks are in shards of two."""
    sharding = {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "minishard_index_encoding": "gzip"}
    sharding |= {"preshift_bits": 1, "minishard_bits": 0, "shard_bits": 1, **more}
    return stored(path, {"sharding": sharding})


def test_shards(tmp_path: Path) -> None:
    """Each is replaced once, with the chunks that it had; one that has none left goes."""
    volume = sharded(tmp_path)
    assert volume.chunk_layout.write_chunk.shape == (8, 2, 2, 2)
    assert volume.chunk_layout.read_chunk.shape == (4, 2, 2, 2)
    volume[...] = VALUES
    shards = sorted(path.name for path in (tmp_path / "8_8_8").iterdir())
    assert shards == ["0.shard", "1.shard"]
    volume[1, 10:12] = 0
    volume[-2:0, 12] = 5
    expected = VALUES.copy()
    expected[4, :2] = 0
    expected[1:3, 2] = 5
    assert (volume.read().result() == expected).all()
    assert (theirs.open(spec(tmp_path)).result().read().result() == expected).all()
    volume[:, 12:] = 0
    assert [path.name for path in (tmp_path / "8_8_8").iterdir()] == ["0.shard"]
    with pytest.raises(UnsupportedOperationError, match="sharded format"):
        volume.storage_statistics(query_not_stored=True).result()
    strict = ours.open(spec(tmp_path, fill_missing_data_reads=False)).result()
    assert (strict[-3:1, 10:12].read().result() == VALUES[:4, :2]).all()
    with pytest.raises(SpecError, match="is missing"):
        strict[:, 12].read().result()


def test_caches_of_shards(tmp_path: Path) -> None:
    """What a pool has is as good as the shard that it is of."""
    sharded(tmp_path)[...] = VALUES
    context = ours.Context({"cache_pool": {"total_bytes_limit": 100_000}})
    volume = ours.open(spec(tmp_path), context=context).result()
    assert (volume.read().result() == VALUES).all()
    theirs.open(spec(tmp_path)).result()[0, 10] = 9
    expected = VALUES.copy()
    expected[3, 0] = 9
    assert (volume.read().result() == expected).all()
    with ours.Transaction() as transaction:
        volume.with_transaction(transaction)[:, 11] = 3
    expected[:, 1] = 3
    assert (volume.read().result() == expected).all()


@pytest.mark.parametrize("shards", [False, True], ids=["chunks", "shards"])
def test_documents_that_change_meanwhile(shards: bool, tmp_path: Path) -> None:
    """Another volume in its place is refused, and so is one without the scale; what was not opened may change."""
    made = sharded(tmp_path) if shards else stored(tmp_path)
    made[...] = VALUES
    volume = ours.open(spec(tmp_path), recheck_cached_metadata=True).result()
    document = json.loads((tmp_path / "info").read_text())
    (scale,) = document["scales"]

    def said(scales: list[Any]) -> str:
        (tmp_path / "info").write_text(json.dumps({**document, "scales": scales}))
        with pytest.raises(SpecError) as caught:
            volume.resolve().result()
        return str(caught.value)

    assert "incompatible with existing metadata" in said([{**scale, "size": [5, 3, 1]}])
    assert "incompatible with existing metadata" in said([{**scale, "voxel_offset": [0, 0, 0]}])
    (tmp_path / "info").write_text(json.dumps({**document, "scales": [scale, {**scale, "key": "b"}]}))
    assert (volume.resolve().result().read().result() == VALUES).all()
    (tmp_path / "info").write_text(json.dumps({**document, "scales": []}))
    with pytest.raises(MetadataError, match="expected scale 0 to be there still"):
        volume.resolve().result()
    (tmp_path / "info").write_text(json.dumps({**document, "scales": [{**scale, "chunk_sizes": [[1, 1, 1]]}]}))
    with pytest.raises(MetadataError, match=r"the size \[4, 2, 2\] to be there still"):
        volume.resolve().result()
    (tmp_path / "info").unlink()
    with pytest.raises(SpecError, match="does not exist"):
        volume.resolve().result()


def test_writers_of_one_shard(tmp_path: Path) -> None:
    """Wait for each other, threads of one handle and of several: nothing is lost."""
    sharded(tmp_path, preshift_bits=2, shard_bits=0)
    handles = [ours.open(spec(tmp_path)).result() for _ in range(2)]

    def write(job: int) -> None:
        x, y = job % 5 - 3, job // 5 + 10
        handles[job % 2][x, y] = job + 1

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(15)))
    expected = np.arange(1, 16).reshape(3, 5).T
    for library in (ours, theirs):
        found = library.open(spec(tmp_path)).result().read().result()
        assert (found == expected[:, :, None, None]).all()
    assert [path.name for path in (tmp_path / "8_8_8").iterdir()] == ["0.shard"]


@pytest.mark.parametrize("place", ["memory", "file"])
def test_shards_in_transactions(place: str, tmp_path: Path) -> None:
    """Whatever was written of it, the other chunks of a shard stay."""
    context = ours.Context()
    where = f"file://{tmp_path}/" if place == "file" else "memory://"
    sharding = {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity"}
    sharding |= {"preshift_bits": 2, "minishard_bits": 1, "shard_bits": 2}
    scale = {"size": [20, 9, 9], "chunk_size": [4, 4, 4], "sharding": sharding}
    of_all = {"data_type": "uint8", "num_channels": 1}
    json_ = {"driver": "neuroglancer_precomputed", "kvstore": where}
    said = {**json_, "scale_metadata": scale, "multiscale_metadata": of_all}
    volume = ours.open(said, context=context, create=True).result()
    expected = np.random.default_rng(0).integers(1, 99, (20, 9, 9, 1)).astype("uint8")
    volume[...] = expected
    for parts in ([np.s_[3:17, 2:9]], [np.s_[:5], np.s_[9:11, 3]], [np.s_[::3, ::2]], [np.s_[:]]):
        with ours.Transaction() as transaction:
            inside = volume.with_transaction(transaction)
            for number, part in enumerate(parts):
                inside[part] = expected[part] = number + len(parts)
            assert (inside.read().result() == expected).all()
        assert (volume.read().result() == expected).all()
    if place == "file":
        assert (theirs.open(json_).result().read().result() == expected).all()


def test_damaged_shards(tmp_path: Path) -> None:
    """They are named, and not laid down anew."""
    volume = sharded(tmp_path)
    volume[...] = VALUES
    shard = tmp_path / "8_8_8" / "0.shard"
    whole = shard.read_bytes()
    for bytes_ in (b"", whole[:10], whole[:40], b"\xff" * len(whole), whole[:16] + b"\0" * (len(whole) - 16)):
        shard.write_bytes(bytes_)
        with pytest.raises(BlizzarrError, match=r"0\.shard") as caught:
            volume[:, 10].read().result()
        assert isinstance(caught.value, ValueError)
    with pytest.raises(BlizzarrError, match=r"0\.shard"):
        volume[0, 10] = 1
    assert shard.read_bytes() == whole[:16] + b"\0" * (len(whole) - 16)


def created(path: Path, **more: Any) -> Any:
    """A new scale."""
    return ours.open(spec(path), create=True, **more).result()


def test_creating(tmp_path: Path) -> None:
    """A scale in a new document, another behind it, whose other members stay; and all anew."""
    first = created(tmp_path, dtype="uint8", shape=[5, 6, 7, 1], dimension_units=["4 nm", "4 nm", "4 nm", None])
    first[...] = 1
    document = json.loads((tmp_path / "info").read_text())
    assert document == {
        "@type": "neuroglancer_multiscale_volume",
        "data_type": "uint8",
        "num_channels": 1,
        "scales": [
            {
                "chunk_sizes": [[5, 6, 7]],
                "encoding": "raw",
                "key": "4_4_4",
                "resolution": [4.0, 4.0, 4.0],
                "size": [5, 6, 7],
                "voxel_offset": [0, 0, 0],
            }
        ],
        "type": "image",
    }
    (tmp_path / "info").write_text(json.dumps({**document, "mesh": "m"}))
    second = created(tmp_path, shape=[3, 3, 4, 1], dimension_units=["8 nm", "8 nm", "8 nm", None])
    second[...] = 2
    document = json.loads((tmp_path / "info").read_text())
    assert (document["mesh"], [scale["key"] for scale in document["scales"]]) == ("m", ["4_4_4", "8_8_8"])
    assert (first.read().result() == 1).all()
    assert second.spec().to_json()["scale_index"] == 1
    for number in range(2):
        assert (theirs.open(spec(tmp_path, scale_index=number)).result().read().result() == number + 1).all()
    with pytest.raises(NodeExistsError, match='Scale with key "8_8_8" already exists') as caught:
        created(tmp_path, shape=[3, 3, 4, 1], dimension_units=["8 nm", "8 nm", "8 nm", None])
    assert isinstance(caught.value, ValueError)
    anew = created(tmp_path, dtype="uint16", shape=[2, 2, 2, 2], delete_existing=True)
    assert not anew.read().result().any()
    assert [path.name for path in tmp_path.iterdir()] == ["info"]


def test_creating_in_a_transaction(tmp_path: Path) -> None:
    """Nothing is there before it is committed."""
    tmp_path = tmp_path / "new"
    with ours.Transaction() as transaction:
        volume = created(tmp_path, dtype="uint8", shape=[5, 6, 7, 1], transaction=transaction)
        volume[1] = 3
        assert (volume[1].read().result() == 3).all()
        assert not tmp_path.exists()
    assert (theirs.open(spec(tmp_path)).result()[1].read().result() == 3).all()


def test_assuming(tmp_path: Path) -> None:
    """Without a document, as the spec says."""
    theirs.open(spec(tmp_path), create=True, dtype="uint8", shape=[5, 6, 7, 1]).result()[...] = 4
    (tmp_path / "info").unlink()
    for library in (theirs, ours):
        found = library.open(
            spec(tmp_path), open=True, assume_metadata=True, dtype="uint8", shape=[5, 6, 7, 1]
        ).result()
        assert (found.read().result() == 4).all()
        found[0] = 5
        found[0] = 4
    assert [path.name for path in tmp_path.iterdir()] == ["1_1_1"]


def test_formats_are_found_out(tmp_path: Path) -> None:
    """By the document, with a scheme or without."""
    stored(tmp_path)[...] = VALUES
    for url in (f"file://{tmp_path}/", f"file://{tmp_path}/|neuroglancer-precomputed:", f"file://{tmp_path}/|auto"):
        found = ours.open(url).result()
        assert (found.read().result() == VALUES).all()
        assert found.url == f"file://{tmp_path}/|neuroglancer-precomputed:"


def test_the_tutorial(tmp_path: Path) -> None:
    """The second half of TensorStore's tutorial, on a volume like the one that it opens."""
    values = np.random.default_rng(0).integers(0, 5, (120, 110, 30, 1)).astype("uint64")
    made = theirs.open(
        spec(tmp_path),
        create=True,
        dtype="uint64",
        domain=theirs.IndexDomain(inclusive_min=[15000, 15000, 20000, 0], shape=values.shape),
        dimension_units=["8 nm", "8 nm", "8 nm", None],
        chunk_layout=theirs.ChunkLayout(chunk_shape=[64, 64, 64, 1]),
        codec=theirs.CodecSpec({"driver": "neuroglancer_precomputed", "encoding": "compressed_segmentation"}),
    ).result()
    made[...] = values
    found = []
    for ts in (theirs, ours):
        dataset = ts.open(
            spec(
                tmp_path,
                context={"cache_pool": {"total_bytes_limit": 100_000_000}},
                recheck_cached_data="open",
            )
        ).result()
        dataset_3d = dataset[ts.d["channel"][0]]
        x = dataset_3d[15000:15100, 15000:15100, 20000]
        assert (np.array(x) == values[:100, :100, 0, 0]).all()
        found.append([str(dataset), str(dataset.domain), str(dataset_3d.domain), str(x), np.array(x).sum()])
    assert found[0] == found[1]


def test_blocks_of_too_many_elements_are_told_when_they_are_made() -> None:
    """The spec can say them, the engine cannot count the bits of their indices."""
    block = {"encoding": "compressed_segmentation", "compressed_segmentation_block_size": [2**31 - 1] * 3}
    scale = {"size": [5, 5, 5], "resolution": [8, 8, 8], "chunk_size": [2, 2, 2], **block}
    kind = {"type": "segmentation", "data_type": "uint32", "num_channels": 1}
    spec = {"driver": "neuroglancer_precomputed", "kvstore": "memory://", "multiscale_metadata": kind}
    with pytest.raises(ValueError, match=r"Error writing .*: expected blocks of fewer than 2\^56 elements, found"):
        ours.open({**spec, "scale_metadata": scale}, create=True).result()
