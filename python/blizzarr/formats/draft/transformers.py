"""Storage transformers in documents of the draft, and shards among them.

https://github.com/zarr-developers/zarr-specs/blob/89f92f9/docs/extensions/storage-transformers/sharding/v1.0.rst

The shards of the sharding transformer are those of the codec ``sharding_indexed`` of Zarr v3 with an index of
little-endian integers at the end and no checksum. The sharding transformers nearest to the array become such codecs, so
that shards go through the engine; the nearest becomes the innermost codec. Behind another transformer they stay
transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

from blizzarr.codecs import BytesCodec, CodecChain, ShardingCodec
from blizzarr.dtypes import DataType
from blizzarr.formats.draft.keys import Spelling
from blizzarr.problems import INT64_MAX, Problems
from blizzarr.transformers import ShardingTransformer, StorageTransformer, decode_draft

_PATH: Final = "storage_transformers"
_INDEX: Final = CodecChain((), BytesCodec("little"), ())
_SHARDING_ZARR_PYTHON: Final = "https://purl.org/zarr/spec/storage_transformers/sharding/1.0"


class Stored(NamedTuple):
    """The shape of a stored object, its codecs, and the remaining storage transformers."""

    shape: tuple[int, ...]
    codecs: CodecChain
    transformers: tuple[StorageTransformer, ...]


def decode(value: Any, rank: int | None, spelling: Spelling, problems: Problems) -> tuple[StorageTransformer, ...]:
    """Decode the transformers of a document; errors are added to `problems`."""
    if spelling is Spelling.ZARR_PYTHON and rank is not None and type(value) is list:
        value = [_padded(item, rank) for item in value]
    return decode_draft(value, rank, problems, _PATH)


def _padded(item: Any, rank: int) -> Any:
    """Pad `chunks_per_shard` with 1 for trailing axes that zarr-python omits if the elements are sub-arrays."""
    options = item.get("configuration") if type(item) is dict else None
    if type(options) is not dict:
        return item
    numbers = options.get("chunks_per_shard")
    if type(numbers) is int:
        numbers = [numbers]
    if type(numbers) is not list or not 0 < len(numbers) <= max(rank, 1):
        return item
    # zarr-python has [1] for an array without dimensions.
    whole = [*numbers, *[1] * (rank - len(numbers))] if rank else [] if numbers == [1] else numbers
    return {**item, "configuration": {**options, "chunks_per_shard": whole}}


def fold(
    transformers: Sequence[StorageTransformer],
    chunk_shape: tuple[int, ...],
    codecs: CodecChain,
    dtype: DataType,
    problems: Problems,
) -> Stored | None:
    """Turn the nearest sharding transformers into codecs; `None` if a problem was added."""
    before = len(problems.items)
    rest = list(transformers)
    shape = chunk_shape
    for position, transformer in enumerate(transformers):
        if not isinstance(transformer, ShardingTransformer):
            break
        rest.pop(0)
        counts = transformer.chunks_per_shard
        codecs = CodecChain((), ShardingCodec(shape, codecs, _INDEX, "end"), ())
        shape = tuple(length * count for length, count in zip(shape, counts, strict=True))
        if prod(shape) * dtype.itemsize > INT64_MAX:
            path = f"{_PATH}[{position}].configuration.chunks_per_shard"
            problems.add(path, "shards of fewer than 2^63 bytes", list(counts))
    return Stored(shape, codecs, tuple(rest)) if len(problems.items) == before else None


def unfold(stored: Stored, problems: Problems) -> Stored:
    """Turn sharding codecs back into transformers; add a problem for shards that no transformer can make."""
    shape, codecs, transformers = stored
    path = "codecs"
    while isinstance(codecs.serializer, ShardingCodec):
        sharding = codecs.serializer
        for codec in (*codecs.filters, *codecs.compressors):
            problems.add(path, "no codec around a whole shard", codec.name)
        if sharding.index_location != "end":
            problems.add(f"{path}.index_location", '"end"', sharding.index_location)
        if sharding.index_codecs != _INDEX:
            expected = "little-endian numbers as they are, without a checksum"
            problems.add(f"{path}.index_codecs", expected, sharding.configuration()["index_codecs"])
        inner, codecs = sharding.inner()
        counts = tuple(outer // length for outer, length in zip(shape, inner, strict=True))
        transformers = (ShardingTransformer(counts), *transformers)
        shape = inner
        path += ".codecs"
    return Stored(shape, codecs, transformers)


def encode(transformers: Sequence[StorageTransformer], spelling: Spelling, problems: Problems) -> list[dict[str, Any]]:
    """Encode storage transformers."""
    if spelling is Spelling.DOCUMENT:
        return [transformer.to_draft() for transformer in transformers]
    listed = []
    for position, transformer in enumerate(transformers):
        if not isinstance(transformer, ShardingTransformer):
            problems.add(f"{_PATH}[{position}]", "sharding, the only one that zarr-python has", transformer.name)
            continue
        # zarr-python has [1] for an array without dimensions.
        configuration = {"chunks_per_shard": list(transformer.chunks_per_shard) or [1]}
        listed.append({"extension": _SHARDING_ZARR_PYTHON, "type": "indexed", "configuration": configuration})
    return listed
