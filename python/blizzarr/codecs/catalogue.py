"""The catalogue of codecs: one row per name that documents may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from blizzarr.codecs.codec import Codec
from blizzarr.codecs.numcodecs import ROWS
from blizzarr.codecs.numcodecs.row import PREFIX
from blizzarr.codecs.objects import NAMED
from blizzarr.open_table import OpenTable

if TYPE_CHECKING:
    # What `blizzarr.codecs` exports; it is imported when it is first needed.
    from blizzarr.codecs.bitround import BitroundCodec as BitroundCodec
    from blizzarr.codecs.blosc import BloscCodec as BloscCodec
    from blizzarr.codecs.bytes import BytesCodec as BytesCodec
    from blizzarr.codecs.cast_value import CastValueCodec as CastValueCodec
    from blizzarr.codecs.conditional import ConditionalCodec as ConditionalCodec
    from blizzarr.codecs.crc32c import Crc32cCodec as Crc32cCodec
    from blizzarr.codecs.gdeflate import GdeflateCodec as GdeflateCodec
    from blizzarr.codecs.gzip import GzipCodec as GzipCodec
    from blizzarr.codecs.in_numpy import ArrayArrayCodec as ArrayArrayCodec
    from blizzarr.codecs.in_numpy import ArrayBytesCodec as ArrayBytesCodec
    from blizzarr.codecs.in_numpy import BytesBytesCodec as BytesBytesCodec
    from blizzarr.codecs.n5 import N5Codec as N5Codec
    from blizzarr.codecs.n5 import N5DefaultCodec as N5DefaultCodec
    from blizzarr.codecs.numcodecs.compressors import ZlibCodec as ZlibCodec
    from blizzarr.codecs.objects import VlenBytesCodec as VlenBytesCodec
    from blizzarr.codecs.objects import VlenUtf8Codec as VlenUtf8Codec
    from blizzarr.codecs.objects.vlen_of_zarrs import VlenArrayOfZarrsCodec as VlenArrayOfZarrsCodec
    from blizzarr.codecs.objects.vlen_of_zarrs import VlenCodec as VlenCodec
    from blizzarr.codecs.objects.vlen_of_zarrs import VlenV2Codec as VlenV2Codec
    from blizzarr.codecs.optional import OptionalCodec as OptionalCodec
    from blizzarr.codecs.packbits import PackbitsCodec as PackbitsCodec
    from blizzarr.codecs.reshape import ReshapeCodec as ReshapeCodec
    from blizzarr.codecs.reshape import SqueezeCodec as SqueezeCodec
    from blizzarr.codecs.scale_offset import ScaleOffsetCodec as ScaleOffsetCodec
    from blizzarr.codecs.sharding import MAX_INDEX_BYTES as MAX_INDEX_BYTES
    from blizzarr.codecs.sharding import ShardingCodec as ShardingCodec
    from blizzarr.codecs.transpose import TransposeCodec as TransposeCodec
    from blizzarr.codecs.zfp import ZfpCodec as ZfpCodec
    from blizzarr.codecs.zstd import ZstdCodec as ZstdCodec

CATALOGUE: Final = OpenTable[type[Codec]](
    "blizzarr.codecs",
    {
        "bitround": "blizzarr.codecs.bitround:BitroundCodec",
        "blosc": "blizzarr.codecs.blosc:BloscCodec",
        "bytes": "blizzarr.codecs.bytes:BytesCodec",
        "cast_value": "blizzarr.codecs.cast_value:CastValueCodec",
        "conditional": "blizzarr.codecs.conditional:ConditionalCodec",
        "crc32c": "blizzarr.codecs.crc32c:Crc32cCodec",
        # The name of `bytes` before the specification was final; written as `bytes`.
        "endian": "blizzarr.codecs.bytes:BytesCodec",
        "gzip": "blizzarr.codecs.gzip:GzipCodec",
        "n5_default": "blizzarr.codecs.n5:N5DefaultCodec",
        "packbits": "blizzarr.codecs.packbits:PackbitsCodec",
        "reshape": "blizzarr.codecs.reshape:ReshapeCodec",
        "scale_offset": "blizzarr.codecs.scale_offset:ScaleOffsetCodec",
        "sharding_indexed": "blizzarr.codecs.sharding:ShardingCodec",
        "transpose": "blizzarr.codecs.transpose:TransposeCodec",
        "zarrs.gdeflate": "blizzarr.codecs.gdeflate:GdeflateCodec",
        "zarrs.optional": "blizzarr.codecs.optional:OptionalCodec",
        "zarrs.squeeze": "blizzarr.codecs.reshape:SqueezeCodec",
        "zfp": "blizzarr.codecs.zfp:ZfpCodec",
        "zstd": "blizzarr.codecs.zstd:ZstdCodec",
        **ROWS.places,
        **NAMED,
        # These are codecs for objects, too, but none of numcodecs.
        "vlen-array": "blizzarr.codecs.objects.vlen_of_zarrs:VlenArrayOfZarrsCodec",
        "zarrs.vlen": "blizzarr.codecs.objects.vlen_of_zarrs:VlenCodec",
        "zarrs.vlen_v2": "blizzarr.codecs.objects.vlen_of_zarrs:VlenV2Codec",
    },
    of_others=("zarr.codecs", "blizzarr.codecs.zarr_python:adapted"),
)
"""The codecs by name. Each is imported when it is first needed: most arrays have two or three of them."""

ALIASES: Final = {
    # zarrita's names of what has others in v3.
    **{name: f"{PREFIX}{name}" for name in ("lz4", "zlib")},
    "numcodecs.vlen-utf8": "vlen-utf8",
    # The names of zarrs before theirs were registered, or began with "zarrs."; the second bitround is a slip of theirs.
    "zarrs.zfp": "zfp",
    **{
        f"https://codec.zarrs.dev/{place}": name
        for place, name in {
            "array_to_array/bitround": "bitround",
            "array_to_array/squeeze": "zarrs.squeeze",
            "array_to_bytes/bitround": "bitround",
            "array_to_bytes/optional": "zarrs.optional",
            "array_to_bytes/pcodec": "numcodecs.pcodec",
            "array_to_bytes/vlen": "zarrs.vlen",
            "array_to_bytes/vlen_array": "vlen-array",
            "array_to_bytes/vlen_bytes": "vlen-bytes",
            "array_to_bytes/vlen_utf8": "vlen-utf8",
            "array_to_bytes/vlen_v2": "zarrs.vlen_v2",
            "array_to_bytes/zfp": "zfp",
            "array_to_bytes/zfpy": "numcodecs.zfpy",
            "bytes_to_bytes/bz2": "numcodecs.bz2",
            "bytes_to_bytes/fletcher32": "numcodecs.fletcher32",
            "bytes_to_bytes/gdeflate": "zarrs.gdeflate",
        }.items()
    },
}
"""Other names that documents of v3 have for codecs; these are written under the names of the catalogue."""

EXPORTED: Final = {
    # `categorize` is also a codec of numcodecs.
    *(place for name, place in CATALOGUE.places.items() if not name.startswith(PREFIX) and name != "categorize"),
    # Documents of v3 do not name these, or do so with a prefix.
    "blizzarr.codecs.in_numpy:ArrayArrayCodec",
    "blizzarr.codecs.in_numpy:ArrayBytesCodec",
    "blizzarr.codecs.in_numpy:BytesBytesCodec",
    "blizzarr.codecs.n5:N5Codec",
    "blizzarr.codecs.numcodecs.compressors:ZlibCodec",
    "blizzarr.codecs.sharding:MAX_INDEX_BYTES",
}
"""The places of what `blizzarr.codecs` has by the name of its class."""
