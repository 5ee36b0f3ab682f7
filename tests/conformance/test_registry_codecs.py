"""The worked examples of the registry's pages of codecs.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs

Read at commit 4da7b37 (July 2026). Each row has the page, the members of a document that the page shows, the values
that its text or table gives, and the stored bytes. Pages of core codecs only link to the specification.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.errors import CodecError, MetadataError
from support.one_document import LITTLE, codec, opened, read, stored

NAN, INFINITY = float("nan"), float("inf")


OF_3_BITS = [codec("bitround", keepbits=3), LITTLE]
FROM_NUMPY = codec(
    "cast_value",
    data_type="uint8",
    rounding="towards-zero",
    out_of_range="wrap",
    scalar_map={"encode": [["NaN", 0], ["+Infinity", 0], ["-Infinity", 0]]},
)
KEEPING_NAN = codec(
    "cast_value",
    data_type="uint8",
    rounding="nearest-even",
    scalar_map={"encode": [["NaN", 0]], "decode": [[0, "NaN"]]},
)
SCALED = codec("scale_offset", offset=10, scale=0.1)

VALUES: list[tuple[str, dict[str, Any], list[Any], str, list[Any]]] = [
    # Values, what is stored of them, and what is read of that.
    (
        "bitround: sample_data/bitround_float32.zarr",
        {"codecs": OF_3_BITS},
        [0, 0.1, 1.2, 12.3, 123.4, 1234.5, NAN, INFINITY, -INFINITY],
        "000000000000d03d0000a03f000040410000f0420000a0440000c07f0000807f000080ff",
        [0, 0.1015625, 1.25, 12, 120, 1280, NAN, INFINITY, -INFINITY],
    ),
    (
        "bitround: sample_data/bitround_uint8.zarr",
        {"data_type": "uint8", "codecs": OF_3_BITS},
        [0, 1, 10, 11, 100, 123, 200, 208, 209, 255],
        "00010a0c6080c0c0e0e0",
        [0, 1, 10, 12, 96, 128, 192, 192, 224, 224],
    ),
    (
        "cast_value: NumPy compatibility",
        {"data_type": "float64", "codecs": [FROM_NUMPY, "bytes"]},
        [NAN, INFINITY, -INFINITY, 1.9, -1.9, 255.9, 256, 300.5, -1],
        "00000001ffff002cff",
        [0, 0, 0, 1, 255, 255, 0, 44, 255],
    ),
    (
        "cast_value: out_of_range, clamp",
        {"codecs": [codec("cast_value", data_type="int8", out_of_range="clamp"), "bytes"]},
        [128, -129],
        "7f80",
        [127, -128],
    ),
    (
        "cast_value: out_of_range, wrap",
        {"codecs": [codec("cast_value", data_type="int8", out_of_range="wrap"), "bytes"]},
        [128],
        "80",
        [-128],
    ),
    (
        "cast_value: out_of_range, wrap to int16",
        {"data_type": "int32", "codecs": [codec("cast_value", data_type="int16", out_of_range="wrap"), LITTLE]},
        [32768, 32769, -32769],
        "00800180ff7f",
        [-32768, -32767, 32767],
    ),
    (
        "cast_value: exactly representable, 0 of uint16",
        {"data_type": "uint16", "codecs": [codec("cast_value", data_type="uint8"), "bytes"]},
        [0, 255],
        "00ff",
        [0, 255],
    ),
    (
        # Where the page says `bytes`, float32 needs an endianness.
        "scale_offset: float32",
        {"codecs": [codec("scale_offset", offset=5, scale=0.1), LITTLE]},
        [5, 15],
        "000000000000803f",
        [5, 15],
    ),
    (
        "scale_offset: uint16 range reduction",
        {
            "data_type": "uint16",
            "fill_value": 1000,
            "codecs": [codec("scale_offset", offset=1000), codec("cast_value", data_type="uint8"), "bytes"],
        },
        [1000, 1001, 1255],
        "0001ff",
        [1000, 1001, 1255],
    ),
    (
        "scale_offset: float64 to uint8 with NaN",
        {
            "data_type": "float64",
            "fill_value": "NaN",
            "codecs": [codec("scale_offset", offset=-10, scale=0.1), KEEPING_NAN, "bytes"],
        },
        [0, 2540, NAN, 1270],
        "01ff0080",
        [0, 2540, NAN, 1270],
    ),
    (
        "scale_offset: conversion of numcodecs.fixedscaleoffset",
        {
            "fill_value": 10.0,
            "codecs": [SCALED, codec("cast_value", data_type="uint8", out_of_range="wrap"), "bytes"],
        },
        [10, 100, 50],
        "000904",
        [10, 100, 50],
    ),
    (
        "scale_offset: the codec that is converted",
        {
            "fill_value": 10.0,
            "codecs": [
                codec("numcodecs.fixedscaleoffset", astype="uint8", dtype="float32", scale=0.1, offset=10),
                "bytes",
            ],
        },
        [10, 100, 50],
        "000904",
        [10, 100, 50],
    ),
    (
        "scale_offset: without a configuration",
        {"data_type": "uint8", "codecs": [{"name": "scale_offset"}, "bytes"]},
        [0, 255],
        "00ff",
        [0, 255],
    ),
    (
        "vlen-bytes",
        {"data_type": "bytes", "fill_value": "", "codecs": [{"name": "vlen-bytes"}]},
        [b"ab", b""],
        "02000000" + "02000000" + b"ab".hex() + "00000000",
        [b"ab", b""],
    ),
    (
        "vlen-utf8",
        {"data_type": "string", "fill_value": "", "codecs": [{"name": "vlen-utf8"}]},
        ["\u00e9", "ab"],
        "02000000" + "02000000" + "c3a9" + "02000000" + b"ab".hex(),
        ["\u00e9", "ab"],
    ),
]


@pytest.mark.parametrize("row", VALUES, ids=lambda row: row[0])
def test_values(row: tuple[str, dict[str, Any], list[Any], str, list[Any]]) -> None:
    _, members, values, chunk, back = row
    assert stored(values, **members).hex() == chunk
    found = read(chunk, len(back), **members)
    assert found == pytest.approx(back, nan_ok=True) if isinstance(back[0], int | float) else found == back


@pytest.mark.parametrize("value", [128.0, NAN, INFINITY])
def test_cast_value_refuses_what_no_rule_covers(value: float) -> None:
    for rule in ({}, {"out_of_range": "clamp"}) if value != 128 else ({},):
        with pytest.raises(CodecError, match="out_of_range and scalar_map say what becomes of others"):
            stored([value], codecs=[codec("cast_value", data_type="int8", **rule), "bytes"])


def test_zstd() -> None:
    chunk = stored([1] * 9, codecs=[LITTLE, codec("zstd", level=1, checksum=True)])
    # RFC 8878: the magic number, and in the descriptor of the frame the flag of a checksum.
    assert chunk[:4].hex() == "28b52ffd"
    assert chunk[4] >> 2 & 1 == 1
    assert stored([1] * 9, codecs=[LITTLE, codec("zstd", level=1)])[4] >> 2 & 1 == 0
    for level in (-131072, 0, 22):
        stored([1], codecs=[LITTLE, codec("zstd", level=level)])
    for level in (-131073, 23):
        with pytest.raises(MetadataError, match=r"codecs\[1\]\.configuration\.level"):
            opened({}, (1,), codecs=[LITTLE, codec("zstd", level=level)])


SHAPES = [
    # The shape of a chunk, and the codec's; what it makes, or nothing if it must refuse.
    ((100, 50, 64, 3), [[0, 1], [2], 3], (5000, 64, 3)),
    ((2, 3, 10, 4, 5), [[0, 1], 10, [3, 4]], (6, 10, 20)),
    ((6, 4), [-1], (24,)),
    ((2, 3), [[1], [0]], None),
    ((2, 3, 10, 4, 5), [[1, 0], 10, [3, 4]], None),
    ((2, 3, 10, 4, 5), [[3, 4], 10, [0, 1]], None),
    ((2, 3), [7], None),
]


@pytest.mark.parametrize(("shape", "made", "expected"), SHAPES)
def test_reshape(shape: tuple[int, ...], made: list[Any], expected: tuple[int, ...] | None) -> None:
    """The order of elements stays; a transposition afterwards shows the shape."""
    codecs = [codec("reshape", shape=made), codec("transpose", order=list(range(len(made)))[::-1]), LITTLE]
    members: dict[str, Any] = {"data_type": "uint32", "codecs": codecs}
    if expected is None:
        with pytest.raises(MetadataError, match=r"codecs\[0\]\.configuration\.shape"):
            opened({}, shape, **members)
        return
    store: dict[str, bytes] = {}
    data = np.arange(np.prod(shape), dtype="u4").reshape(shape)
    opened(store, shape, **members)[...] = data
    assert bytes(store["/".join(["c", *"0" * len(shape)])]) == data.reshape(expected).T.tobytes()


WIDTHS = {
    # Bits of an element, of each type that the page of packbits lists.
    **dict.fromkeys(["bool"], 1),
    **dict.fromkeys(["int2", "uint2"], 2),
    **dict.fromkeys(["int4", "uint4", "float4_e2m1fn"], 4),
    **dict.fromkeys(["float6_e2m3fn", "float6_e3m2fn"], 6),
    **dict.fromkeys(["complex_float4_e2m1fn", "int8", "uint8"], 8),
    **dict.fromkeys(["complex_float6_e2m3fn", "complex_float6_e3m2fn"], 12),
    **dict.fromkeys(["int16", "uint16", "bfloat16"], 16),
    **dict.fromkeys(["int32", "uint32", "float32", "complex_bfloat16"], 32),
    **dict.fromkeys(["int64", "uint64", "float64", "complex_float32"], 64),
    **dict.fromkeys(["complex_float64"], 128),
}


@pytest.mark.parametrize(("name", "width"), WIDTHS.items())
def test_packbits(name: str, width: int) -> None:
    """The lowest bit of the first element comes first; the number of padding bits before all, behind, or nowhere."""
    fill: Any = False if name == "bool" else [0, 0] if name.startswith("complex") else 0
    packed, padding = "01" + "00" * (-(-3 * width // 8) - 1), f"{-3 * width % 8:02x}"
    for option, expected in (("none", packed), ("first_byte", padding + packed), ("last_byte", packed + padding)):
        store: dict[str, bytes] = {}
        members = {"data_type": name, "fill_value": fill, "codecs": [codec("packbits", padding_encoding=option)]}
        array = opened(store, (3,), **members)
        data = np.zeros(3, array.dtype)
        data.view("u1")[0] = 1
        array[...] = data
        assert bytes(store["c/0"]).hex() == expected
        assert array[...].tobytes() == data.tobytes()


def test_packbits_keeps_a_range_of_bits() -> None:
    """Signed integers are sign-extended, unsigned ones zero-extended, each from the last bit that is kept."""
    kept = codec("packbits", first_bit=1, last_bit=4)
    assert stored([0b11110, -2], data_type="int8", codecs=[kept]).hex() == "ff"
    assert read("ff", 2, data_type="int8", codecs=[kept]) == [-2, -2]
    assert read("ff", 2, data_type="uint8", codecs=[kept]) == [30, 30]
    with pytest.raises(MetadataError, match="last_bit"):
        opened({}, (2,), data_type="int8", codecs=[codec("packbits", first_bit=4, last_bit=1)])
    assert stored([5], data_type="int8", codecs=[codec("packbits", first_bit=None, last_bit=None)]).hex() == "05"


@pytest.mark.parametrize(("header", "bits"), [("02", None), ("02", 8), ("0200", 16)])
def test_conditional(header: str, bits: int | None) -> None:
    """Bit 0 of a little-endian mask stands for the first codec; the page's own example has codecs without a page."""
    options = {} if bits is None else {"header_bits": bits}
    members = {
        "data_type": "uint8",
        "codecs": ["bytes", codec("conditional", codecs=[codec("gzip", level=1), {"name": "crc32c"}], **options)],
    }
    summed = stored([7] * 9, data_type="uint8", codecs=["bytes", {"name": "crc32c"}])
    assert read(header + summed.hex(), 9, **members) == [7] * 9
    assert read("00" * len(bytes.fromhex(header)) + "07" * 9, 9, **members) == [7] * 9
    with pytest.raises(CodecError):
        read("04" + header[2:] + "07" * 9, 9, **members)


@pytest.mark.parametrize("bits", [9, 0])
def test_conditional_needs_whole_bytes_for_all_codecs(bits: int) -> None:
    with pytest.raises(MetadataError, match="header_bits"):
        opened({}, (1,), codecs=[LITTLE, codec("conditional", codecs=[{"name": "crc32c"}] * 9, header_bits=bits)])


def test_n5_default() -> None:
    """The page's array: the header of a block, and the same array by its document of N5."""
    inner = [codec("transpose", order=[1, 0]), codec("bytes", endian="big"), codec("zstd", level=0, checksum=False)]
    store: dict[str, bytes] = {}
    keys = codec("v2", separator="/")
    array = opened(store, (256, 128), codecs=[codec("n5_default", codecs=inner)], chunk_key_encoding=keys)
    attributes = {
        "blockSize": [256, 128],
        "compression": {"level": 0, "type": "zstd"},
        "dataType": "float32",
        "dimensions": [256, 128],
    }
    other = {"attributes.json": json.dumps(attributes).encode()}
    data = np.arange(256 * 128, dtype="f4").reshape(256, 128)
    array[...] = data
    blizzarr.open_array(other, mode="r+")[...] = data
    # The mode, the number of dimensions, and their lengths, big-endian; then what zstd makes.
    assert bytes(store["0/0"])[:16].hex() == "0000" + "0002" + "00000100" + "00000080" + "28b52ffd"
    assert store["0/0"] == other["0/0"]
    assert np.array_equal(blizzarr.open_array(other)[...], data)


ZFP = [
    {"mode": "reversible"},
    {"mode": "fixed_accuracy", "tolerance": 0.05},
    {"mode": "fixed_precision", "precision": 19},
    {"mode": "fixed_rate", "rate": 10.5},
    {"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19, "minexp": -2},
]


@pytest.mark.skipif(find_spec("zfpy") is None, reason="zfpy is not installed")
@pytest.mark.parametrize("options", ZFP, ids=lambda options: options["mode"])
def test_zfp(options: dict[str, Any]) -> None:
    """The page's files of examples; their data are tested where the extra is installed."""
    array = opened({}, (4, 4), codecs=[codec("zfp", **options)])
    assert array.metadata.codecs.to_json() == [codec("zfp", **options)]
