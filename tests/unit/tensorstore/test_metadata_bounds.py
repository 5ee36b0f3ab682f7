"""When metadata are looked at again: TensorStore is the judge, step by step."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import blizzarr
import blizzarr.tensorstore as ours

theirs = pytest.importorskip("tensorstore")


def told(library: Any, path: Path, bound: Any, limit: int) -> list[Any]:
    """The shapes that stores of one context see while others change the array, and what is read."""
    blizzarr.create_array(path, data=np.arange(8), chunks=4)
    context = library.Context({"cache_pool": {"total_bytes_limit": limit}})
    spec = {"driver": "zarr3", "kvstore": f"file://{path}/", "recheck_cached_metadata": bound}

    def opened() -> Any:
        return library.open(spec, context=context).result()

    first = opened()
    found = [first.shape]
    time.sleep(0.02)
    others = blizzarr.open_array(path)
    others.resize(12)
    others[8:] = 7
    found += [first.resolve().result().shape, first.read().result().tolist()]
    second = opened()
    found += [second.shape, second.read().result().tolist(), first.resolve().result().shape]
    others.resize(3)
    time.sleep(0.02)
    found += [second.resolve().result().shape, opened().shape]
    # What one of them changes all know.
    if found[-1] == second.shape:
        second.resize(exclusive_max=[5]).result()
        found += [first.resolve().result().shape, second.resolve().result().shape, opened().shape]
    del first, second
    # A thread of the pool lets go of the last result a moment after that is there.
    time.sleep(0.2)
    others.refresh().resize(6)
    return [*found, opened().shape]


@pytest.mark.parametrize("limit", [0, 1 << 24])
@pytest.mark.parametrize("bound", [True, False, "open", 5.0, "later"], ids=str)
def test_bounds(bound: Any, limit: int, tmp_path: Path) -> None:
    """K-17: `resolve()` and another opening are answered by what is known as far as the bound allows, no further."""
    moment = time.time() + 1e6 if bound == "later" else bound
    assert told(ours, tmp_path / "ours", moment, limit) == told(theirs, tmp_path / "theirs", moment, limit)


def test_others_are_not_told(tmp_path: Path) -> None:
    """Each context has its own knowledge, and what is made anew in one is known there."""
    spec = {"driver": "zarr3", "kvstore": f"file://{tmp_path}/", "recheck_cached_metadata": False}
    first, second = ours.Context(), ours.Context()
    a = ours.open(spec, context=first, create=True, dtype="int8", shape=[3]).result()
    b = ours.open(spec, context=second).result()
    a.resize(exclusive_max=[9]).result()
    assert (a.resolve().result().shape, b.resolve().result().shape) == ((9,), (3,))
    anew = ours.open(
        spec, context=first, create=True, delete_existing=True, open=False, dtype="int8", shape=[2]
    ).result()
    assert (anew.shape, ours.open(spec, context=first).result().shape) == ((2,), (2,))
