"""A hierarchy of each format with arrays of many layouts, whose every chunk is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

import blizzarr
from blizzarr.transformers import HashedTransformer

__all__ = ["LAYOUTS", "Layout", "Object", "Planted", "build"]

CHUNK = 16
"""Elements along each of two axes."""
INNER = 4
"""Inner chunks along each axis of a shard."""


def _zstd(checksum: bool = False) -> dict[str, Any]:
    return {"name": "zstd", "configuration": {"level": 1, "checksum": checksum}}


_BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
_CRC = {"name": "crc32c"}
_GZIP = {"name": "gzip", "configuration": {"level": 1}}
_BLOSC = {
    "name": "blosc",
    "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
}


def _shards(codecs: list[dict[str, Any]], at_start: bool = False) -> dict[str, Any]:
    inner = CHUNK // INNER
    options = {
        "chunk_shape": [inner, inner],
        "codecs": codecs,
        "index_codecs": [_BYTES, _CRC],
        "index_location": "start" if at_start else "end",
    }
    return {"codecs": [{"name": "sharding_indexed", "configuration": options}]}


@dataclass(frozen=True)
class Layout:
    """How an array is stored, and which damages can be found in it."""

    root: str
    """The hierarchy that it is in."""
    options: Mapping[str, Any]
    tail: int = 0
    """So many last bytes of a chunk are a checksum: flip a bit in them, and it is found out."""
    covered: bool = False
    """Whether a flipped bit is found out wherever it is."""
    shards: str = ""
    """``start`` or ``end``: where the index is."""
    inner_crc: bool = False
    """Whether a flipped bit in an inner chunk is found out."""
    raw: bool = False
    """Whether other bytes of the same length are as good."""
    share: int = 4
    """How many of its chunks there are, compared with others."""
    dtype: str = "int32"


LAYOUTS: dict[str, Layout] = {
    "raw": Layout("v3", {"codecs": [_BYTES]}, raw=True),
    "crc32c": Layout("v3", {"codecs": [_BYTES, _CRC]}, covered=True, tail=4),
    "zstd": Layout("v3", {"codecs": [_BYTES, _zstd()]}, share=6),
    "zstd_checksum": Layout("v3", {"codecs": [_BYTES, _zstd(True)]}, tail=4),
    "gzip": Layout("v3", {"codecs": [_BYTES, _GZIP]}, tail=8),
    "blosc": Layout("v3", {"codecs": [_BYTES, _BLOSC]}),
    "dots": Layout(
        "v3",
        {
            "codecs": [_BYTES, _zstd(), _CRC],
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        },
        covered=True,
        tail=4,
    ),
    "texts": Layout("v3", {"codecs": [{"name": "vlen-utf8"}, _zstd(), _CRC]}, covered=True, tail=4, dtype="str"),
    "shards": Layout("v3", _shards([_BYTES, _zstd(), _CRC]), shards="end", inner_crc=True, share=6),
    "shards_first": Layout("v3", _shards([_BYTES, _CRC], at_start=True), shards="start", inner_crc=True),
    "shards_raw": Layout("v3", _shards([_BYTES]), shards="end"),
    "hashed": Layout(
        "v3", {"codecs": [_BYTES, _CRC], "storage_transformers": [HashedTransformer()]}, covered=True, tail=4
    ),
    "v2_blosc": Layout("v2", {}),
    "v2_zlib": Layout("v2", {"compressors": {"id": "zlib", "level": 1}}, tail=4),
    "v2_slashes": Layout("v2", {"compressors": _GZIP, "chunk_key_encoding": ("v2", "/")}, tail=8),
    "v2_checked": Layout("v2", {"compressors": {"id": "adler32"}}, covered=True),
    "draft": Layout("draft", {}),
    "v1": Layout("v1", {}),
}


@dataclass(frozen=True)
class Object:
    """One stored object of an array."""

    layout: Layout
    file: Path
    root: Path
    """Of the hierarchy."""
    array: str
    """The path of its array there."""
    position: tuple[int, int]
    key: str
    """As reports name it: in the array's own keys, whatever a storage transformer makes of them."""


@dataclass
class Planted:
    """What is stored, and the values."""

    folder: Path
    roots: dict[str, Path] = field(default_factory=dict)
    values: dict[tuple[Path, str], npt.NDArray[Any]] = field(default_factory=dict)
    objects: dict[str, list[Object]] = field(default_factory=dict)
    """By layout; each is damaged once at most."""
    small: list[tuple[Path, str]] = field(default_factory=list)
    """Small arrays whose documents may be damaged, by hierarchy and path."""
    consolidated: list[tuple[Path, str]] = field(default_factory=list)
    """Groups of one array each, with consolidated metadata."""

    alive: list[int] = field(default_factory=list)
    """Open files of writers that are still at work."""

    def chunks(self) -> int:
        """How many objects there are."""
        return sum(map(len, self.objects.values())) + len(self.small) + len(self.consolidated)


def build(folder: Path, chunks: int, documents: int, random: Random) -> Planted:
    """Hierarchies with about so many chunks, and with so many nodes whose documents may be damaged."""
    made = Planted(folder)
    for name in ("v3", "v2", "draft", "v1"):
        made.roots[name] = folder / f"{name}.zarr"
    groups = {
        "v3": blizzarr.create_group(made.roots["v3"]),
        "v2": blizzarr.create_group(made.roots["v2"], zarr_format=2),
        "draft": blizzarr.create_group(made.roots["draft"], zarr_format="v3_draft"),
    }
    total = sum(layout.share for layout in LAYOUTS.values())
    for name, layout in LAYOUTS.items():
        side = max(2, round((chunks * layout.share / total) ** 0.5))
        shape = (side * CHUNK, side * CHUNK)
        values = _values(shape, layout.dtype, random)
        options = {"chunks": (CHUNK, CHUNK), **layout.options}
        if layout.shards:
            options["chunks"] = (CHUNK, CHUNK)
        if name == "v1":
            array = blizzarr.create_array(made.roots["v1"], data=values, zarr_format="v1", **options)
        else:
            array = groups[layout.root].create_array(f"arrays/{name}", data=values, **options)
        made.values[made.roots[layout.root], array.path] = values
        made.objects[name] = list(_objects(layout, made.roots[layout.root], array, side))
        random.shuffle(made.objects[name])
    for number in range(documents):
        root = random.choice(("v3", "v2"))
        values = _values((4, 4), "int32", random)
        groups[root].create_array(f"small/s{number}", data=values, chunks=(4, 4), attributes={"number": number})
        made.small.append((made.roots[root], f"small/s{number}"))
        path = f"consolidated/g{number}"
        groups[root].create_group(path, attributes={"number": number}).create_array("a", data=values, chunks=(4, 4))
        blizzarr.consolidate_metadata(made.roots[root], path=path)
        made.consolidated.append((made.roots[root], path))
    return made


def _values(shape: tuple[int, int], dtype: str, random: Random) -> npt.NDArray[Any]:
    generator = np.random.default_rng(random.randrange(2**32))
    # Never the fill value, so that every chunk is stored; small steps, so that it gets shorter.
    numbers = generator.integers(1, 200, shape, "int32") * 7 + 1
    return np.array([[f"text {number}" for number in row] for row in numbers], object) if dtype == "str" else numbers


def _objects(layout: Layout, root: Path, array: Any, side: int) -> Iterator[Object]:
    from blizzarr.formats import chunk_prefix, chunk_store
    from blizzarr.transformers import stored_key

    prefix = chunk_prefix(array.path, array.metadata)
    chunks = chunk_store(array.store, array.path, array.metadata)
    for row in range(side):
        for column in range(side):
            key = prefix + array.metadata.chunk_keys.key((row, column))
            stored = stored_key(chunks, key, array.store)
            assert stored is not None
            yield Object(layout, root / stored, root, array.path, (row, column), key)
