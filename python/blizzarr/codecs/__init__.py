"""Codecs: their names and options, one file each, and the codec chain of an array.

To add a codec, write its file and add a row to the catalogue. The engine does the work, or the codec does it as a step
in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blizzarr.codecs.catalogue import CATALOGUE
from blizzarr.codecs.chain import MAX_CODECS, MAX_DEPTH, CodecChain
from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step
from blizzarr.codecs.objects import ObjectCodec
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.lazy_imports import lazy_names

if TYPE_CHECKING:
    from blizzarr.codecs.blosc import BloscCodec
    from blizzarr.codecs.bytes import BytesCodec
    from blizzarr.codecs.crc32c import Crc32cCodec
    from blizzarr.codecs.gzip import GzipCodec
    from blizzarr.codecs.n5 import N5Codec
    from blizzarr.codecs.numcodecs import ZlibCodec
    from blizzarr.codecs.objects import VlenBytesCodec, VlenUtf8Codec
    from blizzarr.codecs.sharding import MAX_INDEX_BYTES, ShardingCodec
    from blizzarr.codecs.zstd import ZstdCodec

__all__ = [
    "CATALOGUE",
    "MAX_CODECS",
    "MAX_DEPTH",
    "MAX_INDEX_BYTES",
    "BloscCodec",
    "BytesCodec",
    "Chunk",
    "Codec",
    "CodecChain",
    "Crc32cCodec",
    "GzipCodec",
    "N5Codec",
    "ObjectCodec",
    "Option",
    "ShardingCodec",
    "Stage",
    "Step",
    "TransposeCodec",
    "VlenBytesCodec",
    "VlenUtf8Codec",
    "ZlibCodec",
    "ZstdCodec",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        __name__,
        [
            "blizzarr.codecs.blosc:BloscCodec",
            "blizzarr.codecs.bytes:BytesCodec",
            "blizzarr.codecs.crc32c:Crc32cCodec",
            "blizzarr.codecs.gzip:GzipCodec",
            "blizzarr.codecs.n5:N5Codec",
            "blizzarr.codecs.numcodecs:ZlibCodec",
            "blizzarr.codecs.objects:VlenBytesCodec",
            "blizzarr.codecs.objects:VlenUtf8Codec",
            "blizzarr.codecs.sharding:MAX_INDEX_BYTES",
            "blizzarr.codecs.sharding:ShardingCodec",
            "blizzarr.codecs.zstd:ZstdCodec",
        ],
        "CODECS",
    )
