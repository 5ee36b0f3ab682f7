"""The module ``zarr.codecs.numcodecs``: the codecs of numcodecs, under their names in Zarr v3."""

from __future__ import annotations

from typing import Any, ClassVar

from blizzarr.zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from blizzarr.zarr.codecs.named import CLASSES

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
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "JenkinsLookup3",
    "PCodec",
    "PackBits",
    "Quantize",
    "Shuffle",
    "Zlib",
    "Zstd",
]


class _Numcodecs(Codec):
    codec_name: ClassVar[str]

    def __init__(self, **codec_config: Any) -> None:
        self.codec_config = codec_config

    def __init_subclass__(cls, name: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.codec_name = f"numcodecs.{name}"
        CLASSES[cls.codec_name] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return the codec as an object for a metadata document."""
        return {"name": self.codec_name, "configuration": dict(self.codec_config)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        """Return the codec for an object of a metadata document."""
        return cls(**(data.get("configuration") or {}))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.codec_name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.codec_config.items())})"


def _codec(kind: type[Codec], name: str, label: str) -> Any:
    return type(
        label, (_Numcodecs, kind), {"__module__": __name__, "__doc__": f"The codec ``numcodecs.{name}``."}, name=name
    )


Adler32 = _codec(BytesBytesCodec, "adler32", "Adler32")
AsType = _codec(ArrayArrayCodec, "astype", "AsType")
BZ2 = _codec(BytesBytesCodec, "bz2", "BZ2")
BitRound = _codec(ArrayArrayCodec, "bitround", "BitRound")
Blosc = _codec(BytesBytesCodec, "blosc", "Blosc")
CRC32 = _codec(BytesBytesCodec, "crc32", "CRC32")
CRC32C = _codec(BytesBytesCodec, "crc32c", "CRC32C")
Delta = _codec(ArrayArrayCodec, "delta", "Delta")
FixedScaleOffset = _codec(ArrayArrayCodec, "fixedscaleoffset", "FixedScaleOffset")
Fletcher32 = _codec(BytesBytesCodec, "fletcher32", "Fletcher32")
GZip = _codec(BytesBytesCodec, "gzip", "GZip")
JenkinsLookup3 = _codec(BytesBytesCodec, "jenkins_lookup3", "JenkinsLookup3")
LZ4 = _codec(BytesBytesCodec, "lz4", "LZ4")
LZMA = _codec(BytesBytesCodec, "lzma", "LZMA")
PCodec = _codec(ArrayBytesCodec, "pcodec", "PCodec")
PackBits = _codec(ArrayArrayCodec, "packbits", "PackBits")
Quantize = _codec(ArrayArrayCodec, "quantize", "Quantize")
Shuffle = _codec(BytesBytesCodec, "shuffle", "Shuffle")
ZFPY = _codec(ArrayBytesCodec, "zfpy", "ZFPY")
Zlib = _codec(BytesBytesCodec, "zlib", "Zlib")
Zstd = _codec(BytesBytesCodec, "zstd", "Zstd")
