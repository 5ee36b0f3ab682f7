"""The module ``zarr.codecs``: codecs with the options and the defaults that zarr-python gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blizzarr.zarr.codecs.named import NamedCodec, codec_from_dict, codec_of_engine
from blizzarr.zarr.codecs.numcodecs import (
    BZ2,
    CRC32,
    CRC32C,
    LZ4,
    LZMA,
    ZFPY,
    Adler32,
    AsType,
    BitRound,
    Blosc,
    Delta,
    FixedScaleOffset,
    Fletcher32,
    GZip,
    JenkinsLookup3,
    PackBits,
    PCodec,
    Quantize,
    Shuffle,
    Zlib,
    Zstd,
)
from blizzarr.zarr.codecs.registered import (
    BloscCname,
    BloscCodec,
    BloscShuffle,
    BytesCodec,
    Crc32cCodec,
    Endian,
    GzipCodec,
    ShardingCodec,
    ShardingCodecIndexLocation,
    TransposeCodec,
    VLenBytesCodec,
    VLenUTF8Codec,
    ZstdCodec,
)

__all__ = [
    "BZ2",
    "CRC32",
    "CRC32C",
    "LZ4",
    "LZMA",
    "ZFPY",
    "Adler32",
    "AsType",
    "BitRound",
    "Blosc",
    "BloscCname",
    "BloscCodec",
    "BloscShuffle",
    "BytesCodec",
    "Crc32cCodec",
    "Delta",
    "Endian",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "GzipCodec",
    "JenkinsLookup3",
    "NamedCodec",
    "PCodec",
    "PackBits",
    "Quantize",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "Shuffle",
    "TransposeCodec",
    "VLenBytesCodec",
    "VLenUTF8Codec",
    "Zlib",
    "Zstd",
    "ZstdCodec",
    "codec_from_dict",
    "codec_of_engine",
]

if not TYPE_CHECKING:
    from blizzarr.zarr.advice import missing

    __getattr__ = missing(__name__)
