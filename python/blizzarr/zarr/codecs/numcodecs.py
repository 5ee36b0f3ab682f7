"""The module ``zarr.codecs.numcodecs``: the codecs of numcodecs, under their names in Zarr v3."""

from __future__ import annotations

from typing import Any, Final

from blizzarr.zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, Codec
from blizzarr.zarr.codecs.named import CLASSES, NamedCodec

_NAMES: Final = {
    ArrayArrayCodec: "AsType BitRound Delta FixedScaleOffset PackBits Quantize",
    ArrayBytesCodec: "PCodec ZFPY",
    BytesBytesCodec: "Adler32 BZ2 Blosc CRC32 CRC32C Fletcher32 GZip JenkinsLookup3 LZ4 LZMA Shuffle Zlib Zstd",
}


class _Numcodecs(NamedCodec):
    def __init__(self, **codec_config: Any) -> None:
        self.codec_config = self.configuration = codec_config

    def __init_subclass__(cls, name: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.codec_name = codec_name = f"numcodecs.{name}"
        CLASSES[codec_name] = cls

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        return cls(**(data.get("configuration") or {}))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(codec_name={self.codec_name!r}, codec_config={self.codec_config})"


def _codec(kind: type[Codec], label: str) -> Any:
    name = "jenkins_lookup3" if label == "JenkinsLookup3" else label.lower()
    described = {"__module__": __name__, "__doc__": f"The codec ``numcodecs.{name}``."}
    return type(label, (_Numcodecs, kind), described, name=name)


_CODECS: Final = {label: _codec(kind, label) for kind, labels in _NAMES.items() for label in labels.split()}
globals().update(_CODECS)

__all__ = [*_CODECS]
