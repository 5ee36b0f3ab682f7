"""How much memory an operation holds beyond its result (issue 2, "The speed it must reach": memory)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MIB = 1 << 20

# The peak is the child's own, measured by the system; the base is what Python, NumPy and blizzarr hold before.
CHILD = """
import os, resource, sys
import numpy as np
import blizzarr

def peak():
    if os.path.exists("/proc/self/status"):
        # What getrusage says survives exec: it would be the peak of the tests that started this process.
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

folder = sys.argv[1]
blizzarr.config.set(threads=2)
"""

WRITE = """
frame = np.random.default_rng(0).integers(0, 4000, (64, 512, 512), dtype='u2')
array = blizzarr.create_array(folder + '/a', shape=({frames}, 512, 512), dtype='u2', {layout})
for start in range(0, {frames}, 64):
    array[start:start + 64] = frame + start
"""


def child(code: str, folder: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", CHILD + code, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are counted in other units elsewhere")
@pytest.mark.parametrize(
    "layout",
    [
        "chunks=(16, 256, 256), compressors=blizzarr.codecs.ZstdCodec(1)",
        pytest.param("chunks=(16, 256, 256), compressors=None", marks=pytest.mark.thorough),
        "chunks=(8, 128, 128), shards=(32, 512, 512), compressors=blizzarr.codecs.BloscCodec()",
    ],
)
def test_a_whole_read_holds_its_result_and_a_chunk_per_thread(layout: str, tmp_path: Path) -> None:
    """128 MiB read: the output, plus decoded and encoded chunk of 2 MiB for each of two threads, and 8 MiB of slack."""
    write = WRITE.format(frames=256, layout=layout)
    read = """
array = blizzarr.open_array(folder + '/a', mode='r')
array[:1, :1, :1]
base = peak()
found = array[...]
assert found[200, 5, 5] == found[8, 5, 5] + 192
print(peak() - base - found.nbytes)
"""
    child(write + "print(0)", tmp_path)
    assert child(read, tmp_path) < 2 * (2 * 2 * MIB) + 8 * MIB


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are counted in other units elsewhere")
def test_a_copy_of_more_than_memory_stays_below_512_mib(tmp_path: Path) -> None:
    """1 GiB from chunks into shards across them; the peak of the whole process counts, whatever the array's size."""
    write = WRITE.format(frames=2048, layout="chunks=(64, 128, 128), compressors=blizzarr.codecs.ZstdCodec(-5)")
    child(write + "print(0)", tmp_path)
    copy = """
blizzarr.copy(folder + '/a', folder + '/b', chunks=(1, 512, 512), shards=(32, 512, 512))
found, expected = (blizzarr.open_array(folder + name, mode='r') for name in ('/b', '/a'))
assert found.chunks == (1, 512, 512)
assert (found[2000, 100:200, 7] == expected[2000, 100:200, 7]).all() and found[2047, 3, 3] != 0
print(peak())
"""
    assert child(copy, tmp_path) < 512 * MIB
