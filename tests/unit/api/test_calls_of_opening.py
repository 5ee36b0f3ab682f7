"""Opening takes few layers: the calls of Python functions are counted."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import blizzarr


def calls_of(work: Callable[[], object]) -> int:
    """Return how many Python functions are called by `work`, besides itself."""
    calls = -1

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    # What others have left to the garbage collector is not counted.
    gc.disable()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls


def test_a_v2_array_is_opened_by_25_functions(tmp_path: Path) -> None:
    path = f"{tmp_path}/a"
    blizzarr.create_array(path, shape=(3, 4), dtype="int16", zarr_format=2, attributes={"a": [1]})
    blizzarr.open(path)
    assert calls_of(lambda: blizzarr.open(path)) <= 25
    assert blizzarr.open(path).attrs["a"] == [1]
