"""Opening takes few layers: the calls of Python functions are counted."""

from __future__ import annotations

from pathlib import Path

import blizzarr
from support.calls import calls_of


def test_a_v2_array_is_opened_by_25_functions(tmp_path: Path) -> None:
    path = f"{tmp_path}/a"
    blizzarr.create_array(path, shape=(3, 4), dtype="int16", zarr_format=2, attributes={"a": [1]})
    for _ in range(2):  # the second time finds out that this array is not one that is remembered
        blizzarr.open(path)
    assert calls_of(lambda: blizzarr.open(path)) <= 25
    assert blizzarr.open(path).attrs["a"] == [1]
