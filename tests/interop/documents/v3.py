"""Documents of version 3: their data types, fill values and codecs."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from interop.documents.fill import fill_tags

FLOAT_BYTES = {"float16": 2, "float32": 4, "float64": 8}
COMPLEX_PARTS = {"complex64": "float32", "complex128": "float64"}


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


def tags(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that describe the data type, the keys, the fill value, the dimension names and the codecs."""
    yield document["data_type"]
    if document["data_type"].startswith("r"):
        yield "raw bits"
    if document["data_type"] in COMPLEX_PARTS:
        yield "complex"
    if document["chunk_grid"]["name"] != "regular":
        yield f"grid {document['chunk_grid']['name']}"
    keys = document["chunk_key_encoding"]
    yield f"keys {keys['name']}"
    if "configuration" not in keys:
        yield "keys without configuration"
    yield from fill_tags(document["fill_value"])
    names = document.get("dimension_names")
    if names is not None:
        yield "dimension names"
        if None in names:
            yield "a dimension without a name"
        if len({name for name in names if name}) < sum(1 for name in names if name):
            yield "repeated dimension names"
        if "" in names:
            yield "empty dimension name"
    yield from _codec_tags(document["codecs"], "")


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
    if "zstd" in position and "crc32c" in position[position.index("zstd") :]:
        yield place + "zstd within crc32c"
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
