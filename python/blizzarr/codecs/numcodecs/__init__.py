"""The codecs of numcodecs, the long tail of v1 and v2, under the names that zarr-python gives them in v3.

A row of `ROWS` is a codec by its name in v3 documents; without the prefix it is the codec's id in v1 and v2.
"""

from __future__ import annotations

from typing import Final

from blizzarr.codecs.numcodecs.array_filter import ArrayFilter
from blizzarr.codecs.numcodecs.array_serializer import ArraySerializer
from blizzarr.codecs.numcodecs.astype import AsTypeCodec
from blizzarr.codecs.numcodecs.base64 import Base64Codec
from blizzarr.codecs.numcodecs.bitround import BitRoundCodec
from blizzarr.codecs.numcodecs.bz2 import BZ2Codec
from blizzarr.codecs.numcodecs.categorize import CategorizeCodec
from blizzarr.codecs.numcodecs.checksums import (
    Adler32Codec,
    CRC32Codec,
    Fletcher32Codec,
    JenkinsLookup3Codec,
    NumcodecsCrc32c,
)
from blizzarr.codecs.numcodecs.delta import DeltaCodec
from blizzarr.codecs.numcodecs.filter_run import FilterRun
from blizzarr.codecs.numcodecs.fixedscaleoffset import FixedScaleOffsetCodec
from blizzarr.codecs.numcodecs.lz4 import LZ4Codec
from blizzarr.codecs.numcodecs.lzma import LZMACodec
from blizzarr.codecs.numcodecs.packbits import PackBitsCodec
from blizzarr.codecs.numcodecs.pcodec import PCodecCodec
from blizzarr.codecs.numcodecs.quantize import QuantizeCodec
from blizzarr.codecs.numcodecs.registered import NumcodecsBlosc, NumcodecsGzip, NumcodecsZstd
from blizzarr.codecs.numcodecs.row import PREFIX, NumcodecsCodec
from blizzarr.codecs.numcodecs.run import NumcodecsRun
from blizzarr.codecs.numcodecs.shuffle import ShuffleCodec
from blizzarr.codecs.numcodecs.user_codec import UserCodec
from blizzarr.codecs.numcodecs.zfpy import ZFPYCodec
from blizzarr.codecs.numcodecs.zlib import ZlibCodec

ROWS: Final[dict[str, type[NumcodecsCodec]]] = {
    row.name: row
    for row in (
        Adler32Codec,
        AsTypeCodec,
        BZ2Codec,
        Base64Codec,
        BitRoundCodec,
        CRC32Codec,
        CategorizeCodec,
        DeltaCodec,
        FixedScaleOffsetCodec,
        Fletcher32Codec,
        JenkinsLookup3Codec,
        LZ4Codec,
        LZMACodec,
        NumcodecsBlosc,
        NumcodecsCrc32c,
        NumcodecsGzip,
        NumcodecsZstd,
        PCodecCodec,
        PackBitsCodec,
        QuantizeCodec,
        ShuffleCodec,
        ZFPYCodec,
        ZlibCodec,
    )
}

__all__ = [
    "PREFIX",
    "ROWS",
    "Adler32Codec",
    "ArrayFilter",
    "ArraySerializer",
    "AsTypeCodec",
    "BZ2Codec",
    "Base64Codec",
    "BitRoundCodec",
    "CRC32Codec",
    "CategorizeCodec",
    "DeltaCodec",
    "FilterRun",
    "FixedScaleOffsetCodec",
    "Fletcher32Codec",
    "JenkinsLookup3Codec",
    "LZ4Codec",
    "LZMACodec",
    "NumcodecsBlosc",
    "NumcodecsCodec",
    "NumcodecsCrc32c",
    "NumcodecsGzip",
    "NumcodecsRun",
    "NumcodecsZstd",
    "PCodecCodec",
    "PackBitsCodec",
    "QuantizeCodec",
    "ShuffleCodec",
    "UserCodec",
    "ZFPYCodec",
    "ZlibCodec",
]
