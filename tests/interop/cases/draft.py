"""The cases of the draft of version 3 as zarr-python spelled it, as tables.

The documents are those of version 2 with a member `shards`: how many chunks a shard has along each axis, or None.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interop.case import Box, Case, every
from interop.cases import v2

Json = Any


def document(dtype: Json = "<u2", shards: tuple[int, ...] | None = None, **members: Json) -> Json:
    """Write out what describes an array; what is not given is the plainest choice."""
    made = v2.document(dtype, **members)
    return {**made, "zarr_format": "draft", "shards": None if shards is None else list(shards)}


TYPE_LAYOUTS: dict[str, dict[str, Json]] = {
    "raw": {},
    "F gzip": {"order": "F", "compressor": {"id": "gzip", "level": 5}},
}
COMPRESSORS = ("none", "zlib 1", "gzip 9", "bz2 1", "lz4", "zstd 1", "lzma xz", "lzma raw")
BLOSC = ("lz4 1", "zstd 2", "blosclz 0", "zlib 1", "lz4hc 1")
FILTERS = ("delta", "delta as", "fixedscaleoffset", "quantize", "packbits", "shuffle", "crc32", "delta and shuffle")
OBJECTS = ("vlen-utf8", "vlen-bytes zero", "vlen-array", "json2")
FILLS: dict[str, tuple[Json, ...]] = {
    "|b1": (True,),
    "|i1": (-128, None),
    "<i8": (-(2**63), 2**63 - 1),
    "<u8": (2**64 - 1,),
    "<f4": (0.1, "NaN", "Infinity", "-Infinity", None),
    ">f8": (0.1, 5e-324),
    "<c8": ([1.5, -2.0],),
    "<M8[ns]": (1,),
    "|S3": (v2.text(b"ab\0"),),
    "<U3": ("é世😀",),
}
SHAPES = ("scalar", "one element", "chunk larger than the array", "line", "rank 3", "empty line")
SEPARATORS = ("/", ".")
SHARDS: dict[str, dict[str, Json]] = {
    "raw": {"shards": (2, 2)},
    "of one": {"shards": (1, 1)},
    "uneven": {"shards": (1, 2), "compressor": v2.ZLIB},
    "dots": {"shards": (2, 2), "dimension_separator": "."},
    "F blosc": {"shards": (2, 1), "order": "F", "compressor": v2.blosc()},
}


def _rows() -> Iterator[tuple[str, str, Json, Box | None]]:
    numbers = [dtype for name in v2.NUMBERS for dtype in v2.orders_of(name)]
    for dtype in (*numbers, "|S7", "<U5", "|V3", "<M8[D]", "<m8[s]"):
        for layout, members in TYPE_LAYOUTS.items():
            yield "type", f"{dtype} {layout}", document(dtype, fill_value=v2.zero(dtype), **members), None
    for name, fields in v2.STRUCTS.items():
        yield "struct", name, document(fields, fill_value=v2.zero(fields)), None
    for name in COMPRESSORS:
        yield "compressor", name, document(compressor=v2.COMPRESSORS[name]), None
    for name in BLOSC:
        yield "blosc", name, document("<i4", compressor=v2.BLOSC[name]), None
    for name in FILTERS:
        dtype, filters = v2.FILTERS[name]
        yield "filter", name, document(dtype, filters=filters, fill_value=v2.zero(dtype)), None
    for name in OBJECTS:
        filters, fill = v2.OBJECTS[name]
        yield "object", name, document("|O", filters=filters, fill_value=fill), None
    for dtype, fills in FILLS.items():
        for fill in fills:
            box = v2.BOXES["one chunk"] if fill is not None else None
            yield "fill", f"{dtype} {fill}", document(dtype, fill_value=fill), box
    for name in SHAPES:
        shape, chunks = v2.SHAPES[name]
        for separator in SEPARATORS:
            made = document("<i4", shape=shape, chunks=chunks, dimension_separator=separator)
            yield "shape", f"{name} {separator}", made, None
    for name, members in SHARDS.items():
        yield "shards", name, document("<i4", **members), None
        yield "shards", f"{name} box", document("<i4", fill_value=7, **members), v2.BOXES["across chunks"]
    for name, box in v2.BOXES.items():
        yield "box", name, document(fill_value=7), box
    for name, value in v2.ATTRIBUTES.items():
        yield "attributes", name, document(attributes={name: value}), None


CASES: tuple[Case, ...] = tuple(every(((f"draft {family}", *row) for family, *row in _rows()), {}))
