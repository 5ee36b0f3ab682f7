"""The codecs of numcodecs, the long tail of v1 and v2, under the names that zarr-python gives them in v3.

A row of `ROWS` is a codec by its name in v3 documents; without the prefix it is the codec's id in v1 and v2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.lazy_imports import LazyTable, lazy_names

ROWS: Final = LazyTable[type[NumcodecsCodec]](
    {
        "numcodecs.adler32": "blizzarr.codecs.numcodecs.checksums:Adler32Codec",
        "numcodecs.astype": "blizzarr.codecs.numcodecs.filters:AsTypeCodec",
        "numcodecs.bz2": "blizzarr.codecs.numcodecs.compressors:BZ2Codec",
        "numcodecs.base64": "blizzarr.codecs.numcodecs.compressors:Base64Codec",
        "numcodecs.bitround": "blizzarr.codecs.numcodecs.filters:BitRoundCodec",
        "numcodecs.crc32": "blizzarr.codecs.numcodecs.checksums:CRC32Codec",
        "numcodecs.categorize": "blizzarr.codecs.numcodecs.filters:CategorizeCodec",
        "numcodecs.delta": "blizzarr.codecs.numcodecs.filters:DeltaCodec",
        "numcodecs.fixedscaleoffset": "blizzarr.codecs.numcodecs.filters:FixedScaleOffsetCodec",
        "numcodecs.fletcher32": "blizzarr.codecs.numcodecs.checksums:Fletcher32Codec",
        "numcodecs.jenkins_lookup3": "blizzarr.codecs.numcodecs.checksums:JenkinsLookup3Codec",
        "numcodecs.lz4": "blizzarr.codecs.numcodecs.compressors:LZ4Codec",
        "numcodecs.lzma": "blizzarr.codecs.numcodecs.compressors:LZMACodec",
        "numcodecs.blosc": "blizzarr.codecs.numcodecs.registered:NumcodecsBlosc",
        "numcodecs.crc32c": "blizzarr.codecs.numcodecs.checksums:NumcodecsCrc32c",
        "numcodecs.gzip": "blizzarr.codecs.numcodecs.registered:NumcodecsGzip",
        "numcodecs.zstd": "blizzarr.codecs.numcodecs.registered:NumcodecsZstd",
        "numcodecs.pcodec": "blizzarr.codecs.numcodecs.serializers:PCodecCodec",
        "numcodecs.packbits": "blizzarr.codecs.numcodecs.filters:PackBitsCodec",
        "numcodecs.quantize": "blizzarr.codecs.numcodecs.filters:QuantizeCodec",
        "numcodecs.shuffle": "blizzarr.codecs.numcodecs.compressors:ShuffleCodec",
        "numcodecs.zfpy": "blizzarr.codecs.numcodecs.serializers:ZFPYCodec",
        "numcodecs.zlib": "blizzarr.codecs.numcodecs.compressors:ZlibCodec",
    }
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, ROWS.places.values(), "CODECS")
