"""Codec chains as v1 and v2 spell them, in both directions."""

from __future__ import annotations

import zlib
from typing import Any

import numcodecs
import numpy as np
import pytest

from blizzarr.codecs import (
    BloscCodec,
    BytesCodec,
    CodecChain,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZlibCodec,
    ZstdCodec,
)
from blizzarr.codecs.configs import Configs, chain_from_configs, chain_to_configs, codec_from_config
from blizzarr.codecs.numcodecs import ROWS, DeltaCodec, Fletcher32Codec, ShuffleCodec
from blizzarr.codecs.numcodecs.run import NumcodecsRun
from blizzarr.codecs.objects import OBJECT_CODECS
from blizzarr.dtypes import DataType
from blizzarr.errors import CodecError, MetadataError
from blizzarr.problems import Problems
from support.one_chunk import decoded, encoded

BLOSC = {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0}


def delta(dtype: str, astype: str | None = None) -> dict[str, Any]:
    """The filter as numcodecs writes it."""
    return {"id": "delta", "dtype": dtype, "astype": astype or dtype}


def read(filters: Any, compressor: Any, dtype: str = "<f4", order: str = "C", shape: tuple[int, ...] = (4, 6)) -> Any:
    """The chain for what a document says."""
    problems = Problems()
    endian = {"<": "little", ">": "big"}.get(dtype[0])
    chain = chain_from_configs(
        filters,
        compressor,
        dtype=DataType.parse(dtype),
        endian=endian,
        order=order,
        chunk_shape=shape,
        problems=problems,
    )
    problems.raise_any()
    return chain


def write(chain: CodecChain, dtype: str = "<f4", shape: tuple[int, ...] = (4, 6)) -> Configs:
    """What a document says for a chain."""
    problems = Problems()
    configs = chain_to_configs(chain, dtype=DataType.parse(dtype), chunk_shape=shape, problems=problems)
    problems.raise_any()
    assert configs is not None
    return configs


@pytest.mark.parametrize(
    ("compressor", "codec"),
    [
        (BLOSC, BloscCodec("zstd", 3, "bitshuffle", 4, 0)),
        ({"id": "zlib", "level": 1}, ZlibCodec(1)),
        ({"id": "gzip", "level": 9}, GzipCodec(9)),
        ({"id": "zstd", "level": 5}, ZstdCodec(5, False)),
    ],
)
def test_compressors(compressor: Any, codec: Any) -> None:
    """V-1, V-3: a compressor by its id; gzip and zlib are two codecs. Written, it is what was read."""
    chain = read(None, compressor)
    assert chain == CodecChain((), BytesCodec("little"), (codec,))
    assert write(chain) == (None, compressor, "C", "little")


@pytest.mark.parametrize("filters", [None, []])
def test_no_codecs(filters: Any) -> None:
    """V-1, V-2: no filters are null or an empty list, no compressor is null."""
    assert read(filters, None) == CodecChain((), BytesCodec("little"), ())
    assert write(read(filters, None)) == (None, None, "C", "little")


@pytest.mark.parametrize(("dtype", "endian"), [("<f4", "little"), (">f4", "big"), ("|u1", None)])
def test_byte_order(dtype: str, endian: str | None) -> None:
    """The byte order of the data type is the serializer's, and comes back."""
    chain = read(None, None, dtype)
    assert chain.serializer == BytesCodec(endian)
    assert write(chain, dtype).endian == endian


@pytest.mark.parametrize(("shape", "filters"), [((4, 6), (TransposeCodec((1, 0)),)), ((4,), ()), ((), ())])
def test_order_of_axes(shape: tuple[int, ...], filters: tuple[Any, ...]) -> None:
    """D-42: order F is a transposition of all axes, where there are at least two."""
    chain = read(None, None, order="F", shape=shape)
    assert chain.filters == filters
    assert write(chain, shape=shape).order == ("F" if filters else "C")


# What zarr-python 2.18.7 with numcodecs 0.15.2 stored for [[1, 2, 4], [7, 11, 16]] as one chunk: data type, order,
# filters, compressor, the bytes, and whether every implementation makes the same bytes.
STORED: list[tuple[str, str, Any, Any, str, bool]] = [
    ("<i2", "C", None, None, "01000200040007000b001000", True),
    (">i2", "C", None, None, "0001000200040007000b0010", True),
    ("<i2", "F", None, None, "0100070002000b0004001000", True),
    (">i2", "F", None, None, "000100070002000b00040010", True),
    ("<i2", "C", [delta("<i2")], None, "010001000200030004000500", True),
    (">i2", "C", [delta(">i2")], None, "000100010002000300040005", True),
    (">i2", "C", [delta("<i2")], None, "000100010002000300040005", True),
    ("<i2", "C", [delta(">i2")], None, "010001000200030004000500", True),
    ("<i2", "F", [delta("<i2")], None, "01000600fbff0900f9ff0c00", True),
    (">i2", "F", [delta(">i2")], None, "00010006fffb0009fff9000c", True),
    (">i2", "F", [delta("<i2")], None, "0001000600fb000900f9000c", True),
    ("<i2", "F", [delta(">i2")], None, "01000600fb000900f9000c00", True),
    (">i2", "C", [delta(">i2", "|i1")], None, "010102030405", True),
    ("<i2", "C", [delta("<i2", ">i4")], None, "000000010000000100000002000000030000000400000005", True),
    ("|u1", "C", [delta("|u1", ">i2")], None, "000100010002000300040005", True),
    (">f4", "C", [{"id": "fixedscaleoffset", "scale": 2, "offset": 1, "dtype": ">f4", "astype": "<i2"}], None,
     "0000020006000c0014001e00", True),
    (">f8", "C", [{"id": "astype", "encode_dtype": "<f4", "decode_dtype": ">f8"}], None,
     "0000803f00000040000080400000e0400000304100008041", True),
    ("<f4", "C", [{"id": "bitround", "keepbits": 3}], None,
     "0000803f00000040000080400000e0400000304100008041", True),
    (">f4", "C", [{"id": "quantize", "digits": 1, "dtype": ">f4", "astype": ">f4"}], None,
     "3f800000400000004080000040e000004130000041800000", True),
    (">i2", "C", [{"id": "shuffle", "elementsize": 2}], None, "000000000000010204070b10", True),
    (">i2", "C", [delta(">i2"), {"id": "shuffle", "elementsize": 2}, {"id": "crc32"}], None,
     "237ba031000000000000010102030405", True),
    (">i2", "C", [{"id": "zlib", "level": 1}, delta("|u1")], None, "788962fd04fc02fe01ff077986aaf0000099672a", False),
    (">i2", "C", None, {"id": "adler32", "location": "end"}, "0001000200040007000b00102a009900", True),
    (">i2", "C", [{"id": "fletcher32"}], None, "0001000200040007000b001029005b00", True),
    (">i2", "C", [{"id": "jenkins_lookup3", "initval": 1, "prefix": None}], None,
     "0001000200040007000b0010cfee2b32", True),
    ("<i2", "C", None, {"id": "base64"}, "41514143414151414277414c41424141", True),
    ("<i2", "C", None, {"id": "lz4", "acceleration": 1}, "0c000000c001000200040007000b001000", True),
    ("<i2", "C", None, {"id": "zlib", "level": 0}, "7801010c00f3ff01000200040007000b00100000c2002a", False),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "order", "filters", "compressor", "stored", "same"), STORED)
def test_what_zarr_python_stored(
    dtype: str, order: str, filters: Any, compressor: Any, stored: str, same: bool
) -> None:
    """V-1, V-3: its chunks are read, and ours are the same: also where filters see big-endian elements."""
    data = np.array([[1, 2, 4], [7, 11, 16]]).astype(np.dtype(dtype).newbyteorder("="))
    chain = read(filters, compressor, dtype, order, data.shape)
    assert np.array_equal(decoded(chain, bytes.fromhex(stored), data.dtype, data.shape), data)
    ours = encoded(chain, data)
    if same:
        assert ours.hex() == stored
    assert np.array_equal(decoded(chain, ours, data.dtype, data.shape), data)


@pytest.mark.parametrize(("dtype", "order", "filters", "compressor", "stored", "same"), STORED)
def test_written_again(dtype: str, order: str, filters: Any, compressor: Any, stored: str, same: bool) -> None:
    """The document that is written for a chain means the same chain, whichever of its spellings is chosen."""
    chain = read(filters, compressor, dtype, order, (2, 3))
    configs = write(chain, dtype, (2, 3))
    problems = Problems()
    again = chain_from_configs(
        configs.filters,
        configs.compressor,
        dtype=DataType.parse(dtype),
        endian=configs.endian,
        order=configs.order,
        chunk_shape=(2, 3),
        problems=problems,
    )
    problems.raise_any()
    assert again == chain


@pytest.mark.parametrize(
    ("dtype", "filters", "chain"),
    [
        (">i4", [delta(">i4", ">i2")], ((DeltaCodec("<i4", "<i2"),), BytesCodec("big"))),
        ("<i4", [delta("<i4", ">i2")], ((DeltaCodec("<i4", "<i2"),), BytesCodec("big"))),
        ("|u1", [delta("|u1", ">i2")], ((DeltaCodec("|u1", "<i2"),), BytesCodec("big"))),
        ("<f8", [delta("<i4")], ((DeltaCodec("<i4", "<i4"),), BytesCodec("little"))),
        (">i4", [delta("<i4")], ((), NumcodecsRun((DeltaCodec("<i4", "<i4"),), "C", "big"))),
        (">f8", [delta(">i4")], ((), NumcodecsRun((DeltaCodec(">i4", ">i4"),), "C", "big"))),
    ],
)
def test_byte_order_of_filters(dtype: str, filters: Any, chain: tuple[Any, ...]) -> None:
    """Filters of big-endian elements are filters of numbers and a big-endian serializer, where that is the same."""
    found = read(filters, None, dtype)
    assert (found.filters, found.serializer) == chain


def test_what_looks_at_big_endian_memory_otherwise() -> None:
    """A chain of v3 whose filters take elements for others can be written for little-endian arrays only."""
    chain = CodecChain((DeltaCodec("<i4", "<i4"),), BytesCodec("little"), ())
    assert write(chain, "<f8").filters == [delta("<i4")]
    with pytest.raises(MetadataError, match="filters that take elements for what they are"):
        write(CodecChain((DeltaCodec("<i4", "<i4"),), BytesCodec("big"), ()), "<f8")


@pytest.mark.parametrize(
    ("chain", "text"),
    [
        ([TransposeCodec((1, 2, 0)), "bytes"], "expected axes in their order or reversed, C or F"),
        ([ShardingCodec((1, 1, 1), ["bytes"])], r"codecs\[0\]: expected no shards, as this format has none"),
    ],
)
def test_what_v2_cannot_say(chain: Any, text: str) -> None:
    """Shards, and axes in any order, are of v3: named, each with its place."""
    with pytest.raises(MetadataError, match=text):
        write(CodecChain.from_list(chain, "float32", (2, 3, 4)), "<f4", (2, 3, 4))


def test_codecs_that_v3_names_otherwise() -> None:
    """Codecs of v3 and of zarr-python's v3 have their ids again; what only v3 says, the type size, is left out."""
    listed = [
        "bytes",
        "crc32c",
        "numcodecs.zstd",
        {"name": "numcodecs.blosc", "configuration": {"shuffle": -1}},
        "blosc",
    ]
    configs = write(CodecChain.from_list(listed, "float32", (4,)), shape=(4,))
    blosc = {"cname": "lz4", "clevel": 5, "blocksize": 0}
    assert configs.filters == [
        {"id": "crc32c", "location": "end"},
        {"id": "zstd", "level": 0, "checksum": False},
        {"id": "blosc", **blosc, "shuffle": -1},
    ]
    assert configs.compressor == {"id": "blosc", **blosc, "shuffle": 1}


def test_lenient() -> None:
    """NCZarr has numbers as strings; options that nobody knows do not keep from reading."""
    assert read(None, {"id": "zlib", "level": "4", "nthreads": 1}).compressors == (ZlibCodec(4),)
    chain = read([{"id": "shuffle", "elementsize": "4"}, {"id": "fletcher32"}], {"id": "gzip", "level": -1})
    assert chain.compressors == (ShuffleCodec(4), Fletcher32Codec(), GzipCodec(6))
    assert read([{"id": "shuffle"}], None).compressors == (ShuffleCodec(4),)
    assert read(None, {"id": "blosc"}).compressors == (BloscCodec("lz4", 5, "shuffle", 4),)
    assert read(None, {"id": "zstd", "level": 99}).compressors == (ZstdCodec(22),)


@pytest.mark.parametrize(
    ("dtype", "shuffle", "filters", "expected"),
    [
        ("|u1", -1, None, ("bitshuffle", 1)),
        ("<i4", -1, None, ("shuffle", 4)),
        ("<i4", 1, [delta("<i4", "<i2")], ("shuffle", 2)),
        ("<i4", -1, [{"id": "zlib"}], ("bitshuffle", 1)),
        ("<f8", 0, None, ("noshuffle", 8)),
    ],
)
def test_blosc_sees_what_is_before_it(dtype: str, shuffle: int, filters: Any, expected: tuple[str, int]) -> None:
    """D-161: shuffle -1 goes by the size of what Blosc is given, which is not always an element of the array."""
    codec = read(filters, {"id": "blosc", "shuffle": shuffle}, dtype).compressors[-1]
    assert (codec.shuffle, codec.typesize) == expected


def test_bombs_in_a_run() -> None:
    """row 10: where codecs run as in v2, ours stand in for those of bytes, and stop in time."""
    chain = read([{"id": "zlib"}, delta("|u1")], None, shape=(4, 6))
    assert isinstance(chain.serializer, NumcodecsRun)
    bomb = numcodecs.Delta("u1").encode(np.frombuffer(zlib.compress(bytes(100 << 20)), "u1")).tobytes()
    with pytest.raises(CodecError, match=r"zlib\+delta: data decodes to more than"):
        decoded(chain, bomb, "float32", (4, 6))
    cut = encoded(chain, np.ones((4, 6), "f4"))[:-3]
    with pytest.raises(CodecError, match=r"cannot decode chunk 0.0 of /: zlib\+delta: "):
        decoded(chain, cut, "float32", (4, 6))


@pytest.mark.parametrize(
    ("filters", "compressor", "paths"),
    [
        (3, None, ["filters"]),
        (None, "zlib", ["compressor"]),
        (None, {"level": 1}, ["compressor.id"]),
        (None, {"id": "zlib", "level": 10}, ["compressor.level"]),
        (
            [{"id": "zlib", "level": "x"}, {"id": 5}],
            {"id": "squash"},
            ["filters[0].level", "filters[1].id", "compressor.id"],
        ),
    ],
)
def test_problems(filters: Any, compressor: Any, paths: list[str]) -> None:
    """Every problem at once, placed where these documents have the options: beside the id."""
    with pytest.raises(MetadataError) as caught:
        read(filters, compressor)
    assert [problem.path for problem in caught.value.problems] == paths


def test_categorize_says_itself_whether_it_is_for_objects() -> None:
    labels = ["one", "two"]
    of_objects, of_text = numcodecs.Categorize(labels, dtype=object), numcodecs.Categorize(labels, dtype="<U3")
    found = [type(codec_from_config(codec.get_config(), "codec", Problems())) for codec in (of_objects, of_text)]
    assert found == [OBJECT_CODECS["categorize"], ROWS["numcodecs.categorize"]]


@pytest.mark.parametrize(("written", "size"), [("0", 4), (0, 0)])
def test_shuffle_of_0_bytes(written: Any, size: int) -> None:
    """NetCDF-C writes text and shuffles elements of their own size; numcodecs writes a number and shuffles nothing."""
    read = chain_from_configs(
        [{"id": "shuffle", "elementsize": written}],
        {"id": "zlib", "level": 1},
        dtype=DataType.parse("float32"),
        endian="little",
        order="C",
        chunk_shape=(3,),
        problems=Problems(),
    )
    assert read is not None
    assert read.compressors[0] == ShuffleCodec(elementsize=size)
