"""P2: what is behind a damaged index of a shard is an error, never the fill value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.errors import ChunkError
from blizzarr.stores import MemoryStore
from soak.experiment import Experiment, Outcome
from soak.mutations import FILL, layout_of_shards
from soak.planting.mutation import mutated

__all__ = ["EXPERIMENT"]

INNER, COUNT = 16, 8
"""Elements of an inner chunk, and inner chunks of a shard."""
SHARDS = 100
ENTRY = 16
LENGTH = COUNT * ENTRY + 4
"""Bytes of an index: an offset and a length for each inner chunk, and their CRC-32C."""
MISSING = b"\xff" * ENTRY
LAYOUTS = [(codec, where) for codec in ("crc32c", "gzip", "zstd", "blosc") for where in ("start", "end")]


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many mutated indexes of one layout; in every other one the checksum is made right again."""
    random = Random(seed)
    codec, where = LAYOUTS[seed % len(LAYOUTS)]
    store = MemoryStore()
    codecs = layout_of_shards(codec, where, INNER)
    shape, chunks = (SHARDS * COUNT * INNER,), (COUNT * INNER,)
    array = blizzarr.create_array(store, shape=shape, chunks=chunks, dtype="int32", fill_value=FILL, codecs=codecs)
    values = _values(random)
    array[...] = values.reshape(-1)
    originals: list[bytes] = [store.get(f"c/{number}") for number in range(SHARDS)]
    figures = {"reads": 0, "errors": 0, "with_a_checksum_that_matches": 0}
    findings: list[str] = []
    for turn in range(count):
        shard = turn % SHARDS
        index = _index(originals[shard], where)
        if turn % 2:
            figures["with_a_checksum_that_matches"] += 1
            stored, legal = _summed(random, originals[shard], index, values[shard])
        else:
            stored = mutated(random, originals[shard], originals, within=index)
            # One that was moved as a whole, and is where it should be, is as good as it was.
            same = stored[:LENGTH] if where == "start" else stored[-LENGTH:]
            intact = same == originals[shard][index.start : index.stop]
            legal = [[inner] if intact else [] for inner in values[shard]]
        store.set(f"c/{shard}", stored)
        wrong = _read(array, shard, legal, figures)
        findings += [f"seed {seed}, {codec} {where}, {stored.hex()}: {text}" for text in wrong]
        store.set(f"c/{shard}", originals[shard])
    if not np.array_equal(array[...], values.reshape(-1)):
        findings.append(f"seed {seed}: what was put back is not read again")
    return Outcome(count, len(findings), figures, tuple(findings))


def _index(shard: bytes, where: str) -> range:
    return range(LENGTH) if where == "start" else range(len(shard) - LENGTH, len(shard))


def _summed(
    random: Random, shard: bytes, index: range, values: npt.NDArray[np.int32]
) -> tuple[bytes, list[list[npt.NDArray[np.int32]]]]:
    """A shard with some other entries and a checksum that matches them; what each inner chunk may be read as.

    An entry that is another's leads to the other's values, and one that is all ones says that nothing is there: both
    are what the format says. Whatever else an entry leads to has a checksum of its own.
    """
    entries = [shard[at : at + ENTRY] for at in range(index.start, index.stop - 4, ENTRY)]
    changed = list(entries)
    for _ in range(1 + int(random.random() * 3)):
        place = int(random.random() * COUNT)
        match int(random.random() * 6):
            case 0:
                changed[place] = MISSING
            case 1:
                changed[place] = random.choice(entries)
            case 2:
                # One of the two numbers alone says nothing.
                half = 8 * int(random.random() * 2)
                changed[place] = changed[place][:half] + b"\xff" * 8 + changed[place][half + 8 :]
            case 3:
                offset, length = (int.from_bytes(changed[place][at : at + 8], "little") for at in (0, 8))
                offset, length = offset + random.randint(-9, 9), length + random.randint(-9, 9)
                changed[place] = b"".join((number % 2**64).to_bytes(8, "little") for number in (offset, length))
            case 4:
                changed[place] = random.randbytes(ENTRY)
            case _:
                changed[place] = mutated(random, changed[place], [*entries, MISSING])[:ENTRY].ljust(ENTRY, b"\0")
    body = b"".join(changed)
    stored = shard[: index.start] + body + crc32c(body).to_bytes(4, "little") + shard[index.stop :]
    nothing = np.full(INNER, FILL, np.int32)
    legal = []
    for entry in changed:
        known = [values[number] for number in range(COUNT) if entries[number] == entry]
        legal.append([nothing] if entry == MISSING else known)
    return stored, legal


def _read(
    array: blizzarr.Array, shard: int, legal: Sequence[Sequence[npt.NDArray[np.int32]]], figures: dict[str, int]
) -> list[str]:
    """What was wrong: each inner chunk is read by itself, a part of one, and all of them together."""
    wrong = []
    first = shard * COUNT * INNER
    spans = [(number, slice(0, INNER)) for number in range(COUNT)] + [(shard % COUNT, slice(3, 9))]
    for number, part in spans:
        figures["reads"] += 1
        start = first + number * INNER
        try:
            found = array[start + part.start : start + part.stop]
        except ChunkError:
            figures["errors"] += 1
            continue
        except Exception as error:
            wrong.append(f"inner chunk {number}: {type(error).__name__}: {error}")
            continue
        if not any(np.array_equal(found, values[part]) for values in legal[number]):
            wrong.append(f"inner chunk {number} is read as {found}")
    figures["reads"] += 1
    try:
        found = array[first : first + COUNT * INNER]
    except ChunkError:
        figures["errors"] += 1
        return wrong
    for number in range(COUNT):
        inner = found[number * INNER : (number + 1) * INNER]
        if not any(np.array_equal(inner, values) for values in legal[number]):
            wrong.append(f"inner chunk {number} is read as {inner} with the others")
    return wrong


def _values(random: Random) -> npt.NDArray[np.int32]:
    """By shard, inner chunk and element; the fill value is in none but those inner chunks that hold nothing else."""
    generator = np.random.default_rng(random.getrandbits(64))
    values = generator.integers(0, 2**31, (SHARDS, COUNT, INNER), dtype=np.int32)
    values[:, 1::3] %= 3
    # Told apart by their first element, however well they compress.
    values[:, :, 0] = np.arange(SHARDS * COUNT, dtype=np.int32).reshape(SHARDS, COUNT)
    values[::3, COUNT // 2] = FILL
    return values


def _table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """The checksum of RFC 3720, by another program than the one that is tried.

    Examples
    --------
    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    found = 0xFFFFFFFF
    for byte in data:
        found = found >> 8 ^ _TABLE[(found ^ byte) & 0xFF]
    return found ^ 0xFFFFFFFF


EXPERIMENT = Experiment(
    name="indexes",
    promise="P2",
    what="A corrupted shard index raises an error; a chunk reads as missing only if its entry says so",
    unit="mutated shard indexes",
    full=100_000,
    ci=600,
    run=run,
    batch=5000,
)
