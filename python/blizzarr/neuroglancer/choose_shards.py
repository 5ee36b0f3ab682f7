"""Choosing the shards of a new scale from the write chunks that a schema asks for."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod
from typing import Final

from blizzarr.errors import SpecError
from blizzarr.indexing.interval import INF
from blizzarr.neuroglancer.sharding import HASHES, Sharding, index_bits
from blizzarr.spec.chunk_layout import ChunkLayout, grid_of

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
    wanted = _bits_of(0 if grid.elements is None else grid.elements, prod(chunk), sum(most))

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
    best, bits, dim, tried = cost(used), 0, 0, 0
    while tried < sum(most):
        if used[dim] < most[dim]:
            used[dim] += 1
            tried += 1
            cost_of_these = cost(used)
            if cost_of_these < best or (cost_of_these == best and tried <= wanted):
                best, bits = cost_of_these, tried
        dim = (dim + 1) % 3
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
