"""Faults: indexes of shards that lie (rows 29 to 35, 39).

The shard of these tests has four inner chunks of 256 bytes (raw) or about 100 (zstd); entry 2 is the one that lies.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from blizzarr import create_array
from blizzarr.codecs import GzipCodec
from blizzarr.errors import ChecksumError, ChunkError, CodecError, ShardIndexError
from blizzarr.stores import MemoryStore
from support import shards
from support.child import answer
from support.damaged import DATA, STORES, TARGET, WAYS, Damaged, contents, every_way_refuses
from support.shards import MAX
from support.streams import gzip_member

PLACES = ["shard", "shard, index first"]

LIES = {
    "row 29: offset beyond the end": lambda offset, length: (1 << 20, length),
    "row 29: offset just beyond the end": lambda offset, length: (offset + 10_000, length),
    "row 29: length beyond the end": lambda offset, length: (offset, 1 << 20),
    "row 29: both beyond the end": lambda offset, length: (1 << 40, 1 << 40),
    "row 30: sum overflows u64": lambda offset, length: (MAX - 5, length),
    "row 30: sum overflows i64": lambda offset, length: (2**63 - 1, length),
    "row 30: offset 2^63": lambda offset, length: (2**63, length),
    "row 30: length 2^62": lambda offset, length: (offset, 2**62),
    "row 30: length 2^64 - 2": lambda offset, length: (offset, MAX - 1),
    "row 31: half missing, offset": lambda offset, length: (MAX, length),
    "row 31: half missing, length": lambda offset, length: (offset, MAX),
    "row 31: half missing, zero offset": lambda offset, length: (0, MAX),
    "row 32: length 0": lambda offset, length: (offset, 0),
    "row 32: nothing at all": lambda offset, length: (0, 0),
    "row 32: length too short": lambda offset, length: (offset, length - 1),
    "row 32: length too long": lambda offset, length: (offset, length + 1),
    "row 32: length too short by an element": lambda offset, length: (offset, length - 4),
}


def lying(codecs: str, place: str, lie: str, store: object = None) -> Damaged:
    damaged = Damaged(codecs, place, store)
    at_start = damaged.layout.at_start
    body, entries = shards.split(damaged.shard, 4, at_start=at_start)
    entries[2] = LIES[lie](*entries[2])
    damaged.store.set(damaged.key, shards.join(body, entries, at_start=at_start))
    return damaged


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("lie", LIES)
def test_rows_029_to_032_entries_that_lie(tmp_path: Path, lie: str, place: str, store: str) -> None:
    """Each names the inner chunk; none reads as fill value; the three other chunks stay readable and writable parts."""
    for codecs in ("raw", "zstd", "crc32c"):
        damaged = lying(codecs, place, lie, STORES[store](tmp_path / codecs))
        errors = every_way_refuses(damaged, CodecError)
        if codecs != "zstd" or not lie.startswith("row 32: length too"):  # else the codec finds it out
            assert {type(error) for error in errors} == {ShardIndexError}
            assert all("index entry 2 of 4" in str(error) for error in errors)
        if lie.startswith("row 29") and store != "mapping":  # which learns the length of a value when it is read
            assert all(f"{len(damaged.shard)} bytes" in error.reason for error in errors), "the size of the file"


@pytest.mark.parametrize("codecs", ["raw", "zstd"])
def test_row_033_entries_that_share_bytes(codecs: str) -> None:
    """Equal chunks may be stored once: reading is allowed, and writing one of them leaves the others as they are."""
    damaged = Damaged(codecs, "shard")
    body, entries = shards.split(damaged.shard, 4)
    damaged.store.set(damaged.key, shards.join(body, [entries[2]] * 4))
    assert np.array_equal(damaged.array[...], np.tile(TARGET, (2, 2)))
    damaged.array[0, 0] = -5
    expected = np.tile(TARGET, (2, 2))
    expected[0, 0] = -5
    assert np.array_equal(damaged.array[...], expected)
    rewritten = bytes(damaged.store.get(damaged.key))
    _, entries = shards.split(rewritten, 4)
    ends = sorted((offset, offset + length) for offset, length in entries)
    assert all(end <= start for (_, end), (start, _) in pairwise(ends)), "apart from now on"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("codecs", ["raw", "zstd"])
def test_row_033_entries_inside_the_index(codecs: str, place: str) -> None:
    damaged = Damaged(codecs, place)
    at_start = damaged.layout.at_start
    body, entries = shards.split(damaged.shard, 4, at_start=at_start)
    for offset in (0, 10) if at_start else (len(body) - entries[2][1] + 1, len(body)):
        lie = [*entries[:2], (offset, entries[2][1]), entries[3]]
        damaged.store.set(damaged.key, shards.join(body, lie, at_start=at_start))
        errors = every_way_refuses(damaged, ShardIndexError)
        assert all("overlaps the index" in error.reason or "beyond" in error.reason for error in errors)


def test_row_033_sharing_cannot_make_a_shard_grow_without_end() -> None:
    """Many entries over the same bytes are laid down apart on a partial write: up to a bound, then it is refused."""
    count = 4096
    store = MemoryStore()
    array = create_array(store, shape=(count,), chunks=1, shards=count, dtype="uint8", compressors=GzipCodec(level=1))
    named = b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 60_000 + b"\0"  # the header of a member with a very long file name
    member = named + gzip_member(b"\7")[10:]
    store.set("c/0", shards.join(member, [(0, len(member))] * count))
    assert (array[...] == 7).all()
    before = contents(store)
    with pytest.raises(ShardIndexError, match="write the whole shard at once"):
        array[0] = 1
    assert contents(store) == before
    array[...] = 1
    assert (array[...] == 1).all()


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("place", PLACES)
def test_row_034_wrong_checksum_of_the_index(tmp_path: Path, place: str, store: str) -> None:
    damaged = Damaged("zstd", place, STORES[store](tmp_path))
    for position in range(68):
        value = bytearray(damaged.shard)
        value[position if damaged.layout.at_start else -1 - position] ^= 4
        damaged.store.set(damaged.key, bytes(value))
        nothing_readable(damaged, ChecksumError)


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("codecs", ["raw", "zstd"])
def test_row_034_cut_shards_are_never_fill(tmp_path: Path, codecs: str, place: str, store: str) -> None:
    """With the index at the end, every cut is noticed; with it at the start, those that reach into it (see row 35)."""
    damaged = Damaged(codecs, place, STORES[store](tmp_path))
    length = len(damaged.shard)
    for kept in {0, 1, 16, 64, 67} | (set() if damaged.layout.at_start else {68, length // 2, length - 4, length - 1}):
        damaged.store.set(damaged.key, damaged.shard[:kept])
        nothing_readable(damaged, ChunkError)


def nothing_readable(damaged: Damaged, kind: type[ChunkError]) -> None:
    before = contents(damaged.store)
    for way in WAYS.values():
        with pytest.raises(kind) as caught:
            way(damaged.array)
        assert (caught.value.array, caught.value.key) == ("/a", damaged.key)
        assert caught.value.chunk == (0, 0)
        assert caught.value.codec
    assert contents(damaged.store) == before


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("codecs", ["raw", "zstd", "crc32c"])
def test_row_035_body_cut_behind_the_index(tmp_path: Path, codecs: str, store: str) -> None:
    """The lost inner chunks are errors, the others are readable; nothing of it can be rewritten in part."""
    damaged = Damaged(codecs, "shard, index first", STORES[store](tmp_path))
    _, entries = shards.split(damaged.shard, 4, at_start=True)
    damaged.store.set(damaged.key, damaged.shard[: entries[2][0] + 3])
    assert np.array_equal(damaged.array[:8], DATA[:8])
    before = contents(damaged.store)
    for key in ((8, 0), (slice(8, 16), slice(8, 16)), ..., (slice(None, None, 2), 0)):
        with pytest.raises(ChunkError) as caught:
            damaged.array[key]
        assert caught.value.chunk in ((0, 0, 1, 0), (0, 0, 1, 1))
    for key in ((8, 0), (0, 0), (15, 15)):
        with pytest.raises(ChunkError):
            damaged.array[key] = 1
    assert contents(damaged.store) == before


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("place", [*PLACES, "nested"])
def test_row_039_damaged_shards_can_be_replaced_as_a_whole(tmp_path: Path, place: str, store: str) -> None:
    """Writing a part of what is damaged is refused; writing all of it needs nothing of what was there."""
    damaged = Damaged("zstd", place, STORES[store](tmp_path))
    for value in (b"", b"rubbish", struct.pack("<16Q", *range(16)), damaged.shard[:-1]):
        damaged.store.set(damaged.key, value)
        with pytest.raises(ChunkError):
            damaged.array[0, 0] = 1
        assert bytes(damaged.store.get(damaged.key)) == value
        damaged.array[...] = DATA
        assert np.array_equal(damaged.array[...], DATA)


def test_row_039_a_damaged_neighbour_is_kept_as_it_is() -> None:
    """A part write into another inner chunk keeps the bytes of the damaged one, which stays damaged, not zeroed."""
    damaged = Damaged("crc32c", "shard")
    wrong = bytes([damaged.encoded[0] ^ 1]) + damaged.encoded[1:]
    damaged.plant(wrong)
    damaged.array[0, 0] = 77
    assert damaged.array[0, 0] == 77
    with pytest.raises(ChecksumError):
        damaged.array[8, 0]
    body, entries = shards.split(bytes(damaged.store.get(damaged.key)), 4)
    offset, length = entries[2]
    assert body[offset : offset + length] == wrong


def test_rows_029_to_032_memory_and_time() -> None:
    """Whatever an entry claims, up to 2^64 bytes: nothing is allocated for it."""
    facts = answer(
        """
        from test_lying_shard_index import LIES, PLACES, lying
        from support.damaged import STORES
        from pathlib import Path
        refused, slowest = 0, 0
        damaged = lying("zstd", "shard", "row 32: length 0")
        before = peak()
        for codecs in ("raw", "zstd", "crc32c"):
            for place in PLACES:
                for lie in LIES:
                    for store in ("memory", "mapping"):
                        damaged = lying(codecs, place, lie, STORES[store](Path()))
                        for key in (..., (8, 0), (slice(9, 12), slice(1, 3))):
                            begun = time.process_time()
                            try:
                                damaged.array[key]
                            except ChunkError as error:
                                refused += error.key == damaged.key and error.chunk == damaged.layout.chunk
                            slowest = max(slowest, time.process_time() - begun)
        tell(refused=refused, slowest=slowest, mebibytes=peak() - before)
        """
    )
    assert facts["refused"] == 3 * len(PLACES) * len(LIES) * 2 * 3
    assert facts["slowest"] < 1
    assert facts["mebibytes"] < 64
