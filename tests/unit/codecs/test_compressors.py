"""The compressors and checksums of numcodecs: the same bytes as numcodecs has, and never more than a chunk can hold."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Any

import numcodecs
import numpy as np
import pytest

from blizzarr.codecs import CATALOGUE, CodecChain
from blizzarr.codecs.numcodecs import (
    Adler32Codec,
    Base64Codec,
    BZ2Codec,
    CRC32Codec,
    Fletcher32Codec,
    JenkinsLookup3Codec,
    LZ4Codec,
    LZMACodec,
    NumcodecsBlosc,
    NumcodecsCrc32c,
    NumcodecsGzip,
    NumcodecsZstd,
    ShuffleCodec,
    ZlibCodec,
)
from blizzarr.errors import ChecksumError, CodecError
from support.one_chunk import decoded, encoded

RAW = ({"id": lzma.FILTER_DELTA, "dist": 4}, {"id": lzma.FILTER_LZMA2, "preset": 1})

CODECS = [
    BZ2Codec(),
    BZ2Codec(9),
    LZ4Codec(),
    LZ4Codec(9),
    LZMACodec(),
    LZMACodec(preset=1),
    LZMACodec(format=lzma.FORMAT_ALONE),
    LZMACodec(format=lzma.FORMAT_RAW, filters=RAW),
    LZMACodec(check=lzma.CHECK_CRC32, preset=9 | lzma.PRESET_EXTREME),
    NumcodecsBlosc(),
    NumcodecsBlosc("zstd", 3, 2),
    NumcodecsBlosc("zlib", 1, -1, 256),
    NumcodecsGzip(5),
    NumcodecsGzip(-1),
    NumcodecsZstd(),
    NumcodecsZstd(3, True),
    NumcodecsZstd(100),
    ZlibCodec(9),
    ZlibCodec(-1),
    Adler32Codec(),
    Adler32Codec("end"),
    Base64Codec(),
    CRC32Codec(),
    CRC32Codec("end"),
    Fletcher32Codec(),
    JenkinsLookup3Codec(),
    JenkinsLookup3Codec(7),
    NumcodecsCrc32c(),
    NumcodecsCrc32c("end"),
    NumcodecsCrc32c("start"),
    ShuffleCodec(4),
    ShuffleCodec(1),
]

DATA = np.arange(3000, dtype="int32").reshape(50, 60) // 7


def chain(*codecs: Any) -> CodecChain:
    """A chain of bytes and these codecs."""
    return CodecChain.from_list(["bytes", *codecs], "int32", (50, 60))


def theirs(codec: Any) -> Any:
    """The codec of numcodecs that does the same."""
    return numcodecs.get_codec(codec.config())


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_the_same_as_numcodecs(codec: Any) -> None:
    """V-3: what we store numcodecs can read, and the reverse."""
    if "crc32c" in codec.name:
        pytest.importorskip("google_crc32c")
    assert bytes(theirs(codec).decode(encoded(chain(codec), DATA))) == DATA.tobytes()
    assert np.array_equal(decoded(chain(codec), bytes(theirs(codec).encode(DATA)), "int32", DATA.shape), DATA)


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_damage(codec: Any) -> None:
    """rows 1-9: cut, lengthened and broken data are errors that name chunk, codec and direction."""
    stored = encoded(chain(codec), DATA)
    for damaged in (stored[: len(stored) // 2], stored[:3], b"", stored + b"xyz!"):
        with pytest.raises(CodecError, match=r"cannot decode chunk 0.0 of /: ") as caught:
            decoded(chain(codec), damaged, "int32", DATA.shape)
        assert caught.value.codec in (codec.name, codec.name.removeprefix("numcodecs."))
        assert caught.value.direction == "decode"


@pytest.mark.parametrize(
    "codec",
    [Adler32Codec(), CRC32Codec(), CRC32Codec("end"), Fletcher32Codec(), JenkinsLookup3Codec(1), NumcodecsCrc32c()],
    ids=repr,
)
def test_wrong_checksums(codec: Any) -> None:
    """A bit that flipped is a ChecksumError with both sums."""
    stored = bytearray(encoded(chain(codec), DATA))
    stored[100] ^= 1
    with pytest.raises(ChecksumError, match=r"checksum stored is [0-9a-f]{8}, that of the data is [0-9a-f]{8}"):
        decoded(chain(codec), bytes(stored), "int32", DATA.shape)


@pytest.mark.parametrize(
    ("codec", "bomb"),
    [
        (BZ2Codec(), bz2.compress(bytes(50 << 20))),
        (LZMACodec(), lzma.compress(bytes(50 << 20))),
        (ZlibCodec(), zlib.compress(bytes(50 << 20))),
        (LZ4Codec(), b"\xff\xff\xff\x7f" + bytes(100)),
        (Base64Codec(), b"AAAA" * 10000),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_bombs(codec: Any, bomb: bytes) -> None:
    """row 10: data that decode to more than a chunk holds are an error before they are decoded."""
    with pytest.raises(CodecError, match="expected 12,000 bytes, found"):
        decoded(chain(codec), bomb, "int32", DATA.shape)


def test_bombs_before_others() -> None:
    """row 10: behind another codec, too, what is decoded is bounded by what that can make of a chunk."""
    stored = bz2.compress(zlib.compress(bytes(200 << 20), 9) + bytes(50 << 20))
    with pytest.raises(
        CodecError, match=r"^cannot decode chunk 0.0 of /: numcodecs\.bz2: expected [0-9,]+ bytes, found more$"
    ):
        decoded(chain(ZlibCodec(), BZ2Codec()), stored, "int32", DATA.shape)


@pytest.mark.parametrize("module", [bz2, lzma], ids=["bz2", "lzma"])
def test_several_streams(module: Any) -> None:
    """Streams one behind the other are one value, as numcodecs has it; what else follows is not passed over."""
    data = DATA.tobytes()
    codec = BZ2Codec() if module is bz2 else LZMACodec()
    stored = module.compress(data[:5000]) + module.compress(data[5000:])
    assert np.array_equal(decoded(chain(codec), stored, "int32", DATA.shape), DATA)
    with pytest.raises(CodecError, match="3 bytes follow the end of the encoded data"):
        decoded(chain(codec), stored + b"abc", "int32", DATA.shape)
    with pytest.raises(CodecError, match="data ended after 5,000 of 12,000 bytes"):
        decoded(chain(codec), stored[: len(module.compress(data[:5000])) + 4], "int32", DATA.shape)


def test_padding_of_xz() -> None:
    """An xz stream may be followed by zeros, as its format allows."""
    stored = lzma.compress(DATA.tobytes()) + bytes(8)
    assert np.array_equal(decoded(chain(LZMACodec()), stored, "int32", DATA.shape), DATA)


def test_crc32c_of_numcodecs_0_13() -> None:
    """numcodecs 0.13 put the checksum first, under the same name: where no place is said, the right one is found."""
    start = encoded(chain(NumcodecsCrc32c("start")), DATA)
    end = encoded(chain(NumcodecsCrc32c("end")), DATA)
    assert start[4:] == end[:-4] == DATA.tobytes()
    for stored in (start, end):
        assert np.array_equal(decoded(chain(NumcodecsCrc32c()), stored, "int32", DATA.shape), DATA)
    with pytest.raises(ChecksumError):
        decoded(chain(NumcodecsCrc32c("end")), start, "int32", DATA.shape)


def test_data_that_do_not_compress() -> None:
    """Random bytes get longer, base64 even by a third, and are read again."""
    noise = np.random.default_rng(0).integers(-(2**31), 2**31, DATA.shape, "int32")
    for codec in CODECS:
        codecs = chain(Base64Codec(), codec, Base64Codec())
        assert np.array_equal(decoded(codecs, encoded(codecs, noise), "int32", noise.shape), noise)


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_documents(codec: Any) -> None:
    """Written in full, always with a configuration, as zarr-python wants one; read again they are the same."""
    document = codec.to_json()
    assert list(document) == ["name", "configuration"]
    row = CATALOGUE[document["name"]]
    assert row.name == codec.name
    assert chain(document).compressors == (codec,)


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("numcodecs.bz2", BZ2Codec(1)),
        ("numcodecs.lz4", LZ4Codec(1)),
        ("numcodecs.lzma", LZMACodec(1, -1, None, None)),
        ("numcodecs.zlib", ZlibCodec(1)),
        ("numcodecs.gzip", NumcodecsGzip(1)),
        ("numcodecs.zstd", NumcodecsZstd(0)),
        ("numcodecs.blosc", NumcodecsBlosc("lz4", 5, 1, 0)),
        ("numcodecs.shuffle", ShuffleCodec(4)),
        ("numcodecs.crc32", CRC32Codec()),
    ],
)
def test_defaults(name: str, codec: Any) -> None:
    """What a document leaves out, or says null for, is as numcodecs has it; an element of a shuffle is the array's."""
    for configuration in ({}, {option.name: None for option in codec.options}):
        assert chain({"name": name, "configuration": configuration}).compressors == (codec,)


def test_fixed_sizes() -> None:
    """Checksums have a fixed size, so they may protect the index of a shard; compressors may not."""
    for codec, fixed in ((CRC32Codec(), True), (Fletcher32Codec(), True), (Base64Codec(), True), (LZ4Codec(), False)):
        assert codec.fixed_size is fixed
    inner = {"chunk_shape": [25, 60], "codecs": [{"name": "numcodecs.lz4"}], "index_codecs": ["bytes"]}
    inner["codecs"] = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "numcodecs.lz4"}]
    inner["index_codecs"] = [inner["codecs"][0], {"name": "numcodecs.crc32"}, {"name": "numcodecs.fletcher32"}]
    shard = CodecChain.from_list([{"name": "sharding_indexed", "configuration": inner}], "int32", (50, 60))
    stored = encoded(shard, DATA)
    assert np.array_equal(decoded(shard, stored, "int32", DATA.shape), DATA)
    index = stored[-(2 * 16 + 8) :]
    assert bytes(numcodecs.CRC32().decode(numcodecs.Fletcher32().decode(index)))[:8] == bytes(8)


def test_lzma_says_all_its_options() -> None:
    """V-1: configurations of lzma are written as numcodecs writes them, with null for what is not set."""
    for codec in (LZMACodec(), LZMACodec(preset=3), LZMACodec(format=lzma.FORMAT_RAW, filters=RAW)):
        assert theirs(codec).get_config() == codec.config()
