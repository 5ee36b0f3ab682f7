"""What one interoperability case is: an array document, and the part of the array that is written.

The numbers in a case are drawn from its name, so that a failure can be repeated from the name alone. Fill values are
decoded here, from the specification's text, and not by the library under test.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Document = Mapping[str, Any]
FLOAT_BYTES = {"float16": 2, "float32": 4, "float64": 8}
COMPLEX_PARTS = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class Case:
    """One array: its document, and the box that is written into it (`None` is all of it)."""

    name: str
    document: Document
    box: tuple[tuple[int, int], ...] | None = None
    quick: bool = False

    @cached_property
    def tags(self) -> frozenset[str]:
        """The words by which a peer declares what it cannot do."""
        nothing = any(start == stop for start, stop in self.written_box)
        return frozenset(_tags(self.document)) | ({"nothing written"} if nothing else set())

    @property
    def dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.document["data_type"])

    @property
    def written_box(self) -> tuple[tuple[int, int], ...]:
        return self.box if self.box is not None else tuple((0, size) for size in self.document["shape"])

    def values(self) -> NDArray[Any]:
        """What is written into the box."""
        return draw(self.dtype, tuple(stop - start for start, stop in self.written_box), self.name)

    def expected(self) -> NDArray[Any]:
        """What every reader must find: the fill value, and in the box the values."""
        shape = tuple(self.document["shape"])
        whole = np.frombuffer(self.fill * int(np.prod(shape)), self.dtype).reshape(shape).copy()
        whole[tuple(slice(*edge) for edge in self.written_box)] = self.values()
        return whole

    @property
    def fill(self) -> bytes:
        return fill_bytes(self.document["data_type"], self.document["fill_value"])


def numpy_dtype(name: str) -> np.dtype[Any]:
    """Return the little-endian NumPy type of a core data type."""
    if name.startswith("r") and name[1:].isdigit():
        return np.dtype(f"V{int(name[1:]) // 8}")
    return np.dtype(name).newbyteorder("<")


def fill_bytes(data_type: str, fill: Any) -> bytes:
    """Decode a fill value to its bits, little-endian, as chapter "Fill value" of the specification says."""
    if data_type in COMPLEX_PARTS:
        return b"".join(fill_bytes(COMPLEX_PARTS[data_type], part) for part in fill)
    if isinstance(fill, list):
        return bytes(fill)
    if data_type in FLOAT_BYTES:
        if isinstance(fill, str) and fill.startswith("0x"):
            return int(fill, 16).to_bytes(FLOAT_BYTES[data_type], "little")
        code = {2: "<e", 4: "<f", 8: "<d"}[FLOAT_BYTES[data_type]]
        return struct.pack(code, float(fill))
    return np.array(fill, numpy_dtype(data_type)).tobytes()


def draw(dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """Draw values of any bits the type has; floating point numbers include both zeros, infinities and NaN."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "fc":
        part = dtype if dtype.kind == "f" else np.dtype(f"<f{dtype.itemsize // 2}")
        numbers = random.normal(scale=100, size=count * (dtype.itemsize // part.itemsize)).astype(part)
        special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0], part)
        numbers[: len(special)] = special[: len(numbers)]
        return numbers.view(dtype).reshape(shape)
    # Only eight values, so that every compressor finds something to compress.
    few = random.integers(0, 256, (8, dtype.itemsize), dtype=np.uint8)
    return few[random.integers(0, 8, count)].copy().view(dtype).reshape(shape)


def _tags(document: Document) -> Iterator[str]:
    yield document["data_type"]
    if document["data_type"].startswith("r"):
        yield "raw bits"
    if document["data_type"] in COMPLEX_PARTS:
        yield "complex"
    shape, keys, fill = document["shape"], document["chunk_key_encoding"], document["fill_value"]
    yield f"rank {len(shape)}"
    if 0 in shape:
        yield "empty"
    yield f"keys {keys['name']}"
    if "configuration" not in keys:
        yield "keys without configuration"
    yield from _fill_tags(fill)
    names = document.get("dimension_names")
    if names is not None:
        yield "dimension names"
        if None in names:
            yield "a dimension without a name"
        if len({name for name in names if name}) < sum(1 for name in names if name):
            yield "repeated dimension names"
        if "" in names:
            yield "empty dimension name"
    yield from (f"attribute {name}" for name in document.get("attributes", {}))
    yield from _codec_tags(document["codecs"], "")


def _fill_tags(fill: Any) -> Iterator[str]:
    if isinstance(fill, list):
        for part in fill:
            yield from _fill_tags(part)
    elif isinstance(fill, str):
        yield "fill hex" if fill.startswith("0x") else f"fill {fill}"
    elif isinstance(fill, float) and fill == 0 and str(fill)[0] == "-":
        yield "fill -0.0"
    elif isinstance(fill, int) and abs(fill) > 2**53:
        yield "fill beyond 2**53"
        if int(float(fill)) != fill:
            yield "fill that is no float64"


def _codec_tags(codecs: list[Any], place: str) -> Iterator[str]:
    """Yield "gzip" for a codec of the array, "inner gzip" within a shard and "index gzip" in a shard's index."""
    named = [({"name": codec} if isinstance(codec, str) else codec) for codec in codecs]
    if any(isinstance(codec, str) for codec in codecs):
        yield "short-hand codec"
    position = [codec["name"] for codec in named]
    if position.count("transpose") > 1:
        yield "two transposes"
    if "sharding_indexed" in position and len(position) > 1:
        yield "codecs before sharding" if position[0] != "sharding_indexed" else "codecs after sharding"
    for codec in named:
        name, options = codec["name"], codec.get("configuration", {})
        yield place + name
        if name == "bytes" and options.get("endian") == "big":
            yield place + "big-endian"
        if name == "bytes" and not options:
            yield place + "bytes without endian"
        if name == "blosc":
            yield f"{place}blosc {options['cname']}"
            yield f"{place}blosc {options['shuffle']}"
        if name == "zstd" and options.get("checksum"):
            yield place + "zstd checksum"
        if name == "sharding_indexed":
            if place == "inner ":
                yield "nested sharding"
            yield "index at the start" if options.get("index_location") == "start" else "index at the end"
            if len(options["index_codecs"]) == 1:
                yield "index without checksum"
            yield from _codec_tags(options["codecs"], "inner ")
            yield from _codec_tags(options["index_codecs"], "index ")
