"""Codecs that few libraries have: those of zarrs, whose vectors are what zarrs 0.23.13 stored, conditional and zfp."""

from __future__ import annotations

import gzip
import json
import zlib
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import blizzarr
from blizzarr.codecs import ConditionalCodec, OptionalCodec, ShardingCodec, VlenCodec, VlenV2Codec, ZfpCodec
from blizzarr.dtypes import DataType, optional
from blizzarr.errors import CodecError, LimitError, MetadataError, UnknownExtensionError

TEXTS = ["a", "bcd", "", "äö"]
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
OFFSETS = bytes.fromhex("0000000001000000040000000400000008000000")


def vlen(**changes: Any) -> dict[str, Any]:
    options = {"index_codecs": [LITTLE], "data_codecs": ["bytes"], "index_data_type": "uint32", **changes}
    return {"name": "zarrs.vlen", "configuration": options}


def store_with(chunk: bytes, codecs: list[Any], dtype: Any, shape: list[int], fill: Any) -> dict[str, Any]:
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": dtype,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": "default",
        "fill_value": fill,
        "codecs": codecs,
    }
    key = "/".join(["c", *["0"] * len(shape)])
    return {"zarr.json": json.dumps(document).encode(), key: chunk}


INTERLEAVED = b"\x04\0\0\0\x01\0\0\0a\x03\0\0\0bcd\0\0\0\0\x04\0\0\0" + "äö".encode()
AT_END = (
    bytes.fromhex("1f8b08000000000004ff4b4c4a4e39bce4f0360099a8c4ff08000000")
    + b"".join(offset.to_bytes(8, "little") for offset in (0, 1, 4, 4, 8))
    + (40).to_bytes(8, "little")
)
VECTORS: dict[str, tuple[Any, bytes]] = {
    "vlen": (vlen(), (20).to_bytes(8, "little") + OFFSETS + "abcdäö".encode()),
    "vlen at end": (
        vlen(
            index_data_type="uint64",
            index_location="end",
            data_codecs=["bytes", {"name": "gzip", "configuration": {"level": 1}}],
        ),
        AT_END,
    ),
    "vlen_v2": ("zarrs.vlen_v2", INTERLEAVED),
    "vlen-array": ("vlen-array", INTERLEAVED),
}


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("dtype", ["string", "bytes"])
def test_texts_and_bytes_of_zarrs(name: str, dtype: str) -> None:
    """What zarrs stored is read, and what is stored anew is the same but for the bytes of gzip."""
    codec, chunk = VECTORS[name]
    elements: list[Any] = TEXTS if dtype == "string" else [text.encode() for text in TEXTS]
    store = store_with(chunk, [codec], dtype, [4], "" if dtype == "string" else [])
    array = blizzarr.open(store)
    assert array[:].tolist() == elements
    assert array[1:3].tolist() == elements[1:3]
    array[:] = np.array(elements, object)
    if name != "vlen at end":
        assert bytes(store["c/0"]) == chunk
    array[2] = elements[1] * 2
    assert blizzarr.open(store)[:].tolist() == [*elements[:2], elements[1] * 2, elements[3]]
    made = blizzarr.create_array({}, data=array, chunks=3, serializer=array.metadata.codecs.serializer)
    assert made[:].tolist() == array[:].tolist()


@pytest.mark.parametrize(
    "chunk",
    [
        b"",
        b"\x14",
        (2**63).to_bytes(8, "little") + OFFSETS,
        (16).to_bytes(8, "little") + OFFSETS[:16],
        (20).to_bytes(8, "little") + OFFSETS[:-4] + b"\x02\0\0\0",
        (20).to_bytes(8, "little") + OFFSETS[:-4] + b"\xff\xff\xff\xff",
        (20).to_bytes(8, "little") + OFFSETS + b"abcd\xc3\xa4",
        (20).to_bytes(8, "little") + OFFSETS + b"abcd\xff\xff\xff\xff",
        (20).to_bytes(8, "little") + OFFSETS + b"abcd\xc3\xa4\xc3\xb6more",
    ],
)
def test_damaged_offsets(chunk: bytes) -> None:
    """Lengths beyond the chunk, offsets that decrease, other sizes than they say and text that is none are errors."""
    with pytest.raises(CodecError, match=r"zarrs\.vlen"):
        blizzarr.open(store_with(chunk, [vlen()], "string", [4], ""))[:]


def test_more_than_a_chunk_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors name the limit: to write so much is refused, and what is stored may be damaged or just too large."""
    monkeypatch.setattr("blizzarr.codecs.objects.vlen_of_zarrs.MAX_CHUNK_BYTES", 7)
    array = blizzarr.open(store_with(VECTORS["vlen"][1], [vlen()], "string", [4], ""))
    expected = "expected at most 7 bytes of elements in a chunk, found 8"
    with pytest.raises(CodecError, match=f"{expected}: the offsets are damaged, or the chunk is too large"):
        array[:]
    with pytest.raises(LimitError, match=f"{expected}; use smaller chunks"):
        array[:] = ["a", "bcd", "", "äö"]


def test_wrong_options_of_vlen() -> None:
    """Codecs that need the shape of a chunk, and data types of other elements, are problems of the document."""
    shard = {"chunk_shape": [1], "codecs": [LITTLE], "index_codecs": [LITTLE]}
    for codec, dtype, expected in (
        (vlen(index_codecs=[{"name": "sharding_indexed", "configuration": shard}]), "string", "bytes or packbits"),
        (vlen(index_data_type="int8"), "string", "index_data_type"),
        (vlen(), "uint8", "string and bytes"),
        (vlen(data_codecs=["gzip"]), "string", "array -> bytes"),
    ):
        with pytest.raises(MetadataError, match=expected):
            blizzarr.open(store_with(b"", [codec], dtype, [4], "" if dtype == "string" else 0))


def test_bytes_by_an_old_name() -> None:
    """Documents with `binary` have the elements of `bytes`."""
    chunk = b"\3\0\0\0\1\0\0\0a\0\0\0\0\2\0\0\0bc"
    assert blizzarr.open(store_with(chunk, ["vlen-bytes"], "binary", [3], ""))[:].tolist() == [b"a", b"", b"bc"]


def test_squeeze() -> None:
    """Axes of length 1 are left out for the next codec."""
    codecs = ["zarrs.squeeze", {"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE]
    data = np.arange(6, dtype="uint16").reshape(2, 1, 3)
    store = store_with(data[:, 0].T.tobytes(), codecs, "uint16", [2, 1, 3], 0)
    np.testing.assert_array_equal(blizzarr.open(store)[:], data)
    ones = store_with(b"\x07\0", ["zarrs.squeeze", LITTLE], "uint16", [1, 1], 0)
    assert blizzarr.open(ones)[:].tolist() == [[7]]


OPTIONAL = {"name": "zarrs.optional", "configuration": {"name": "uint8", "configuration": {}}}


def of_optional(mask: list[Any], data: list[Any]) -> dict[str, Any]:
    return {"name": "zarrs.optional", "configuration": {"mask_codecs": mask, "data_codecs": data}}


def test_optional_elements() -> None:
    """What zarrs stored is read and stored again; masked arrays and records are taken; null is the fill value."""
    chunk = (1).to_bytes(8, "little") + (3).to_bytes(8, "little") + b"\x0d\x05\x07\x08"
    store = store_with(chunk, [of_optional(["packbits"], ["bytes"])], OPTIONAL, [4], None)
    array = blizzarr.open(store)
    assert array[:].tolist() == [(True, 5), (False, 0), (True, 7), (True, 8)]
    assert optional.masked(array[:]).tolist() == [5, None, 7, 8]
    array[:] = array[:]
    assert bytes(store["c/0"]) == chunk
    array[1:3] = np.ma.array([1, 2], mask=[False, True])
    assert optional.masked(blizzarr.open(store)[:]).tolist() == [5, 1, None, 8]
    assert blizzarr.open(store).fill_value.item() == (False, 0)


@pytest.mark.parametrize(
    ("value", "there"),
    [
        ([0, 5], [0, 5]),
        (np.array([0, 5], "float32"), [0, 5]),
        ([0, None], [0, None]),
        (np.array([None, 0], object), [None, 0]),
        ([(True, 0), (False, 0)], [0, None]),
        (0, [0, 0]),
        (np.uint8(0), [0, 0]),
        (None, [None, None]),
    ],
    ids=repr,
)
def test_a_zero_is_no_missing_element(value: Any, there: list[Any]) -> None:
    """NumPy sets both fields of a record to a number: a zero would not be valid, and any other one would."""
    array = blizzarr.create_array({}, shape=2, dtype=OPTIONAL, fill_value=9)
    array[:] = value
    assert optional.masked(array[:]).tolist() == there
    if np.ndim(value):
        assert optional.masked(blizzarr.create_array({}, data=value, dtype=OPTIONAL)[:]).tolist() == there


def test_optional_numbers_with_codecs() -> None:
    """Each part has its codecs; the fill value of a document is a list of the value."""
    chunk = bytes.fromhex("05000000000000001c000000000000002d5c91e8cd") + bytes.fromhex(
        "1f8b08000000000004ff6360606260666065" + "0000c925284708000000"
    )
    dtype = {"name": "zarrs.optional", "configuration": {"name": "int16"}}
    codec = of_optional(["packbits", "crc32c"], [LITTLE, {"name": "gzip", "configuration": {"level": 1}}])
    array = blizzarr.open(store_with(chunk, [codec], dtype, [6], [3]))
    assert optional.masked(array[:]).tolist() == [0, None, 2, 3, None, 5]
    assert array.fill_value.item() == (True, 3)
    data = np.ma.array(range(100), mask=[number % 3 == 0 for number in range(100)])
    big = OptionalCodec(data_codecs=[BIG])
    for options in ({}, {"serializer": big}, {"shards": 50, "fill_value": (True, 7)}, {"fill_value": 7}):
        made = blizzarr.create_array(store := {}, data=data, dtype=dtype, chunks=25, **options)
        assert optional.masked(blizzarr.open(store)[:]).tolist() == data.tolist()
        assert made.fill_value.item() == ((True, 7) if "fill_value" in options else (False, 0))


@pytest.mark.parametrize(
    "chunk",
    [
        b"",
        bytes(16),
        (1).to_bytes(8, "little") + (2).to_bytes(8, "little") + b"\x0d\x05\x07\x08",
        (1).to_bytes(8, "little") + (2).to_bytes(8, "little") + b"\x0d\x05\x07",
        (2**64 - 1).to_bytes(8, "little") + (5).to_bytes(8, "little") + b"\x0d\x05\x07\x08",
    ],
)
def test_damaged_optional_elements(chunk: bytes) -> None:
    """Lengths that do not add up, and fewer values than there should be, are errors."""
    with pytest.raises(CodecError, match=r"zarrs\.optional"):
        blizzarr.open(store_with(chunk, [of_optional(["packbits"], ["bytes"])], OPTIONAL, [4], None))[:]


def test_wrong_optional_types() -> None:
    """A data type without an inner one, one of variable length, other fill values and other data types are refused."""
    codec = of_optional(["packbits"], ["bytes"])
    for dtype, fill, expected in (
        ({"name": "zarrs.optional"}, None, "the name of a data type"),
        ({"name": "zarrs.optional", "configuration": {"name": "string"}}, None, "fixed size"),
        (OPTIONAL, 5, "null, or a list"),
        (OPTIONAL, [300], r"fill_value\[0\]"),
        ("uint8", 0, "this one is for zarrs.optional"),
    ):
        with pytest.raises(MetadataError, match=expected):
            blizzarr.open(store_with(b"", [codec], dtype, [4], fill))


def conditional(*codecs: Any, **options: Any) -> list[Any]:
    return ["bytes", {"name": "conditional", "configuration": {"codecs": list(codecs), **options}}]


def test_conditional() -> None:
    """Each bit says whether a codec was applied, the first codec's is the lowest; reserved bits are those in front."""
    data = bytes(range(40))
    codecs = conditional("numcodecs.zlib", "gzip", header_bits=16)
    codecs[1]["configuration"]["codecs"][0] = {"name": "numcodecs.zlib", "configuration": {"level": 1}}
    codecs[1]["configuration"]["codecs"][1] = {"name": "gzip", "configuration": {"level": 1}}
    chunks = {
        b"\0\0": data,
        b"\1\0": zlib.compress(data),
        b"\2\0": gzip.compress(data),
        b"\3\0": gzip.compress(zlib.compress(data)),
    }
    for header, encoded in chunks.items():
        array = blizzarr.open(store_with(header + encoded, codecs, "uint8", [40], 0))
        assert array[:].tobytes() == data
    for damaged in (
        b"",
        b"\0",
        b"\4\0" + data,
        b"\0\1" + data,
        b"\1\0" + data,
        b"\0\0" + data + b"x",
        b"\0\0" + data[1:],
    ):
        with pytest.raises(CodecError, match="conditional"):
            blizzarr.open(store_with(damaged, codecs, "uint8", [40], 0))[:]


def test_conditional_skips_what_does_not_help() -> None:
    """Random bytes are stored as they are, behind one byte; others are compressed, in shards, too."""
    noise = np.random.default_rng(0).integers(0, 256, 1000, dtype="uint8")
    data = np.concatenate([np.ones(1000, "uint8"), noise])
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=data, chunks=1000, compressors=ConditionalCodec(["zstd", "crc32c"]))
    assert len(store["c/0"]) < 60
    assert bytes(store["c/1"]) == b"\0" + noise.tobytes()
    np.testing.assert_array_equal(blizzarr.open(store)[:], data)
    sharded = blizzarr.create_array({}, data=data, chunks=500, shards=2000, compressors=ConditionalCodec("gzip"))
    np.testing.assert_array_equal(sharded[:], data)


def test_conditional_codecs_within_each_other() -> None:
    """Up to 16 work, as shards do; more of them are refused with that number."""
    data = np.arange(100, dtype="uint8")
    codec: Any = "gzip"
    for _ in range(16):
        codec = ConditionalCodec([codec])
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=data, chunks=100, compressors=codec)
    np.testing.assert_array_equal(blizzarr.open(store)[:], data)
    with pytest.raises(LimitError, match="codecs nested at most 16 deep, found 17"):
        blizzarr.create_array({}, data=data, compressors=ConditionalCodec([codec]))


@pytest.mark.parametrize("depth", [300, 3000])
def test_codecs_nested_beyond_what_python_can_follow(depth: int) -> None:
    codecs: Any = ["bytes"]
    for _ in range(depth):
        codecs = [ShardingCodec((1,), codecs)]
    # How much Python can follow, so that it counts them, depends on its version.
    with pytest.raises(LimitError, match=r"codecs nested at most 16 deep, found (more|17)"):
        blizzarr.create_array({}, shape=4, chunks=1, dtype="int16", codecs=codecs)


def test_wrong_options_of_conditional() -> None:
    """Codecs that are not from bytes to bytes, none at all, too few bits and unknown ones are problems, with places."""
    for codecs, expected in (
        (conditional("bytes"), "bytes to bytes"),
        (conditional(), "at least one codec"),
        (["bytes", {"name": "conditional", "configuration": {"codecs": None}}], "a list of codecs, found null"),
        (conditional("crc32c", header_bits=12), "a multiple of 8"),
        (conditional(*["crc32c"] * 9, header_bits=8), "at least one bit"),
        (conditional({"name": "gzip"}), r"codecs\[1\].configuration.codecs\[0\].configuration.level"),
    ):
        with pytest.raises(MetadataError, match=expected):
            blizzarr.open(store_with(b"", codecs, "uint8", [4], 0))
    with pytest.raises(UnknownExtensionError, match="acme"):
        blizzarr.open(store_with(b"", conditional("acme"), "uint8", [4], 0))[:]


EXPERT = {"mode": "expert", "minbits": 1, "maxbits": 13, "maxprec": 19, "minexp": -2}


def test_squeezed_objects_are_transposed() -> None:
    """Behind a filter that changes the shape, texts are transposed as their tokens."""
    turned = [{"name": "transpose", "configuration": {"order": [1, 0]}}]
    data = np.array([["a", "bc", ""], ["d", "e", "longer than eight bytes"]], object)
    store: dict[str, Any] = {}
    blizzarr.create_array(store, data=data[:, None], dtype="string", filters=["zarrs.squeeze", *turned])
    np.testing.assert_array_equal(blizzarr.open(store)[:, 0], data)
    other: dict[str, Any] = {}
    blizzarr.create_array(other, data=data, dtype="string", filters=turned)
    assert store["c/0/0/0"] == other["c/0/0"]


@pytest.mark.skipif(find_spec("zfpy") is None, reason="zfpy is not installed")
@pytest.mark.parametrize(
    "codec",
    [
        ZfpCodec(),
        ZfpCodec("fixed_accuracy", tolerance=0.01),
        ZfpCodec("fixed_rate", rate=12.5),
        ZfpCodec("fixed_precision", precision=20),
    ],
    ids=lambda codec: codec.mode,
)
@pytest.mark.parametrize("shape", [(), (9,), (5, 6), (3, 4, 5), (2, 3, 4, 5)])
def test_zfp(codec: ZfpCodec, shape: tuple[int, ...]) -> None:
    """The stream is that of the library without its header; without loss, or as exact as the mode says."""
    import zfpy

    option = {"fixed_accuracy": "tolerance", "fixed_rate": "rate", "fixed_precision": "precision"}.get(codec.mode)
    options = {} if option is None else {option: getattr(codec, option)}
    data = np.random.default_rng(0).standard_normal(shape).astype("float32")
    store: dict[str, Any] = {}
    array = blizzarr.create_array(store, data=data, serializer=codec, compressors=None)
    key = next(key for key in store if key != "zarr.json")
    flat = np.asarray(data).reshape(shape or (1,))
    assert bytes(store[key]) == zfpy.compress_numpy(flat, write_header=False, **options)
    np.testing.assert_allclose(
        blizzarr.open(store)[...], data, atol={"reversible": 0, "fixed_rate": 1}.get(codec.mode, 0.01)
    )
    # What is missing at the end is no zeros. (The last words may have few bits, or none.)
    stored = bytes(store[key])
    for length in range(1, len(stored) - 16, 7):
        store[key] = stored[:length]
        with pytest.raises(CodecError, match=f"data ended after {length:,} encoded bytes"):
            array[...]
    store[key] = b""
    with pytest.raises(CodecError, match="zfp"):
        array[...]


@pytest.mark.skipif(find_spec("zfpy") is None, reason="zfpy is not installed")
def test_zfp_makes_infinity_of_a_half_that_is_too_large() -> None:
    data = np.array([65504, 65504, -65504, 1], "f2")
    array = blizzarr.create_array({}, data=data, serializer=ZfpCodec("fixed_rate", rate=4), compressors=None)
    with np.errstate(all="raise"):
        assert array[0] == np.inf


@pytest.mark.skipif(find_spec("zfpy") is None, reason="zfpy is not installed")
def test_options_of_zfp() -> None:
    """The options of a mode must be there, and no other; other data types and five axes are not supported."""
    for options, dtype, shape, expected in (
        ({"mode": "fixed_rate"}, "float32", [4], "rate for the mode"),
        ({"mode": "reversible", "rate": 3}, "float32", [4], "no rate for the mode"),
        ({"mode": "reversible"}, "complex64", [4], "this one is for int8"),
        ({"mode": "expert", "minbits": 1, "maxbits": 9, "maxprec": 4}, "float32", [4], "minexp for the mode"),
        ({**EXPERT, "minbits": 14}, "float32", [4], "at most maxbits, 13"),
        ({**EXPERT, "maxbits": 8}, "float32", [4], "at least 9 bits for a block of float32 with this minexp"),
        ({**EXPERT, "maxbits": 11}, "float64", [4], "at least 12 bits"),
        ({**EXPERT, "minexp": -1075}, "float16", [4], "at least 15 bits"),
        ({**EXPERT, "maxbits": 18, "minexp": -1075}, "float64", [4], "at least 19 bits"),
        ({**EXPERT, "maxbits": 4, "minexp": -1075}, "uint8", [4], "at least 5 bits"),
        ({**EXPERT, "maxbits": 5, "minexp": -1075}, "int64", [4], "at least 6 bits"),
        (EXPERT, "float32", [1, 1, 1, 4097], "in this mode, it is for at most 4,096 elements along each axis"),
        ({"mode": "reversible"}, "float32", [1] * 5, "at most 4 axes"),
        ({"mode": "fast"}, "float32", [4], "one of"),
    ):
        codec = {"name": "zfp", "configuration": options}
        with pytest.raises(MetadataError, match=expected):
            blizzarr.open(store_with(b"", [codec], dtype, shape, 0))[...]


@pytest.mark.skipif(find_spec("zfpy") is None, reason="zfpy is not installed")
@pytest.mark.parametrize(
    "dtype",
    [
        *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
        *("float16", "bfloat16", "float32", "float64", "M8[ns]", "m8[s]"),
    ],
)
@pytest.mark.parametrize("shape", [(), (9,), (5, 6), (3, 4, 5), (2, 3, 4, 5)])
def test_data_types_of_zfp(dtype: str, shape: tuple[int, ...]) -> None:
    """Each is compressed without loss as the registry's page promotes it, and in expert mode, too."""
    data = np.random.default_rng(0).integers(0, 120, shape).astype(DataType.parse(dtype).numpy)
    if dtype in ("int8", "uint8", "int16", "uint16"):
        data.flat[:1], data.flat[-1:] = np.iinfo(data.dtype).min, np.iinfo(data.dtype).max
    for codec in (ZfpCodec(), ZfpCodec("expert", minbits=0, maxbits=2**32 - 1, maxprec=64, minexp=-1075)):
        store: dict[str, Any] = {}
        blizzarr.create_array(store, data=data, serializer=codec, compressors=None)
        np.testing.assert_array_equal(blizzarr.open(store)[...], data)


@pytest.mark.skipif(find_spec("zfpy") is None, reason="zfpy is not installed")
def test_zfp_promotes_as_the_page_says() -> None:
    """Fewer bits go to the top of an int32; a number that int32 lacks is refused, and what was below zero is zero."""
    for dtype, numbers, promoted in (
        ("int8", [-128, 3], [-(2**30), 3 << 23]),
        ("uint8", [0, 131], [-(2**30), 3 << 23]),
        ("uint16", [65535, 32768], [32767 << 15, 0]),
        ("uint32", [0, 2**31 - 1], [0, 2**31 - 1]),
    ):
        stores: list[dict[str, Any]] = [{}, {}]
        for store, values, kind in zip(stores, (numbers, promoted), (dtype, "int32"), strict=True):
            blizzarr.create_array(store, data=np.array(values, kind), serializer=ZfpCodec(), compressors=None)
        assert stores[0]["c/0"] == stores[1]["c/0"]
    with pytest.raises(CodecError, match="numbers that int32 has, which is what zfp compresses, found 2147483648"):
        blizzarr.create_array({}, data=np.array([2**31], "uint32"), serializer=ZfpCodec(), compressors=None)
    stores[0].clear()
    blizzarr.create_array(stores[0], data=np.array([-5, 7], "int32"), serializer=ZfpCodec(), compressors=None)
    stores[0]["zarr.json"] = bytes(stores[0]["zarr.json"]).replace(b'"int32"', b'"uint32"')
    assert blizzarr.open(stores[0])[:].tolist() == [0, 7]


@pytest.mark.skipif(find_spec("zfpy") is None, reason="zfpy is not installed")
@pytest.mark.parametrize("shape", [(), (90,), (20, 21), (7, 8, 9), (3, 4, 5, 6)])
def test_zfp_in_expert_mode(shape: tuple[int, ...]) -> None:
    """The bytes are those of the mode with the same parameters; with others, every block has its bits."""
    data = np.random.default_rng(0).standard_normal(shape)
    side = 4 ** max(len(shape), 1)
    usual = {"minbits": 1, "maxbits": 16658, "maxprec": 64, "minexp": -1074}
    for same, changed in (
        (ZfpCodec("fixed_accuracy", tolerance=2.0**-5), {"minexp": -5}),
        (ZfpCodec("fixed_precision", precision=20), {"maxprec": 20}),
        (ZfpCodec("fixed_rate", rate=8), {"minbits": 8 * side, "maxbits": 8 * side}),
    ):
        stores: list[dict[str, Any]] = [{}, {}]
        for store, codec in zip(stores, (same, ZfpCodec("expert", **{**usual, **changed})), strict=True):
            blizzarr.create_array(store, data=data, serializer=codec, compressors=None)
        key = next(key for key in stores[0] if key != "zarr.json")
        assert stores[0][key] == stores[1][key]
        np.testing.assert_array_equal(blizzarr.open(stores[1])[...], blizzarr.open(stores[0])[...])
    store = {}
    options = {"minbits": 100, "maxbits": 200, "maxprec": 30, "minexp": -20}
    blizzarr.create_array(store, data=data, serializer=ZfpCodec("expert", **options), compressors=None)
    blocks = np.prod([-(-length // 4) for length in shape], dtype=int)
    assert 100 * blocks <= 8 * len(store[key]) < 200 * blocks + 64
    np.testing.assert_allclose(blizzarr.open(store)[...], data, atol=6)
    store[key] = store[key][:1]
    with pytest.raises(CodecError, match="data ended after 1 encoded bytes"):
        blizzarr.open(store)[...]


@pytest.mark.skipif(find_spec("zfpy") is None, reason="zfpy is not installed")
def test_zfpy_that_exports_no_zfp(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mode expert is read, and writing says what is missing."""
    import zfpy

    store: dict[str, Any] = {}
    codec = ZfpCodec("expert", minbits=1, maxbits=200, maxprec=64, minexp=-1074)
    array = blizzarr.create_array(store, data=np.ones(4), serializer=codec, compressors=None)
    monkeypatch.setattr(zfpy, "__file__", np._core._multiarray_umath.__file__)
    assert array[:].tolist() == [1] * 4
    with pytest.raises(CodecError, match="it exports no zfp"):
        array[:] = 2


def test_names_are_those_of_documents() -> None:
    """The codecs are written by the names that zarrs reads."""
    assert VlenCodec().name == "zarrs.vlen"
    assert OptionalCodec().to_json()["configuration"] == {"mask_codecs": ["packbits"]}
    array = blizzarr.create_array({}, data=["a"], dtype="string", serializer=VlenV2Codec())
    assert [codec["name"] for codec in array.metadata.codecs.to_json()][:1] == ["zarrs.vlen_v2"]
