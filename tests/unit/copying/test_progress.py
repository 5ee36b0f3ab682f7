"""Progress within one part of a copy, which may take minutes."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr import _native
from blizzarr.copying import stored
from blizzarr.errors import StoreError
from support.far_stores import TwoAtOnce


@pytest.mark.parametrize(
    "options",
    [{"compressors": "zstd"}, {"compressors": None}, {"shards": (32, 64)}],
    ids=["compressed", "raw", "shards"],
)
def test_the_engine_counts_what_it_decodes_and_encodes(options: dict[str, Any]) -> None:
    """Elements count, not the chunks that they are cut from."""
    array = blizzarr.create_array({}, shape=(64, 64), chunks=(16, 16), dtype="i4", **options)
    before = _native.progress()
    array[...] = np.arange(64 * 64, dtype="i4").reshape(64, 64)
    written = _native.progress()
    assert came(before, written) == (0, array.nbytes)
    assert array[5:60, 3].tolist() == list(range(5 * 64 + 3, 60 * 64, 64))
    read = _native.progress()
    assert came(written, read) == (55 * 4, 0)


def came(before: dict[str, int], after: dict[str, int]) -> tuple[int, int]:
    """The bytes that were decoded and encoded meanwhile."""
    return after["decoded"] - before["decoded"], after["encoded"] - before["encoded"]


def test_stored_objects_are_told_of_as_time_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was once for every 256, however large they were."""
    source = blizzarr.create_array({}, data=np.arange(100), chunks=10)
    told: list[int] = []
    blizzarr.copy(source, {}, progress=lambda done, _: told.append(done))
    assert told == [0, 800]
    monkeypatch.setattr(stored, "_PAUSE", 0.0)
    told.clear()
    copied = blizzarr.copy(source, {}, progress=lambda done, _: told.append(done))
    assert told == [*range(0, 801, 80)]
    assert copied[:].tolist() == list(range(100))


def test_small_arrays_far_away_are_copied_at_the_same_time() -> None:
    """Each takes a dozen requests. What is done is told of by one thread at a time."""
    source = blizzarr.create_group({})
    for name in "ab":
        source.create_array(name, data=np.arange(10), chunks=10)
    told: list[int] = []
    calls = threading.Lock()

    def progress(done: int, total: int) -> None:
        assert calls.acquire(blocking=False)
        told.append(done)
        assert total == 160
        calls.release()

    copied = blizzarr.copy(source, TwoAtOnce(), progress=progress)
    assert told == [0, 80, 160]
    assert isinstance(copied, blizzarr.Group)
    assert {name: array[...].tolist() for name, array in copied.arrays()} == {key: [*range(10)] for key in "ab"}


def test_arrays_that_are_large_in_the_copy_are_not_copied_at_once() -> None:
    source = blizzarr.create_group({})
    for name in "ab":
        source.create_array(name, data=np.ones(100, "u1"))
    store = TwoAtOnce()
    store.both = threading.Barrier(2, timeout=0.2)
    # One byte of each element in the source, and eight in the copy.
    with blizzarr.config.set(copy_bytes=8 * 400), pytest.raises(StoreError, match="BrokenBarrier"):
        blizzarr.copy(source, store, dtype="f8")
