"""P7: what a cache gives out is no older than it may be, and no partial write builds on what it has kept (row 124)."""

from __future__ import annotations

import itertools
import multiprocessing
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import blizzarr
from soak.experiment import Experiment, Outcome

CHUNKS = 8
LENGTH = 64
"""Elements of a chunk. The first half is written by another process, the second half by this one."""
VERSIONS = 1 << 17
"""Of each chunk, at most."""
LAYOUTS: dict[str, dict[str, Any]] = {
    "raw": {"chunks": LENGTH, "compressors": None},
    "zstd": {"chunks": LENGTH, "compressors": "zstd"},
    "shard": {"chunks": LENGTH, "shards": LENGTH * 4},
    "raw shard": {"chunks": LENGTH, "shards": LENGTH * 4, "compressors": None},
}
LIMITS = [1 << 20, 4000]
"""One pool for everything, and one that has room for some of it."""
RECHECK: list[Any] = [True, False, "open", 0.005, 0.1]
CELLS = list(itertools.product(LAYOUTS, LIMITS))


class Clock:
    """When each version of each chunk was begun and when it was stored, for both processes."""

    def __init__(self, file: Path, mode: Any) -> None:
        moments = np.memmap(file, "int64", mode, shape=(2, CHUNKS, 1 + VERSIONS))
        # How many there are goes before them, and is changed after them.
        self._counts, self._moments = moments[:, :, 0], moments[:, :, 1:]

    def begin(self, chunk: int, version: int) -> None:
        self._note(0, chunk, version)

    def end(self, chunk: int, version: int) -> None:
        self._note(1, chunk, version)

    def _note(self, what: int, chunk: int, version: int) -> None:
        self._moments[what, chunk, version] = time.monotonic_ns()
        self._counts[what, chunk] = version + 1

    def begun(self, chunk: int) -> int:
        """The last version that was begun."""
        return int(self._counts[0, chunk]) - 1

    def stored(self, chunk: int, before: int) -> int:
        """The last version that was stored before that moment."""
        moments: npt.NDArray[np.int64] = self._moments[1, chunk, : self._counts[1, chunk]]
        return max(0, int(np.searchsorted(moments, before)) - 1)


def write(place: str, clock: str, over: Any, seed: int) -> None:
    """The other process: ever later versions of the first halves of chunks."""
    array = blizzarr.open_array(place, mode="r+")
    moments = Clock(Path(clock), "r+")
    versions = [0] * CHUNKS
    random = np.random.default_rng(seed)
    while not over.is_set():
        chunk = int(random.integers(CHUNKS))
        versions[chunk] += 1
        moments.begin(chunk, versions[chunk])
        start = chunk * LENGTH
        array[start : start + LENGTH // 2] = versions[chunk]
        moments.end(chunk, versions[chunk])
        time.sleep(random.choice([0, 0.001, 0.02]))


@dataclass
class Reading:
    """What the threads of this process share."""

    place: Path
    moments: Clock
    pool: blizzarr.CachePool
    findings: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    begun: list[int] = field(default_factory=lambda: [0] * CHUNKS)
    done: list[int] = field(default_factory=lambda: [0] * CHUNKS)

    def read(self, count: int, seed: int) -> None:
        """Read chunks and elements by handles of all bounds, each opened anew now and then."""
        random = np.random.default_rng(seed)
        handles: dict[int, tuple[blizzarr.Array, int]] = {}
        stale = 0
        for _ in range(count):
            which, chunk = int(random.integers(len(RECHECK))), int(random.integers(CHUNKS))
            if which not in handles or random.integers(200) == 0:
                array = blizzarr.open_array(self.place, mode="r").cached(self.pool, recheck=RECHECK[which])
                handles[which] = array, time.monotonic_ns()
                array[0]  # has it bound now
            array, opened = handles[which]
            recheck, start = RECHECK[which], chunk * LENGTH
            mine, before = self.done[chunk], time.monotonic_ns()
            if random.integers(2):
                found = array[start : start + LENGTH].reshape(2, -1)
            else:
                found = np.array([[array[start + 3]], [array[start + LENGTH - 1]]])
            later, newest = self.begun[chunk], self.moments.begun(chunk)
            ages = {True: 0, False: before, "open": before - opened}
            age = ages[recheck] if isinstance(recheck, bool | str) else int(recheck * 1e9)
            least = self.moments.stored(chunk, before - age)
            theirs, ours = (np.unique(half) for half in found)
            stale += int(theirs[0] < newest)
            if not (len(theirs) == 1 and least <= theirs[0] <= newest):
                self.findings.append(f"recheck {recheck!r}: found version {theirs}, expected {least} to {newest}")
            if not (len(ours) == 1 and mine <= ours[0] <= later):
                self.findings.append(f"recheck {recheck!r}: found {ours} of our own, expected {mine} to {later}")
        self.counts["older than the newest"] += stale

    def write(self, over: threading.Event, seed: int) -> None:
        """The second halves of half of the chunks, by a handle that never looks whether what it has kept is new."""
        array = blizzarr.open_array(self.place, mode="r+").cached(self.pool, recheck=False)
        random = np.random.default_rng(seed)
        while not over.is_set():
            chunk = int(random.integers(CHUNKS // 2))
            start = chunk * LENGTH
            array[start]
            self.begun[chunk] += 1
            array[start + LENGTH // 2 : start + LENGTH] = self.begun[chunk]
            self.done[chunk] = self.begun[chunk]
            self.counts["partial writes"] += 1
            time.sleep(random.choice([0, 0.001, 0.01]))


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """One layout and one limit: a process that writes, three threads that read, one that writes."""
    layout, limit = CELLS[seed % len(CELLS)]
    place, clock = scratch / "x.zarr", scratch / "clock"
    array = blizzarr.create_array(place, data=np.zeros(CHUNKS * LENGTH, "int32"), fill_value=-1, **LAYOUTS[layout])
    moments = Clock(clock, "w+")
    for chunk in range(CHUNKS):
        moments.begin(chunk, 0)
        moments.end(chunk, 0)
    reading = Reading(place, moments, blizzarr.CachePool(limit))
    context = multiprocessing.get_context("spawn")
    over, done = context.Event(), threading.Event()
    other = context.Process(target=write, args=(str(place), str(clock), over, seed))
    other.start()
    while moments.begun(0) == 0 and other.is_alive():
        time.sleep(0.01)
    each = -(-count // 3)
    threads = [threading.Thread(target=reading.read, args=(each, seed * 10 + number)) for number in range(3)]
    writer = threading.Thread(target=reading.write, args=(done, seed))
    for thread in (writer, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    over.set()
    writer.join()
    other.join()
    findings = [f"{layout}, {limit} bytes: {finding}" for finding in reading.findings]
    end = array[...].reshape(CHUNKS, 2, -1)
    for chunk in range(CHUNKS):
        expected = [moments.begun(chunk), reading.done[chunk]]
        if (end[chunk] != np.array(expected)[:, None]).any():
            findings.append(f"{layout}, {limit} bytes: at the end {end[chunk][:, 0]}, expected {expected}")
    info = reading.pool.info()
    figures = {**reading.counts, "hits": info.hits, "checks": info.checks, "misses": info.misses}
    return Outcome(3 * each, len(findings), figures, tuple(findings))


EXPERIMENT = Experiment(
    name="caches",
    promise="P7",
    what="A read through a cache is no older than its `recheck` allows, and partial writes never build on cached data",
    unit="reads",
    full=1_000_000,
    ci=3_000,
    run=run,
    batch=20_000,
)
