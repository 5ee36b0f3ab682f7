"""P8: attributes and appends of many processes: all of them are there at the end."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

import blizzarr
from soak.experiment import Experiment, Outcome
from soak.writers import at_once

FORMATS = ["v3", "v2", "v3_draft", "v3_draft_zarr_python", "v1"]
KINDS = [("processes", 8), ("threads", 8)]
CELLS = list(itertools.product(FORMATS, KINDS))
ROWS = 3


def set_attributes(place: str, writer: int, times: int) -> list[str]:
    """Names of its own, one by one."""
    array = blizzarr.open_array(place, mode="r+")
    for turn in range(times):
        array.attrs[f"{writer}-{turn}"] = turn
    return []


def append(place: str, writer: int, times: int) -> list[str]:
    """Blocks of rows that say whose they are."""
    array = blizzarr.open_array(place, mode="r+")
    for turn in range(times):
        array.append(np.full((ROWS, 4), writer * 100_000 + turn))
    return []


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """In one format: so many attributes, and a tenth as many appends."""
    zarr_format, (kind, writers) = CELLS[seed % len(CELLS)]
    place = scratch / "x.zarr"
    blizzarr.create_array(place, shape=(0, 4), chunks=(7, 3), dtype="int64", zarr_format=zarr_format)
    times, blocks = max(1, count // writers), max(1, count // writers // 10)
    findings = at_once(kind, writers, set_attributes, str(place), times)
    findings += at_once(kind, writers, append, str(place), blocks)
    array = blizzarr.open_array(place, mode="r")
    expected = {f"{writer}-{turn}": turn for writer in range(writers) for turn in range(times)}
    found = {name: value for name, value in array.attrs.items() if name in expected}
    findings += [f"attribute {name} is lost" for name in sorted(expected.keys() - found.keys())]
    if array.shape[0] != writers * blocks * ROWS:
        findings.append(f"expected {writers * blocks * ROWS} rows, found {array.shape[0]}")
    said = array[...].reshape(-1, ROWS * 4)
    whole = said[(said == said[:, :1]).all(axis=1), 0].tolist()
    missing = {writer * 100_000 + turn for writer in range(writers) for turn in range(blocks)}.difference(whole)
    findings += [f"block {number} is lost or torn" for number in sorted(missing)]
    if len(set(whole)) != len(whole):
        findings.append("a block is there twice")
    cell = f"{zarr_format}, {writers} {kind}: "
    return Outcome(
        writers * (times + blocks),
        len(findings),
        {"appends": writers * blocks},
        tuple(cell + text for text in findings),
    )


EXPERIMENT = Experiment(
    name="documents",
    promise="P8",
    what="When writers set attributes and append rows at the same time, no attribute and no row is lost",
    unit="changes",
    full=16_000,
    ci=40,
    run=run,
    batch=800,
)
