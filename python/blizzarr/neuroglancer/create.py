"""Making new scales of ``neuroglancer_precomputed``: in a new volume, or added to a stored one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any, Final, TypeVar

from blizzarr.errors import ArrayExistsError, ConstraintError, SpecError
from blizzarr.indexing.interval import INF, Bounds
from blizzarr.json_values import copied, dump, quote
from blizzarr.neuroglancer.check import check_multiscale, check_schema, stored_scale
from blizzarr.neuroglancer.chunk_keys import interleaved
from blizzarr.neuroglancer.constraints import MultiscaleConstraints, ScaleConstraints, check_dtype
from blizzarr.neuroglancer.effective import codec_of, domain_of, layout_with, units_of
from blizzarr.neuroglancer.info import KIND, QUALITY, Scale, Triple, Volume, encoding_problem
from blizzarr.neuroglancer.sharding import HASHES, Sharding, check_key_bits, index_bits
from blizzarr.spec.arguments import prefixed
from blizzarr.spec.chunk_layout import ChunkLayout, grid_of, merge_grid
from blizzarr.spec.codec_spec import parts_of
from blizzarr.spec.layout_solver import choose_shape
from blizzarr.spec.schema import Schema, merge_schema
from blizzarr.views import IndexDomain

T = TypeVar("T")
_BLOCK_ELEMENTS: Final = 512


@dataclass(frozen=True, slots=True)
class Existing:
    """A volume that is stored."""

    volume: Volume
    document: Mapping[str, Any]


def new_document(
    existing: Existing | None,
    number: int | None,
    multiscale: MultiscaleConstraints,
    wanted: ScaleConstraints,
    schema: Schema,
    assumed: bool = False,
) -> tuple[dict[str, Any], int]:
    """Return the document with one more scale, and its number; everything that is left open is chosen.

    >>> document, number = new_document(None, None, MultiscaleConstraints(), ScaleConstraints(),
    ...                                 Schema(dtype="uint16", shape=[1000, 2000, 3000, 2]))
    >>> document["scales"][number]["chunk_sizes"], document["scales"][number]["key"]
    ([[80, 80, 80]], '1_1_1')
    """
    stored = None if existing is None else existing.volume
    if stored is not None:
        check_multiscale(stored, multiscale)
    known = None if stored is None else stored.num_channels
    domain = domain_of(wanted, known if multiscale.num_channels is None else multiscale.num_channels, schema)
    layout = layout_with(schema.chunk_layout, domain, wanted)
    if any(first == -INF for first in domain.inclusive_min) or any(end > INF for end in domain.exclusive_max):
        raise SpecError("domain must be specified")
    schema = schema.copy()
    if stored is not None:
        merge_schema(schema, Schema(dtype=stored.data_type))
    if schema.dtype is None:
        raise SpecError("dtype must be specified")
    dtype, channels = check_dtype(schema.dtype), domain.shape[3]
    kind = multiscale.kind or ("segmentation" if dtype.name in ("uint32", "uint64") else "image")
    resolution = tuple(1.0 if unit is None else unit.multiplier for unit in units_of(wanted, schema)[:3])
    codec = parts_of(codec_of(wanted, schema))[1].given
    encoding = codec.get("encoding", "raw")
    chunk, block = _chunks(layout, domain, encoding)
    sharding = wanted.sharding
    if sharding is None and not wanted.unsharded:
        sharding = choose_shards(
            schema.chunk_layout, domain.shape[:3], chunk, encoding, codec.get("shard_data_encoding")
        )
    key = wanted.key if wanted.key is not None else "_".join(f"{length:g}" for length in resolution)
    if stored is not None:
        check_multiscale(stored, MultiscaleConstraints(kind, dtype, channels))
    number_of_scale = _check_new(stored, number, key, wanted.key is None, resolution, assumed)
    with prefixed("the new scale is invalid", ConstraintError):
        wrong = encoding_problem(encoding, dtype.name, channels)
        if wrong is not None:
            raise SpecError(wrong)
        if sharding is not None:
            check_key_bits(domain.shape[:3], chunk)
    scale = Scale(
        key=key,
        resolution=_three(resolution),
        size=_three(domain.shape),
        voxel_offset=_three(domain.inclusive_min),
        chunk_sizes=(chunk,),
        encoding=encoding,
        sharding=sharding,
        jpeg_quality=codec.get("jpeg_quality", QUALITY) if encoding == "jpeg" else None,
        png_level=codec.get("png_level") if encoding == "png" else None,
        compressed_segmentation_block_size=block,
        extra={},
    )
    check_schema(Volume(kind, dtype.name, channels, (scale,), {}), scale, chunk, schema)
    members = _members(scale)
    if existing is not None:
        document = copied(dict(existing.document))
        return {**document, "scales": [*document["scales"], members]}, number_of_scale
    # An assumed scale has the given number, after scales whose content does not matter.
    scales = [members] * (number_of_scale + 1)
    return {
        "@type": KIND,
        "data_type": dtype.name,
        "num_channels": channels,
        "scales": scales,
        "type": kind,
    }, number_of_scale


def _chunks(layout: ChunkLayout, domain: IndexDomain, encoding: str) -> tuple[Triple, Triple | None]:
    """Choose the shape of chunks, and of the blocks in them, for encodings that have blocks."""
    bounds = [Bounds(first, end) for first, end in zip(domain.inclusive_min, domain.exclusive_max, strict=True)]
    shape = choose_shape(grid_of(layout, "read"), bounds)
    if encoding != "compressed_segmentation":
        return _three(shape), None
    merge_grid(layout, "codec", grid_of(layout, "codec").merged("elements", [_BLOCK_ELEMENTS], False))
    layout = layout_with(layout, None, ScaleConstraints(encoding=encoding))
    chunk = [Bounds(first, first + length) for (first, _), length in zip(bounds, shape, strict=True)]
    return _three(shape), _three(choose_shape(grid_of(layout, "codec"), chunk))


def _members(scale: Scale) -> dict[str, Any]:
    members = {"chunk_sizes": [list(chunk) for chunk in scale.chunk_sizes], **stored_scale(scale, None).to_json()}
    return {name: value for name, value in members.items() if value is not None}


def _three(values: Sequence[T]) -> tuple[T, T, T]:
    x, y, z = values[:3]
    return x, y, z


def _check_new(
    stored: Volume | None, number: int | None, key: str, is_chosen: bool, resolution: tuple[float, ...], assumed: bool
) -> int:
    """Return the number of a new scale; raise if it exists already."""
    if stored is None:
        if number and not assumed:
            raise ConstraintError(f"Cannot create scale {number} in new multiscale volume")
        return number or 0
    count = len(stored.scales)
    if number is not None:
        if number < count:
            raise ArrayExistsError(f"Scale index {number} already exists")
        if number != count:
            raise ConstraintError(
                f"Scale index to create ({number}) must equal the existing number of scales ({count})"
            )
        return count
    if any(scale.key == key for scale in stored.scales):
        raise ArrayExistsError(f"Scale with key {quote(key)} already exists")
    if is_chosen and any(scale.resolution == resolution for scale in stored.scales):
        raise ArrayExistsError(f"Scale with resolution {dump(list(resolution))} already exists")
    return count


_MOST_SHIFTED: Final = 9
"""Bits of chunks that share a minishard."""


def choose_shards(
    layout: ChunkLayout, size: Sequence[int], chunk: Sequence[int], encoding: str, data_encoding: str | None
) -> Sharding | None:
    """Choose shards; return None where each would hold one chunk, and no encoding of their data is given.

    >>> layout = ChunkLayout(write_chunk_shape=[512, 512, 512, None])
    >>> found = choose_shards(layout, (1000, 2000, 3000), (64, 64, 64), "raw", None)
    >>> found.preshift_bits, found.minishard_bits, found.shard_bits, found.data_encoding
    (9, 0, 6, 'gzip')
    >>> choose_shards(ChunkLayout(), (1000, 2000, 3000), (64, 64, 64), "raw", None)
    """
    grid = grid_of(layout, "write")
    most = index_bits(size, chunk)
    wanted = _bits_of(grid.elements.values[0] or 0, prod(chunk), sum(most))

    def cost(used: Sequence[int]) -> float:
        total = 0.0
        for dim, side in enumerate(grid.shape.values[:3]):
            if not side:
                continue
            if side in (-1, INF):
                side = chunk[dim] << most[dim]
            side_of_shard = chunk[dim] << used[dim]
            if dim in grid.shape.hard and side_of_shard != side:
                return inf
            total += abs(side_of_shard - side) / side
        return total

    used = [0, 0, 0]
    best, bits = cost(used), 0
    for tried, (axis, _) in enumerate(interleaved(most), 1):
        used[axis] += 1
        cost_of_these = cost(used)
        if cost_of_these < best or (cost_of_these == best and tried <= wanted):
            best, bits = cost_of_these, tried
    if best == inf:
        raise SpecError("Cannot satisfy write chunk shape constraint")
    if bits == 0 and data_encoding is None:
        return None
    shifted = min(bits, _MOST_SHIFTED)
    usual = "raw" if encoding in ("jpeg", "png") else "gzip"
    return Sharding(shifted, bits - shifted, sum(most) - bits, HASHES[0], data_encoding or usual, "gzip")


def _bits_of(elements: int, of_chunk: int, most: int) -> int:
    """Return how many bits of a chunk's number give shards of about so many elements."""
    chunks = (elements + of_chunk // 2) // of_chunk
    bits = 0
    while bits < most and 1 << bits < chunks:
        bits += 1
    if bits > 0 and (1 << bits) - chunks > chunks - (1 << (bits - 1)):
        bits -= 1
    return bits
