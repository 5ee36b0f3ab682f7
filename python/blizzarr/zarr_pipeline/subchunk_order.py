"""The order in which zarr-python lays the inner chunks of a shard down, which no document has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from blizzarr.codecs import CodecChain, ShardingCodec
from blizzarr.codecs.codec import Chunk, Step


@dataclass(frozen=True, slots=True)
class _Sharding(ShardingCodec):
    """The codec ``sharding_indexed`` of an array of zarr-python."""

    subchunk_write_order: str = "morton"
    """The option of zarr-python's codec; before 3.4, which has the option, it had one order."""

    def step(self, chunk: Chunk) -> Step:
        return (*ShardingCodec.step(self, chunk)[:-1], self.subchunk_write_order)


def laid_out_as(chain: CodecChain, theirs: Iterable[Any]) -> CodecChain:
    """Return the codecs of an array with the order that zarr-python's objects for the same codecs have.

    >>> from types import SimpleNamespace
    >>> from blizzarr.dtypes import DataType
    >>> chain = CodecChain.from_list([ShardingCodec((1, 1), ["bytes"])], "uint8", (2, 2))
    >>> theirs = SimpleNamespace(codecs=(), index_codecs=(), subchunk_write_order="colexicographic")
    >>> laid_out_as(chain, [theirs]).steps(DataType.parse("uint8"), (2, 2))[0][-1]
    'colexicographic'
    """
    codec, shards = chain.serializer, next((codec for codec in theirs if hasattr(codec, "index_codecs")), None)
    if shards is None or not isinstance(codec, ShardingCodec):
        return chain
    inner = laid_out_as(codec.inner()[1], shards.codecs)
    order = getattr(shards, "subchunk_write_order", "morton")
    made = _Sharding(codec.chunk_shape, inner, codec.index_codecs, codec.index_location, order)
    return replace(chain, serializer=made)
