"""P6, P12: several programs write to one chunk or shard on a server of objects that fails now and then."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from blizzarr.errors import UnknownOutcomeError
from soak.experiment import Experiment, Outcome
from soak.writers import PART, at_once, rewrite
from support.faulty_server import faulty_server, store_at

EVERY = 5
"""After so many writes of elements, one attribute and one appended row."""
LAYOUTS: dict[str, dict[str, Any]] = {
    "raw": {"compressors": None},
    "zstd": {"compressors": "zstd"},
    "shard": {"sharded": True},
    "v2": {"zarr_format": 2},
}
FAULTS = [0.0, 0.05, 0.5]
WRITERS = [4, 16]
CELLS = list(itertools.product(LAYOUTS, FAULTS, WRITERS))
ROW = 10_000
UNKNOWN = "unknown: "


def make(layout: str, writers: int) -> dict[str, bytes]:
    """An array of one chunk, or of one shard, in which every writer has a part."""
    options = dict(LAYOUTS[layout])
    length = writers * PART
    options |= {"chunks": PART, "shards": length} if options.pop("sharded", False) else {"chunks": length}
    documents: dict[str, bytes] = {}
    blizzarr.create_array(documents, shape=length, dtype="int32", **options)
    return documents


def write(server: str, writer: int, times: int) -> list[str]:
    """Write one part again and again, and read it after each time; now and then an attribute and a row."""
    # Requests are made again often.
    array = blizzarr.open_array(store_at(server, max_retries=60), mode="r+")

    def after(turn: int) -> None:
        if turn % EVERY == 0:
            array.attrs[f"{writer}-{turn}"] = turn
            try:
                array.append(np.full(2, -(writer * ROW + turn)))
            except UnknownOutcomeError:
                # An answer was lost: the array may be longer, but has none of these elements.
                unknown.append(f"{UNKNOWN}{writer * ROW + turn}")
                array.refresh()

    unknown: list[str] = []
    return rewrite(array, writer, times, after) + unknown


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """One layout, and one share of requests that go wrong."""
    layout, share, writers = CELLS[(seed * 5 + 2) % len(CELLS)]
    generator = random.Random(seed)
    times = max(EVERY, count // writers)
    faults = 0

    def fault(method: str, path: str) -> int | str | None:
        nonlocal faults
        if generator.random() >= share:
            return None
        faults += 1
        if method == "PUT":
            return generator.choice(["applied, but no answer", 503, 409, 500])
        return generator.choice(["reset", 503]) if method == "GET" else None

    with faulty_server() as server:
        server.objects.update({f"/bucket/a/{key}": bytes(value) for key, value in make(layout, writers).items()})
        server.fault = fault
        findings = at_once("processes", writers, write, server.url, times)
        server.fault = lambda method, path: None
        # Not through the library that the children of other experiments fork with.
        values = {path.removeprefix("/bucket/a/"): value for path, value in server.objects.items()}
        requests = len(server.requests)
    array = blizzarr.open_array(values, mode="r")
    for writer in range(writers):
        expected, found = writer * 1_000_000 + times, array[writer * PART : (writer + 1) * PART]
        if not (found == expected).all():
            findings.append(f"writer {writer}: expected {expected} at the end, found {np.unique(found)}")
    unknown = {-int(finding.removeprefix(UNKNOWN)) for finding in findings if finding.startswith(UNKNOWN)}
    findings = [finding for finding in findings if not finding.startswith(UNKNOWN)]
    turns = [(writer, turn) for writer in range(writers) for turn in range(EVERY, times + 1, EVERY)]
    findings += [
        f"attribute {writer}-{turn} is lost" for writer, turn in turns if f"{writer}-{turn}" not in array.attrs
    ]
    rows = sorted(-(writer * ROW + turn) for writer, turn in turns for _ in range(2))
    rows = [row for row in rows if row not in unknown]
    # Fill values are the places of appends that are unknown.
    appended = sorted(row for row in array[writers * PART :].tolist() if row)
    if appended != rows or (array.shape[0] - writers * PART - len(rows)) > 2 * len(unknown):
        findings.append(f"expected {len(rows)} appended elements, each once, found others")
    cell = f"{layout}, {writers} writers, {share:.0%} of the requests fail: "
    return Outcome(
        writers * times,
        len(findings),
        {"requests": requests, "faults": faults, "unknown": len(unknown)},
        tuple(cell + text for text in findings),
    )


EXPERIMENT = Experiment(
    name="servers",
    promise="P6",
    what="When programs write parts of one object on a server whose answers fail or are lost, nothing is lost or twice",
    unit="writes",
    full=200_000,
    ci=80,
    run=run,
    batch=800,
)
