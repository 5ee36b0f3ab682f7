"""The cases of version 3, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interop.case import Box, Case, every
from support.codec_options import OPTIONS

Json = Any

LITTLE: Json = {"name": "bytes", "configuration": {"endian": "little"}}
BIG: Json = {"name": "bytes", "configuration": {"endian": "big"}}
ONE_BYTE: Json = {"name": "bytes"}
CRC: Json = {"name": "crc32c"}
GZIP: Json = {"name": "gzip", "configuration": {"level": 5}}
ZSTD: Json = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
ZSTD_CHECKSUM: Json = {"name": "zstd", "configuration": {"level": 3, "checksum": True}}


def transpose(*order: int) -> Json:
    return {"name": "transpose", "configuration": {"order": list(order)}}


def blosc(cname: str = "lz4", shuffle: str = "shuffle", typesize: int = 2, clevel: int = 5, blocksize: int = 0) -> Json:
    options = {"cname": cname, "clevel": clevel, "shuffle": shuffle, "typesize": typesize, "blocksize": blocksize}
    return {"name": "blosc", "configuration": options}


def shards(inner: list[int], *codecs: Json, index: tuple[Json, ...] = (LITTLE, CRC), at: str = "end") -> Json:
    options = {"chunk_shape": inner, "codecs": list(codecs), "index_codecs": list(index), "index_location": at}
    return {"name": "sharding_indexed", "configuration": options}


def document(
    data_type: str = "uint16",
    shape: tuple[int, ...] = (20, 15),
    chunks: tuple[int, ...] = (8, 6),
    codecs: tuple[Json, ...] = (LITTLE,),
    fill_value: Json = 0,
    keys: Json = None,
    edges: Json = None,
    **members: Json,
) -> Json:
    """Write out the document of an array; what is not given is the plainest choice."""
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}}
        if edges is None
        else {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": edges}},
        "chunk_key_encoding": keys or {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill_value,
        "codecs": list(codecs),
        "attributes": {},
        **members,
    }


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
RAW = ("r8", "r16", "r24", "r128")
DATA_TYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX, *RAW)
ITEM_BYTES = {"bool": 1, "r8": 1, "r16": 2, "r24": 3, "r128": 16} | {
    name: int("".join(filter(str.isdigit, name))) // 8 for name in (*INTEGERS, *FLOATS, *COMPLEX)
}
ZERO: dict[str, Json] = dict.fromkeys((*INTEGERS, *FLOATS), 0)
ZERO |= {"bool": False} | {name: [0.0, 0.0] for name in COMPLEX} | {name: [0] * ITEM_BYTES[name] for name in RAW}


def serializer(data_type: str, big: bool = False) -> Json:
    if data_type in RAW or ITEM_BYTES[data_type] == 1:
        return ONE_BYTE
    return BIG if big else LITTLE


DATA_TYPE_CHAINS: dict[str, Any] = {
    "little": lambda name: (serializer(name),),
    "big": lambda name: (serializer(name, big=True),),
    "big transposed": lambda name: (transpose(1, 0), serializer(name, big=True), ZSTD),
    "blosc": lambda name: (serializer(name), blosc(typesize=ITEM_BYTES[name])),
    "shards": lambda name: (shards([4, 3], serializer(name), GZIP),),
    "shards big": lambda name: (shards([4, 3], serializer(name, big=True), CRC, at="start"),),
}

CODECS: dict[str, tuple[Json, ...]] = {
    "gzip 0": (LITTLE, {"name": "gzip", "configuration": {"level": 0}}),
    "gzip 1": (LITTLE, {"name": "gzip", "configuration": {"level": 1}}),
    "gzip 9": (LITTLE, {"name": "gzip", "configuration": {"level": 9}}),
    "zstd": (LITTLE, ZSTD),
    "zstd checksum": (LITTLE, ZSTD_CHECKSUM),
    "zstd -5": (LITTLE, {"name": "zstd", "configuration": {"level": -5, "checksum": False}}),
    "zstd 19": (LITTLE, {"name": "zstd", "configuration": {"level": 19, "checksum": True}}),
    "crc32c": (LITTLE, CRC),
    "crc32c twice": (LITTLE, CRC, CRC),
    "zstd crc32c": (LITTLE, ZSTD, CRC),
    "crc32c zstd": (LITTLE, CRC, ZSTD),
    "gzip of zstd": (LITTLE, ZSTD, GZIP),
    "zstd of gzip crc32c": (BIG, GZIP, ZSTD_CHECKSUM, CRC),
    "blosc then gzip": (LITTLE, blosc("zstd", "bitshuffle"), GZIP),
    "blosc level 0": (LITTLE, blosc(clevel=0)),
    "blosc level 9": (LITTLE, blosc("blosclz", clevel=9)),
    "blosc blocksize": (LITTLE, blosc("zlib", blocksize=64)),
    "blosc typesize 1": (LITTLE, blosc(typesize=1)),
    "transpose": (transpose(1, 0), LITTLE),
    "transpose identity": (transpose(0, 1), LITTLE),
    "transpose twice": (transpose(1, 0), transpose(1, 0), LITTLE, ZSTD),
    "transpose gzip": (transpose(1, 0), BIG, GZIP),
    "transpose blosc": (transpose(1, 0), LITTLE, blosc()),
    "short-hand bytes": ("bytes",),
    "short-hand crc32c": (LITTLE, "crc32c"),
}
_NAMED = repr(CODECS)
# `tests/unit/codecs/test_number_codecs.py` compares those that few others have.
_ELSEWHERE = ("categorize", "endian", "sharding_indexed", "vlen-bytes", "vlen-utf8")
_ELSEWHERE += ("bitround", "cast_value", "n5_default", "packbits", "reshape", "scale_offset")
# `tests/interop/names.py` has these.
_ELSEWHERE += ("conditional", "vlen-array", "zfp")
# Registered codecs that no case has.
CODECS |= {
    name: (LITTLE, {"name": name, "configuration": options})
    for name, options in OPTIONS.items()
    if "." not in name and name not in _ELSEWHERE and f"'{name}'" not in _NAMED
}
BLOSC_CHAINS = {
    f"blosc {cname} {shuffle}": (LITTLE, blosc(cname, shuffle))
    for cname in ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
    for shuffle in ("noshuffle", "shuffle", "bitshuffle")
}

SHARDED: dict[str, tuple[Json, ...]] = {
    "end": (shards([4, 3], LITTLE),),
    "start": (shards([4, 3], LITTLE, at="start"),),
    "end no crc": (shards([4, 3], LITTLE, index=(LITTLE,)),),
    "start no crc": (shards([4, 3], LITTLE, index=(LITTLE,), at="start"),),
    "big index": (shards([4, 3], LITTLE, index=(BIG, CRC)),),
    "one inner chunk": (shards([8, 6], LITTLE, ZSTD),),
    "inner of one element": (shards([1, 1], LITTLE),),
    "zstd": (shards([4, 3], LITTLE, ZSTD),),
    "zstd checksum crc32c": (shards([4, 3], LITTLE, ZSTD_CHECKSUM, CRC),),
    "blosc": (shards([4, 3], LITTLE, blosc()),),
    "gzip big": (shards([4, 3], BIG, GZIP, at="start"),),
    "transposed inside": (shards([4, 3], transpose(1, 0), LITTLE, ZSTD),),
    "transposed outside": (transpose(1, 0), shards([3, 4], LITTLE, ZSTD)),
    "transposed both": (transpose(1, 0), shards([3, 4], transpose(1, 0), BIG, ZSTD)),
    "gzip outside": (shards([4, 3], LITTLE), GZIP),
    "crc32c outside": (shards([4, 3], LITTLE, ZSTD), CRC),
    "nested": (shards([4, 6], shards([2, 3], LITTLE, ZSTD)),),
    "nested start": (shards([4, 6], shards([2, 3], LITTLE, at="start"), at="start"),),
    "nested thrice": (shards([4, 6], shards([2, 6], shards([1, 2], LITTLE, CRC))),),
    "nested compressed": (shards([4, 6], shards([2, 3], LITTLE), GZIP),),
}

KEYS: dict[str, Json] = {
    "default slash": {"name": "default", "configuration": {"separator": "/"}},
    "default dot": {"name": "default", "configuration": {"separator": "."}},
    "default": {"name": "default"},
    "v2 dot": {"name": "v2", "configuration": {"separator": "."}},
    "v2 slash": {"name": "v2", "configuration": {"separator": "/"}},
    "v2": {"name": "v2"},
}

FILLS: dict[str, tuple[Json, ...]] = {
    "bool": (True,),
    "int8": (-128, 127),
    "int64": (-(2**63), 2**63 - 1, 2**53 + 1),
    "uint8": (255,),
    "uint64": (2**64 - 1,),
    "float16": (1.5, "NaN", "Infinity", "-Infinity", -0.0, "0x7e01"),
    "float32": (0.1, "NaN", "Infinity", "-Infinity", -0.0, "0x7fc00001", "0xffc00000", 3),
    "float64": (0.1, "NaN", "Infinity", "-Infinity", -0.0, "0x7ff8000000000001", 1e308, 5e-324),
    "complex64": ([1.5, -2.0], ["NaN", "Infinity"], [-0.0, "-Infinity"], ["0x7fc00001", 0.0]),
    "complex128": ([0.1, -0.2], ["NaN", "NaN"], [0.0, -0.0], ["0x7ff8000000000001", 1.0]),
    "r16": ([1, 255],),
    "r24": ([1, 2, 3],),
}

# shape, chunks, inner chunks
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...], list[int]]] = {
    "scalar": ((), (), []),
    "one element": ((1,), (1,), [1]),
    "one chunk": ((8,), (8,), [4]),
    "chunk larger than the array": ((3, 2), (8, 6), [4, 3]),
    "line": ((23,), (8,), [4]),
    "rank 3": ((7, 9, 5), (4, 4, 4), [2, 2, 2]),
    "rank 5": ((3, 2, 5, 2, 3), (2, 2, 2, 2, 2), [1, 2, 1, 2, 1]),
    "thin": ((1, 40), (1, 16), [1, 4]),
    "empty line": ((0,), (4,), [2]),
    "empty plane": ((3, 0, 2), (2, 2, 2), [1, 1, 1]),
}
SHAPE_CHAINS: dict[str, Any] = {
    "raw": lambda _: (LITTLE,),
    "zstd crc32c": lambda _: (LITTLE, ZSTD, CRC),
    "reversed": lambda inner: (transpose(*reversed(range(len(inner)))), LITTLE, GZIP),
    "shards": lambda inner: (shards(inner, LITTLE, ZSTD),),
}

BOXES: dict[str, Box] = {
    "nothing": ((0, 0), (0, 0)),
    "one chunk": ((8, 16), (0, 6)),
    "part of a chunk": ((9, 13), (2, 5)),
    "across chunks": ((5, 18), (3, 14)),
    "one element": ((19, 20), (14, 15)),
    "last row": ((19, 20), (0, 15)),
}

GRIDS: dict[str, list[Json]] = {
    "a list": [[4, 12, 4], [3, 6, 6]],
    "runs": [[[4, 3], 8], [[3, 5]]],
    "a list and one length": [[4, 16], 6],
    "beyond the array": [[8, 16], [[9, 2]]],
    "chunks beyond the array": [[8, 16, 4, 4], [6, 12, [3, 4]]],
}
GRID_CHAINS: dict[str, tuple[Json, ...]] = {
    "raw": (LITTLE,),
    "zstd crc32c": (LITTLE, ZSTD, CRC),
    "transposed blosc": (transpose(1, 0), BIG, blosc()),
    "shards": (shards([4, 3], LITTLE, ZSTD),),
}
NAMES: dict[str, list[str | None]] = {
    "named": ["y", "x"],
    "one without a name": ["y", None],
    "none named": [None, None],
    "not ASCII": ["Höhe", "経度"],
    "repeated": ["x", "x"],
    "empty": ["", "x"],
}

ATTRIBUTES: dict[str, Json] = {
    "text": 'Grüße, 世界 \u0001\u2028 "\\/',
    "numbers": [0, -1, 1.5, 1e300, 1e-7, 2**53, -(2**53)],
    "large": [2**63 - 1, -(2**63)],
    "larger": [2**64, 10**30],
    "constants": [True, False, None],
    "nested": {"a": {"b": [{"c": []}, {}]}, "": "empty key"},
}


def _rows() -> Iterator[tuple[str, str, Json, Box | None]]:
    for data_type in DATA_TYPES:
        for chain, codecs in DATA_TYPE_CHAINS.items():
            if "big" not in chain or serializer(data_type) != ONE_BYTE:
                made = document(data_type, codecs=codecs(data_type), fill_value=ZERO[data_type])
                yield "type", f"{data_type} {chain}", made, None
    for chain, codecs in CODECS.items():
        kind = "uint8" if chain == "short-hand bytes" else "uint16"
        yield "codec", f"{chain}", document(kind, codecs=codecs), None
    for chain, codecs in BLOSC_CHAINS.items():
        yield "blosc", chain, document(codecs=codecs), None
    for chain, codecs in SHARDED.items():
        yield "shards", chain, document(codecs=codecs), None
    for box, edges in BOXES.items():
        for chain, codecs in {"raw": (LITTLE,), "zstd": (LITTLE, ZSTD), "transposed": CODECS["transpose"]}.items():
            yield "box", f"{box} {chain}", document(codecs=codecs, fill_value=7), edges
        for chain in ("zstd", "start", "transposed outside", "gzip outside", "nested"):
            yield "box", f"{box} shards {chain}", document(codecs=SHARDED[chain], fill_value=7), edges
    for keys, encoding in KEYS.items():
        for shape, (extent, chunks, _) in SHAPES.items():
            if shape in ("scalar", "line", "rank 3"):
                yield "keys", f"{keys} {shape}", document(shape=extent, chunks=chunks, keys=encoding), None
        yield "keys", f"{keys} shards", document(keys=encoding, codecs=SHARDED["zstd"]), None
    for data_type, fills in FILLS.items():
        for number, fill in enumerate(fills):
            made = document(data_type, codecs=(serializer(data_type),), fill_value=fill)
            yield "fill", f"{data_type} {fill}", made, BOXES["one chunk"]
            if number == 0:
                codecs = (shards([4, 3], serializer(data_type)),)
                made = document(data_type, codecs=codecs, fill_value=fill)
                yield "fill", f"{data_type} {fill} shards", made, BOXES["part of a chunk"]
    for shape, (extent, chunks, inner) in SHAPES.items():
        for chain, codecs in SHAPE_CHAINS.items():
            yield "shape", f"{shape} {chain}", document("int32", extent, chunks, codecs(inner)), None
    for grid, listed in GRIDS.items():
        for chain, codecs in GRID_CHAINS.items():
            yield "grid", f"{grid} {chain}", document(edges=listed, codecs=codecs, fill_value=7), None
            yield (
                "grid",
                f"{grid} {chain} part",
                document(edges=listed, codecs=codecs, fill_value=7),
                BOXES["across chunks"],
            )
    for kind, names in NAMES.items():
        yield "names", kind, document(dimension_names=names), None
    for kind, value in ATTRIBUTES.items():
        yield "attributes", kind, document(attributes={kind: value}), None


# How many cases of a family one stands for in the quick set.
QUICK_EVERY = {"type": 3, "codec": 2, "blosc": 3, "shards": 1, "box": 4, "keys": 3, "fill": 3, "shape": 4, "grid": 3}


CASES: tuple[Case, ...] = tuple(every(_rows(), QUICK_EVERY))
