"""P13: a repair of a shard whose index is damaged is right, or says what is lost; it never makes damage look sound."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.errors import ChunkError
from blizzarr.stores import MemoryStore
from soak.experiment import Experiment, Outcome
from support import shards

__all__ = ["EXPERIMENT"]

FILL = -7
PER_SHARD = 10
"""Damages that are done to one shard, one after another, before there is a new one."""
ENTRY = 16
MISSING = b"\xff" * ENTRY
COUNTS = [2, 3, 4, 4, 6, 8, 9, 12, 16, 16, 18, 24, 32, 36, 48, 64]
"""Inner chunks of a shard."""
SHAPES = [(4, 1, 1), (2, 2, 1), (3, 2, 2), (16, 1, 1)]
"""Of inner chunks, with as many axes as there are."""
_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
_CRC = {"name": "crc32c"}
_ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": False}}
_LZ4 = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
CODECS: dict[str, list[dict[str, Any]]] = {
    "raw": [_BYTES],
    "crc32c": [_BYTES, _CRC],
    "gzip": [_BYTES, {"name": "gzip", "configuration": {"level": 1}}],
    "zstd": [_BYTES, _ZSTD],
    "zstd_crc32c": [_BYTES, _ZSTD, _CRC],
    "blosc": [_BYTES, {"name": "blosc", "configuration": _LZ4}],
}
ORDERS = ["C", "C", "Fortran", "backwards", "random", "rewritten", "rewritten"]
"""How inner chunks lie in a shard: most as this library lays them down; where some were rewritten, they lie behind the
others, and their old bytes where they were."""
Values = npt.NDArray[np.int32]
Place = tuple[int, ...]
Encoded = Callable[[Place], bytes | None]


@dataclass(frozen=True, slots=True)
class Level:
    """What is known of shards, or of the shards within them."""

    grid: Place
    """Inner chunks along each axis."""
    at_start: bool
    order: str

    @property
    def index_size(self) -> int:
        """In bytes."""
        return ENTRY * prod(self.grid) + 4


@dataclass(frozen=True, slots=True)
class Stored:
    """The index of a shard within an object."""

    at: int
    index: bytes
    former: bytes
    """Its entries before inner chunks were rewritten; their old bytes are still there."""


@dataclass(frozen=True, slots=True)
class Laid:
    """A shard, with its index and those of the shards in it."""

    stored: bytes
    indexes: tuple[Stored, ...]


class Sharded:
    """An array of two shards, of which one is damaged; each inner chunk has values that no other one has, nor had."""

    def __init__(self, random: Random) -> None:
        grid = _factors(random.choice(COUNTS), random.randint(1, 3), random)
        self._random = random
        self.levels = [self._level(grid)]
        if prod(grid) <= 16 and random.random() < 0.2:
            self.levels.append(self._level(_factors(random.choice([2, 4]), len(grid), random)))
        self.codecs = random.choice(list(CODECS))
        self.inner = random.choice(SHAPES)[: len(grid)]
        codecs, shape = CODECS[self.codecs], self.inner
        for level in reversed(self.levels):
            where = "start" if level.at_start else "end"
            options = {"chunk_shape": shape, "codecs": codecs, "index_codecs": [_BYTES, _CRC], "index_location": where}
            codecs = [{"name": "sharding_indexed", "configuration": options}]
            shape = _times(shape, level.grid)
        self.shape = (2 * shape[0], *shape[1:])
        self.store = MemoryStore()
        self.array = blizzarr.create_array(
            self.store, shape=self.shape, chunks=shape, dtype="int32", fill_value=FILL, codecs=codecs
        )
        self._before = self._encoded(self._values(0.2, -1))
        self.place = (random.randrange(2), *(0 for _ in grid[1:]))
        self.key = "c/" + "/".join(map(str, self.place))
        laid = None
        while laid is None:
            self.values = self._values(random.choice([0, 0, 0.1, 0.3, 0.8]), 1)
            laid = self._lay(self._encoded(self.values), self.levels, _times(self.place, _product(self.levels, grid)))
        self.laid = laid
        self.array[...] = self.values
        self.store.set(self.key, laid.stored)
        assert np.array_equal(self.array[...], self.values)

    def __str__(self) -> str:
        return f"{self.codecs}, {self.levels}, inner chunks {self.inner}, shard {self.place}"

    def inner_chunks(self) -> Iterator[tuple[Place, tuple[slice, ...], bool]]:
        """The place of each, as repairs and errors name it, its elements, and whether it is in the damaged shard."""
        for position, elements in self._positions():
            place: Place = ()
            rest = position
            for number in range(len(self.levels) + 1):
                size = _product(self.levels[number:], position)
                place += tuple(at // length for at, length in zip(rest, size, strict=True))
                rest = tuple(at % length for at, length in zip(rest, size, strict=True))
            yield place, elements, place[: len(position)] == self.place

    def _positions(self) -> Iterator[tuple[Place, tuple[slice, ...]]]:
        counts = tuple(length // inner for length, inner in zip(self.shape, self.inner, strict=True))
        for position in np.ndindex(*counts):
            begin = _times(position, self.inner)
            yield position, tuple(slice(at, at + length) for at, length in zip(begin, self.inner, strict=True))

    def _level(self, grid: Place) -> Level:
        return Level(grid, self._random.random() < 0.5, self._random.choice(ORDERS))

    def _values(self, missing: float, sign: int) -> Values:
        """Noise, or mostly one number; some inner chunks are the fill value, so that they are missing."""
        generator = np.random.default_rng(self._random.getrandbits(64))
        values = generator.integers(0, 2**20, self.shape, dtype=np.int32)
        for number, (_, elements) in enumerate(self._positions()):
            part = values[elements]
            if self._random.random() < 0.5:
                part[...] = 1
            part.flat[0] = sign * (2**20 + number)
            if self._random.random() < missing:
                part[...] = FILL
        return values

    def _encoded(self, values: Values) -> Encoded:
        """Each inner chunk by its position, as an array stores it that has no shards."""
        store = MemoryStore()
        options: dict[str, Any] = {"dtype": "int32", "fill_value": FILL, "codecs": CODECS[self.codecs]}
        blizzarr.create_array(store, shape=values.shape, chunks=self.inner, **options)[...] = values
        stored = {key: bytes(store.get(key) or b"") for key in store.list("c/")}
        return lambda position: stored.get("c/" + "/".join(map(str, position)))

    def _lay(self, encoded: Encoded, levels: Sequence[Level], first: Place) -> Laid | None:
        """A shard, or an inner chunk where there are no levels; `first` is the position of its first inner chunk."""
        if not levels:
            value = encoded(first)
            return None if value is None else Laid(value, ())
        level, size = levels[0], _product(levels[1:], first)
        positions = [_sum(first, _times(position, size)) for position in np.ndindex(*level.grid)]
        chunks = [self._lay(encoded, levels[1:], position) for position in positions]
        order = list(range(len(chunks)))
        rewritten: list[int] = []
        match level.order:
            case "Fortran":
                order = np.arange(len(chunks)).reshape(level.grid).ravel(order="F").tolist()
            case "backwards":
                order.reverse()
            case "random":
                self._random.shuffle(order)
            case "rewritten":
                rewritten = self._random.sample(
                    order, min(len(order), self._random.choice([1, 1, 1, 2, 3, len(order)]))
                )
        old = {number: self._lay(self._before, levels[1:], positions[number]) for number in rewritten}
        body, entries, indexes = b"", [shards.MISSING] * len(chunks), []
        former: shards.Entries = entries.copy()
        begin = level.index_size if level.at_start else 0
        for turn, number in enumerate([*order, *rewritten]):
            is_old = turn < len(order) and number in old
            laid = old[number] if is_old else chunks[number]
            if laid is None:
                continue
            start = begin + len(body)
            if turn < len(order):
                former[number] = (start, len(laid.stored))
            if not is_old:
                entries[number] = (start, len(laid.stored))
                indexes += [replace(inner, at=start + inner.at) for inner in laid.indexes]
            body += laid.stored
        if not any(chunks):
            return None
        stored = shards.join(body, entries, at_start=level.at_start)
        at = 0 if level.at_start else len(body)
        index = stored[at : at + level.index_size]
        return Laid(stored, (Stored(at, index, shards.index_bytes(former)), *indexes))


def _factors(count: int, dimensions: int, random: Random) -> Place:
    """So many whole numbers whose product is `count`."""
    found = []
    for _ in range(dimensions - 1):
        found.append(random.choice([number for number in range(1, count + 1) if count % number == 0]))
        count //= found[-1]
    return (*found, count)


def _times(one: Place, other: Place) -> Place:
    return tuple(a * b for a, b in zip(one, other, strict=True))


def _sum(one: Place, other: Place) -> Place:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def _product(levels: Sequence[Level], like: Place) -> Place:
    """The inner chunks along each axis that shards of these levels have at last."""
    return tuple(prod(lengths) for lengths in zip(*(level.grid for level in levels), (1,) * len(like), strict=True))


def damaged(random: Random, whole: Stored) -> bytes:
    """The index with another entry or more, or another checksum."""
    changed = bytearray(whole.index)
    different = [
        at for at in range(0, len(changed) - 4, ENTRY) if _entry(changed, at) not in (_entry(whole.former, at), MISSING)
    ]
    if different and random.random() < 0.2:
        # Several such entries, or other damage besides, could not be told from a shard that was never rewritten.
        at = random.choice(different)
        changed[at : at + ENTRY] = _entry(whole.former, at)
    while changed == whole.index:
        for _ in range(random.choice([1, 1, 1, 1, 2, 2, 3, 8])):
            _damage(random, changed, turns=not different)
    return bytes(changed)


def _entry(index: bytes | bytearray, at: int) -> bytes:
    return bytes(index[at : at + ENTRY])


def _damage(random: Random, index: bytearray, *, turns: bool) -> None:
    count = len(index) // ENTRY
    one, other = (ENTRY * random.randrange(count) for _ in range(2))
    entry, another = _entry(index, one), _entry(index, other)
    offset, length = struct.unpack("<QQ", entry)
    match random.randrange(10):
        case 0 | 1:
            index[random.randrange(len(index))] ^= 1 << random.randrange(8)
        case 2:
            index[random.randrange(len(index))] = random.randrange(256)
        case 3:
            index[one : one + ENTRY] = random.choice([bytes(ENTRY), MISSING])
        case 4:
            index[one : one + ENTRY], index[other : other + ENTRY] = another, entry
        case 5:
            index[one : one + ENTRY] = another
        case 6:
            by = random.choice([-length, length, -ENTRY, ENTRY, random.randint(-9, 9)])
            index[one : one + 8] = ((offset + by) % 2**64).to_bytes(8, "little")
        case 7 if turns:
            # Those between two places are each that of the next one.
            low, high = sorted([one, other])
            index[low : high + ENTRY] = index[low + ENTRY : high + ENTRY] + index[low : low + ENTRY]
        case 8:
            half = one + random.choice([0, 8])
            index[half : half + 8] = random.choice([bytes(8), b"\xff" * 8, random.randbytes(2) + bytes(6)])
        case _:
            at = random.randrange(len(index))
            run = min(random.choice([2, 4, 16, 40]), len(index) - at)
            index[at : at + run] = random.randbytes(run)


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many damaged indexes, each repaired and read again."""
    random = Random(seed)
    figures: Counter[str] = Counter(inner_chunks_saved=0, lost=0, still_errors=0)
    findings: list[str] = []
    for turn in range(count):
        if turn % PER_SHARD == 0:
            sharded = Sharded(random)
        whole, stored = sharded.laid.indexes[0], sharded.laid.stored
        if random.random() < 0.5:
            whole = random.choice(sharded.laid.indexes)
        changed = damaged(random, whole)
        planted = stored[: whole.at] + changed + stored[whole.at + len(changed) :]
        wrong = repaired(sharded, planted, random, figures)
        if wrong:
            where = f"index at {whole.at} of {len(stored)} bytes: {changed.hex()}"
            findings.append(f"seed {seed}, turn {turn}, {sharded}, {where}: {'; '.join(wrong)}")
    return Outcome(count, len(findings), figures, tuple(findings))


def repaired(sharded: Sharded, stored: bytes, random: Random, figures: Counter[str]) -> list[str]:
    """What is wrong once the shard was stored so, and repaired."""
    sharded.store.set(sharded.key, stored)
    quarantine = MemoryStore()
    report = blizzarr.check(sharded.store, repair=True, quarantine=quarantine, quarantine_damaged=random.random() < 0.5)
    wrong = [] if not report.ok else ["the check has found nothing"]
    lost = [place for repair in report.repairs for place in repair.lost]
    left = bytes(sharded.store.get(sharded.key) or b"")
    kept = [bytes(quarantine.get(key) or b"") for key in quarantine.list()]
    if left != stored and kept != [stored]:
        wrong.append("what was replaced is not in the quarantine")
    errors = 0
    for place, elements, is_damaged in sharded.inner_chunks():
        written = sharded.values[elements]
        is_lost = is_damaged and any(place[: len(one)] == one for one in lost)
        try:
            found = sharded.array[elements]
        except ChunkError:
            errors += 1
            if not is_damaged or left != stored:
                wrong.append(f"inner chunk {place} cannot be read")
            continue
        if np.array_equal(found, written):
            figures["inner_chunks_saved"] += is_damaged and bool((written != FILL).any())
        elif is_lost and (found == FILL).all():
            figures["lost"] += 1
        else:
            wrong.append(f"inner chunk {place}{' is lost and' if is_lost else ''} reads as {found.ravel()[:3]}")
    figures["still_errors"] += errors
    if not errors and not blizzarr.check(sharded.store).ok:
        wrong.append("another check finds damage")
    return wrong


EXPERIMENT = Experiment(
    name="repairs",
    promise="P13",
    what="After the repair of a damaged shard index, a chunk reads as written, is reported as lost, or still raises",
    unit="repairs",
    full=200_000,
    ci=20,
    run=run,
    batch=2000,
)
