"""P11: Ctrl-C at random moments of all that takes long, again and again in one process, which works on each time.

A child does it in its main thread, since Python raises there and nowhere else.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import blizzarr
from blizzarr.errors import NodeNotFoundError
from soak.experiment import Experiment, Outcome

ROWS, LENGTH = 32, 1 << 14
BROKEN = 2.0
"""Seconds. Half of one is promised; this machine may be busy with other things as well. The slowest is published."""
PATIENCE = 120.0
"""Seconds after which a child counts as hung, more than a turn takes."""
LAYOUTS = {
    "plain": {"chunks": (1, LENGTH)},
    "shards": {"chunks": (1, 1 << 12), "shards": (4, LENGTH)},
    "a codec in Python": {"chunks": (1, LENGTH), "zarr_format": 2, "compressors": {"id": "lzma", "preset": 0}},
}
WHOLE, PART = slice(None), slice(9, -9)


@dataclass
class Sufferer:
    """One array, what it may have in it, and what is done to it."""

    array: blizzarr.Array
    noise: np.ndarray
    kept: np.ndarray
    """What was there when the last operation began."""
    given: np.ndarray = field(init=False)
    """What it was writing."""

    @classmethod
    def make(cls, place: Path, layout: str) -> Sufferer:
        noise = np.random.default_rng(0).integers(0, 60, (ROWS, LENGTH), "uint8")
        array = blizzarr.create_array(place, shape=noise.shape, dtype="uint8", **LAYOUTS[layout])
        array[...] = noise
        return cls(array, noise, noise.copy())

    def read(self) -> None:
        """All of it."""
        assert np.array_equal(self.array[...], self.kept)

    def write(self, part: slice) -> Callable[[], None]:
        """All of it, or all but the edges of each chunk, with other values each time."""

        def once() -> None:
            self.kept = self.array[...]
            self.given = self.kept.copy()
            self.given[:, part] = self.noise[:, part] + np.uint8(self.kept[0, 100] % 100 + 1)
            self.array[:, part] = self.given[:, part]

        return once

    def copy(self) -> None:
        """Into another place, again and again."""
        blizzarr.copy(self.array, self._copy, overwrite=True)

    @property
    def _copy(self) -> Path:
        return Path(str(self.array.store.root) + "-copy")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """As if another process were writing to all of it."""
        import fcntl
        import struct

        document = Path(self.array.store.root) / (".zarray" if self.array.metadata.format == "v2" else "zarr.json")
        with document.open("r+b") as file:
            fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            yield

    def judge(self) -> list[str]:
        """What is wrong now; and go on working."""
        problems = []
        found = self.array[...]
        old = (found == self.kept).reshape(ROWS, -1).all(axis=1)
        new = (found == self.given).reshape(ROWS, -1).all(axis=1) if hasattr(self, "given") else old
        if not (old | new).all():
            problems.append(f"rows that are neither old nor new: {np.flatnonzero(~(old | new)).tolist()}")
        if self._copy.exists():
            for row, source in zip(_rows(self._copy), found, strict=False):
                if row.any() and not np.array_equal(row, source):
                    problems.append("a copy has rows of something else")
                    break
            shutil.rmtree(self._copy)
        for part in (WHOLE, PART):
            self.write(part)()
            if not np.array_equal(self.array[...], self.given):
                problems.append("what is written afterwards is not there")
            self.kept = self.given
        return problems


def _rows(place: Path) -> np.ndarray:
    """What has arrived; nothing where not even the document has."""
    try:
        return blizzarr.open_array(place, mode="r")[...]
    except NodeNotFoundError:
        return np.empty((0, LENGTH), "uint8")


def suffer(count: int, seed: int, scratch: Path) -> None:
    """What the child does: it is interrupted so many times, and tells of each."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chance = random.Random(seed)
    ones = [Sufferer.make(scratch / f"{number}.zarr", layout) for number, layout in enumerate(LAYOUTS)]
    kinds = ["read", "write", "part", "lock", "part, lock", "copy"]
    for turn in range(count):
        number = seed * count + turn
        one, kind = ones[number % len(ones)], kinds[number // len(ones) % len(kinds)]
        works = {"read": one.read, "write": one.write(WHOLE), "lock": one.write(WHOLE), "copy": one.copy}
        late, work = interrupted(works.get(kind, one.write(PART)), chance.uniform(0, 0.1), one, "lock" in kind)
        told = {"late": late, "what": f"{kind}, {list(LAYOUTS)[number % len(ones)]}", "problems": [*work, *one.judge()]}
        print(json.dumps(told), flush=True)


def interrupted(work: Callable[[], None], after: float, one: Sufferer, lock: bool) -> tuple[float, list[str]]:
    """Do it until a signal comes: how long that took from then on; and what else was raised."""
    sent = 0.0

    def send() -> None:
        nonlocal sent
        time.sleep(after)
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    problems: list[str] = []
    raised = 0.0
    try:
        try:
            sender.start()
            if lock:
                with one.locked():
                    work()
                    problems.append("it wrote although all is locked")
            while True:
                work()
        except KeyboardInterrupt:
            raised = time.monotonic()
            raise
        except Exception as error:
            problems.append(f"{type(error).__name__}: {error}")
            time.sleep(PATIENCE)
    except KeyboardInterrupt:
        raised = raised or time.monotonic()
    sender.join()
    return raised - sent, problems


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many interrupts of one process."""
    folder = str(Path(__file__).parent.parent)
    program = f"import sys; sys.path.insert(0, {folder!r}); from soak.interrupts import main; main()"
    command = [sys.executable, "-c", program, str(count), str(seed), str(scratch)]
    findings: list[str] = []
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watch = threading.Timer(PATIENCE + count, child.kill)
    watch.start()
    try:
        said, complaint = child.communicate()
    finally:
        watch.cancel()
    told = [json.loads(line) for line in said.splitlines()]
    if child.returncode != 0 or len(told) < count:
        findings.append(f"seed {seed}: the child ended with {child.returncode} after {len(told)}: {complaint[-500:]}")
    for turn, fact in enumerate(told):
        findings += [f"seed {seed}, turn {turn}, {fact['what']}: {problem}" for problem in fact["problems"]]
        if fact["late"] > BROKEN:
            findings.append(f"seed {seed}, turn {turn}, {fact['what']}: raised after {fact['late']:.2f} s")
    late = [fact["late"] for fact in told]
    figures = {"max_seconds": round(max(late, default=0), 3), "later than 0.5 s": sum(each > 0.5 for each in late)}
    return Outcome(count, len(findings), figures, tuple(findings))


def main() -> None:
    """The child."""
    count, seed, scratch = sys.argv[1:]
    suffer(int(count), int(seed), Path(scratch))


EXPERIMENT = Experiment(
    name="interrupts",
    promise="P11",
    what="Ctrl-C is raised within 0.5 s, no chunk is torn, and the process can continue",
    unit="interrupts",
    full=1000,
    ci=8,
    run=run,
    batch=50,
    needs=lambda: None if sys.platform == "linux" else "needs the locks of Linux, to wait for one",
)
