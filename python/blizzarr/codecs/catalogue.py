"""The catalogue of codecs: one row per name that documents may have."""

from __future__ import annotations

from typing import Final

from blizzarr.codecs.codec import Codec
from blizzarr.codecs.numcodecs import ROWS
from blizzarr.codecs.objects import NAMED
from blizzarr.lazy_imports import LazyTable

__all__ = ["CATALOGUE", "supplier"]

CATALOGUE: Final = LazyTable[type[Codec]](
    {
        "blosc": "blizzarr.codecs.blosc:BloscCodec",
        "bytes": "blizzarr.codecs.bytes:BytesCodec",
        "crc32c": "blizzarr.codecs.crc32c:Crc32cCodec",
        # The name of `bytes` before the specification was final; written as `bytes`.
        "endian": "blizzarr.codecs.bytes:BytesCodec",
        "gzip": "blizzarr.codecs.gzip:GzipCodec",
        "sharding_indexed": "blizzarr.codecs.sharding:ShardingCodec",
        "transpose": "blizzarr.codecs.transpose:TransposeCodec",
        "zstd": "blizzarr.codecs.zstd:ZstdCodec",
        **ROWS.places,
        **NAMED,
    }
)
"""The codecs by name. Each is imported when it is first needed: most arrays have two or three of them."""

_KNOWN: Final[dict[str, str]] = {
    "bitround": "rounds floating-point numbers; zarrs reads it",
    "cast_value": "casts elements to another data type; zarr-python 3.2 reads it",
    "conditional": "chooses codecs by the data; registered, no reader is known",
    "n5": "blocks of N5, which are in no registry; blizzarr.copy stores their elements anew",
    "n5_default": "the chunk header of N5; registered, no reader is known",
    "numcodecs": "codecs that their users registered with numcodecs; only v2 documents can name them",
    "packbits": "packs narrow elements; zarrs reads it",
    "reshape": "changes the shape of chunks; zarrs reads it",
    "scale_offset": "scales numbers to smaller types; zarr-python 3.2 reads it",
    "vlen-array": "arrays of variable length; zarrs reads it",
    "zfp": "lossy floating-point compression; zarrs reads it",
}


def supplier(name: str) -> str:
    """Return a text about a codec that is not in the catalogue: what it does, and which library reads it.

    Examples
    --------
    >>> supplier("zarrs.gdeflate")
    'an experimental codec of zarrs; zarrs reads it'
    """
    if name.startswith("numcodecs."):
        return "no codec of numcodecs that is known here; if there is one of this name, zarr-python reads it"
    if name.startswith("zarrs."):
        return "an experimental codec of zarrs; zarrs reads it"
    return _KNOWN.get(name, "not in the registry of Zarr extensions; ask whoever wrote it, or check the spelling")
