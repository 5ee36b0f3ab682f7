"""Reading from a shard's index which of its inner chunks are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.codecs import CodecChain
from blizzarr.codecs.sharding import ShardingCodec
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.dtypes import DataType
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store

_Bytes: TypeAlias = Callable[[int, int | None], bytes]
"""Reads a number of bytes at a position, or the last bytes if that is negative; to the end if no number is given."""
_ENTRY = DataType.parse("uint64")
_MISSING = (1 << 64) - 1


def inner_chunks(store: Store, key: str, metadata: ArrayMeta) -> npt.NDArray[np.bool_]:
    """Return a mask of the smallest inner chunks of a shard that are stored, along the axes of the array.

    >>> import blizzarr
    >>> from blizzarr.stores import MemoryStore
    >>> store = MemoryStore()
    >>> z = blizzarr.create_array(store, shape=(4, 4), chunks=(2, 2), shards=(4, 4), dtype="int16")
    >>> z[0, 0] = 1
    >>> inner_chunks(store, "c/0/0", z.metadata)
    array([[ True, False],
           [False, False]])
    """

    def read(start: int, length: int | None) -> bytes:
        result = store.get_ranges(key, [(start, length)])
        return b"" if result is None else bytes(result[0])

    return _present(metadata.codecs, metadata.dtype, metadata.write_shape, read)


def _present(chain: CodecChain, dtype: DataType, shape: tuple[int, ...], read: _Bytes) -> npt.NDArray[np.bool_]:
    order = _order(chain, len(shape))
    stored = tuple(shape[axis] for axis in order)
    codec = chain.serializer
    assert isinstance(codec, ShardingCodec), "shards have it"
    if chain.compressors:
        native = _native.Chain(shape, dtype.itemsize, bytes(dtype.itemsize), False, chain.steps(dtype, shape))
        read = _of(native.decode(read(0, None)))
    inner_shape, inner = codec.inner()
    grid = tuple(outer // length for outer, length in zip(stored, inner_shape, strict=True))
    entries = _entries(codec, grid, read)
    present = ~np.all(entries == _MISSING, axis=-1)
    if inner.is_sharded:
        present = _expanded(present, entries, lambda part: _present(inner, dtype, inner_shape, part), read)
    result: npt.NDArray[np.bool_] = present.transpose(np.argsort(order))
    return result


def _order(chain: CodecChain, rank: int) -> list[int]:
    order = list(range(rank))
    for codec in chain.filters:
        if isinstance(codec, TransposeCodec):
            order = [order[axis] for axis in codec.order]
    return order


def _of(value: bytes) -> _Bytes:
    def read(start: int, length: int | None) -> bytes:
        start = start if start >= 0 else len(value) + start
        return value[start:] if length is None else value[start : start + length]

    return read


def _entries(codec: ShardingCodec, grid: tuple[int, ...], read: _Bytes) -> npt.NDArray[np.uint64]:
    """Offsets and lengths of inner chunks."""
    chain = codec.index_codecs
    assert isinstance(chain, CodecChain), "resolved before it is used"
    shape = (*grid, 2)
    steps = chain.steps(_ENTRY, shape)
    native = _native.Chain(shape, 8, bytes(8), False, steps)
    size = len(native.encode(bytes(native.length)))
    raw = native.decode(read(0, size) if codec.index_location == "start" else read(-size, None))
    order = _order(chain, len(shape))
    swapped = any(step[0] == "bytes" and step[1] for step in steps)
    result = np.frombuffer(raw, np.dtype(np.uint64).newbyteorder() if swapped else np.uint64)
    return result.reshape([shape[axis] for axis in order]).transpose(np.argsort(order)).astype(np.uint64)


def _expanded(
    present: npt.NDArray[np.bool_],
    entries: npt.NDArray[np.uint64],
    look: Callable[[_Bytes], npt.NDArray[np.bool_]],
    read: _Bytes,
) -> npt.NDArray[np.bool_]:
    """Expand inner chunks that are shards themselves into their inner chunks."""
    parts = np.empty(present.shape, object)
    size: tuple[int, ...] = (1,) * present.ndim
    for position in np.ndindex(present.shape):
        if present[position]:
            offset, length = map(int, entries[position])
            parts[position] = look(_of(read(offset, length)))
            size = parts[position].shape
    result = np.zeros([outer * inner for outer, inner in zip(present.shape, size, strict=True)], bool)
    for position in np.ndindex(present.shape):
        if present[position]:
            box = tuple(slice(at * step, (at + 1) * step) for at, step in zip(position, size, strict=True))
            result[box] = parts[position]
    return result
