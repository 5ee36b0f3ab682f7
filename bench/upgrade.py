"""How long an upgrade in place takes: `python -m bench.upgrade [ARRAYS]`, in the environment of the package.

The hierarchy is made of copies of one small array, a hundred in each group.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import blizzarr

FORMATS = ("v2", "v3_draft", "v3_draft_zarr_python")
IN_GROUP = 100


def make(root: Path, zarr_format: str, arrays: int) -> None:
    """A hierarchy of so many arrays."""
    group = blizzarr.create_group(root, attributes={"title": "many"}, zarr_format=zarr_format)
    group.create_array("g0/a0", data=np.arange(10, dtype="i4"), chunks=5, attributes={"units": "K"})
    patterns = [path for path in root.rglob("*") if path.name.startswith("a0")]
    for number in range(1, arrays):
        name = f"g{number // IN_GROUP}"
        if number % IN_GROUP == 0:
            group.create_group(name)
        for pattern in patterns:
            there = pattern.parent.parent / name / pattern.name.replace("a0", f"a{number}", 1)
            there.parent.mkdir(parents=True, exist_ok=True)
            copy: Any = shutil.copytree if pattern.is_dir() else shutil.copy
            copy(pattern, there)


def main(arrays: int) -> None:
    for zarr_format in FORMATS:
        root = Path(tempfile.mkdtemp(prefix="blizzarr-upgrade-"))
        try:
            make(root, zarr_format, arrays)
            started = time.perf_counter()
            planned = blizzarr.upgrade(root, dry_run=True)
            between = time.perf_counter()
            done = blizzarr.upgrade(root)
            ended = time.perf_counter()
            assert planned.arrays == done.arrays == arrays
            last = blizzarr.open_array(root, mode="r", path=f"g{(arrays - 1) // IN_GROUP}/a{arrays - 1}")
            assert last[:].tolist() == list(range(10))
            print(
                f"{zarr_format}: {arrays:,} arrays, dry run {between - started:.2f} s, upgrade {ended - between:.2f} s"
            )
        finally:
            shutil.rmtree(root)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
