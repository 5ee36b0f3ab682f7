"""P3: reading and writing hold what they are about, and a chunk or two for each thread."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from soak.experiment import Experiment, Outcome

__all__ = ["EXPERIMENT"]

TESTS = Path(__file__).parents[1]
SLACK = 64 << 20
LEAST, MOST = 80 << 20, 160 << 20
"""Bytes of an array: more than the slack, or nothing would be seen."""
CHUNK_LEAST, CHUNK_MOST = 256 << 10, 8 << 20
THREADS = (1, 2, 4)

_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
CODECS: dict[str, list[dict[str, Any]]] = {
    "raw": [_BYTES],
    "crc32c": [_BYTES, {"name": "crc32c"}],
    "zstd": [_BYTES, {"name": "zstd", "configuration": {"level": 1, "checksum": True}}],
    "gzip": [_BYTES, {"name": "gzip", "configuration": {"level": 1}}],
    "blosc": [
        _BYTES,
        {
            "name": "blosc",
            "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
        },
    ],
    "transposed": [{"name": "transpose", "configuration": {"order": []}}, _BYTES],
    "python": [_BYTES, {"name": "numcodecs.adler32", "configuration": {}}],
}


@dataclass(frozen=True)
class Case:
    """One array of any shape, and a request to it."""

    array: dict[str, Any]
    codec: str
    noisy: bool
    threads: int
    selection: list[dict[str, list[int]]]
    chunk_bytes: int
    shard_bytes: int

    def allowed(self, do: str, result: int, stored: int) -> int:
        """Bytes that the operation may hold.

        What is read of a shard is an inner chunk at a time; what is written is the shard, which is one value in its
        store, and there all at once.
        """
        unit = self.shard_bytes if do == "write" else self.chunk_bytes
        encoded = min(stored, unit + unit // 8 + (64 << 10))
        return (result if do == "read" else 0) + self.threads * (encoded + 2 * unit) + SLACK


def case(random: Random) -> Case:
    """Any shape of one to four dimensions, any chunks, shards now and then, any part of it."""
    rank = random.randint(1, 4)
    dtype = random.choice(("uint8", "int16", "int32", "uint64"))
    itemsize = np.dtype(dtype).itemsize
    chunk = _shape(random, rank, math.exp(random.uniform(math.log(CHUNK_LEAST), math.log(CHUNK_MOST))) / itemsize)
    shard = chunk
    if random.random() < 0.4:
        shard = [size * random.randint(1, 4) for size in chunk]
    cells = random.uniform(LEAST, MOST) / (math.prod(shard) * itemsize)
    shape = [
        max(1, round(size * many * random.uniform(0.8, 1)))
        for size, many in zip(shard, _spread(random, rank, cells), strict=True)
    ]
    codec = random.choice(list(CODECS))
    codecs = [dict(step) for step in CODECS[codec]]
    if codec == "transposed":
        codecs[0] = {"name": "transpose", "configuration": {"order": random.sample(range(rank), rank)}}
    if shard != chunk:
        index = [_BYTES, {"name": "crc32c"}]
        options = {"chunk_shape": chunk, "codecs": codecs, "index_codecs": index, "index_location": "end"}
        codecs = [{"name": "sharding_indexed", "configuration": options}]
    array = {"shape": shape, "chunks": shard, "dtype": dtype, "codecs": codecs, "fill_value": 1}
    return Case(
        array,
        codec,
        random.random() < 0.5,
        random.choice(THREADS),
        [_wanted(random, size) for size in shape],
        math.prod(chunk) * itemsize,
        math.prod(shard) * itemsize,
    )


def _spread(random: Random, rank: int, total: float) -> list[float]:
    """Factors whose product is about `total`."""
    shares = [random.random() + 0.05 for _ in range(rank)]
    return [max(1.0, total ** (share / sum(shares))) for share in shares]


def _shape(random: Random, rank: int, elements: float) -> list[int]:
    return [max(1, round(size)) for size in _spread(random, rank, elements)]


def _wanted(random: Random, size: int) -> dict[str, list[int]]:
    """All of an axis, a part of it, every nth, one, or any."""
    match random.randint(0, 5):
        case 0 | 1:
            return {"sliced": [0, size, 1]}
        case 2:
            begin, end = sorted((random.randint(0, size), random.randint(0, size)))
            return {"sliced": [begin, max(end, min(size, begin + 1)), 1]}
        case 3:
            return {"sliced": [random.randrange(min(size, 5)), size, random.randint(2, 40)]}
        case 4:
            place = random.randrange(size)
            return {"sliced": [place, place + 1, 1]}
        case _:
            return {"listed": sorted(random.sample(range(size), min(size, random.randint(1, 300))))}


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many arrays: each is built, then a part of it read, and the same part written."""
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths))
    pipe = subprocess.PIPE
    total = Outcome(0)
    command = [sys.executable, "-m", "soak.measured"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=TESTS) as child:

        def ask(order: Mapping[str, Any]) -> Any:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(json.dumps(order) + "\n")
            child.stdin.flush()
            return json.loads(child.stdout.readline())

        for number in range(count):
            made = case(Random(seed * 1_000_003 + number))
            total += _try(made, f"seed {seed}, {number}", scratch / str(number), ask)
            shutil.rmtree(scratch / str(number))
    return total


def _try(made: Case, name: str, path: Path, ask: Callable[[Mapping[str, Any]], Any]) -> Outcome:
    """One array."""
    order = {"path": str(path), "array": made.array, "noisy": made.noisy, "threads": made.threads}
    order["selection"] = made.selection
    built = ask({**order, "do": "build"})
    if built != 0:
        return Outcome(1, 1, {}, (f"{name}, {made}: {built}",))
    result = math.prod(_lengths(made)) * np.dtype(made.array["dtype"]).itemsize
    figures = {"max_percent_of_what_is_allowed": 0, "max_MiB_of_the_64": 0}
    findings = []
    for do in ("read", "write"):
        stored = max(file.stat().st_size for file in path.rglob("*"))
        allowed = made.allowed(do, result, stored)
        grown = ask({**order, "do": do})
        if not isinstance(grown, int) or grown > allowed:
            findings.append(f"{name}, {do}, {made}: {grown}, expected at most {allowed}")
            continue
        percent = round(100 * grown / allowed)
        figures["max_percent_of_what_is_allowed"] = max(figures["max_percent_of_what_is_allowed"], percent)
        slack = round((grown - allowed + SLACK) / 2**20)
        figures["max_MiB_of_the_64"] = max(figures["max_MiB_of_the_64"], slack)
    return Outcome(1, len(findings), figures, tuple(findings))


def _lengths(made: Case) -> list[int]:
    return [len(wanted["listed"]) if "listed" in wanted else len(range(*wanted["sliced"])) for wanted in made.selection]


EXPERIMENT = Experiment(
    name="memory",
    promise="P3",
    what=(
        "Peak memory of a read is at most the result, plus 64 MiB, plus one encoded and two decoded chunks per thread; "
        "of a write, the same without the result"
    ),
    unit="random shapes, read and written",
    full=500,
    ci=2,
    run=run,
    batch=10,
    needs=lambda: None if sys.platform == "linux" else "peaks are counted otherwise there",
)
