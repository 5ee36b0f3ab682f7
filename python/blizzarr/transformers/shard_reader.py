"""Reading shards: their indexes, parts of their chunks, or all of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from blizzarr.stores import ByteRange, Store, Value
from blizzarr.stores.ranges import resolve_range, slice_ranges
from blizzarr.transformers.partial import KeyRange, get_partial_values
from blizzarr.transformers.shard import Index, Place

Wanted: TypeAlias = tuple[str, ByteRange, tuple[Place, int] | None]
"""A key, a part of its value, and for a chunk key its shard and the chunk's number there."""

_READS: Final = 4
"""The number of attempts, if shards are replaced while they are read, before shards are read as a whole."""


def read_indices(store: Store, places: Sequence[Place]) -> list[Index]:
    """Return the indexes of the shards that exist, in one request if the store supports that."""
    values = get_partial_values(store, [(place.key, (-place.index_bytes, None)) for place in places])
    return [Index(bytes(raw), place) for raw, place in zip(values, places, strict=True) if raw is not None]


def read_parts(store: Store, wanted: Sequence[Wanted]) -> list[Value | None]:
    """Return parts of chunks and of other values in the order of the request; `None` for missing ones."""
    places = list({entry[0].key: entry[0] for _, _, entry in wanted if entry is not None}.values())
    if not places:
        return get_partial_values(store, [(key, part) for key, part, _ in wanted])
    for _ in range(_READS):
        indices = {index.place.key: index for index in read_indices(store, places)}
        parts = _read_parts(store, wanted, indices)
        if parts is not None:
            return parts
    # A shard is replaced faster than it can be read in parts, or its index is wrong, which reading it whole shows.
    chunks = {}
    for place in places:
        value = store.get(place.key)
        chunks[place.key] = {} if value is None else take_apart(value, place)
    return [_cut(store, chunks, *one) for one in wanted]


def _read_parts(store: Store, wanted: Sequence[Wanted], indices: Mapping[str, Index]) -> list[Value | None] | None:
    """Return the parts if the shards still have these indexes and are as long as they say; otherwise `None`."""
    requests: list[KeyRange] = []
    numbers: list[int | None] = []
    ends = dict.fromkeys(indices, 0)
    for key, part, located in wanted:
        numbers.append(len(requests))
        if located is None:
            requests.append((key, part))
            continue
        place, entry = located
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
        # Exists if the shard is long enough for its index to follow the last chunk.
        requests.append((key, (ends[key] + index.place.index_bytes - 1, 1)))
    values = get_partial_values(store, requests)
    again = iter(values[asked:])
    for index, raw, last in zip(indices.values(), again, again, strict=True):
        if raw is None or not last or bytes(raw) != index.raw:
            return None
    return [None if number is None else values[number] for number in numbers]


def take_apart(value: Value, place: Place) -> dict[int, Value]:
    """Return the chunks of a shard in memory, by their numbers.

    Raise `ShardIndexError` if the index is wrong about a chunk, or several chunks share so many bytes that separate
    copies would not fit.
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
    store: Store,
    chunks: Mapping[str, Mapping[int, Value]],
    key: str,
    part: ByteRange,
    located: tuple[Place, int] | None,
) -> Value | None:
    if located is None:
        return get_partial_values(store, [(key, part)])[0]
    chunk = chunks[located[0].key].get(located[1])
    return None if chunk is None else slice_ranges(chunk, [part])[0]
