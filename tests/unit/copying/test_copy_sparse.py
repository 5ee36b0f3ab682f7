"""Copying arrays of which hardly anything is stored: only regions with stored chunks are visited."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.config import config
from blizzarr.stores import MappingStore, Value

LENGTH = 1 << 20


def made(**options: Any) -> blizzarr.Array:
    """2^40 elements, of which three pieces are stored: at the start, across a border of chunks, and at the end."""
    array = blizzarr.create_array({}, shape=(LENGTH, LENGTH), chunks=(64, 64), dtype="u1", **options)
    array[5:9, 7:10] = 3
    array[LENGTH // 2 - 3 : LENGTH // 2 + 3, 1000] = 5
    array[-5:, -5:] = 4
    return array


def check(copy: Any) -> None:
    assert copy.shape == (LENGTH, LENGTH)
    assert copy[4:10, 6:11].tolist() == np.pad(np.full((4, 3), 3), 1).tolist()
    middle = copy[LENGTH // 2 - 5 : LENGTH // 2 + 5, 999:1002]
    assert middle.sum() == 30
    assert (middle[2:8, 1] == 5).all()
    assert copy[-6:, -6:].tolist() == np.pad(np.full((5, 5), 4), ((1, 0), (1, 0))).tolist()


@pytest.mark.parametrize("options", [{"chunks": (100, 100)}, {"chunks": (10, 10), "shards": (100, 100)}])
def test_few_chunks_of_many(options: dict[str, Any]) -> None:
    told: list[tuple[int, int]] = []
    copy = blizzarr.copy(made(), {}, progress=lambda *now: told.append(now), **options)
    check(copy)
    assert told[-1] == (LENGTH**2, LENGTH**2)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert len(told) < 20


def test_creating_from_such_an_array() -> None:
    check(blizzarr.create_array({}, data=made(), chunks=(100, 100)))


class Failing(MappingStore):
    left = 2

    def set(self, key: str, value: Value) -> None:
        if key.startswith("c/"):
            self.left -= 1
            if self.left < 0:
                raise OSError("full")
        super().set(key, value)


def test_an_interrupted_copy_is_finished() -> None:
    """The regions that are done are counted among those that are visited."""
    source, values = made(), {}
    with config.set(threads=1), pytest.raises(OSError, match="full"):
        blizzarr.copy(source, Failing(values), chunks=(100, 100))
    assert any(key.startswith("c/") for key in values)
    check(blizzarr.copy(source, values, chunks=(100, 100), resume=True))


@pytest.mark.parametrize(
    "options", [{"fill_value": 7}, {"dtype": "u2"}, {"dtype": "f4", "fill_value": np.nan}], ids=["fill", "type", "nan"]
)
def test_another_fill_value_is_written_everywhere(options: dict[str, Any]) -> None:
    """Where nothing is stored, the copy has the values of the source, not its own fill value."""
    source = blizzarr.create_array({}, shape=(40, 40), chunks=10, dtype="u1")
    source[:3, :3] = 1
    with config.set(copy_bytes=200):
        copy = blizzarr.copy(source, {}, chunks=7, **options)
    assert np.array_equal(copy[...], source[...])


def test_empty_chunks_are_written_if_they_are_wanted() -> None:
    source = blizzarr.create_array({}, shape=(40, 40), chunks=10, dtype="u1")
    source[:3, :3] = 1
    with config.set(copy_bytes=200, write_empty_chunks=True):
        assert blizzarr.copy(source, {}, chunks=8).nchunks_initialized == 25
    with config.set(copy_bytes=200):
        assert blizzarr.copy(source, {}, chunks=8).nchunks_initialized == 1
