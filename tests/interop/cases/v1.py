"""The cases of version 1, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interop.case import Box, Case, every
from interop.cases.v2 import ATTRIBUTES, BOXES, NUMBERS, SHAPES, STRUCTS, TEXTS, orders_of, zero

Json = Any


def document(
    dtype: Json = "<u2",
    shape: tuple[int, ...] = (7, 5),
    chunks: tuple[int, ...] = (4, 3),
    compression: str = "none",
    options: Json = None,
    fill_value: Json = 0,
    order: str = "C",
    attributes: Json = None,
) -> Json:
    """Write out the document of an array; what is not given is the plainest choice."""
    return {
        "zarr_format": 1,
        "shape": list(shape),
        "chunks": list(chunks),
        "dtype": dtype,
        "compression": compression,
        "compression_opts": options,
        "fill_value": fill_value,
        "order": order,
        "attributes": attributes or {},
    }


def blosc(cname: str = "lz4", shuffle: int = 1, clevel: int = 5) -> Json:
    return {"cname": cname, "clevel": clevel, "shuffle": shuffle}


def lzma(format: int = 1, check: int = 0, preset: Json = 1, filters: Json = None) -> Json:
    return {"format": format, "check": check, "preset": preset, "filters": filters}


TYPE_LAYOUTS: dict[str, dict[str, Json]] = {
    "zlib": {"compression": "zlib", "options": 1},
    "F blosc": {"compression": "blosc", "options": blosc(), "order": "F"},
}
COMPRESSIONS: dict[str, tuple[str, Json]] = {
    "none": ("none", None),
    "zlib 0": ("zlib", 0),
    "zlib 9": ("zlib", 9),
    "bz2 1": ("bz2", 1),
    "bz2 9": ("bz2", 9),
    "lzma": ("lzma", lzma()),
    "lzma checked": ("lzma", lzma(check=4, preset=9)),
    "lzma alone": ("lzma", lzma(format=2)),
    "lzma filters": ("lzma", lzma(preset=None, filters=[{"id": 3, "dist": 2}, {"id": 33, "preset": 1}])),
    "lzma raw": ("lzma", lzma(format=3, preset=None, filters=[{"id": 3, "dist": 2}, {"id": 33, "preset": 1}])),
    "blosc level 0": ("blosc", blosc(clevel=0)),
    "blosc level 9": ("blosc", blosc(clevel=9)),
}
BLOSC = {
    f"{cname} {shuffle}": blosc(cname, shuffle)
    for cname in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
    for shuffle in (0, 1, 2)
}
FILLS: dict[str, tuple[Json, ...]] = {
    "|b1": (True, None),
    "|i1": (-128,),
    "<i8": (-(2**63), 2**63 - 1, None),
    "<u8": (2**64 - 1,),
    "<f4": (0.1, "NaN", "Infinity", "-Infinity", -0.0, None),
    ">f8": (0.1, "NaN", 5e-324, 3),
    "<M8[ns]": (None,),
    "|S3": (None,),
}
SHAPE_LAYOUTS: dict[str, dict[str, Json]] = {
    "C": {},
    "F": {"order": "F", "compression": "blosc", "options": blosc()},
    "F zlib": {"order": "F", "compression": "zlib", "options": 1},
}


def _rows() -> Iterator[tuple[str, str, Json, Box | None]]:
    numbers = [dtype for name in NUMBERS for dtype in orders_of(name)]
    for dtype in (*numbers, *TEXTS, "|V3", "<M8[D]", ">M8[ns]", "<m8[s]"):
        for layout, members in TYPE_LAYOUTS.items():
            yield "type", f"{dtype} {layout}", document(dtype, fill_value=zero(dtype), **members), None
            # What is no number has no fill value in JSON there.
            if dtype[1] not in "biuf":
                yield "type", f"{dtype} {layout} null", document(dtype, fill_value=None, **members), None
    for name, fields in STRUCTS.items():
        yield "struct", name, document(fields, fill_value=zero(fields), **TYPE_LAYOUTS["zlib"]), None
        yield "struct", f"{name} null", document(fields, fill_value=None, **TYPE_LAYOUTS["zlib"]), None
    for name, (compression, options) in COMPRESSIONS.items():
        yield "compression", name, document("<i4", compression=compression, options=options), None
    for name, options in BLOSC.items():
        yield "blosc", name, document("<i4", compression="blosc", options=options), None
    for dtype, fills in FILLS.items():
        for fill in fills:
            box = BOXES["one chunk"] if fill is not None else None
            yield "fill", f"{dtype} {fill}", document(dtype, fill_value=fill), box
    for shape, (extent, chunks) in SHAPES.items():
        if extent:
            for layout, members in SHAPE_LAYOUTS.items():
                yield "shape", f"{shape} {layout}", document("<i4", extent, chunks, **members), None
    for name, box in BOXES.items():
        yield "box", name, document(fill_value=7, **TYPE_LAYOUTS["F blosc"]), box
    for name, value in ATTRIBUTES.items():
        yield "attributes", name, document(attributes={name: value}), None


QUICK_EVERY: dict[str, int] = {}

CASES: tuple[Case, ...] = tuple(every(((f"v1 {family}", *row) for family, *row in _rows()), QUICK_EVERY))
