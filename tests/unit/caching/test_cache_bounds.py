"""K-15, K-17, K-18: bounds mean what they mean to TensorStore, which is asked the same at the same moments."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorstore as ts

import blizzarr
import blizzarr.tensorstore
from blizzarr.caching import CachedStore, Since
from blizzarr.stores import LocalStore

BOUNDS: dict[str, Any] = {"true": True, "false": False, "open": "open", "past": 5.0, "future": time.time() + 1e6}
LAYOUTS: dict[str, dict[str, Any]] = {"chunks": {"chunks": 4}, "shards": {"chunks": 2, "shards": 4}}


class Oracle:
    """TensorStore, with one context."""

    module: Any = ts

    def __init__(self, root: Path) -> None:
        self.spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(root)}}
        self.context = self.module.Context({"cache_pool": {"total_bytes_limit": 1 << 24}})

    def open(self, bound: Any) -> Any:
        """An array that can be read, and written, by slices."""
        return self.module.open(self.spec | {"recheck_cached_data": bound}, context=self.context).result()

    def read(self, array: Any) -> list[int]:
        """What it sees."""
        found: list[int] = array.read().result().tolist()
        return found


class Face(Oracle):
    """The same as we have it."""

    module = blizzarr.tensorstore


class Ours:
    """Arrays as they are in Python, with a pool."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pool = blizzarr.CachePool(1 << 24)

    def open(self, bound: Any) -> Any:
        """An array that can be read, and written, by slices."""
        recheck = bound if isinstance(bound, bool | str) else Since(bound)
        return blizzarr.open_array(CachedStore(LocalStore(self.root), self.pool, recheck))

    def read(self, array: Any) -> list[int]:
        """What it sees."""
        found: list[int] = array[...].tolist()
        return found


def replace(root: Path, number: int) -> None:
    """What another process does: the values say which version they are of; of version 3 the second chunk is missing."""
    array = blizzarr.create_array(root.parent / "beside", overwrite=True, **_made(root))
    array[...] = np.arange(8) + 100 * number
    if number == 3:
        array[4:] = 0
    kept = {path.name for path in (root.parent / "beside" / "c").iterdir()}
    for path in list((root / "c").iterdir()):
        if path.name not in kept:
            path.unlink()
    for name in kept:
        (root.parent / "beside" / "c" / name).rename(root / "c" / name)


def _made(root: Path) -> dict[str, Any]:
    array = blizzarr.open_array(root)
    return {"shape": array.shape, "chunks": array.chunks, "shards": array.shards, "dtype": array.dtype}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_mean_what_they_mean_to_tensorstore(tmp_path: Path, bound: str, layout: str) -> None:
    """Reads, changes from outside, arrays opened again, partial writes, chunks that go: each step sees the same.

    Only of a shard that was written in part we see all parts as they are stored, TensorStore those that it has written.
    """
    seen: dict[type, list[list[int]]] = {}
    stored: list[list[int]] = []
    for kind in (Oracle, Face, Ours):
        root = tmp_path / kind.__name__ / "x"
        blizzarr.create_array(root, data=np.arange(8), **LAYOUTS[layout])
        side: Any = kind(root)
        steps = seen[kind] = []

        def look(array: Any, side: Any = side, steps: Any = steps, root: Path = root) -> None:
            steps.append(side.read(array))
            stored.append(blizzarr.open_array(root)[...].tolist())
            time.sleep(0.02)

        first = side.open(BOUNDS[bound])
        look(first)
        replace(root, 1)
        look(first)
        second = side.open(BOUNDS[bound])
        look(second)
        look(first)
        replace(root, 2)
        look(second)
        # Part of the first chunk: what it is merged into is what is stored now.
        first[1:2] = -1
        look(first)
        look(second)
        replace(root, 3)
        look(second)
        third = side.open(BOUNDS[bound])
        look(third)
        look(second)
    now = stored[: len(seen[Ours])]
    assert stored == now * 3
    assert seen[Face] == seen[Ours]
    assert now[5] == [200, -1, *range(202, 208)]
    if bound == "true":
        assert seen[Ours] == now
    if layout == "shards":
        # The part beside the one that was written; it is of one version with it here.
        for ours, theirs in zip(seen[Ours][5:], seen[Oracle][5:], strict=True):
            assert ours[2] == ours[0] + 2
            theirs[2:4] = ours[2:4]
    assert seen[Ours] == seen[Oracle]
