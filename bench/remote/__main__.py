"""Times reads from a server on this machine that waits before each answer, and writes; every result is checked.

All peers take turns. What was written is read again, by blizzarr.

python -m bench.remote 5 20 50 --protocol s3 --rounds 9
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import icechunk
import numpy as np
import pandas as pd
import xarray
import zarr

import blizzarr
import blizzarr.xarray
from bench.peers.base import CannotError, Selection
from bench.remote.peers import BUCKET, DATASETS, PEERS, WRITERS, Place, with_blizzarr
from bench.remote.server import serve

SHAPE = (256, 256, 256)
LAYOUTS: dict[str, dict[str, Any]] = {
    "512-chunks": {"chunks": (32, 32, 32)},
    "32-chunks": {"chunks": (128, 64, 64)},
    "8-shards": {"chunks": (32, 32, 32), "shards": (128, 128, 128)},
}
WHOLE = Selection((slice(None),) * 3)
PLANE = Selection((slice(None), slice(None), 77))
ELEMENT = Selection((100, 100, 100))
POINTS = Selection(tuple(np.random.default_rng(3).integers(0, SHAPE[0], (3, 300))), "points")
# What is read of which layout; whether opening is a part of what is timed.
ROWS: dict[str, tuple[str, Selection, bool]] = {
    "whole, 512 chunks of 64 KiB": ("512-chunks", WHOLE, False),
    "300 points in 217 of them": ("512-chunks", POINTS, False),
    "one plane of these chunks (64 chunks)": ("512-chunks", PLANE, False),
    "open, and read one element": ("512-chunks", ELEMENT, True),
    "whole, 32 chunks of 1 MiB": ("32-chunks", WHOLE, False),
    "one plane of these chunks (8 chunks)": ("32-chunks", PLANE, False),
    "whole, 8 shards of 64 chunks": ("8-shards", WHOLE, False),
    "one plane of these shards": ("8-shards", PLANE, False),
}
COORDINATES = {
    "time": pd.date_range("2000", periods=365),
    "level": np.arange(10.0),
    "lat": np.linspace(-90, 90, 19),
    "lon": np.linspace(0, 350, 36),
}
DATASET_ROWS = {"xarray opens a dataset of v2": 2, "xarray opens a dataset of v3": 3}
"""The formats of datasets with four coordinates, which xarray reads."""
BOX = (slice(100, 140),) * 3
WRITE_ROWS: dict[str, tuple[str, tuple[slice, ...]]] = {
    "write 512 chunks of 64 KiB": ("512-chunks", (slice(None),) * 3),
    "write 32 chunks of 1 MiB": ("32-chunks", (slice(None),) * 3),
    "write 8 shards of 64 chunks": ("8-shards", (slice(None),) * 3),
    "write a box in 8 of the 512 chunks": ("512-chunks", BOX),
    "write a box in 8 of the 32 chunks": ("32-chunks", BOX),
    "write one element of a shard": ("8-shards", (slice(5, 6),) * 3),
}
"""What is written in which layout, in S3; these rows come last, as they change what is read."""


def make(bucket: Path, values: Any) -> None:
    """Store the values in each layout, and in a repository of icechunk; and datasets."""
    air = xarray.Dataset({"air": (tuple(COORDINATES), np.zeros((365, 10, 19, 36), "i1"))}, coords=COORDINATES)
    for name, zarr_format in DATASET_ROWS.items():
        blizzarr.xarray.to_zarr(air, bucket / name.replace(" ", "-"), zarr_format=zarr_format, consolidated=True)
    for name, layout in LAYOUTS.items():
        blizzarr.save_array(bucket / name, values, **layout)
        repository = icechunk.Repository.create(icechunk.local_filesystem_storage(str(bucket / f"{name}.icechunk")))
        session = repository.writable_session("main")
        zarr.create_array(session.store, data=values, compressors=zarr.codecs.ZstdCodec(level=3), **layout)
        session.commit("all")


def measure(places: dict[str, Place], row: str, values: Any, rounds: int) -> dict[str, float]:
    """Return the median time of each peer that can do a row, in milliseconds."""
    name, wanted, opens = ROWS[row]
    expected = wanted.of(values)
    times: dict[str, list[float]] = {}
    for number in range(rounds):
        for peer, opener in PEERS.items():
            if number and peer not in times:
                continue
            begun = time.perf_counter()
            read = opener(places[name])
            if not opens:
                begun = time.perf_counter()
            try:
                found = read(wanted)
            except CannotError:
                continue
            times.setdefault(peer, []).append(1000 * (time.perf_counter() - begun))
            if not np.array_equal(np.asarray(found).reshape(expected.shape), expected):
                raise AssertionError(f"{peer} reads other values: {row}")
    return {peer: statistics.median(each) for peer, each in times.items()}


def measure_writes(places: dict[str, Place], row: str, values: Any, rounds: int) -> dict[str, float]:
    """Return the median time of each peer that can do a row, in milliseconds."""
    name, key = WRITE_ROWS[row]
    times: dict[str, list[float]] = {}
    for number in range(rounds):
        for count, (peer, opener) in enumerate(WRITERS.items()):
            write, new = opener(places[name]), values[key] + np.uint16(count + len(WRITERS) * number)
            begun = time.perf_counter()
            write(key, new)
            times.setdefault(peer, []).append(1000 * (time.perf_counter() - begun))
            if not np.array_equal(with_blizzarr(places[name], "r")[key], new):
                raise AssertionError(f"{peer} has written other values: {row}")
    return {peer: statistics.median(each) for peer, each in times.items()}


def measure_datasets(places: dict[str, Place], row: str, _: Any, rounds: int) -> dict[str, float]:
    """Return the median time of each peer, in milliseconds."""
    times: dict[str, list[float]] = {peer: [] for peer in DATASETS}
    for _ in range(rounds):
        for peer, opener in DATASETS.items():
            begun = time.perf_counter()
            dataset = opener(places[row])
            times[peer].append(1000 * (time.perf_counter() - begun))
            if not all(dataset.indexes[name].equals(pd.Index(there)) for name, there in COORDINATES.items()):
                raise AssertionError(f"{peer} reads other coordinates: {row}")
    return {peer: statistics.median(each) for peer, each in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.remote", description=__doc__.splitlines()[0])
    parser.add_argument("milliseconds", nargs="*", type=float, default=[5.0, 20.0, 50.0])
    parser.add_argument("--protocol", choices=["http", "s3"], action="append")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", nargs="*", help="parts of the names of rows")
    chosen = parser.parse_args()
    rows = [
        row
        for row in (*ROWS, *DATASET_ROWS, *WRITE_ROWS)
        if not chosen.rows or any(part in row for part in chosen.rows)
    ]
    values = np.random.default_rng(0).integers(0, 200, SHAPE).astype("u2").cumsum(0, dtype="u2")
    icechunk.set_logs_filter("error")
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as directory:
        make(Path(directory) / BUCKET, values)
        for milliseconds in chosen.milliseconds:
            here, there = multiprocessing.Pipe()
            server = context.Process(target=serve, args=(directory, milliseconds, there), daemon=True)
            server.start()
            root = f"http://127.0.0.1:{here.recv()}"
            for protocol in chosen.protocol or ["http", "s3"]:
                places = {name: Place(protocol, root, name.replace(" ", "-")) for name in (*LAYOUTS, *DATASET_ROWS)}
                print(f"\n{protocol}, {milliseconds:g} ms to each answer; milliseconds, medians of {chosen.rounds}\n")
                print("|", *(f"| {peer} " for peer in PEERS), "| vs best |", sep="")
                print("|---|", "---:|" * (len(PEERS) + 1), sep="")
                for row in rows:
                    if row in WRITE_ROWS and protocol != "s3":
                        continue
                    measured = measure_writes if row in WRITE_ROWS else measure
                    if row in DATASET_ROWS:
                        measured = measure_datasets
                    medians = measured(places, row, values, chosen.rounds)
                    best = min((taken for peer, taken in medians.items() if peer != "blizzarr"), default=float("nan"))
                    cells = [f"{medians[peer]:,.0f}" if peer in medians else "-" for peer in PEERS]
                    print(f"| {row} |", " | ".join(cells), f"| {best / medians['blizzarr']:.2f} |", flush=True)
            server.terminate()


if __name__ == "__main__":
    main()
