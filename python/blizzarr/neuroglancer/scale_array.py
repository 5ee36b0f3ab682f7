"""One resolution of a volume of Neuroglancer as an array: its axes are x, y, z and channel."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final

from blizzarr.codecs import BytesCodec, Chunk, CodecChain, GzipCodec, TransposeCodec
from blizzarr.dtypes import DataType, fill_user
from blizzarr.model import ArrayMeta, RegularGrid
from blizzarr.neuroglancer.chunk_keys import NAME, IntervalKeys, ShardKeys
from blizzarr.neuroglancer.info import Scale, Triple, Volume
from blizzarr.neuroglancer.serializers import CompressedSegmentationCodec, ImageCodec
from blizzarr.neuroglancer.sharding import Sharding, index_bits
from blizzarr.problems import INT64_MAX, Problems, decoder

AXES: Final = ("x", "y", "z", "channel")
IMAGES: Final = ("jpeg", "png")
_ABOVE: Final = ".."
_TOO_MANY: Final = 1 << 56
"""The number of elements of the largest block: the engine needs the bits of their indices."""


def resolved(path: str, key: str) -> str:
    """Return the path of the chunks of a scale in a volume at this path.

    >>> resolved("a/b", "8_8_8"), resolved("", "8_8_8"), resolved("a/b", "../c/8_8_8")
    ('a/b/8_8_8', '8_8_8', 'a/c/8_8_8')
    """
    if not path:
        return key
    parts = path.split("/")
    for part in key.split("/"):
        if part == _ABOVE and parts:
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


@decoder
def array_of(
    volume: Volume, choice: tuple[int, Triple], source: Mapping[str, Any], path: str, problems: Problems
) -> ArrayMeta | None:
    """Return the array of one scale; `None` if a problem was added."""
    number, chunk = choice
    scale = volume.scales[number]
    where = f"scales[{number}]"
    dtype = DataType.parse(volume.data_type)
    total = volume.num_channels
    for length in scale.size:
        total *= max(length, 1)
    if total > INT64_MAX:
        problems.add(f"{where}.size", "fewer than 2^63 elements", list(scale.size))
    block = scale.compressed_segmentation_block_size
    if block is not None and prod(block) >= _TOO_MANY:
        place_of_block = f"{where}.compressed_segmentation_block_size"
        problems.add(place_of_block, "blocks of fewer than 2^56 elements", list(block))
    if _ABOVE in resolved(path, scale.key).split("/"):
        problems.add(f"{where}.key", "a place within the store; open a directory above it for this one", scale.key)
    if len(problems.items):
        return None
    shards = None if scale.sharding is None else _shards(scale.sharding, scale, chunk)
    ends = tuple(first + length for first, length in zip(scale.voxel_offset, scale.size, strict=True))
    return ArrayMeta(
        (*scale.size, volume.num_channels),
        dtype,
        RegularGrid((*chunk, volume.num_channels), ends_with_array=True),
        IntervalKeys.of(scale.voxel_offset, chunk, ends) if shards is None else shards,
        fill_user.default(dtype),
        _chain(scale, dtype),
        dimension_names=AXES,
        format=NAME,
        source=source,
    )


def _shards(sharding: Sharding, scale: Scale, chunk: Triple) -> ShardKeys:
    return ShardKeys.of(
        scale.voxel_offset,
        scale.size,
        index_bits(scale.size, chunk),
        shifted=sharding.preshift_bits,
        minishards=sharding.minishard_bits,
        shards=sharding.shard_bits,
        murmur=sharding.hash != "identity",
        gzip_index=sharding.minishard_index_encoding == "gzip",
    )


def _chain(scale: Scale, dtype: DataType) -> CodecChain:
    turned = TransposeCodec((3, 2, 1, 0))
    gzip = () if scale.sharding is None or scale.sharding.data_encoding == "raw" else (GzipCodec(6),)
    if scale.compressed_segmentation_block_size is not None:
        return CodecChain((turned,), CompressedSegmentationCodec(scale.compressed_segmentation_block_size), gzip)
    if scale.encoding in IMAGES:
        return CodecChain((turned,), ImageCodec(scale.encoding, scale.jpeg_quality, scale.png_level), gzip)
    return CodecChain((turned,), BytesCodec("little").resolve(Chunk(dtype, None)), gzip)
