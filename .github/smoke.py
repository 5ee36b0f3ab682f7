"""What an installed package has to do before it is released: create, write, read, reopen, check.

It needs nothing but the package, and runs anywhere: `python .github/smoke.py`.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import blizzarr


def main() -> None:
    """Write and read v2, v3 and shards, and let the command line look at it."""
    data = np.random.default_rng(0).integers(0, 1000, (40, 50), dtype="int32")
    with tempfile.TemporaryDirectory() as folder:
        for number in (2, 3):
            path = Path(folder) / f"v{number}.zarr"
            group = blizzarr.create_group(path, zarr_format=number)
            array = group.create_array("numbers", data=data, chunks=(16, 16))
            array[3, ::-2] = 7
            expected = data.copy()
            expected[3, ::-2] = 7
            again = blizzarr.open(path, mode="r")["numbers"]
            np.testing.assert_array_equal(again[:], expected)
            np.testing.assert_array_equal(again[::-3, 5], expected[::-3, 5])
            assert blizzarr.check(path).ok
        sharded = Path(folder) / "sharded.zarr"
        blizzarr.create_array(sharded, data=data, chunks=(8, 10), shards=(16, 50))
        np.testing.assert_array_equal(blizzarr.open(sharded, mode="r")[9:17], data[9:17])
        subprocess.run([Path(sysconfig.get_path("scripts")) / "blizzarr", "info", sharded], check=True)
    print(f"blizzarr {blizzarr.__version__} works on {sys.platform}, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
