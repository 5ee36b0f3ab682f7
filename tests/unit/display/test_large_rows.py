"""Large arrays as text: a little memory at a time, the first lines at once, and the same lines as of small ones."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import blizzarr
from blizzarr.display import rows
from blizzarr.display.region import Region


@pytest.mark.parametrize("shape", [(), (0,), (30,), (12, 5), (5, 7, 3), (4, 2, 6, 3)])
def test_parts_make_the_same_lines(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(np.prod(shape, dtype=int), dtype="int16").reshape(shape) + 1000
    array = blizzarr.create_array({}, data=values, chunks=tuple(max(1, min(3, length)) for length in shape))
    region = Region.of(array, ... if len(shape) != 4 else (slice(None, None, -1),))
    whole = [*rows.as_text(region)], [*rows.as_csv(region)], [*rows.as_json(region)]
    monkeypatch.setattr(rows, "_MOST_BYTES", 20)
    monkeypatch.setattr(rows, "_TEXT_BYTES", 8)
    monkeypatch.setattr(rows, "_BLOCK_BYTES", 8)
    assert ([*rows.as_text(region)], [*rows.as_csv(region)], [*rows.as_json(region)]) == whole


def test_the_first_lines_of_an_array_larger_than_memory() -> None:
    array = blizzarr.create_array({}, shape=(100_000, 100_000, 1_000), dtype="f4", chunks=(200, 200, 200))
    lines = [*islice(rows.as_text(Region.of(array, ...)), 3)]
    assert lines == ["# [0, :, :]", *(" ".join(["0.0"] * 1_000),) * 2]
    assert [*islice(rows.as_csv(Region.of(array, ...)), 1, 3)] == [f"0,{row}" + ",0.0" * 1_000 for row in (0, 1)]
