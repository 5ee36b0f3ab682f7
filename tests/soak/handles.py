"""P2, P6: handles that outlive their arrays: none reads or writes an array in the layout of another one.

One program replaces an array again and again, by one with another data type, other chunks and codecs. The values of an
element say which layout it was written in, so bits of one array that are taken for those of another show.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from blizzarr.errors import BlizzarrError, ConflictError, OutOfBoundsError
from soak.experiment import Experiment, Outcome
from soak.writers import at_once

SIZE = 60
LAYOUTS: list[dict[str, Any]] = [
    # Chunks of as many bytes, so that none is refused for its size.
    {"dtype": "int32", "chunks": (10,), "compressors": None},
    {"dtype": "float32", "chunks": (10,), "compressors": None},
    {"dtype": "int64", "chunks": (5,), "compressors": None},
    {"dtype": "uint16", "chunks": (20,), "compressors": None},
    {"dtype": "float64", "chunks": (5,), "shards": (20,), "compressors": None},
    {"dtype": "int16", "chunks": (15,), "zarr_format": "v3_draft"},
    {"dtype": "uint32", "chunks": (10,), "compressors": "zstd", "zarr_format": 2},
]
FIRST = 1000
"""The least value of layout 0; each layout has as many of its own."""
WRITERS = [("threads", 3), ("processes", 3)]


def create(place: str, number: int) -> blizzarr.Array:
    values = np.arange(SIZE) % 500 + FIRST * (number + 1)
    options = dict(LAYOUTS[number])
    return blizzarr.create_array(place, data=values.astype(options.pop("dtype")), overwrite=True, **options)


def layout_of(array: blizzarr.Array) -> int:
    return next(number for number, layout in enumerate(LAYOUTS) if array.dtype == layout["dtype"])


def foreign(elements: np.ndarray, number: int) -> list[str]:
    """What no writer of this layout has written; fill values are what was not yet written."""
    least = FIRST * (number + 1)
    with np.errstate(invalid="ignore"):
        right = (elements == 0) | ((elements >= least) & (elements < least + 2 * 500))
    return [] if right.all() else [f"layout {number} has {np.unique(elements[~right])[:5]}"]


def work(place: str, worker: int, times: int, seed: int) -> list[str]:
    """Worker 0 replaces the array so many times; the others use handles that they keep until one is refused."""
    rng = random.Random(1000 * seed + worker)
    counts = {"replacements": 0, "reads": 0, "writes": 0, "refused": 0}
    wrong: list[str] = []
    handle: blizzarr.Array | None = None
    done = Path(f"{place}-done")
    while worker == 0 and counts["replacements"] < times:
        create(place, rng.randrange(len(LAYOUTS)))
        counts["replacements"] += 1
        time.sleep(rng.random() / 200)
    if worker == 0:
        done.touch()
    while not done.exists():
        try:
            if handle is None:
                handle = blizzarr.open_array(place, mode="r+")
            number, start = layout_of(handle), rng.randrange(SIZE)
            stop = rng.randrange(start, SIZE) + 1
            if rng.random() < 0.5:
                wrong += foreign(handle[start:stop], number)
                counts["reads"] += 1
            else:
                handle[start:stop] = FIRST * (number + 1) + 500 + worker
                counts["writes"] += 1
        except (ConflictError, OutOfBoundsError):
            counts["refused"] += 1
            handle = None
        except BlizzarrError:
            # Between the removal of an array and the creation of the next one.
            handle = None
            time.sleep(0.001)
    Path(f"{place}-{worker}.json").write_text(json.dumps(counts))
    return wrong


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """So many replacements, and what two other threads or processes do meanwhile."""
    kind, workers = WRITERS[seed % len(WRITERS)]
    place = str(scratch / "x.zarr")
    create(place, seed % len(LAYOUTS))
    findings = at_once(kind, workers, work, place, count, seed)
    array = blizzarr.open_array(place)
    findings += foreign(array[...], layout_of(array))
    if not blizzarr.check(place).ok:
        findings.append(f"damaged in the end: {blizzarr.check(place)}")
    figures: dict[str, float] = {}
    if findings:
        return Outcome(count, len(findings), {}, tuple(f"{kind}: {finding}" for finding in findings))
    for worker in range(workers):
        for name, value in json.loads(Path(f"{place}-{worker}.json").read_text()).items():
            figures[name] = figures.get(name, 0) + value
    replacements = int(figures.pop("replacements"))
    return Outcome(replacements, len(findings), figures, tuple(f"{kind}: {finding}" for finding in findings))


EXPERIMENT = Experiment(
    name="handles",
    promise="P6",
    what="Through a handle of an array that was replaced, nothing is read or written in the layout of the old one",
    unit="replacements",
    full=10_000,
    ci=20,
    run=run,
    batch=500,
)
