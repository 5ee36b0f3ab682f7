"""P6: many writers, each with a part of its own of one chunk or shard: nothing that was written is lost."""

from __future__ import annotations

import itertools
import multiprocessing
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from soak.experiment import Experiment, Outcome

PART = 50
"""Elements of one writer."""
LAYOUTS: dict[str, dict[str, Any]] = {
    "raw": {"compressors": None},
    "zstd": {"compressors": "zstd"},
    "blosc v2": {"compressors": "blosc", "zarr_format": 2},
    "shard": {"sharded": True},
    "nested shards": {"nested": True},
    "draft": {"zarr_format": "v3_draft"},
}
WRITERS = [("threads", 2), ("processes", 2), ("threads", 8), ("processes", 8), ("threads", 32), ("processes", 16)]
CELLS = list(itertools.product(LAYOUTS, WRITERS))


def make(place: Path, layout: str, writers: int) -> None:
    """An array of one chunk, or of one shard, in which every writer has a part."""
    options = dict(LAYOUTS[layout])
    length = writers * PART
    if options.pop("sharded", False):
        options |= {"chunks": (length // 2,), "shards": (length,)}
    elif options.pop("nested", False):
        inner = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd"}]
        for chunk in (length // 4, length // 2):
            inner = [{"name": "sharding_indexed", "configuration": {"chunk_shape": [chunk], "codecs": inner}}]
        options |= {"chunks": (length,), "codecs": inner}
    else:
        options["chunks"] = (length,)
    blizzarr.create_array(place, shape=(length,), dtype="int32", **options)


def write(place: str, writer: int, times: int) -> list[str]:
    """Write one part again and again, and read it after each time."""
    return rewrite(blizzarr.open_array(place, mode="r+"), writer, times)


def rewrite(array: Any, writer: int, times: int, after: Callable[[int], object] = lambda turn: None) -> list[str]:
    """The same with an array that is open; `after` is called with the number of each write."""
    mine = slice(writer * PART, (writer + 1) * PART)
    lost = []
    for turn in range(1, times + 1):
        value = writer * 1_000_000 + turn
        array[mine] = value
        found = array[mine]
        if not (found == value).all():
            lost.append(f"writer {writer}, turn {turn}: wrote {value}, found {np.unique(found)}")
        after(turn)
    return lost


def at_once(kind: str, writers: int, work: Callable[..., list[str]], *arguments: Any) -> list[str]:
    """What `work(place, number, ...)` says for each number, all at the same time."""
    place, *rest = arguments
    if kind == "processes":
        with multiprocessing.get_context("spawn" if writers < 4 else "forkserver").Pool(writers) as pool:
            return list(itertools.chain(*pool.starmap(work, [(place, number, *rest) for number in range(writers)])))
    said: list[str] = []

    def one(number: int) -> None:
        try:
            said.extend(work(place, number, *rest))
        except Exception as error:
            said.append(f"writer {number}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return said


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """One cell: writers of one kind and number, one layout."""
    layout, (kind, writers) = CELLS[seed % len(CELLS)]
    place = scratch / "x.zarr"
    make(place, layout, writers)
    times = max(1, count // writers)
    findings = at_once(kind, writers, write, str(place), times)
    end = blizzarr.open_array(place, mode="r")[...].reshape(writers, PART)
    for writer, found in enumerate(end):
        expected = writer * 1_000_000 + times
        if not (found == expected).all():
            findings.append(f"writer {writer}: expected {expected} at the end, found {np.unique(found)}")
    findings += [f"left: {path.name}" for path in place.rglob("*") if path.is_file() and "lock" in path.name]
    place_of = f"{layout}, {writers} {kind}: "
    return Outcome(times * writers, len(findings), {}, tuple(place_of + text for text in findings))


EXPERIMENT = Experiment(
    name="writers",
    promise="P6",
    what="When threads or processes write parts of one chunk or shard at the same time, no write is lost",
    unit="writes",
    full=200_000 // 20 * len(CELLS),
    ci=400,
    run=run,
    batch=2000,
)
