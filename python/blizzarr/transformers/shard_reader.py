"""Reading shards: their indices, parts of their chunks, or all of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from blizzarr.stores import ByteRange, Store, Value
from blizzarr.stores.ranges import resolve_range, slice_ranges
from blizzarr.transformers.partial import KeyRange, get_partial_values
from blizzarr.transformers.shard import Index, Place

__all__ = ["Wanted", "read_indices", "read_parts", "take_apart"]

Wanted: TypeAlias = tuple[str, ByteRange, tuple[Place, int] | None]
"""A key, a part of its value, and where the chunk is if it is the key of one."""

_READS: Final = 4
"""How often reading begins anew because a shard was replaced meanwhile, before shards are read as a whole."""


def read_indices(store: Store, places: Sequence[Place]) -> list[Index]:
    """The indices of these shards, in one request where the store can; those of missing shards are left out."""
    found = get_partial_values(store, [(place.key, (-place.index_bytes, None)) for place in places])
    return [Index(bytes(raw), place) for raw, place in zip(found, places, strict=True) if raw is not None]


def read_parts(store: Store, wanted: Sequence[Wanted]) -> list[Value | None]:
    """Parts of chunks and of other values, in the order asked for; None for each that is missing."""
    places = list({found[0].key: found[0] for _, _, found in wanted if found is not None}.values())
    if not places:
        return get_partial_values(store, [(key, part) for key, part, _ in wanted])
    for _ in range(_READS):
        indices = {index.place.key: index for index in read_indices(store, places)}
        parts = _read_parts(store, wanted, indices)
        if parts is not None:
            return parts
    # Somebody writes a shard faster than it can be read in parts, or its index is wrong, which this finds out.
    chunks = {}
    for place in places:
        value = store.get(place.key)
        chunks[place.key] = {} if value is None else take_apart(value, place)
    return [_cut(store, chunks, *one) for one in wanted]


def _read_parts(store: Store, wanted: Sequence[Wanted], indices: Mapping[str, Index]) -> list[Value | None] | None:
    """The parts, if the shards still have these indices and reach as far as those say; else None."""
    requests: list[KeyRange] = []
    numbers: list[int | None] = []
    ends = dict.fromkeys(indices, 0)
    for key, part, found in wanted:
        numbers.append(len(requests))
        if found is None:
            requests.append((key, part))
            continue
        place, entry = found
        chunk = indices[place.key].get(entry) if place.key in indices else None
        if chunk is None:
            numbers[-1] = None
            continue
        offset, length = chunk
        begin, end = resolve_range(*part, length)
        requests.append((place.key, (offset + begin, end - begin)))
        ends[place.key] = max(ends[place.key], offset + length)
    asked = len(requests)
    for key, index in indices.items():
        requests.append((key, (-index.place.index_bytes, None)))
        # There if the index lies behind the last of the chunks, and not below it.
        requests.append((key, (ends[key] + index.place.index_bytes - 1, 1)))
    values = get_partial_values(store, requests)
    again = iter(values[asked:])
    for index, raw, last in zip(indices.values(), again, again, strict=True):
        if raw is None or not last or bytes(raw) != index.raw:
            return None
    return [None if number is None else values[number] for number in numbers]


def take_apart(value: Value, place: Place) -> dict[int, Value]:
    """The chunks of a shard that is in memory, by their numbers.

    Raises
    ------
    ShardIndexError
        When its index is wrong about one of them, or several chunks share so many bytes that they would not fit when
        each has its own.
    """
    view = memoryview(value).cast("B")
    index = Index(bytes(view[-place.index_bytes :]), place)
    index.check_size(len(view))
    chunks: dict[int, Value] = {}
    total = 0
    for entry, offset, length in index.spans():
        total += length
        chunks[entry] = view[offset : offset + length]
    if total > len(view):
        raise place.wrong(
            None, "expected chunks that lie apart in the shard, found that many share bytes; write the shard as a whole"
        )
    return chunks


def _cut(
    store: Store, chunks: Mapping[str, Mapping[int, Value]], key: str, part: ByteRange, found: tuple[Place, int] | None
) -> Value | None:
    if found is None:
        return get_partial_values(store, [(key, part)])[0]
    chunk = chunks[found[0].key].get(found[1])
    return None if chunk is None else slice_ranges(chunk, [part])[0]
