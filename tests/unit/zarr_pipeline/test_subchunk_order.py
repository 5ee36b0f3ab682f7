"""The inner chunks of a shard are laid down as zarr-python itself lays them down."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", "3.1", reason="zarr-python 3.1 is not installed")
codecs: Any = pytest.importorskip("zarr.codecs")

OWN = "zarr.core.codec_pipeline.BatchedCodecPipeline"
HAS_ORDERS = "subchunk_write_order" in codecs.ShardingCodec.__dataclass_fields__
ORDERS = ["morton", "lexicographic", "colexicographic", "unordered"] if HAS_ORDERS else [None]


def sharding(chunk_shape: tuple[int, ...], order: str | None, inner: list[Any]) -> Any:
    chosen = {} if order is None else {"subchunk_write_order": order}
    return codecs.ShardingCodec(chunk_shape=chunk_shape, codecs=inner, **chosen)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("chunk", "grid"), [((2, 2), (3, 5)), ((2,), (7,)), ((1, 1, 2), (3, 5, 4)), ((2, 1, 1), (3, 1, 17))], ids=str
)
@pytest.mark.parametrize("nested", [False, True], ids=["shards", "shards of shards"])
def test_the_bytes_of_shards(
    order: str | None, chunk: tuple[int, ...], grid: tuple[int, ...], nested: bool, engine: list[str]
) -> None:
    """Those of both pipelines are equal, after shards were written as a whole and in part."""
    shards = sharding(chunk, order, [codecs.BytesCodec(), codecs.Crc32cCodec()])
    if nested:
        chunk = tuple(2 * length for length in chunk)
        shards = sharding(chunk, order, [shards])
    shape = tuple(length * count for length, count in zip(chunk, grid, strict=True))

    def stored() -> dict[str, bytes]:
        memory: dict[str, Any] = {}
        layout: dict[str, Any] = {"chunks": shape, "serializer": shards, "compressors": None}
        array = zarr.create_array(zarr.storage.MemoryStore(memory), shape=shape, dtype="u2", **layout)
        array[...] = np.arange(1, prod(shape) + 1).reshape(shape)
        array[tuple(slice(0, 1 + length // 2) for length in shape)] = 7
        array[tuple(slice(0, length) for length in chunk)] = 0
        return {key: value.to_bytes() for key, value in memory.items()}

    ours = stored()
    assert engine == ["engine"] * 3
    with zarr.config.set({"codec_pipeline.path": OWN}):
        assert ours == stored()
    assert engine == ["engine"] * 3
