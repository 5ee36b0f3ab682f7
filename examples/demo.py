"""The main job on real data: a brain volume into a sharded array, out again, into other chunks, and into a picture.

    make demo

The volume is the MNI152 template (ICBM 2009a nonlinear symmetric, T1-weighted): the average brain of 152 people, onto
which neuroscientists lay their measurements. It is read from the wheel of nilearn (BSD-3-Clause), which is downloaded
from the package index once and not installed. The template itself is by Louis Collins and others, McConnell Brain
Imaging Centre, Montreal Neurological Institute, McGill University, who allow anyone to use, copy, modify and distribute
it if their copyright notice stays with it: it goes into the attributes of what is written here.

Everything ends up in ``demo-output``.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import struct
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import blizzarr

OUTPUT = Path("demo-output")
WHEEL = "nilearn==0.14.1"
INSIDE = "nilearn/datasets/data/mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz"
SHA256 = "421a10e872fd6cadae7f61d358dffbcc1795a497d61ee76c5dda2503e1a1e9e6"

NOTICE = (
    "Copyright (C) 1993-2009 Louis Collins, McConnell Brain Imaging Centre, Montreal Neurological Institute, McGill "
    "University. May be used, copied, modified and distributed for any purpose and without fee, provided that the "
    "copyright notice appears in all copies."
)


def main() -> None:
    """Write, look, read, check, re-chunk, draw."""
    started = time.perf_counter()
    OUTPUT.mkdir(exist_ok=True)
    print("1. A real volume: the MNI152 brain template, from the nilearn wheel")
    source = read_volume(download())
    print(f"   {source.shape} {source.dtype}, {source.nbytes / 2**20:.1f} MiB\n")

    path = OUTPUT / "brain.zarr"
    shutil.rmtree(path, ignore_errors=True)
    print(f"2. Into {path}: chunks of 32³, shards of 128³, blosc with zstd")
    root = blizzarr.create_group(path, attributes={"title": "MNI152 brain template", "licence": NOTICE})
    begun = time.perf_counter()
    t1 = root.create_array(
        "anatomy/t1",
        data=source,
        chunks=(32, 32, 32),
        shards=(128, 128, 128),
        compressors=blizzarr.codecs.BloscCodec(cname="zstd", clevel=5, shuffle="bitshuffle"),
        dimension_names=("z", "y", "x"),
        attributes={"units": "arbitrary", "voxel_mm": [1.0, 1.0, 1.0], "origin_mm": [-72.0, -134.0, -98.0]},
    )
    print(f"   written in {time.perf_counter() - begun:.3f} s\n")

    print(f"3. What is there (also: .venv/bin/blizzarr info {path}/anatomy/t1, .venv/bin/blizzarr tree {path})\n")
    print(f"{indented(t1.info_complete())}\n")
    print(f"{indented(root.tree())}\n")

    print("4. Read back, and checked against the source")
    t1 = blizzarr.open_array(path, path="anatomy/t1", mode="r")
    check(t1, source)

    print("\n5. Into whole planes for a viewer: chunks of 1 x 233 x 197, zstd")
    copied = OUTPUT / "planes.zarr"
    shutil.rmtree(copied, ignore_errors=True)
    begun = time.perf_counter()
    # A tenth of the volume at a time, so that there is progress to see; by default it is 128 MiB.
    with blizzarr.config.set(copy_bytes=1 << 20):
        planes = blizzarr.copy(
            t1, copied, chunks=(1, -1, -1), shards=None, compressors=blizzarr.codecs.ZstdCodec(), progress=report
        )
    took = time.perf_counter() - begun
    assert isinstance(planes, blizzarr.Array)
    np.testing.assert_array_equal(planes[:], source)
    print(f"   {planes.nchunks} chunks in {took:.3f} s, every element equal\n")

    picture = OUTPUT / "slices.png"
    blizzarr.show(t1, picture, cmap="gray", origin="lower", title="MNI152, T1-weighted")
    print(f"6. Look at {picture} (also: .venv/bin/blizzarr show {path}/anatomy/t1 --cmap gray --origin lower)")
    print(f"\nDone in {time.perf_counter() - started:.1f} s.")


def report(done: int, total: int) -> None:
    """Show how far the copy has come, on a line of its own."""
    if done == total or sys.stdout.isatty():
        print(
            f"\r   re-chunk {done / 2**20:.1f} of {total / 2**20:.1f} MiB",
            end="\n" if done == total else "",
            flush=True,
        )


def check(array: blizzarr.Array, source: NDArray[np.uint8]) -> None:
    """Read in five ways what NumPy has in memory."""
    rng = np.random.default_rng(0)
    z, y, x = (rng.integers(0, length, 10_000) for length in source.shape)
    reads = {
        "t1[:]": (lambda: array[:], source),
        "t1[94]": (lambda: array[94], source[94]),
        "t1[::-3, 100:150, 98]": (lambda: array[::-3, 100:150, 98], source[::-3, 100:150, 98]),
        "t1.oindex[[3, 90, 3], :, 50:60]": (
            lambda: array.oindex[[3, 90, 3], :, 50:60],
            source[[3, 90, 3], :, 50:60],
        ),
        "t1.vindex[z, y, x], 10,000 points": (lambda: array.vindex[z, y, x], source[z, y, x]),
    }
    for text, (read, expected) in reads.items():
        begun = time.perf_counter()
        found = read()
        took = time.perf_counter() - begun
        np.testing.assert_array_equal(found, expected)
        print(f"   {text:<36} {found.shape!s:<18} {1000 * took:7.2f} ms, equal")


def download() -> Path:
    """The wheel of nilearn, from the package index or from an earlier run."""
    found = sorted(OUTPUT.glob("nilearn-*.whl"))
    if not found:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(OUTPUT), WHEEL]
        done = subprocess.run([*command, "--disable-pip-version-check"], check=False)
        found = sorted(OUTPUT.glob("nilearn-*.whl"))
        if done.returncode or not found:
            raise SystemExit(f"pip could not download {WHEEL}; put its wheel into {OUTPUT} and try again")
    return found[-1]


def read_volume(wheel: Path) -> NDArray[np.uint8]:
    """The volume as an array with axes z, y, x: a NIfTI file is a header of 352 bytes, then the voxels, x fastest."""
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read(INSIDE)
    if hashlib.sha256(packed).hexdigest() != SHA256:
        raise SystemExit(f"{wheel} does not hold the volume that this demo was written for")
    raw = gzip.decompress(packed)
    x, y, z = struct.unpack_from("<3h", raw, 42)
    (offset,) = struct.unpack_from("<f", raw, 108)
    return np.frombuffer(raw, np.uint8, count=x * y * z, offset=int(offset)).reshape(z, y, x)


def indented(text: object) -> str:
    """The text, three spaces to the right."""
    return "\n".join(f"   {line}" for line in str(text).splitlines())


if __name__ == "__main__":
    main()
