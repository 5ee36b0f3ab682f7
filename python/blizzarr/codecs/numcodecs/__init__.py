"""The codecs of numcodecs, the long tail of v1 and v2, under the names that zarr-python gives them in v3.

A row of `ROWS` is a codec by its name in v3 documents; without the prefix it is the codec's id in v1 and v2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blizzarr.codecs.numcodecs.row import PREFIX, NumcodecsCodec
from blizzarr.lazy_imports import LazyTable, lazy_names

if TYPE_CHECKING:
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
    from blizzarr.codecs.numcodecs.run import NumcodecsRun
    from blizzarr.codecs.numcodecs.shuffle import ShuffleCodec
    from blizzarr.codecs.numcodecs.user_codec import UserCodec
    from blizzarr.codecs.numcodecs.zfpy import ZFPYCodec
    from blizzarr.codecs.numcodecs.zlib import ZlibCodec

ROWS: Final = LazyTable[type[NumcodecsCodec]](
    {
        "numcodecs.adler32": "blizzarr.codecs.numcodecs.checksums:Adler32Codec",
        "numcodecs.astype": "blizzarr.codecs.numcodecs.astype:AsTypeCodec",
        "numcodecs.bz2": "blizzarr.codecs.numcodecs.bz2:BZ2Codec",
        "numcodecs.base64": "blizzarr.codecs.numcodecs.base64:Base64Codec",
        "numcodecs.bitround": "blizzarr.codecs.numcodecs.bitround:BitRoundCodec",
        "numcodecs.crc32": "blizzarr.codecs.numcodecs.checksums:CRC32Codec",
        "numcodecs.categorize": "blizzarr.codecs.numcodecs.categorize:CategorizeCodec",
        "numcodecs.delta": "blizzarr.codecs.numcodecs.delta:DeltaCodec",
        "numcodecs.fixedscaleoffset": "blizzarr.codecs.numcodecs.fixedscaleoffset:FixedScaleOffsetCodec",
        "numcodecs.fletcher32": "blizzarr.codecs.numcodecs.checksums:Fletcher32Codec",
        "numcodecs.jenkins_lookup3": "blizzarr.codecs.numcodecs.checksums:JenkinsLookup3Codec",
        "numcodecs.lz4": "blizzarr.codecs.numcodecs.lz4:LZ4Codec",
        "numcodecs.lzma": "blizzarr.codecs.numcodecs.lzma:LZMACodec",
        "numcodecs.blosc": "blizzarr.codecs.numcodecs.registered:NumcodecsBlosc",
        "numcodecs.crc32c": "blizzarr.codecs.numcodecs.checksums:NumcodecsCrc32c",
        "numcodecs.gzip": "blizzarr.codecs.numcodecs.registered:NumcodecsGzip",
        "numcodecs.zstd": "blizzarr.codecs.numcodecs.registered:NumcodecsZstd",
        "numcodecs.pcodec": "blizzarr.codecs.numcodecs.pcodec:PCodecCodec",
        "numcodecs.packbits": "blizzarr.codecs.numcodecs.packbits:PackBitsCodec",
        "numcodecs.quantize": "blizzarr.codecs.numcodecs.quantize:QuantizeCodec",
        "numcodecs.shuffle": "blizzarr.codecs.numcodecs.shuffle:ShuffleCodec",
        "numcodecs.zfpy": "blizzarr.codecs.numcodecs.zfpy:ZFPYCodec",
        "numcodecs.zlib": "blizzarr.codecs.numcodecs.zlib:ZlibCodec",
    }
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        [
            *ROWS.places.values(),
            "blizzarr.codecs.numcodecs.array_filter:ArrayFilter",
            "blizzarr.codecs.numcodecs.array_serializer:ArraySerializer",
            "blizzarr.codecs.numcodecs.filter_run:FilterRun",
            "blizzarr.codecs.numcodecs.run:NumcodecsRun",
            "blizzarr.codecs.numcodecs.user_codec:UserCodec",
        ],
        "CODECS",
    )

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
