"""Appends of several processes where the system locks no directories, as on Windows: none is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import blizzarr

APPENDS = """
import sys
from blizzarr.array import exclusive, reshape
import blizzarr

exclusive.LOCKS_DIRECTORIES = reshape.LOCKS_DIRECTORIES = False
array = blizzarr.open_array(sys.argv[1], mode="r+")
for number in range(15):
    array.append([[int(sys.argv[2]), number]])
"""


def test_processes_that_append_lose_nothing(tmp_path: Path) -> None:
    """Who comes second finds that the document has changed, and appends behind what the first has made room for."""
    path = tmp_path / "a.zarr"
    blizzarr.create_array(path, shape=(0, 2), dtype="int64", chunks=(4, 2))
    writers = [subprocess.Popen([sys.executable, "-c", APPENDS, str(path), str(n)]) for n in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    rows = blizzarr.open_array(path, mode="r")[:]
    assert rows.shape == (45, 2)
    for writer in range(3):
        np.testing.assert_array_equal(rows[rows[:, 0] == writer, 1], np.arange(15))
