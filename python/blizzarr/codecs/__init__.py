"""Codecs: their names and options, one file each, and the chain of them that an array has.

To add a codec, write its file and add a row to the catalogue below; the work itself is done by the engine, or by the
codec as a step in Python.
"""

from blizzarr.codecs.blosc import BloscCodec
from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.catalogue import CATALOGUE
from blizzarr.codecs.chain import MAX_CODECS, MAX_DEPTH, CodecChain
from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step
from blizzarr.codecs.crc32c import Crc32cCodec
from blizzarr.codecs.gzip import GzipCodec
from blizzarr.codecs.n5 import N5Codec
from blizzarr.codecs.numcodecs import ROWS, ZlibCodec
from blizzarr.codecs.objects import OBJECT_CODECS, ObjectCodec, VlenBytesCodec, VlenUtf8Codec
from blizzarr.codecs.sharding import MAX_INDEX_BYTES, ShardingCodec
from blizzarr.codecs.transpose import TransposeCodec
from blizzarr.codecs.zstd import ZstdCodec

CATALOGUE.update(
    {
        "blosc": BloscCodec,
        "bytes": BytesCodec,
        "crc32c": Crc32cCodec,
        # The name of `bytes` before the specification was final; written as `bytes`.
        "endian": BytesCodec,
        "gzip": GzipCodec,
        "sharding_indexed": ShardingCodec,
        "transpose": TransposeCodec,
        "zstd": ZstdCodec,
        **ROWS,
        **{row.name: row for row in OBJECT_CODECS.values()},
    }
)

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
