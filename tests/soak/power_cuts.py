"""P5: the power of a disk goes while it is written to, and what is promised to be there is there."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Final

from soak.experiment import Experiment, Outcome
from soak.power.disk import OPTIONS, Disk, reason_without
from soak.power.judge import Memory, problems
from soak.power.load import prepare

LEVELS: Final = ("full", "ordered", "full", "ordered", "none")
TESTS: Final = Path(__file__).parents[1]


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """Cut the power so often, at all levels and with all options of the file system in turn."""
    chance = random.Random(seed)
    findings: list[str] = []
    figures = {f"{level} {what}": 0 for level in ("full", "ordered", "none") for what in ("cuts", "writes", "damaged")}
    for number in range(count):
        options, level = OPTIONS[number % len(OPTIONS)], LEVELS[number // len(OPTIONS) % len(LEVELS)]
        if count < len(OPTIONS):
            level = LEVELS[number]
        memory = Memory()
        disk = Disk(scratch / str(number), options)
        with disk:
            prepare(disk.place / "x.zarr")
            os.sync()
        with disk:
            figures[f"{level} writes"] += _until_the_cut(disk, level, chance, memory)
        with disk:
            wrong = problems(disk.place / "x.zarr", memory)
        figures[f"{level} cuts"] += 1
        if level == "none":
            # Nothing is promised; here is why.
            figures["none damaged"] += bool(wrong)
        elif wrong:
            figures[f"{level} damaged"] += 1
            findings.append(f"seed {seed}, cut {number}, {level}, options {options!r}: {wrong[0][0]}: {wrong[0][1]}")
        (scratch / str(number) / "image").unlink()
    return Outcome(count, len(findings), figures, tuple(findings))


def _until_the_cut(disk: Disk, level: str, chance: random.Random, memory: Memory) -> int:
    """Write until the power goes; gives how many writes were done."""
    order = {"root": str(disk.place / "x.zarr"), "level": level, "seed": chance.randrange(1 << 30)}
    order["threads"] = chance.choice([1, 2, 4])
    command = [sys.executable, "-m", "soak.power.load", json.dumps(order)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=TESTS) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline()]
        # Beside us, as the writer would wait for a full pipe.
        reading = threading.Thread(target=said.extend, args=(writer.stdout,))
        reading.start()
        # Now and then so late that the journal has been written by itself: names without bytes, if nobody takes care.
        time.sleep(chance.uniform(1, 3) if level == "none" or chance.random() < 0.25 else chance.uniform(0, 0.5))
        disk.cut()
        status = writer.wait(timeout=60)
        reading.join()
    assert status == 0, f"the writer ended with {status}"
    told = [json.loads(line) for line in said]
    for line in told:
        if "error" not in line:
            memory.hear(line)
    return sum("done" in line for line in told)


EXPERIMENT = Experiment(
    name="power_cuts",
    promise="P5",
    what="What was flushed or written at `full` survives a power cut; at `full` and `ordered`, no value is torn",
    unit="cuts",
    full=500,
    ci=2,
    run=run,
    batch=30,
    needs=cache(reason_without),
)
