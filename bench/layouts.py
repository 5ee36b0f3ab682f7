"""What is stored: one volume in several layouts, and where each of its chunks lies."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHAPE = (256, 256, 512)
DTYPE = np.dtype("<u2")
FRAME = (128, 128)
INDEX_CRC = 4


@dataclass(frozen=True, slots=True)
class Codec:
    """A compressor by the name of its Zarr codec, with its configuration; `name` None is none."""

    name: str | None = None
    configuration: tuple[tuple[str, Any], ...] = ()

    def document(self) -> list[dict[str, Any]]:
        return [{"name": self.name, "configuration": dict(self.configuration)}] if self.name else []


RAW = Codec()
GZIP = Codec("gzip", (("level", 5),))
ZSTD = Codec("zstd", (("level", 3), ("checksum", False)))
BLOSC_OPTIONS = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": DTYPE.itemsize, "blocksize": 0}
BLOSC = Codec("blosc", tuple(BLOSC_OPTIONS.items()))


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to store the volume; `chunks` is what is read at once, `shards` what is written, if that is more."""

    name: str
    chunks: tuple[int, ...]
    codec: Codec
    shards: tuple[int, ...] | None = None
    order: tuple[int, ...] | None = None
    shape: tuple[int, ...] = SHAPE
    zarr_format: int = 3

    @property
    def chunk_bytes(self) -> int:
        return int(np.prod(self.chunks)) * DTYPE.itemsize

    @property
    def document_name(self) -> str:
        return {2: ".zarray", 3: "zarr.json"}[self.zarr_format]

    def document(self) -> dict[str, Any]:
        """Return the array's zarr.json, or .zarray."""
        return self._document_of_v2() if self.zarr_format == 2 else self._document_of_v3()

    def _document_of_v2(self) -> dict[str, Any]:
        options = {**dict(self.codec.configuration), "shuffle": 1}
        del options["typesize"]
        return {
            "zarr_format": 2,
            "shape": list(self.shape),
            "chunks": list(self.chunks),
            "dtype": DTYPE.str,
            "compressor": {"id": self.codec.name, **options},
            "fill_value": 0,
            "order": "C" if self.order is None else "F",
            "filters": None,
            "dimension_separator": ".",
        }

    def _document_of_v3(self) -> dict[str, Any]:
        little = {"name": "bytes", "configuration": {"endian": "little"}}
        codecs: list[dict[str, Any]] = [little, *self.codec.document()]
        if self.order is not None:
            codecs = [{"name": "transpose", "configuration": {"order": list(self.order)}}, *codecs]
        if self.shards is not None:
            configuration = {
                "chunk_shape": list(self.chunks),
                "codecs": codecs,
                "index_codecs": [little, {"name": "crc32c"}],
                "index_location": "end",
            }
            codecs = [{"name": "sharding_indexed", "configuration": configuration}]
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.shape),
            "data_type": DTYPE.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(self.shards or self.chunks)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0,
            "codecs": codecs,
            "attributes": {},
        }

    def file(self, root: Path, chunk: tuple[int, ...]) -> Path:
        """Return the file that has a chunk of the reading grid in it."""
        indices = [str(index // span) for index, span in zip(chunk, self.chunks_per_file, strict=True)]
        return root / ".".join(indices) if self.zarr_format == 2 else root.joinpath("c", *indices)

    @property
    def chunks_per_file(self) -> tuple[int, ...]:
        if self.shards is None:
            return (1,) * len(self.chunks)
        return tuple(shard // chunk for shard, chunk in zip(self.shards, self.chunks, strict=True))

    @property
    def grid(self) -> tuple[int, ...]:
        return tuple(-(-size // chunk) for size, chunk in zip(self.shape, self.chunks, strict=True))

    def stored_range(self, root: Path, chunk: tuple[int, ...]) -> tuple[Path, int, int]:
        """Return in which file a chunk lies, from where, and how long it is."""
        path = self.file(root, chunk)
        if self.shards is None:
            return path, 0, path.stat().st_size
        inside = tuple(index % span for index, span in zip(chunk, self.chunks_per_file, strict=True))
        offset, length = _shard_index(path, self.chunks_per_file)[inside]
        return path, int(offset), int(length)


@cache
def _shard_index(path: Path, grid: tuple[int, ...]) -> NDArray[np.uint64]:
    size = 16 * int(np.prod(grid))
    index = path.read_bytes()[-size - INDEX_CRC : -INDEX_CRC]
    return np.array(struct.unpack(f"<{size // 8}Q", index), np.uint64).reshape(*grid, 2)


LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout("raw 512 KiB", (64, 64, 64), RAW),
        Layout("blosc-lz4 512 KiB", (64, 64, 64), BLOSC),
        Layout("zstd 512 KiB", (64, 64, 64), ZSTD),
        Layout("gzip 512 KiB", (64, 64, 64), GZIP),
        Layout("zstd 64 KiB", (32, 32, 32), ZSTD),
        Layout("blosc-lz4 8 KiB", (16, 16, 16), BLOSC),
        Layout("shards of zstd 64 KiB", (32, 32, 32), ZSTD, shards=(128, 128, 128)),
        Layout("shards of blosc-lz4 8 KiB", (16, 16, 16), BLOSC, shards=(128, 128, 128)),
        Layout("transposed blosc-lz4 512 KiB", (64, 64, 64), BLOSC, order=(2, 1, 0)),
        Layout("v2 blosc-lz4 512 KiB", (64, 64, 64), BLOSC, zarr_format=2),
        Layout("v2 F order blosc-lz4 512 KiB", (64, 64, 64), BLOSC, order=(2, 1, 0), zarr_format=2),
    )
}
FRAMES = Layout("frames", (1, *FRAME), ZSTD, shape=(0, *FRAME))
SMALL = Layout("raw 200 B", (1, 10, 10), RAW, shape=(10, 100, 100))
SAMPLE = Layout("raw 3 KiB", (1, 32, 48), RAW, shape=(1, 32, 48))


@cache
def volume() -> NDArray[np.uint16]:
    """Return 64 MiB as a microscope or a scanner makes them: smooth shapes, a background, noise of the detector."""
    random = np.random.default_rng(7)
    z, y, x = (np.linspace(0, 1, size, dtype=np.float32) for size in SHAPE)
    smooth = np.sin(9 * z)[:, None, None] * np.cos(7 * y)[None, :, None] + np.sin(11 * x)[None, None, :]
    smooth += 2 * np.exp(-40 * ((z - 0.5) ** 2)[:, None, None] - 30 * ((y - 0.4) ** 2)[None, :, None])
    noise = random.normal(scale=4, size=SHAPE).astype(np.float32)
    return np.asarray(1200 + 600 * smooth + noise).astype(DTYPE)


def content(layout: Layout) -> NDArray[np.uint16]:
    """Return what is stored in a layout: as much of the volume as its shape takes."""
    return volume()[tuple(slice(size) for size in layout.shape)]


def write_document(root: Path, layout: Layout) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / layout.document_name).write_text(json.dumps(layout.document()))
