"""Faults: a repair keeps what a damaged index certainly names, and never makes damage look sound (rows 33 and 34)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import BlizzarrError, ChunkError
from blizzarr.stores import MemoryStore
from support import shards
from support.damaged import Damaged, attempt, codecs_of, flipped

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
PLACES = [False, True]
ORDERS = {"C": [0, 1, 2, 3], "Morton": [0, 2, 1, 3], "backwards": [3, 2, 1, 0]}


class Sharded:
    """One shard of `count` inner chunks, which lie in this order and of which some are missing."""

    def __init__(
        self,
        codecs: str,
        order: Sequence[int],
        *,
        at_start: bool = False,
        missing: Sequence[int] = (),
        checksum: bool = True,
    ) -> None:
        self.count, self.at_start, self.store = len(order), at_start, MemoryStore()
        options = {
            "chunk_shape": [8],
            "codecs": codecs_of(codecs),
            "index_codecs": [BYTES, {"name": "crc32c"}] if checksum else [BYTES],
            "index_location": "start" if at_start else "end",
        }
        self.array = blizzarr.create_array(
            self.store,
            shape=8 * self.count,
            chunks=8 * self.count,
            dtype="int32",
            fill_value=-1,
            codecs=[{"name": "sharding_indexed", "configuration": options}],
        )
        self.data = (np.arange(8 * self.count) // 3 * 7919 % 1009).astype("int32").reshape(self.count, 8)
        self.data[list(missing)] = -1
        self.array[:] = self.data.ravel()
        value = bytes(self.store.get("c/0") or b"")
        size = 16 * self.count + 4 * checksum
        index, body = (value[:size], value[size:]) if at_start else (value[-size:], value[:-size])
        _, old = shards.split(index + (b"" if checksum else bytes(4)), self.count, at_start=True)
        first, self.body = size if at_start else 0, b""
        entries: shards.Entries = [shards.MISSING] * self.count
        for entry in order:
            offset, length = old[entry]
            if old[entry] != shards.MISSING:
                entries[entry] = (first + len(self.body), length)
                self.body += body[offset - first : offset - first + length]
        self.index = shards.index_bytes(entries, checksum=checksum)

    def entry(self, number: int) -> bytes:
        return self.index[16 * number : 16 * number + 16]

    def with_entries(self, changed: dict[int, bytes]) -> bytes:
        """The index in which these entries are others; its checksum is the old one."""
        index = bytearray(self.index)
        for number, entry in changed.items():
            index[16 * number : 16 * number + 16] = entry
        return bytes(index)

    def flips(self) -> Iterator[bytes]:
        return (flipped(self.index, bit) for bit in range(8 * len(self.index)))

    def exchanged(self) -> Iterator[bytes]:
        """Every index in which two entries have changed places, or one is that of another."""
        for one, other in combinations(range(self.count), 2):
            yield self.with_entries({one: self.entry(other), other: self.entry(one)})
        for one, other in permutations(range(self.count), 2):
            yield self.with_entries({one: self.entry(other)})

    def repair(self, index: bytes) -> dict[str, int]:
        """How many inner chunks are saved, lost, or wrong, once the shard with this index is repaired."""
        self.store.set("c/0", index + self.body if self.at_start else self.body + index)
        before = self.read()
        report = blizzarr.check(self.store, repair=True, quarantine=MemoryStore(), quarantine_damaged=True)
        places = [place for repair in report.repairs for place in repair.lost]
        lost = set(range(self.count)) if (0,) in places else {place[1] for place in places}
        found = {"saved": 0, "lost": 0, "as before": 0, "wrong": 0}
        for number, (old, new) in enumerate(zip(before, self.read(), strict=True)):
            if number in lost:
                found["lost" if np.array_equal(new, [-1] * 8) else "wrong"] += 1
            elif np.array_equal(new, self.data[number]):
                found["saved"] += 1
            else:
                found["as before" if not isinstance(old, ChunkError) and np.array_equal(new, old) else "wrong"] += 1
        return found

    def read(self) -> list[Any]:
        inner = (slice(8 * number, 8 * number + 8) for number in range(self.count))
        return [attempt(partial(self.array.__getitem__, key)) for key in inner]


def total(shard: Sharded, damaged: Iterator[bytes]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for index in damaged:
        if index != shard.index:
            for outcome, count in shard.repair(index).items():
                counts[outcome] = counts.get(outcome, 0) + count
    return counts


@pytest.mark.parametrize("at_start", PLACES)
@pytest.mark.parametrize("order", ["C", "backwards", pytest.param("Morton", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("codecs", [pytest.param("raw", marks=pytest.mark.thorough), "zstd"])
def test_row_034_every_flipped_bit_of_an_index_is_put_right(codecs: str, order: str, at_start: bool) -> None:
    for missing in ((), (1,)):
        shard = Sharded(codecs, ORDERS[order], at_start=at_start, missing=missing)
        assert total(shard, shard.flips()) == {"saved": 4 * 68 * 8, "lost": 0, "as before": 0, "wrong": 0}


@pytest.mark.parametrize("at_start", PLACES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("codecs", ["raw", "zstd"])
def test_row_034_exchanged_entries_are_lost_not_mistaken(codecs: str, order: str, at_start: bool) -> None:
    """They tile the shard, and each names bytes that can be decoded."""
    shard = Sharded(codecs, ORDERS[order], at_start=at_start)
    # Of the 6 exchanges all 4 inner chunks are lost; an entry that is replaced by another is put right.
    assert total(shard, shard.exchanged()) == {"saved": 12 * 4, "lost": 6 * 4, "as before": 0, "wrong": 0}


@pytest.mark.parametrize("at_start", PLACES)
def test_row_034_what_is_in_c_order_at_both_ends_is_kept(at_start: bool) -> None:
    shard = Sharded("zstd", range(24), at_start=at_start)
    found = shard.repair(shard.with_entries({number: bytes(16) for number in range(5, 9)}))
    assert found == {"saved": 20, "lost": 4, "as before": 0, "wrong": 0}
    counts = total(shard, shard.exchanged())
    assert counts["wrong"] == counts["as before"] == 0
    # Entries far from each other that have changed places leave too little in a row.
    assert shard.repair(shard.with_entries({3: shard.entry(4), 4: shard.entry(3)}))["lost"] == 2
    assert shard.repair(shard.with_entries({3: shard.entry(20), 20: shard.entry(3)}))["lost"] == 24
    sparse = Sharded("zstd", range(24), at_start=at_start, missing=(0, 4, 19, 20))
    counts = total(sparse, sparse.exchanged())
    assert counts["wrong"] == counts["as before"] == 0


@pytest.mark.parametrize("at_start", PLACES)
@pytest.mark.parametrize("missing", [(), (3,), (0, 1, 2), tuple(range(17, 23))])
def test_row_034_random_damage_is_never_mistaken(at_start: bool, missing: tuple[int, ...]) -> None:
    chance = random.Random(f"{at_start} {missing}")
    orders = [list(range(24)), chance.sample(range(24), 24)]
    for order in orders:
        shard = Sharded("raw", order, at_start=at_start, missing=missing)
        for _ in range(40):
            index = bytearray(shard.index)
            first = chance.randrange(len(index))
            last = min(len(index), first + chance.choice([2, 4, 16, 40]))
            index[first:last] = chance.choice([bytes, chance.randbytes])(last - first)
            if bytes(index) != shard.index:
                found = shard.repair(bytes(index))
                assert found["wrong"] == found["as before"] == 0


@pytest.mark.parametrize("at_start", PLACES)
@pytest.mark.parametrize("codecs", ["raw", "zstd"])
def test_row_033_without_a_checksum_doubtful_entries_are_lost(codecs: str, at_start: bool) -> None:
    """A flipped bit makes an entry overlap, or equal, another one, while what it should name is named by none."""
    shard = Sharded(codecs, ORDERS["C"], at_start=at_start, checksum=False)
    counts = total(shard, shard.flips())
    assert counts["wrong"] == counts["as before"] == 0
    assert counts["saved"] > 4 * 64 * 8 * 0.7
    doubled = shard.with_entries({1: shard.entry(2)})
    assert shard.repair(doubled) == {"saved": 2, "lost": 2, "as before": 0, "wrong": 0}
    shard.store.set("c/0", doubled + shard.body if at_start else shard.body + doubled)
    (finding,) = blizzarr.check(shard.store).findings
    assert (finding.kind, finding.chunk, finding.repairable) == ("shard-index", (0, 2), True)
    assert finding.message.endswith(
        "names the same bytes as entry 1, others are named by none, and the index has no checksum"
    )


def test_row_033_overlapping_inner_chunks_without_codecs_are_lost() -> None:
    """The checksum is right, so the entries are what somebody wrote; but both cannot be."""
    damaged = Damaged("raw", "shard")
    body, entries = shards.split(damaged.shard, 4)
    entries[1] = (entries[0][0] + 4, entries[0][1])
    damaged.store.set(damaged.key, shards.join(body, entries))
    (repair,) = blizzarr.check(damaged.store, repair=True, quarantine=MemoryStore()).repairs
    assert repair.message == "rebuilt from 2 intact inner chunks, 2 inner chunks lost"
    assert repair.lost == ((0, 0, 0, 0), (0, 0, 0, 1))


@pytest.mark.parametrize("level", [0, 1])
def test_row_034_shards_in_shards(level: int) -> None:
    """Both the outer index and that of a shard in the shard."""
    damaged = Damaged("raw", "nested")
    data = damaged.array[...]
    inner_size, outer_size = 2 * 16 + 4, 2 * 16 + 4
    first = len(damaged.shard) - outer_size if level == 0 else (len(damaged.shard) - outer_size) // 2 - inner_size
    for bit in range(8 * first, 8 * (first + 36)):
        damaged.store.set(damaged.key, flipped(damaged.shard, bit))
        with pytest.raises(BlizzarrError):
            damaged.array[...]
        (repair,) = blizzarr.check(damaged.store, repair=True, quarantine=MemoryStore()).repairs
        assert repair.lost == ()
        assert np.array_equal(damaged.array[...], data)
    exchanged = bytearray(damaged.shard)
    exchanged[first : first + 32] = exchanged[first + 16 : first + 32] + exchanged[first : first + 16]
    damaged.store.set(damaged.key, bytes(exchanged))
    (repair,) = blizzarr.check(damaged.store, repair=True, quarantine=MemoryStore()).repairs
    if level == 0:
        assert not repair.done
    else:
        assert repair.lost == ((0, 0, 0, 0),)
        assert (damaged.array[:8] == -1).all()
        assert np.array_equal(damaged.array[8:], data[8:])


@pytest.mark.parametrize("at_start", PLACES)
def test_row_034_a_checksum_of_which_several_bits_are_wrong(at_start: bool) -> None:
    """All entries lie in C order, so many are certain without it, and few are not."""
    for count, saved in ((4, 0), (20, 20)):
        shard = Sharded("zstd", range(count), at_start=at_start)
        index = shard.index[:-1] + bytes([shard.index[-1] ^ 255])
        assert shard.repair(index) == {"saved": saved, "lost": count - saved, "as before": 0, "wrong": 0}


@pytest.mark.parametrize("at_start", PLACES)
@pytest.mark.parametrize("missing", [(0,), (0, 1), (0, 23), (11,)])
@pytest.mark.parametrize("shift", [1, 2, 3])
def test_row_034_entries_that_have_moved_are_not_certain(shift: int, missing: tuple[int, ...], at_start: bool) -> None:
    """Behind inner chunks that are missing, those of other places look like an unbroken row from the first on."""
    shard = Sharded("zstd", range(24), at_start=at_start, missing=missing)
    moved = shard.with_entries({number: shard.entry((number + shift) % 24) for number in range(24)})
    assert shard.repair(moved)["wrong"] == 0


@pytest.mark.parametrize("at_start", PLACES)
@pytest.mark.parametrize("codecs", ["raw", "zstd"])
@pytest.mark.parametrize("rewritten", [(3,), (3, 18), (18, 3)])
def test_row_034_old_bytes_of_inner_chunks_are_not_certain(
    rewritten: tuple[int, ...], codecs: str, at_start: bool
) -> None:
    """Another program has appended new ones to the shard; one entry names the old bytes, which one bit can do."""
    shard = Sharded(codecs, range(20), at_start=at_start)
    body, entries = shards.split(shard.index + shard.body, 20, at_start=True)
    first, old = (len(shard.index) if at_start else 0), shard.entry(3)
    for number in rewritten:
        offset, length = entries[number - 1]
        entries[number] = (first + len(shard.body), length)
        shard.body += body[offset - first : offset - first + length]
        shard.data[number] = shard.data[number - 1]
    shard.index = shards.index_bytes(entries)
    assert shard.repair(shard.with_entries({3: old})) == {"saved": 0, "lost": 20, "as before": 0, "wrong": 0}
    # What shows in other ways is kept as before.
    assert shard.repair(shard.with_entries({10: bytes(16)}))["wrong"] == 0
