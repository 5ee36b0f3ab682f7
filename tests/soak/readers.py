"""P7: who reads a part of a shard while it is replaced sees one version of it, in stores of all kinds."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr
from blizzarr.stores import LocalStore, MappingStore, MemoryStore, StoreWrapper
from soak.experiment import Experiment, Outcome

INNER = 64
STORES: dict[str, Any] = {
    "local": lambda scratch: LocalStore(scratch / "x.zarr"),
    "memory": lambda scratch: MemoryStore(),
    "mapping": lambda scratch: MappingStore({}),
    "wrapped": lambda scratch: StoreWrapper(LocalStore(scratch / "x.zarr")),
}
CODECS = {"raw": None, "zstd": "zstd"}
CELLS = list(itertools.product(STORES, CODECS))


def run(count: int, seed: int, scratch: Path) -> Outcome:
    """Two readers of single inner chunks, and one who replaces all of the shard by values of other compressed sizes."""
    store, codec = CELLS[seed % len(CELLS)]
    array = blizzarr.create_array(
        STORES[store](scratch),
        shape=(INNER * 16,),
        chunks=INNER,
        shards=INNER * 16,
        dtype="int32",
        fill_value=-1,
        compressors=CODECS[codec],
    )
    # Of each version all elements say which it is; what is added makes them compress well or badly.
    versions = [(np.arange(INNER * 16) % (1 + 7 * (number % 3)) * 1000 + number).astype("int32") for number in range(8)]
    array[...] = versions[0]
    over = threading.Event()
    replaced = 0
    findings: list[str] = []

    def replace() -> None:
        nonlocal replaced
        while not over.is_set():
            replaced += 1
            array[...] = versions[replaced % len(versions)]

    def read(begin: int) -> None:
        places = np.random.default_rng(begin).integers(0, 16, count)
        for place in places:
            part = slice(place * INNER + 3, (place + 1) * INNER - 5)
            try:
                found = array[part]
            except Exception as error:
                findings.append(f"{store}, {codec}: {type(error).__name__}: {error}")
                continue
            number = int(found[0]) % 1000
            if number >= len(versions) or not (found == versions[number][part]).all():
                findings.append(f"{store}, {codec}: a mixture at {place}: {np.unique(found % 1000)}")

    writer = threading.Thread(target=replace)
    readers = [threading.Thread(target=read, args=(begin,)) for begin in (seed, seed + 1)]
    for thread in (writer, *readers):
        thread.start()
    for thread in readers:
        thread.join()
    over.set()
    writer.join()
    return Outcome(2 * count, len(findings), {"replacements": replaced}, tuple(findings))


EXPERIMENT = Experiment(
    name="readers",
    promise="P7",
    what="A read of part of a shard that is being replaced returns data of a single version",
    unit="reads",
    full=1_000_000,
    ci=500,
    run=run,
    batch=20_000,
)
