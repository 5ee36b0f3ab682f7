"""P8: changes of a whole array beside processes that write its chunks without a pause: each comes to its turn."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from soak.experiment import Experiment, Outcome

CHUNK = 64
PART = 7
"""What each process writes: of one chunk, eight of them leave the last elements alone."""
PATIENCE = 5.0
"""Seconds after which a change counts as starved."""
CELLS = [(hammering, same) for hammering in (1, 4, 8) for same in (False, True)]


def hammer(place: str, number: int, same: bool, counts: Any, over: Any) -> None:
    """Write one part of a chunk again and again, each time another value, and read it now and then."""
    array = blizzarr.open_array(place, mode="r+")
    start = number * PART if same else number * CHUNK
    turn = 0
    while not over.is_set():
        turn += 1
        array[start : start + PART] = turn
        if turn % 16 == 0 and not (array[start : start + PART] == turn).all():
            counts[2 * number + 1] += 1
        counts[2 * number] = turn


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many changes of random kinds beside processes that hammer chunks of their own, or parts of one chunk."""
    hammering, same = CELLS[seed % len(CELLS)]
    place = scratch / "x.zarr"
    rng = np.random.default_rng(seed)
    array = blizzarr.create_array(place, shape=8 * CHUNK, chunks=CHUNK, dtype="int64", fill_value=-1)
    processes = multiprocessing.get_context("spawn")
    counts, over = processes.Array("q", 2 * hammering, lock=False), processes.Event()
    writers = [
        processes.Process(target=hammer, args=(str(place), number, same, counts, over)) for number in range(hammering)
    ]
    findings, slowest, most, appended = [], 0.0, 0, 0
    for writer in writers:
        writer.start()
    try:
        while min(counts[::2]) == 0:
            time.sleep(0.01)
        for turn in range(count):
            kind = str(rng.choice(["attributes", "append", "grow", "shrink", "part"]))
            before, began = sum(counts[::2]), time.monotonic()
            length = array.shape[0]
            if kind == "attributes":
                array.attrs[f"{turn}"] = turn
            elif kind == "append":
                array.append(np.full(3, turn))
                appended += 1
                if not (array[length:] == turn).all():
                    findings.append(f"change {turn}: the rows that were appended are lost")
            elif kind == "part":
                array[56:60] = turn
                if not (array[56:60] == turn).all():
                    findings.append(f"change {turn}: the part that was written is lost")
            else:
                array.resize(length + 10 if kind == "grow" else max(8 * CHUNK, length - 10))
            seconds = time.monotonic() - began
            slowest, most = max(slowest, seconds), max(most, sum(counts[::2]) - before)
            if seconds > PATIENCE:
                findings.append(f"change {turn} ({kind}) took {seconds:.1f} s beside {hammering} processes")
            if kind == "attributes" and blizzarr.open_array(place).attrs[f"{turn}"] != turn:
                findings.append(f"change {turn}: the attribute is lost")
    finally:
        over.set()
        for writer in writers:
            writer.join()
    for number in range(hammering):
        start = number * PART if same else number * CHUNK
        if not (array[start : start + PART] == counts[2 * number]).all():
            findings.append(f"writer {number}: its last write is lost")
        if counts[2 * number + 1]:
            findings.append(f"writer {number}: {counts[2 * number + 1]} writes are lost")
    figures = {"writes": sum(counts[::2]), "appends": appended}
    figures |= {"max_seconds": round(slowest, 2), "max_writes_before": most}
    cell = f"{hammering} processes, {'one chunk' if same else 'a chunk each'}: "
    return Outcome(count, len(findings), figures, tuple(cell + text for text in findings))


EXPERIMENT = Experiment(
    name="starvation",
    promise="P8",
    what="When others write chunks of an array without a pause, each change of the array still comes to its turn",
    unit="changes",
    full=10_000,
    ci=60,
    run=run,
    batch=500,
)
