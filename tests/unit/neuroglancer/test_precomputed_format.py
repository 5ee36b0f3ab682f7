"""Documents of volumes of Neuroglancer: what is wrong with each, all of it at once; where chunks lie."""

from __future__ import annotations

import json
from typing import Any

import pytest

from blizzarr.errors import MetadataError
from blizzarr.formats import chunk_prefix, document_keys, encode, format_of, lock_key
from blizzarr.model import ArrayMeta
from blizzarr.neuroglancer.format import Precomputed

SCALE: dict[str, Any] = {
    "key": "a",
    "resolution": [8, 8, 8],
    "size": [5, 3, 2],
    "chunk_sizes": [[4, 2, 2]],
    "encoding": "raw",
}
INFO: dict[str, Any] = {"type": "image", "data_type": "uint32", "num_channels": 2, "scales": [SCALE]}
SHARDING = {
    "@type": "neuroglancer_uint64_sharded_v1",
    "preshift_bits": 1,
    "minishard_bits": 2,
    "shard_bits": 3,
    "hash": "identity",
}
LABELS = {"encoding": "compressed_segmentation", "compressed_segmentation_block_size": [8, 8, 8]}
FORM = Precomputed(lambda volume: (0, volume.scales[0].chunk_sizes[0]))


def decoded(document: Any, path: str = "v") -> ArrayMeta:
    """The first scale of a document."""
    (key,) = FORM.node_keys(path)
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    meta = FORM.decode(path, {key: raw})
    assert isinstance(meta, ArrayMeta)
    return meta


def scale(**more: Any) -> dict[str, Any]:
    """A document whose scale has other members, or lacks those that are None."""
    members = {name: value for name, value in {**SCALE, **more}.items() if value is not None}
    return {**INFO, "scales": [members]}


def labels(block: list[int]) -> dict[str, Any]:
    """A document whose scale has blocks of this size."""
    return scale(encoding="compressed_segmentation", compressed_segmentation_block_size=block)


BROKEN: list[tuple[Any, str]] = [
    (b"", "an empty document"),
    (b"[]", "the document: expected an object"),
    (b"{}", "type: expected a text, found nothing"),
    ({**INFO, "@type": "neuroglancer_legacy_mesh"}, '@type: expected "neuroglancer_multiscale_volume"'),
    ({**INFO, "type": 1}, "type: expected a text"),
    ({**INFO, "data_type": "int64"}, "data_type: expected one of uint8"),
    ({**INFO, "data_type": ["uint8"]}, "data_type: expected one of uint8"),
    ({**INFO, "num_channels": 0}, r"num_channels: expected an integer in \[1, "),
    ({**INFO, "num_channels": True}, "num_channels: expected an integer"),
    ({**INFO, "num_channels": 2**63}, "num_channels: expected an integer"),
    ({**INFO, "scales": {}}, "scales: expected a list of objects"),
    ({**INFO, "scales": [5]}, r"scales\[0\]: expected an object"),
    (scale(key=5), r"scales\[0\].key: expected a text"),
    (scale(key=None), r"scales\[0\].key: expected a text, found nothing"),
    (scale(key="../../a"), "a place within the store"),
    (scale(key="\ud800"), r"scales\[0\].key: expected a text"),
    (scale(resolution=[8, 8]), "resolution: expected three numbers"),
    (scale(resolution=[8, 8, "x"]), "resolution: expected three numbers"),
    (scale(resolution=[8, 8, "1_0"]), "resolution: expected three numbers"),
    (scale(resolution=[8, 8, "\u0663"]), "resolution: expected three numbers"),
    (scale(size=[1, 2, 3.5]), "size: expected three integers"),
    (scale(size=[1, 2, -3]), "size: expected with voxel_offset a valid region"),
    (scale(size=[2**61, 2**61, 2**61]), r"size: expected fewer than 2\^63 elements"),
    (scale(size=[5, 5, 5], voxel_offset=[2**62 - 4, 0, 0]), "a valid region"),
    (scale(voxel_offset=[0, 0]), "voxel_offset: expected three integers"),
    (scale(chunk_sizes=[]), "chunk_sizes: expected a list"),
    (scale(chunk_sizes=[4, 2, 2]), r"chunk_sizes\[0\]: expected three lengths"),
    (scale(chunk_sizes=[[4, 2, 0]]), r"chunk_sizes\[0\]: expected three lengths"),
    (scale(chunk_sizes=[[4, 2, 2], [1, 1, "a"]]), r"chunk_sizes\[1\]: expected three lengths"),
    (scale(encoding="compresso"), "encoding: expected one of raw, png, jpeg, compressed_segmentation"),
    (scale(encoding=None), "encoding: expected one of raw"),
    (scale(encoding="jpeg"), "only supported for uint8, not for uint32"),
    (scale(encoding="png"), "only supported for uint8 and uint16"),
    (scale(jpeg_quality=5), "jpeg_quality: expected no such member"),
    (
        scale(compressed_segmentation_block_size=[1, 1, 1]),
        "compressed_segmentation_block_size: expected no such member",
    ),
    (scale(**LABELS, png_level=1), "png_level: expected no such member"),
    (scale(encoding="compressed_segmentation"), "compressed_segmentation_block_size: expected three integers"),
    (labels([1, 1, 2**31]), "compressed_segmentation_block_size: expected three integers"),
    (labels([2**31 - 1] * 3), r"compressed_segmentation_block_size: expected blocks of fewer than 2\^56 elements"),
    (labels([2**28, 2**27, 1]), None),
    (scale(sharding=5), "sharding: expected an object, or null"),
    (scale(sharding={**SHARDING, "@type": "v2"}), r"sharding.@type: expected"),
    (scale(sharding={**SHARDING, "minishard_bits": 33}), r"minishard_bits: expected an integer in \[0, 32\]"),
    (scale(sharding={**SHARDING, "shard_bits": 63}), r"shard_bits: expected an integer in \[0, 62\]"),
    (scale(sharding={**SHARDING, "hash": "md5"}), "hash: expected one of identity, murmurhash3_x86_128"),
    (scale(sharding={**SHARDING, "data_encoding": "zstd"}), "data_encoding: expected one of raw, gzip"),
    (scale(sharding={**SHARDING, "x": 1}), "sharding.x: expected no such member"),
    (scale(sharding=SHARDING, chunk_sizes=[[1, 1, 1], [2, 2, 2]]), "one chunk size, as it is sharded"),
    (scale(sharding=SHARDING, size=[2**30, 2**30, 2], chunk_sizes=[[1, 1, 1]]), None),
    (scale(sharding=SHARDING, size=[2**30, 2**30, 2**30], chunk_sizes=[[1, 1, 1]]), "at most 64 bits"),
]


@pytest.mark.parametrize(("document", "said"), BROKEN, ids=range(len(BROKEN)))
def test_what_is_wrong(document: Any, said: str | None) -> None:
    """The member, what was expected and what is there; the key of the document."""
    if said is None:
        decoded(document)
        return
    with pytest.raises(MetadataError, match=said) as caught:
        decoded(document)
    assert "v/info" in str(caught.value)


def test_all_that_is_wrong_at_once() -> None:
    """Every member of every scale."""
    document = {**INFO, "num_channels": -1, "scales": [{**SCALE, "key": 1}, {**SCALE, "size": 2, "encoding": "x"}]}
    with pytest.raises(MetadataError) as caught:
        decoded(document)
    assert [problem.path for problem in caught.value.problems] == [
        "num_channels",
        "scales[0].key",
        "scales[1].encoding",
        "scales[1].size",
    ]


def test_what_is_taken() -> None:
    """Numbers that are written otherwise, members that nobody knows, no `@type`, a null for no shards."""
    document = scale(size=[5.0, 3, 2], resolution=["8", 8.5, 8], sharding=None, mesh="m", **LABELS)
    document["scales"][0]["sharding"] = None
    meta = decoded({**document, "skeletons": "s"})
    assert meta.shape == (5, 3, 2, 2)
    assert meta.dimension_names == ("x", "y", "z", "channel")
    assert [codec.name for codec in meta.codecs.all] == ["transpose", "compressed_segmentation"]


def test_where_it_lies() -> None:
    """The document above the chunks, whose keys may lead elsewhere."""
    meta = decoded(scale(voxel_offset=[-7, 0, 10]))
    assert (lock_key("v", meta), document_keys("v", meta), chunk_prefix("v", meta)) == ("v/info", ("v/info",), "v/a/")
    assert meta.chunk_keys.key((1, 1, 0, 0)) == "-3--2_2-3_10-12"
    assert chunk_prefix("v", decoded(scale(key="../w/b"))) == "w/b/"
    assert chunk_prefix("", decoded(scale(key="b"), "")) == "b/"
    form = format_of(meta)
    assert form.node_of("x/v/info") == "x/v"
    assert form.node_of("x/v/a") is None


def test_documents_stay_as_they_are() -> None:
    """What was read is written again, byte by byte, a byte order mark, too."""
    for mark in (b"", b"\xef\xbb\xbf"):
        raw = mark + json.dumps(INFO, indent=3).encode()
        assert encode(decoded(raw), "v") == {"v/info": raw}
