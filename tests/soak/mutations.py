"""P2: a chunk that has a checksum is read as what was written, or not at all, whatever became of its bytes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.errors import ChunkError
from blizzarr.stores import MemoryStore
from soak.experiment import Experiment, Outcome
from soak.planting.mutation import mutated

__all__ = ["EXPERIMENT", "FILL", "layout_of_shards"]

ELEMENTS = 64
"""Of a chunk, or of a shard."""
INNER = 16
CHUNKS = 200
"""Values to begin with: each is mutated again and again."""
FILL = -7

_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
_CRC = {"name": "crc32c"}
_GZIP = {"name": "gzip", "configuration": {"level": 1}}
_ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": True}}


def _blosc(cname: str, shuffle: str) -> dict[str, Any]:
    options = {"cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": 4, "blocksize": 0}
    return {"name": "blosc", "configuration": options}


def _numcodecs(name: str, **options: Any) -> dict[str, Any]:
    return {"name": f"numcodecs.{name}", "configuration": options}


def _shard(codecs: Sequence[Mapping[str, Any]], where: str, inner: int = INNER) -> list[dict[str, Any]]:
    options = {"chunk_shape": [inner], "codecs": codecs, "index_codecs": [_BYTES, _CRC], "index_location": where}
    return [{"name": "sharding_indexed", "configuration": options}]


def layout_of_shards(codec: str, where: str, inner: int) -> list[dict[str, Any]]:
    """Shards whose inner chunks have one of the codecs below."""
    return _shard(LAYOUTS[codec], where, inner)


LAYOUTS: dict[str, list[dict[str, Any]]] = {
    "crc32c": [_BYTES, _CRC],
    "gzip": [_BYTES, _GZIP],
    "zstd": [_BYTES, _ZSTD],
    "blosc": [_BYTES, _blosc("lz4", "shuffle"), _CRC],
    "blosc_zstd": [_BYTES, _blosc("zstd", "bitshuffle"), _CRC],
    "zlib": [_BYTES, _numcodecs("zlib", level=1)],
    "adler32": [_BYTES, _numcodecs("adler32", location="end")],
    "crc32": [_BYTES, _numcodecs("crc32")],
    "fletcher32": [_BYTES, _numcodecs("fletcher32")],
    "two_sums": [_BYTES, _CRC, _GZIP, _CRC],
    "shard_crc32c": _shard([_BYTES, _CRC], "end"),
    "shard_gzip": _shard([_BYTES, _GZIP], "start"),
    "shard_zstd": _shard([_BYTES, _ZSTD], "end"),
    "shard_blosc": _shard([_BYTES, _blosc("lz4", "noshuffle"), _CRC], "start"),
    "shard_of_shards": _shard(_shard([_BYTES, _ZSTD], "start", INNER // 4), "end"),
}


def _adler32(stored: bytes) -> bool:
    return len(stored) == 4 * ELEMENTS + 4 and zlib.adler32(stored[:-4]) == struct.unpack("<I", stored[-4:])[0]


def _fletcher32(stored: bytes) -> bool:
    """By the rule of HDF5: sums of big-endian numbers of 16 bits, modulo 65,535, where 0 is also 65,535."""
    if len(stored) != 4 * ELEMENTS + 4:
        return False
    words = np.frombuffer(stored[:-4], ">u2").astype(np.uint64)
    low, high = int(words.sum()) % 65535, int(words.cumsum().sum()) % 65535
    (found,) = struct.unpack("<I", stored[-4:])
    return (low, high) == ((found & 0xFFFF) % 65535, (found >> 16) % 65535)


def _zlib(stored: bytes) -> bool:
    stream = zlib.decompressobj()
    try:
        return len(stream.decompress(stored)) == 4 * ELEMENTS and stream.eof and not stream.unused_data
    except zlib.error:
        return False


COLLIDING: dict[str, Callable[[bytes], bool]] = {"adler32": _adler32, "fletcher32": _fletcher32, "zlib": _zlib}
"""Where other bytes may well have the same checksum: whether these do. No reader can know that they were others."""


UNITS = {name: INNER // 4 if name == "shard_of_shards" else INNER for name in LAYOUTS if name.startswith("shard")}
"""Elements of what has a checksum of its own within a shard."""


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many mutated chunks, of a few layouts; of each everything is read, and two parts."""
    random = Random(seed)
    names = random.sample(sorted(LAYOUTS), min(len(LAYOUTS), max(1, count // 500)))
    done, figures, findings = 0, {"reads": 0, "errors": 0, "collisions": 0, "copies": 0}, []
    for number, name in enumerate(names):
        several = count // len(names) + (number < count % len(names))
        done += several
        findings += [f"seed {seed}: {text}" for text in _batch(name, several, random, figures)]
    return Outcome(done, len(findings), figures, tuple(findings))


def _batch(name: str, count: int, random: Random, figures: dict[str, int]) -> list[str]:
    """What was wrong with so many mutated chunks of a layout."""
    store = MemoryStore()
    shape = (ELEMENTS * CHUNKS,)
    array = blizzarr.create_array(
        store, shape=shape, chunks=(ELEMENTS,), dtype="int32", fill_value=FILL, codecs=LAYOUTS[name]
    )
    values = _values(random)
    array[...] = values
    keys = [f"c/{number}" for number in range(CHUNKS)]
    originals: list[bytes] = [store.get(key) for key in keys]
    wrong = []
    for turn in range(count):
        chunk = turn % CHUNKS
        stored = mutated(random, originals[chunk], originals)
        store.set(keys[chunk], stored)
        first = chunk * ELEMENTS
        for begin, end in ((0, ELEMENTS), _part(random, INNER), _part(random, ELEMENTS)):
            figures["reads"] += 1
            try:
                found = array[first + begin : first + end]
            except ChunkError:
                figures["errors"] += 1
                continue
            except Exception as error:
                wrong.append(f"{name}, {stored.hex()}: {type(error).__name__}: {error}")
                continue
            if np.array_equal(found, values[first + begin : first + end]):
                continue
            if name in COLLIDING and COLLIDING[name](stored):
                figures["collisions"] += 1
                continue
            if name in UNITS and _are_copies(array, first, range(begin, end), values.reshape(-1, UNITS[name])):
                figures["copies"] += 1
                continue
            wrong.append(f"{name}, {stored.hex()}: {begin}:{end} has other values than were written")
        store.set(keys[chunk], originals[chunk])
    if not np.array_equal(array[...], values):
        wrong.append(f"{name}: what was put back is not read again")
    return wrong


def _are_copies(array: blizzarr.Array, first: int, part: range, units: npt.NDArray[np.int32]) -> bool:
    """Whether each inner chunk of a part is, all of it, one that was written here or elsewhere.

    Bytes that are moved within a shard may be those in which two inner chunks differ, checksum and all.
    """
    length = units.shape[1]
    for begin in range(part.start // length * length, part.stop, length):
        try:
            found = array[first + begin : first + begin + length]
        except ChunkError:
            return False
        if not (units == found).all(axis=1).any():
            return False
    return True


def _part(random: Random, most: int) -> tuple[int, int]:
    begin = int(random.random() * ELEMENTS)
    return begin, min(ELEMENTS, begin + 1 + int(random.random() * most))


def _values(random: Random) -> npt.NDArray[np.int32]:
    """Noise, ramps, and mostly one number: what compresses well, badly, and not at all. The fill value is nowhere."""
    generator = np.random.default_rng(random.getrandbits(64))
    values = generator.integers(0, 2**31, (CHUNKS, ELEMENTS), dtype=np.int32)
    values[1::4] = np.arange(ELEMENTS, dtype=np.int32) * generator.integers(1, 9, (len(values[1::4]), 1))
    values[2::4] %= 5
    values[3::4] = np.where(values[3::4] % 16 == 0, values[3::4], 12)
    return values.reshape(-1)


EXPERIMENT = Experiment(
    name="mutations",
    promise="P2",
    what="A corrupted chunk that has a checksum raises an error or reads as written, never as other values",
    unit="mutated chunks",
    full=1_000_000,
    ci=3000,
    run=run,
    batch=20_000,
)
