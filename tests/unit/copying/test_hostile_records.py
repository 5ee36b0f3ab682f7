"""The records of copies and upgrades that were interrupted are files like any other: what they say may be anything."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.config import config
from blizzarr.errors import ConflictError
from blizzarr.hierarchy.belongings import PROGRESS
from blizzarr.upgrading.run import KEY

VALUES = np.arange(1, 101)
DEEP = b"[" * 200_000


class Interruption(Exception):  # noqa: N818  # not an error
    pass


def interrupted(**options: Any) -> tuple[blizzarr.Array, dict[str, Any]]:
    """A copy that was interrupted after its first region."""
    source = blizzarr.create_array({}, data=VALUES, chunks=10)
    memory: dict[str, Any] = {}

    def stop(done: int, total: int) -> None:
        if done:
            raise Interruption

    with pytest.raises(Interruption):
        blizzarr.copy(source, memory, progress=stop, **options)
    return source, memory


@pytest.mark.parametrize("options", [{}, {"chunks": 20}], ids=["objects", "elements"])
@pytest.mark.parametrize("done", [10**6, 10**30, -1, True, 1.0, "1", None, [1]])
def test_rows_051_081_a_copy_is_not_done_because_its_record_says_so(options: dict[str, Any], done: object) -> None:
    with config.set(copy_bytes=160):
        source, memory = interrupted(**options)
        memory[PROGRESS] = json.dumps(json.loads(bytes(memory[PROGRESS])) | {"done": done}).encode()
        with pytest.raises(ConflictError, match="overwrite=True to begin again"):
            blizzarr.copy(source, memory, resume=True, **options)
        target = blizzarr.copy(source, memory, overwrite=True, **options)
    assert np.array_equal(target[...], VALUES)
    assert PROGRESS not in memory


@pytest.mark.parametrize(
    "raw", [DEEP, b"", b"[]", b"\xff", b"9" * 5000], ids=["deep", "empty", "list", "bytes", "long"]
)
def test_rows_047_and_048_records_that_say_nothing(raw: bytes) -> None:
    source, memory = interrupted()
    memory[PROGRESS] = raw
    with pytest.raises(ConflictError, match="overwrite=True to begin again"):
        blizzarr.copy(source, memory, resume=True)
    assert np.array_equal(blizzarr.copy(source, memory, overwrite=True)[...], VALUES)

    old: dict[str, Any] = {}
    blizzarr.create_array(old, data=VALUES, zarr_format=2)
    old[KEY] = raw
    assert np.array_equal(blizzarr.open_array(old)[...], VALUES)
    blizzarr.check(old)
    blizzarr.upgrade(old)
    assert np.array_equal(blizzarr.open_array(old)[...], VALUES)
