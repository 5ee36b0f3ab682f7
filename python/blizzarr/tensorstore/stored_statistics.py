"""How much of a view of an array is stored, by its chunks, and in shards by the index of their inner chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from math import prod
from operator import floordiv, mod
from typing import Any, TypeAlias

import numpy as np

from blizzarr.array import Array
from blizzarr.array.binding import engine_handle
from blizzarr.array.stored import stored_chunks
from blizzarr.formats import chunk_prefix, chunk_store
from blizzarr.indexing import Lowered
from blizzarr.indexing.selection import Axes
from blizzarr.tensorstore.picking import Pieces

_FEW = 128
"""The most chunks that are looked up one by one on this machine; the time of listing depends on all other chunks."""

_Group: TypeAlias = tuple[tuple[int, ...], set[tuple[int, ...]]]
"""Axes of an array that are indexed together, and the chunks along them that are wanted."""


def stored_of(array: Array, lowered: Lowered) -> tuple[bool, bool]:
    """Return whether no and whether every chunk of a selection is stored; in shards, inner chunks count."""
    shape, axes, _ = lowered
    if not prod(shape):
        return True, True
    meta = array.metadata
    sharded = meta.codecs.is_sharded
    groups = _groups(shape, axes, meta.chunk_shape)
    wanted = prod(len(chunks) for _, chunks in groups)
    ratio = tuple(map(floordiv, meta.write_shape, meta.chunk_shape))
    handle: Any = engine_handle(array.store, array.path, meta) if sharded else None
    result = 0
    for _, position in _stored(array, lowered):
        if not sharded:
            result += all(tuple(position[axis] for axis in members) in chunks for members, chunks in groups)
        elif within := _within(groups, position, ratio):
            inner = np.frombuffer(handle.stored(position), np.uint8).reshape(ratio)
            result += int(np.count_nonzero(inner[within]))
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


def first_missing(array: Array, lowered: Lowered) -> tuple[str, tuple[int, ...], tuple[int, ...] | None] | None:
    """Return the key and position of a chunk that a selection needs but that is not stored, and None.

    In shards, inner chunks count: return the key of the shard, the position within it, and how many it has.
    """
    meta = array.metadata
    sharded, counts = meta.codecs.is_sharded, tuple(map(floordiv, meta.write_shape, meta.chunk_shape))
    flags: Callable[[tuple[int, ...]], np.ndarray[Any, Any]]
    if sharded or meta.chunk_keys.share_values:
        # Listings do not show such chunks.
        handle: Any = engine_handle(array.store, array.path, meta)
        flags = cache(lambda outer: np.frombuffer(handle.stored(outer), np.uint8).reshape(counts))
    else:
        present = {position for _, position in _stored(array, lowered)}
        flags = lambda outer: np.full(counts, outer in present)  # noqa: E731
    for position, _, _ in Pieces(lowered, meta.chunk_shape):
        outer = tuple(map(floordiv, position, counts))
        inner = tuple(map(mod, position, counts))
        if not flags(outer)[inner]:
            key = chunk_prefix(array.path, meta) + meta.chunk_keys.key(outer)
            return (key, inner, counts) if sharded else (key, outer, None)
    return None


def _stored(array: Array, lowered: Lowered) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Return the keys and positions of stored chunks; of only the wanted ones if they are few and the store is near."""
    meta, (shape, axes, _) = array.metadata, lowered
    store = chunk_store(array.store, array.path, meta)
    native = getattr(store, "native", None)
    if native is None or prod(len(chunks) for _, chunks in _groups(shape, axes, meta.write_shape)) > _FEW:
        return stored_chunks(array.store, array.path, meta)
    prefix = chunk_prefix(array.path, meta)
    wanted = {prefix + meta.chunk_keys.key(position): position for position, _, _ in Pieces(lowered, meta.write_shape)}
    return [(key, wanted[key]) for key in native.present(list(wanted))]


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
