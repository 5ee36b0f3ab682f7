"""The cases of version 2, as tables."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np

from interop.case import Box, Case, every
from interop.documents import old

Json = Any


def document(
    dtype: Json = "<u2",
    shape: tuple[int, ...] = (7, 5),
    chunks: tuple[int, ...] = (4, 3),
    compressor: Json = None,
    fill_value: Json = 0,
    filters: Json = None,
    order: str = "C",
    attributes: Json = None,
    **members: Json,
) -> Json:
    """Write out the document of an array; what is not given is the plainest choice."""
    return {
        "zarr_format": 2,
        "shape": list(shape),
        "chunks": list(chunks),
        "dtype": dtype,
        "compressor": compressor,
        "fill_value": fill_value,
        "filters": filters,
        "order": order,
        "attributes": attributes or {},
        **members,
    }


def blosc(cname: str = "lz4", shuffle: int = 1, clevel: int = 5, blocksize: int = 0) -> Json:
    return {"id": "blosc", "cname": cname, "clevel": clevel, "shuffle": shuffle, "blocksize": blocksize}


def lzma(format: int = 1, check: int = -1, preset: Json = None, filters: Json = None) -> Json:
    return {"id": "lzma", "format": format, "check": check, "preset": preset, "filters": filters}


def zero(dtype: Json) -> Json:
    """Return the fill value that stands for zeros."""
    made = old.numpy_dtype(dtype)
    if made.kind in "SV":
        return text(bytes(made.itemsize))
    return {"b": False, "f": 0.0, "c": [0.0, 0.0], "U": ""}.get(made.kind, 0)


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


ZLIB: Json = {"id": "zlib", "level": 1}
ZSTD: Json = {"id": "zstd", "level": 3}

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
NUMBERS = ("b1", *INTEGERS, "f2", "f4", "f8", "c8", "c16")
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "25s")
TEXTS = ("|S1", "|S7", "<U1", "<U5", ">U5")
RAW = ("|V1", "|V10")
STRUCTS: dict[str, Json] = {
    "of numbers": [["foo", "<f8"], ["bar", "<i4"]],
    "of one field": [["only", "|u1"]],
    "of mixed orders": [["a", ">i2"], ["b", "<f4"], ["c", ">c8"], ["d", "|b1"]],
    "of texts": [["s", "|S3"], ["u", "<U2"], ["v", "|V2"]],
    "of times": [["t", "<M8[ns]"], ["d", "<m8[D]"]],
    "nested": [["x", [["y", "<i4"], ["z", [["w", "|S3"]]]]], ["n", "|u1"]],
    "of arrays": [["foo", "<f4"], ["bar", "<i2", [2, 3]]],
    "of arrays of structs": [["a", [["b", "<i2"], ["c", "|S1"]], [2]]],
}

TYPE_LAYOUTS: dict[str, dict[str, Json]] = {
    "raw": {},
    "blosc": {"compressor": blosc()},
    "F zlib": {"compressor": ZLIB, "order": "F"},
}

COMPRESSORS: dict[str, Json] = {
    "none": None,
    "zlib 0": {"id": "zlib", "level": 0},
    "zlib 1": ZLIB,
    "zlib 9": {"id": "zlib", "level": 9},
    "gzip 1": {"id": "gzip", "level": 1},
    "gzip 9": {"id": "gzip", "level": 9},
    "bz2 1": {"id": "bz2", "level": 1},
    "bz2 9": {"id": "bz2", "level": 9},
    "lz4": {"id": "lz4", "acceleration": 1},
    "lz4 fast": {"id": "lz4", "acceleration": 10},
    "zstd 1": {"id": "zstd", "level": 1},
    "zstd -5": {"id": "zstd", "level": -5},
    "zstd 19": {"id": "zstd", "level": 19},
    "lzma xz": lzma(),
    "lzma xz preset": lzma(preset=9, check=4),
    "lzma alone": lzma(format=2),
    "lzma raw": lzma(3, filters=[{"id": 3, "dist": 2}, {"id": 33, "preset": 1}]),
    "blosc level 0": blosc(clevel=0),
    "blosc level 9": blosc("blosclz", clevel=9),
    "blosc blocksize": blosc("zlib", blocksize=64),
    "blosc shuffle -1": blosc("lz4", shuffle=-1),
    "blosc snappy": blosc("snappy"),
}
BLOSC = {
    f"{cname} {shuffle}": blosc(cname, shuffle)
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
    for shuffle in (0, 1, 2)
}


def shuffle(elementsize: int) -> Json:
    return {"id": "shuffle", "elementsize": elementsize}


# dtype, filters
FILTERS: dict[str, tuple[str, list[Json]]] = {
    "none in a list": ("<u2", []),
    "delta": ("<i4", [{"id": "delta", "dtype": "<i4"}]),
    "delta of floats": ("<f8", [{"id": "delta", "dtype": "<f8"}]),
    "delta as": ("<i8", [{"id": "delta", "dtype": "<i8", "astype": "<i2"}]),
    "delta big": (">i2", [{"id": "delta", "dtype": ">i2"}]),
    "fixedscaleoffset": (
        "<f8",
        [{"id": "fixedscaleoffset", "offset": 10, "scale": 10, "dtype": "<f8", "astype": "<i4"}],
    ),
    "fixedscaleoffset u1": (
        "<f4",
        [{"id": "fixedscaleoffset", "offset": 0, "scale": 0.5, "dtype": "<f4", "astype": "|u1"}],
    ),
    "quantize": ("<f8", [{"id": "quantize", "digits": 1, "dtype": "<f8"}]),
    "quantize as": ("<f8", [{"id": "quantize", "digits": 2, "dtype": "<f8", "astype": "<f4"}]),
    "bitround": ("<f4", [{"id": "bitround", "keepbits": 5}]),
    "astype": ("<f8", [{"id": "astype", "encode_dtype": "<f4", "decode_dtype": "<f8"}]),
    "packbits": ("|b1", [{"id": "packbits"}]),
    "categorize": (
        "<U4",
        [{"id": "categorize", "labels": ["one", "two", "drei"], "dtype": "<U4", "astype": "|u1"}],
    ),
    "shuffle": ("<f8", [shuffle(8)]),
    "crc32": ("<u2", [{"id": "crc32"}]),
    "crc32 at the end": ("<u2", [{"id": "crc32", "location": "end"}]),
    "crc32c": ("<u2", [{"id": "crc32c"}]),
    "adler32": ("<u2", [{"id": "adler32"}]),
    "fletcher32": ("<u2", [{"id": "fletcher32"}]),
    "jenkins_lookup3": ("<u2", [{"id": "jenkins_lookup3", "initval": 0, "prefix": None}]),
    "base64": ("<u2", [{"id": "base64"}]),
    "zlib and crc32": ("<u2", [ZLIB, {"id": "crc32"}]),
    "delta and shuffle": ("<i4", [{"id": "delta", "dtype": "<i4"}, shuffle(4)]),
    "delta, zlib and crc32": ("<i4", [{"id": "delta", "dtype": "<i4"}, ZLIB, {"id": "crc32"}]),
}
FILTER_LAYOUTS: dict[str, dict[str, Json]] = {
    "alone": {},
    "zlib": {"compressor": ZLIB},
    "F blosc": {"order": "F", "compressor": blosc()},
}

# filters, fill value
OBJECTS: dict[str, tuple[list[Json], Json]] = {
    "vlen-utf8": ([{"id": "vlen-utf8"}], ""),
    "vlen-utf8 filled": ([{"id": "vlen-utf8"}], "leer"),
    "vlen-utf8 zero": ([{"id": "vlen-utf8"}], 0),
    "vlen-utf8 crc32": ([{"id": "vlen-utf8"}, {"id": "crc32"}], ""),
    "vlen-bytes": ([{"id": "vlen-bytes"}], ""),
    "vlen-bytes filled": ([{"id": "vlen-bytes"}], text(b"\xff")),
    "vlen-bytes zero": ([{"id": "vlen-bytes"}], 0),
    "vlen-array": ([{"id": "vlen-array", "dtype": "<i4"}], None),
    "json2": (
        [
            {
                "id": "json2",
                "encoding": "utf-8",
                "skipkeys": False,
                "ensure_ascii": True,
                "check_circular": True,
                "allow_nan": True,
                "indent": None,
                "separators": [",", ":"],
                "sort_keys": True,
                "strict": True,
            }
        ],
        0,
    ),
    "msgpack2": ([{"id": "msgpack2", "use_single_float": False, "use_bin_type": True, "raw": False}], 0),
    "pickle": ([{"id": "pickle", "protocol": 4}], 0),
    "categorize": ([{"id": "categorize", "labels": ["one", "two", "drei"], "dtype": "|O", "astype": "|u1"}], ""),
}
OBJECT_LAYOUTS: dict[str, dict[str, Json]] = {
    "raw": {},
    "blosc": {"compressor": blosc()},
    "F zlib": {"order": "F", "compressor": ZLIB},
}

FILLS: dict[str, tuple[Json, ...]] = {
    "|b1": (True, None),
    "|i1": (-128, None),
    "<i8": (-(2**63), 2**63 - 1, 2**53 + 1),
    "<u8": (2**64 - 1,),
    "<f2": (1.5, "NaN"),
    "<f4": (0.1, "NaN", "Infinity", "-Infinity", -0.0, None),
    ">f8": (0.1, "NaN", "Infinity", "-Infinity", -0.0, 1e308, 5e-324, 3),
    "<c8": ([1.5, -2.0], ["NaN", "Infinity"], None),
    "<c16": ([0.1, -0.2], ["NaN", "NaN"], [-0.0, "-Infinity"]),
    "<M8[ns]": (0, 1, -(2**63), None),
    ">m8[D]": (-7, -(2**63)),
    "|S3": (text(b"ab\0"), text(b"\xff\x00\x01"), None),
    "<U3": ("", "é世😀", None),
    "|V2": (text(b"\x01\xff"), None),
}
STRUCT_FILLS: tuple[Json, ...] = (text(np.array((1.5, -2), "<f8,<i4").tobytes()), None)

# shape, chunks
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "scalar": ((), ()),
    "one element": ((1,), (1,)),
    "chunk larger than the array": ((3, 2), (8, 6)),
    "line": ((11,), (4,)),
    "rank 3": ((3, 5, 4), (2, 3, 4)),
    "rank 5": ((3, 2, 3, 2, 2), (2, 2, 2, 1, 2)),
    "thin": ((1, 9), (1, 4)),
    "empty line": ((0,), (4,)),
    "empty plane": ((3, 0, 2), (2, 2, 2)),
}
SHAPE_LAYOUTS: dict[str, dict[str, Json]] = {
    "C": {},
    "F": {"order": "F", "compressor": ZLIB},
    "C dots": {"dimension_separator": ".", "compressor": ZSTD},
    "C slashes": {"dimension_separator": "/", "compressor": blosc()},
    "F slashes": {"dimension_separator": "/", "order": "F"},
}

BOXES: dict[str, Box] = {
    "nothing": ((0, 0), (0, 0)),
    "one chunk": ((4, 7), (0, 3)),
    "part of a chunk": ((1, 3), (1, 2)),
    "across chunks": ((2, 6), (1, 5)),
    "last element": ((6, 7), (4, 5)),
}

ATTRIBUTES: dict[str, Json] = {
    "text": 'Grüße, 世界 \u0001\u2028 "\\/',
    "numbers": [0, -1, 1.5, 1e300, 1e-7, 2**53, -(2**53)],
    "large": [2**63 - 1, -(2**63)],
    "constants": [True, False, None],
    "nested": {"a": {"b": [{"c": []}, {}]}, "": "empty key"},
    "_ARRAY_DIMENSIONS": ["y", "x"],
}


def orders_of(name: str) -> tuple[str, ...]:
    return (f"|{name}",) if np.dtype(name).itemsize == 1 else (f"<{name}", f">{name}")


def _rows() -> Iterator[tuple[str, str, Json, Box | None]]:
    numbers = [dtype for name in NUMBERS for dtype in orders_of(name)]
    for dtype in (*numbers, *TEXTS, *RAW):
        for layout, members in TYPE_LAYOUTS.items():
            yield "type", f"{dtype} {layout}", document(dtype, fill_value=zero(dtype), **members), None
    for unit in UNITS:
        for dtype in (f"<M8[{unit}]", f"<m8[{unit}]"):
            yield "time", f"{dtype}", document(dtype, compressor=ZLIB), None
    for dtype in (">M8[us]", ">m8[s]"):
        yield "time", f"{dtype}", document(dtype, order="F"), None
    for name, fields in STRUCTS.items():
        for layout, members in TYPE_LAYOUTS.items():
            yield "struct", f"{name} {layout}", document(fields, fill_value=zero(fields), **members), None
    for name, compressor in COMPRESSORS.items():
        yield "compressor", name, document(compressor=compressor), None
    for name, compressor in BLOSC.items():
        yield "blosc", name, document("<i4", compressor=compressor), None
    for name, (dtype, filters) in FILTERS.items():
        for layout, members in FILTER_LAYOUTS.items():
            made = document(dtype, filters=filters, fill_value=zero(dtype), **members)
            yield "filter", f"{name} {layout}", made, None
    for name, (filters, fill) in OBJECTS.items():
        for layout, members in OBJECT_LAYOUTS.items():
            yield "object", f"{name} {layout}", document("|O", filters=filters, fill_value=fill, **members), None
        if fill is not None:
            yield "object", f"{name} box", document("|O", filters=filters, fill_value=fill), BOXES["one chunk"]
    for dtype, fills in FILLS.items():
        for fill in fills:
            # What an element is that was never written is undefined when the fill value is null.
            box = BOXES["one chunk"] if fill is not None else None
            yield "fill", f"{dtype} {fill}", document(dtype, fill_value=fill), box
    for fill in STRUCT_FILLS:
        box = BOXES["one chunk"] if fill is not None else None
        yield "fill", f"struct {fill}", document(STRUCTS["of numbers"], fill_value=fill), box
    for shape, (extent, chunks) in SHAPES.items():
        for layout, members in SHAPE_LAYOUTS.items():
            yield "shape", f"{shape} {layout}", document("<i4", extent, chunks, **members), None
    for name, box in BOXES.items():
        for layout, members in {"raw": {}, "F zstd": {"order": "F", "compressor": ZSTD}}.items():
            yield "box", f"{name} {layout}", document(fill_value=7, **members), box
    for name, value in ATTRIBUTES.items():
        yield "attributes", name, document(attributes={name: value}), None


# How many cases of a family one stands for in the quick set.
QUICK_EVERY = {"v2 type": 3, "v2 time": 5, "v2 struct": 3, "v2 blosc": 3, "v2 filter": 2, "v2 object": 3, "v2 shape": 4}

CASES: tuple[Case, ...] = tuple(every(((f"v2 {family}", *row) for family, *row in _rows()), QUICK_EVERY))
