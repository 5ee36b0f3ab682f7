"""Each native codec beside the bare library, and texts beside zarr-python: `python -m bench.codecs [NAME ...]`.

All of them are written to `results/codecs.md`.

One chunk of about 4 MiB in a file, read into memory that is there, and written. The library (numcodecs, or the
expression of NumPy) reads the same file and decodes it; or it encodes the elements and writes a file as long. Both run
in turns, each as often first, and the least processor time of each counts: the baseline is of one thread.
"""

from __future__ import annotations

import gc
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numcodecs
import numcodecs.blosc
import numpy as np
import zarr

import blizzarr
import blizzarr.zarr

RESULTS = Path(__file__).parent / "results" / "codecs.md"
COUNT = 1 << 20
ROUNDS = 16
Task = Callable[[], Any]
Row = tuple[str, Any, dict[str, Any], Task, Task]
"""The name, the elements, the arguments of the array; how the library encodes them, and decodes what it encoded."""


def numbers() -> Iterator[Row]:
    """Codecs that NumPy has as an expression."""
    noise = np.random.default_rng(0).normal(size=COUNT)
    floats = (1000 * np.sin(np.linspace(0, 50, COUNT)) + noise).astype("f4")
    doubles, flags = floats[: COUNT // 2].astype("f8"), np.resize(noise > 0.5, 4 * COUNT)
    out, spare = np.empty_like(floats), np.empty_like(floats)
    v3: dict[str, Any] = {"compressors": None}
    swapped = floats.astype(">f4")
    big = {"name": "bytes", "configuration": {"endian": "big"}}
    yield "bytes", floats, v3, floats.tobytes, lambda: np.copyto(out, floats)
    yield "bytes, big-endian", floats, {**v3, "serializer": big}, floats.byteswap, lambda: np.copyto(out, swapped)
    bits = np.packbits(flags, bitorder="little")
    options = {**v3, "serializer": "packbits"}
    yield (
        *("packbits of booleans", flags, options, lambda: np.packbits(flags, bitorder="little")),
        lambda: np.unpackbits(bits, bitorder="little"),
    )
    offset, scale = np.float32(5), np.float32(2)
    codec: Any = {"name": "scale_offset", "configuration": {"offset": 5, "scale": 2}}
    yield (
        *("scale_offset of float32", floats, {**v3, "filters": [codec]}),
        lambda: np.multiply(np.subtract(floats, offset, out=spare), scale, out=spare),
        lambda: np.add(np.divide(floats, scale, out=out), offset, out=out),
    )
    whole = np.round(floats * 10).astype("i4")
    yield from (cast(floats, "int16"), cast(floats, "int8"), cast(doubles, "float32"), cast(whole, "float32"))
    codec = {"name": "bitround", "configuration": {"keepbits": 10}}
    rounding = numcodecs.BitRound(10)
    yield (
        *("bitround of float32", floats, {**v3, "filters": [codec]}),
        *(lambda: rounding.encode(floats), lambda: np.copyto(out, floats)),
    )
    yield from of_numcodecs("shuffle", numcodecs.Shuffle(4), floats, is_filter=True)
    yield from of_numcodecs("delta of int32", numcodecs.Delta("<i4"), whole, is_filter=True)
    fixed = numcodecs.FixedScaleOffset(offset=1, scale=10, dtype="<f8", astype="<i4")
    yield from of_numcodecs("fixedscaleoffset of float64", fixed, doubles, is_filter=True)
    compressors = {
        "zlib, level 1": numcodecs.Zlib(1),
        "gzip, level 5": numcodecs.GZip(5),
        "lz4": numcodecs.LZ4(),
        "zstd, level 3": numcodecs.Zstd(3),
        "fletcher32": numcodecs.Fletcher32(),
        "crc32": numcodecs.CRC32(),
        "adler32": numcodecs.Adler32(),
        "blosc of lz4": numcodecs.Blosc("lz4", 5, 1),
        "blosc of zstd with bits": numcodecs.Blosc("zstd", 1, 2),
    }
    for name, compressor in compressors.items():
        yield from of_numcodecs(name, compressor, whole)


def cast(data: Any, target: str) -> Row:
    """`cast_value`; NumPy has no check for what is out of range when it reads."""
    options = {"data_type": target, **({"out_of_range": "clamp"} if "int" in target else {})}
    out, spare = np.empty_like(data), np.empty_like(data)

    def encode() -> Any:
        if "int" not in target:
            return data.astype(target)
        ends = np.iinfo(target)
        return np.clip(np.rint(data, out=spare), ends.min, ends.max, out=spare).astype(target)

    stored = encode()
    codec = {"name": "cast_value", "configuration": options}
    return (
        *(f"cast_value of {data.dtype} to {target}", data, {"compressors": None, "filters": [codec]}),
        *(encode, lambda: np.copyto(out, stored, casting="unsafe")),
    )


def of_numcodecs(name: str, codec: Any, data: Any, is_filter: bool = False) -> Iterator[Row]:
    """A codec of version 2, in numcodecs."""
    out, encoded = np.empty_like(data), codec.encode(data)
    encoded = encoded if isinstance(encoded, np.ndarray) else bytearray(encoded)
    given = {"filters": [codec], "compressors": None} if is_filter else {"compressors": codec}
    yield name, data, {**given, "zarr_format": 2}, lambda: codec.encode(data), lambda: codec.decode(encoded, out)


def objects() -> Iterator[Row]:
    """Elements of variable length: 100,000 different ones."""
    texts = np.array([f"station-{number}" for number in np.random.default_rng(0).integers(0, 10**6, 100_000)], object)
    ragged = np.empty(len(texts), object)
    ragged[:] = [np.arange(number % 9, dtype="i4") for number in range(len(texts))]
    rows: list[tuple[str, Any, Any, Any]] = [
        ("vlen-utf8", numcodecs.VLenUTF8(), texts, {"dtype": "string"}),
        ("vlen-utf8 as StringDType", numcodecs.VLenUTF8(), texts, {"dtype": "string"}),
        ("vlen-bytes", numcodecs.VLenBytes(), np.array([text.encode() for text in texts], object), {"dtype": "bytes"}),
    ]
    for name, codec, data, given in rows:
        encoded = codec.encode(data)
        ours = data.astype(np.dtypes.StringDType()) if "StringDType" in name else data
        yield (
            *(name, ours, {**given, "compressors": None}, lambda codec=codec, data=data: codec.encode(data)),
            lambda codec=codec, encoded=encoded, data=data: codec.decode(encoded, np.empty(len(data), object)),
        )
    codec = numcodecs.VLenArray("<i4")
    given = {"dtype": object, "filters": [codec], "compressors": None, "zarr_format": 2}
    encoded = codec.encode(ragged)
    decode = lambda: codec.decode(encoded, np.empty(len(ragged), object))  # noqa: E731
    yield "vlen-array of int32", ragged, given, lambda: codec.encode(ragged), decode


def measure(row: Row, place: Path) -> list[float]:
    """The milliseconds of our reading and the library's, and of our writing and the library's."""
    _, data, given, encode, decode = row
    array = blizzarr.create_array(place, shape=data.shape, chunks=data.shape, **{"dtype": data.dtype, **given})
    array[...] = data
    chunk = max((path for path in place.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    stored = bytearray(chunk.stat().st_size)
    other = place / "other"
    out = None if data.dtype == object else np.empty_like(data)

    def read() -> Any:
        return array.get_basic_selection(..., out=out)

    def read_bare() -> Any:
        with open(chunk, "rb", buffering=0) as file:
            file.readinto(stored)
        return decode()

    def write() -> None:
        array[...] = data

    def write_bare() -> None:
        encode()
        with open(other, "wb", buffering=0) as file:
            file.write(stored)
        os.replace(other, place / "written")

    tasks: list[Task] = [read, read_bare, write, write_bare]
    times: list[list[float]] = [[] for _ in tasks]
    for number in range(ROUNDS):
        # Whoever comes second finds in the caches what the first has used.
        for task, found in list(zip(tasks, times, strict=True))[:: -1 if number % 2 else 1]:
            gc.collect()
            gc.disable()
            start = time.process_time()
            kept = task()
            found.append(1000 * (time.process_time() - start))
            gc.enable()
            del kept
    return [min(found) for found in times]


def texts(place: Path) -> Iterator[str]:
    """Rows of a table: 400,000 different texts in chunks of 20,000, read and written here and by zarr-python."""
    data = np.array([f"text {number * 7919 % 1000003}" for number in range(400_000)], np.dtypes.StringDType())
    theirs = zarr.create_array(place, shape=data.shape, chunks=(20_000,), dtype=str)
    theirs[:] = data
    same, ours = blizzarr.zarr.open_array(place), blizzarr.open_array(place)
    assert np.array_equal(same[:], data)
    assert np.array_equal(ours[:], data)
    objects = data.astype(object)
    rows: dict[str, list[Task]] = {
        "into StringDType, `blizzarr.zarr`": [lambda: same[:], lambda: theirs[:]],
        "into objects, `blizzarr`": [lambda: ours[:], lambda: theirs[:]],
        "from StringDType": [lambda: ours.__setitem__(..., data), lambda: theirs.__setitem__(..., data)],
        "from objects": [lambda: ours.__setitem__(..., objects), lambda: theirs.__setitem__(..., objects)],
    }
    for name, tasks in rows.items():
        times: list[list[float]] = [[], []]
        for _ in range(ROUNDS // 2):
            for task, found in zip(tasks, times, strict=True):
                start = time.perf_counter()
                kept = task()
                found.append(1000 * (time.perf_counter() - start))
                del kept
        a, b = map(statistics.median, times)
        yield f"| {name} | {a:.1f} | {b:.1f} | {b / a:.1f}x |"


def main(names: list[str]) -> None:
    numcodecs.blosc.use_threads = False
    lines = ["| codec | read, ms | library, ms | | write, ms | library, ms | |", "|---|---|---|---|---|---|---|"]
    for row in (*numbers(), *objects()):
        if names and not any(name in row[0] for name in names):
            continue
        place = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        try:
            ours, bare, writes, bare_writes = measure(row, place)
        finally:
            shutil.rmtree(place)
        reading, writing = f"{ours:.2f} | {bare:.2f} | {ours / bare:.2f}x", f"{writes:.2f} | {bare_writes:.2f}"
        lines.append(f"| {row[0]} | {reading} | {writing} | {writes / bare_writes:.2f}x |")
        print(lines[-1], flush=True)
    if not names:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
            rows = [*texts(Path(folder) / "texts")]
        print("\n".join(rows))
        versions = f"numcodecs {numcodecs.__version__}, NumPy {np.__version__}, zarr-python {zarr.__version__}"
        lines = [
            *("# Native codecs beside the bare library", "", f"{versions}.", "", *lines, "", "## Texts", ""),
            "400,000 different texts, zstd; zarr-python reads them into arrays of `StringDType`.",
            *("", "| | blizzarr, ms | zarr-python, ms | as fast |", "|---|---|---|---|", *rows, ""),
        ]
        RESULTS.write_text("\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
