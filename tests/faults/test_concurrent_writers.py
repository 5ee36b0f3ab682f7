"""Faults: many writers and readers of one chunk (rows 95, 96, 98 to 101): small samples."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from support.child import Child

LAYOUTS = {
    "plain": {"chunks": 4096, "compressors": None},
    "compressed": {"chunks": 4096},
    "shard": {"chunks": 256, "shards": 4096},
    "nested": {
        "chunks": 4096,
        "codecs": [
            blizzarr.codecs.ShardingCodec(
                chunk_shape=(1024,), codecs=[blizzarr.codecs.ShardingCodec(chunk_shape=(128,))]
            )
        ],
    },
}
WRITERS = 4
ROUNDS = 15

WRITE_OWN_SLICE = """
    array = blizzarr.open(ARGUMENTS["root"])
    writer, writers, lost = ARGUMENTS["writer"], ARGUMENTS["writers"], 0
    own = slice(writer, None, writers) if ARGUMENTS["interleaved"] else slice(writer * 1000, writer * 1000 + 1000)
    tell(ready=True)
    sys.stdin.readline()
    for number in range(1, 1 + ARGUMENTS["rounds"]):
        array[own] = number * 10 + writer
        lost += int(not (array[own] == number * 10 + writer).all())
    tell(lost=lost)
"""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_row_095_threads_with_slices_of_one_chunk(tmp_path: Path, layout: str) -> None:
    """Each writer finds its own slice as it wrote it, every time; through one handle, and through its own."""
    array = blizzarr.create_array(tmp_path, shape=4096, dtype="uint16", **LAYOUTS[layout])
    lost: list[int] = []

    def work(writer: int) -> None:
        mine = array if writer % 2 else blizzarr.open(tmp_path)
        for number in range(1, ROUNDS):
            mine[writer::WRITERS] = number * 10 + writer
            if not (mine[writer::WRITERS] == number * 10 + writer).all():
                lost.append(number)

    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert lost == []
    for writer in range(WRITERS):
        assert (array[writer::WRITERS] == (ROUNDS - 1) * 10 + writer).all()


@pytest.mark.parametrize(
    ("layout", "interleaved"),
    [
        ("compressed", False),
        ("shard", True),
        *(pytest.param(*case, marks=pytest.mark.thorough) for case in (("compressed", True), ("shard", False))),
    ],
)
def test_row_096_processes_with_slices_of_one_chunk(tmp_path: Path, layout: str, interleaved: bool) -> None:
    array = blizzarr.create_array(tmp_path, shape=4096, dtype="uint16", **LAYOUTS[layout])
    children = [
        Child(WRITE_OWN_SLICE, root=str(tmp_path), writer=writer, writers=3, rounds=40, interleaved=interleaved)
        for writer in range(3)
    ]
    try:
        for child in children:
            child.hear()
        for child in children:
            child.start()
        assert [child.finish()["lost"] for child in children] == [0, 0, 0]
    finally:
        for child in children:
            child.process.kill()
    for writer in range(3):
        own = slice(writer, None, 3) if interleaved else slice(writer * 1000, writer * 1000 + 1000)
        assert (array[own] == 400 + writer).all()


def test_rows_098_099_writers_and_deleters_of_one_slice(tmp_path: Path) -> None:
    """What is there in the end is what one of them wrote, whole; a write of fill (a deletion) included."""
    for layout in LAYOUTS.values():
        array = blizzarr.create_array(tmp_path, shape=4096, dtype="uint16", overwrite=True, **layout)
        go = threading.Barrier(3)

        def work(value: int, array: blizzarr.Array = array, go: threading.Barrier = go) -> None:
            go.wait()
            for _ in range(20):
                array[5:4000] = value
                array[...] = value

        threads = [threading.Thread(target=work, args=(value,)) for value in (0, 1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        found = set(array[...].tolist())
        assert len(found) == 1
        assert found <= {0, 1, 2}


@pytest.mark.parametrize("layout", ["compressed", "shard", "nested", "plain"])
def test_rows_100_101_readers_during_overwrites(tmp_path: Path, layout: str) -> None:
    """A chunk, a part of it, an inner chunk: of the old or the new version, without a single error."""
    array = blizzarr.create_array(tmp_path, shape=4096, dtype="uint16", **LAYOUTS[layout])
    array[...] = 1
    soonest = time.perf_counter() + 0.5
    over = threading.Event()
    noise = np.random.default_rng(0).integers(0, 2, 4096, "uint16")
    odd: list[object] = []

    def read() -> None:
        while not over.is_set():
            for key in (slice(None), slice(130, 140), 1, slice(4000, None, -900)):
                values = np.atleast_1d(array[key])
                plain = noise[key]
                if len(np.unique(values)) != 1 and len(np.unique(values - plain)) != 1:
                    odd.append(values)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    number = 0
    try:
        while time.perf_counter() < soonest or number <= 20:
            number += 1
            array[...] = number % 100 + 2 + (noise if number % 2 else 0)  # of different lengths when encoded
    finally:
        over.set()
    for reader in readers:
        reader.join(60)
    assert odd == []
