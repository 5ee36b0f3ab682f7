"""The binary format ``indexed`` of a shard: the chunks, followed by their index; and reading it, or parts of it.

The index has an entry for each chunk that the shard may hold, in C order, also for those beyond the edge of the array:
two little-endian unsigned 64-bit integers, the offset and the length of the chunk in bytes. Both are 2^64 - 1 for a
missing chunk. Chunks may be in any order and have gaps between them; there is no checksum.

>>> raw = encode((2,), {1: b"chunk"})
>>> raw[:5], raw[5:] == b"\\xff" * 16 + (0).to_bytes(8, "little") + (5).to_bytes(8, "little")
(b'chunk', True)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from blizzarr.errors import ShardIndexError
from blizzarr.stores import ByteRange, Store, Value
from blizzarr.stores.ranges import resolve_range, slice_ranges
from blizzarr.transformers.store_interface import KeyRange, get_partial_values

ENTRY: Final = 16
"""The size of an index entry in bytes."""

_MISSING: Final = np.uint64(2**64 - 1)
_LONGEST: Final = 2**63 - 1
_NUMBERS: Final = np.dtype("<u8")


@dataclass(frozen=True, slots=True)
class Place:
    """A shard, as errors name it: its key, its position in the grid of shards, and its shape in chunks."""

    key: str
    position: tuple[int, ...]
    grid: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of chunks that it can hold."""
        return prod(self.grid)

    @property
    def index_bytes(self) -> int:
        """The length of its index in bytes."""
        return ENTRY * self.count

    def chunk(self, entry: int) -> tuple[int, ...]:
        """Return the position of one of its chunks in the grid of chunks."""
        inner = np.unravel_index(entry, self.grid) if self.grid else ()
        return tuple(
            shard * count + int(offset) for shard, count, offset in zip(self.position, self.grid, inner, strict=True)
        )

    def wrong(self, entry: int | None, reason: str) -> ShardIndexError:
        """Return an error about the shard, or about one of its chunks."""
        inner = () if entry is None or not self.grid else tuple(map(int, np.unravel_index(entry, self.grid)))
        return ShardIndexError(reason, key=self.key, chunk=(*self.position, *inner), codec="sharding", direction="read")


class Index:
    """The index of a shard.

    All entries are checked at once: an index that is wrong about one chunk is not trusted about another.
    """

    def __init__(self, raw: bytes, place: Place) -> None:
        if len(raw) != place.index_bytes:
            raise place.wrong(
                None, f"expected a shard that ends with an index of {place.index_bytes} bytes, found {len(raw)} bytes"
            )
        self.raw = raw
        self.place = place
        self._entries: npt.NDArray[np.uint64] = np.frombuffer(raw, _NUMBERS).reshape(-1, 2)
        self._check()

    def get(self, entry: int) -> tuple[int, int] | None:
        """Return the offset and length of a chunk; `None` if it is missing."""
        offset, length = self._entries[entry].tolist()
        return None if offset == length == _MISSING else (offset, length)

    def spans(self) -> list[tuple[int, int, int]]:
        """Return the number, offset and length of each chunk that is present."""
        numbers = np.flatnonzero(self._entries[:, 0] != _MISSING)
        offsets, lengths = self._entries[numbers].T.tolist()
        return list(zip(numbers.tolist(), offsets, lengths, strict=True))

    @property
    def stop(self) -> int:
        """Where the last chunk ends."""
        return int(self._entries.sum(1).max(initial=0, where=self._entries[:, 0] != _MISSING))

    def check_size(self, size: int) -> None:
        """Raise `ShardIndexError` if a chunk reaches beyond the start of the index of a shard of `size` bytes."""
        body = np.uint64(max(0, size - self.place.index_bytes))
        ends = self._entries[:, 0] + self._entries[:, 1]
        beyond = (self._entries[:, 0] != _MISSING) & (ends > body)
        if beyond.any():
            raise self._wrong(int(beyond.argmax()), f"reaches beyond the {body} bytes of chunks in the shard")

    def _check(self) -> None:
        missing = self._entries == _MISSING
        half = missing[:, 0] != missing[:, 1]
        if half.any():
            raise self._wrong(int(half.argmax()), "is half missing")
        offsets, lengths = self._entries[~missing[:, 0]].T
        numbers = np.flatnonzero(~missing[:, 0])
        # Compared without adding, as the sum could overflow; stores take no later positions.
        longest = np.uint64(_LONGEST - self.place.index_bytes)
        long = (offsets > longest) | (lengths > longest - np.minimum(offsets, longest))
        if long.any():
            raise self._wrong(int(numbers[long.argmax()]), "reaches beyond 2^63 bytes, with the index behind it")
        # Several entries may have the same bytes; otherwise they must not overlap.
        there = lengths > 0
        order = np.lexsort((lengths[there], offsets[there]))
        starts, ends = offsets[there][order], (offsets + lengths)[there][order]
        same = (starts[1:] == starts[:-1]) & (ends[1:] == ends[:-1])
        shared = (starts[1:] < ends[:-1]) & ~same
        if shared.any():
            number = int(numbers[there][order][shared.argmax() + 1])
            raise self._wrong(number, "overlaps another one")

    def _wrong(self, entry: int, found: str) -> ShardIndexError:
        offset, length = self._entries[entry].tolist()
        described = f"index entry {entry} of {len(self._entries)} (offset {offset}, length {length})"
        return self.place.wrong(entry, f"expected chunks that lie apart in the shard, found that {described} {found}")


def encode(grid: tuple[int, ...], chunks: Mapping[int, Any]) -> bytes:
    """Encode a shard of these chunks (by number), in C order without gaps, as the engine does."""
    index = np.full((prod(grid), 2), _MISSING, _NUMBERS)
    parts = []
    offset = 0
    for entry in sorted(chunks):
        length = memoryview(chunks[entry]).nbytes
        index[entry] = offset, length
        parts.append(chunks[entry])
        offset += length
    return b"".join([*parts, index.tobytes()])


Wanted: TypeAlias = tuple[str, ByteRange, tuple[Place, int] | None]
"""A key, a part of its value, and for a chunk key its shard and the chunk's number there."""


def read_indices(store: Store, places: Collection[Place]) -> list[Index]:
    """Return the indexes of the shards that exist, in one request if the store supports that."""
    values = get_partial_values(store, [(place.key, (-place.index_bytes, None)) for place in places]) if places else ()
    return [Index(bytes(raw), place) for raw, place in zip(values, places, strict=True) if raw is not None]


def read_parts(store: Store, wanted: Sequence[Wanted]) -> list[Value | None]:
    """Return parts of chunks and of other values in the order of the request; `None` for missing ones."""
    places = {located[0].key: located[0] for _, _, located in wanted if located is not None}
    indices = {index.place.key: index for index in read_indices(store, places.values())}
    requests: list[KeyRange] = []
    for key, index in indices.items():
        # The second exists if the shard is long enough for its index to follow the last chunk.
        requests += [(key, (-index.place.index_bytes, None)), (key, (index.stop + index.place.index_bytes - 1, 1))]
    asked = len(requests)
    numbers: list[int | None] = []
    for key, part, located in wanted:
        if located is not None:
            place, entry = located
            chunk = indices[place.key].get(entry) if place.key in indices else None
            if chunk is None:
                numbers.append(None)
                continue
            begin, end = resolve_range(*part, chunk[1])
            key, part = place.key, (chunk[0] + begin, end - begin)
        numbers.append(len(requests))
        requests.append((key, part))
    values = get_partial_values(store, requests)
    again = zip(indices.values(), values[:asked:2], values[1:asked:2], strict=True)
    if all(raw is not None and last and bytes(raw) == index.raw for index, raw, last in again):
        return [None if number is None else values[number] for number in numbers]
    # A shard was replaced in between, or its index is wrong, which reading it whole shows.
    chunks: dict[str, dict[int, Value]] = {}
    for place in places.values():
        value = store.get(place.key)
        chunks[place.key] = {} if value is None else take_apart(value, place)
    return [_cut(store, chunks, *one) for one in wanted]


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
