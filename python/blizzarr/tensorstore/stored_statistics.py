"""How much of a view of an array is stored, by its chunks, and in shards by the index of their inner chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr import _native
from blizzarr.array import Array
from blizzarr.array.binding import bind
from blizzarr.array.stored import stored_chunks
from blizzarr.codecs import CodecChain
from blizzarr.codecs.sharding import ShardingCodec
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.dtypes import DataType
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.indexing import Lowered
from blizzarr.indexing.selection import Axes
from blizzarr.model import ArrayMeta
from blizzarr.stores import Store

_FEW = 128
"""The most chunks that are looked up one by one on this machine; the time of listing depends on all other chunks."""

_Group: TypeAlias = tuple[tuple[int, ...], set[tuple[int, ...]]]
"""Axes of an array that are indexed together, and the chunks along them that are wanted."""


def stored_of(array: Array, lowered: Lowered) -> tuple[bool, bool]:
    """Return whether no and whether every chunk of a selection is stored; in shards, inner chunks count.

    >>> import blizzarr
    >>> z = blizzarr.create_array({}, shape=(4, 6), chunks=(2, 3), dtype="int16")
    >>> z[0, 0] = 1
    >>> stored_of(z, ((2, 3), ((0, 0, 1), (1, 0, 1)), False)), stored_of(z, ((4,), ((0, 0, 1), 2), False))
    ((False, True), (False, False))
    """
    shape, axes, _ = lowered
    if not prod(shape):
        return True, True
    meta = array.metadata
    sharded = meta.codecs.is_sharded
    groups = _groups(shape, axes, meta.chunk_shape if sharded else meta.write_shape)
    wanted = prod(len(chunks) for _, chunks in groups)
    ratio = tuple(outer // inner for outer, inner in zip(meta.write_shape, meta.chunk_shape, strict=True))
    store = chunk_store(array.store, array.path, meta)
    result = 0
    for key, position in _stored(array, _groups(shape, axes, meta.write_shape) if sharded else groups):
        if not sharded:
            result += all(tuple(position[axis] for axis in members) in chunks for members, chunks in groups)
        elif within := _within(groups, position, ratio):
            result += int(np.count_nonzero(inner_chunks(store, key, meta)[within]))
    return result == 0, result == wanted


def _within(
    groups: list[_Group], position: tuple[int, ...], ratio: tuple[int, ...]
) -> tuple[np.ndarray[Any, Any], ...] | None:
    """Return the wanted inner chunks of one shard, as indices that are broadcast; None if there are none."""
    result: dict[int, np.ndarray[Any, Any]] = {}
    for number, (members, chunks) in enumerate(groups):
        rows = np.array(sorted(chunks)).reshape(len(chunks), len(members))
        starts = np.array([position[axis] * ratio[axis] for axis in members])
        inside = np.all((rows >= starts) & (rows < starts + [ratio[axis] for axis in members]), axis=1)
        rows = rows[inside] - starts
        if not len(rows):
            return None
        for column, axis in enumerate(members):
            result[axis] = rows[:, column].reshape([-1 if other == number else 1 for other in range(len(groups))])
    return tuple(result[axis] for axis in range(len(position)))


def first_missing(array: Array, lowered: Lowered) -> tuple[tuple[int, ...], str] | None:
    """Return position and key of a chunk that a selection needs but that is not stored.

    >>> import blizzarr
    >>> z = blizzarr.create_array({}, name="a", shape=(4, 6), chunks=(2, 3), dtype="int16")
    >>> z[0, :] = 1
    >>> first_missing(z, ((4,), ((0, 0, 1), 2), False)), first_missing(z, ((6,), (1, (0, 0, 1)), False))
    (((1, 0), 'a/c/1/0'), None)
    """
    shape, axes, _ = lowered
    if not prod(shape):
        return None
    meta = array.metadata
    groups = _groups(shape, axes, meta.write_shape)
    if meta.chunk_keys.share_values:
        is_stored = _looked_up(array)
    else:
        is_stored = {position for _, position in _stored(array, groups)}.__contains__
    for position in _positions(groups):
        if not is_stored(position):
            return position, chunk_prefix(array.path, meta) + meta.chunk_keys.key(position)
    return None


def _stored(array: Array, groups: list[_Group]) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Return the keys and positions of stored chunks; of only the wanted ones if they are few and the store is near."""
    meta = array.metadata
    store = chunk_store(array.store, array.path, meta)
    native = getattr(store, "native", None)
    if native is None or prod(len(chunks) for _, chunks in groups) > _FEW:
        return stored_chunks(array.store, array.path, meta)
    prefix = chunk_prefix(array.path, meta)
    wanted = {prefix + meta.chunk_keys.key(position): position for position in _positions(groups)}
    return [(key, wanted[key]) for key in native.present(list(wanted))]


def _positions(groups: list[_Group]) -> Iterator[tuple[int, ...]]:
    """Return the wanted chunks, in C order of the groups."""
    rank = sum(len(members) for members, _ in groups)
    for parts in product(*(sorted(chunks) for _, chunks in groups)):
        of_axis = {
            axis: index
            for (members, _), part in zip(groups, parts, strict=True)
            for axis, index in zip(members, part, strict=True)
        }
        yield tuple([of_axis[axis] for axis in range(rank)])


def _looked_up(array: Array) -> Callable[[tuple[int, ...]], bool]:
    """Return a function that looks up a chunk, for stores whose listings do not show chunks."""
    handle: Any = bind(array.store, array.path, array.metadata).handle
    return lambda position: bool(handle.verify(np.array(position, "int64"), sizes_only=True)[1] == 0)


def _groups(shape: tuple[int, ...], axes: Axes, chunks: tuple[int, ...]) -> list[_Group]:
    together: dict[tuple[int, ...], list[int]] = {}
    groups: list[_Group] = []
    for number, axis in enumerate(axes):
        length = chunks[number]
        if isinstance(axis, int):
            groups.append(((number,), {(axis // length,)}))
        elif len(axis) == 3:
            dim, start, step = axis
            touched = (start + step * np.arange(shape[dim])) // length
            groups.append(((number,), {(int(index),) for index in np.unique(touched)}))
        else:
            together.setdefault(axis[0], []).append(number)
    for members in together.values():
        rows = [np.ravel(axes[number][1] // chunks[number]) for number in members]  # type: ignore[index]
        groups.append((tuple(members), {tuple(map(int, row)) for row in np.unique(np.stack(rows, 1), axis=0)}))
    return groups


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
