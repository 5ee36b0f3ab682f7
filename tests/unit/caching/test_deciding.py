"""What is written, erased or refused is decided by what is stored, whatever a pool has of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import ConflictError

VALUES = np.array([1, 2, 3, 4, 5], "int8")


def cached(root: Path) -> blizzarr.Array:
    """An array whose only chunks, of four elements each, are in a pool that does not look at the store again."""
    array = blizzarr.create_array(root, shape=(5,), chunks=(4,), dtype="int8", compressors=())
    array[...] = VALUES
    made = array.cached(blizzarr.CachePool(1 << 20), recheck=False)
    assert (made[...] == VALUES).all()
    return made


def stored(root: Path, length: int, last: list[int]) -> None:
    """What another process does to it: the pool of this one hears nothing of it."""
    document = json.loads((root / "zarr.json").read_text())
    document["shape"] = [length]
    (root / "zarr.json").write_text(json.dumps(document))
    (root / "c" / "1").write_bytes(bytes([5, *last, 0, 0, 0])[:4])


def test_an_append_that_another_process_has_made(tmp_path: Path) -> None:
    """It is taken for one of these elements only if they are stored."""
    array = cached(tmp_path)
    stored(tmp_path, 7, [7, 8])
    with pytest.raises(ConflictError, match="found others"):
        array.append([0, 0], at=5)
    array.append([7, 8], at=5)
    assert array.shape == (7,)
    assert blizzarr.open_array(tmp_path, mode="r")[...].tolist() == [1, 2, 3, 4, 5, 7, 8]


def test_growing_over_what_an_append_has_left(tmp_path: Path) -> None:
    """What was written behind the end, and never published, is erased."""
    array = cached(tmp_path)
    stored(tmp_path, 5, [7, 8])
    array.resize((8,))
    assert blizzarr.open_array(tmp_path, mode="r")[...].tolist() == [1, 2, 3, 4, 5, 0, 0, 0]


def test_texts_that_another_process_has_appended(tmp_path: Path) -> None:
    """Arrays of objects decide in the same way."""
    array = blizzarr.create_array(tmp_path, data=np.array(["a", "b"], object), chunks=(4,), dtype=str)
    array = array.cached(blizzarr.CachePool(1 << 20), recheck=False)
    assert array[...].tolist() == ["a", "b"]
    other = tmp_path.with_name("other")
    blizzarr.create_array(other, data=np.array(["a", "b", "c"], object), chunks=(4,), dtype=str)
    for key in ("zarr.json", "c/0"):
        (tmp_path / key).write_bytes((other / key).read_bytes())
    with pytest.raises(ConflictError, match="found others"):
        array.append(np.array(["d"], object), at=2)
    array.append(np.array(["c"], object), at=2)
    assert array.shape == (3,)
