"""The codecs of the specification, with zarr-python's options and defaults."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from enum import Enum
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from blizzarr.zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from blizzarr.zarr.codecs.named import CLASSES, Named, codecs_from_list

__all__ = [
    *("BloscCname", "BloscCodec", "BloscShuffle", "BytesCodec", "CastValue", "Crc32cCodec", "Endian", "GzipCodec"),
    *("ScaleOffset", "ShardingCodec", "ShardingCodecIndexLocation", "SubchunkWriteOrder", "TransposeCodec"),
    *("VLenBytesCodec", "VLenUTF8Codec", "ZstdCodec"),
]

E = TypeVar("E", bound=Enum)


class Endian(Enum):
    """The byte order."""

    big, little = "big", "little"


class BloscShuffle(Enum):
    """The way Blosc shuffles."""

    noshuffle, shuffle, bitshuffle = "noshuffle", "shuffle", "bitshuffle"

    @classmethod
    def from_int(cls, num: int) -> BloscShuffle:
        """Return the way of Blosc's own number."""
        return tuple(cls)[num]


class BloscCname(Enum):
    """The algorithm within Blosc."""

    lz4, lz4hc, blosclz, zstd, snappy, zlib = "lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"


class ShardingCodecIndexLocation(Enum):
    """The end of a shard that its index is at."""

    start, end = "start", "end"


SubchunkWriteOrder: TypeAlias = Literal["morton", "unordered", "lexicographic", "colexicographic"]


def _enum(value: E | str, kind: type[E]) -> E:
    if isinstance(value, str):
        names = [member.value for member in kind]
        if value not in names:
            raise ValueError(f"expected one of {names}, found {value!r}")
        return kind(value)
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__name__} or its name, found {value!r}")
    return value


def _integer(name: str, value: Any, low: int, high: int | None = None) -> None:
    if not isinstance(value, int):
        raise TypeError(f"expected {name} to be an integer, found {value!r}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"expected {name} in [{low}, {high}], found {value}")


@dataclass(frozen=True, kw_only=True)
class BytesCodec(Named, ArrayBytesCodec, name="bytes"):
    """Elements as they are in memory, in a byte order."""

    endian: Endian | str | None = sys.byteorder

    def __post_init__(self) -> None:
        if self.endian is not None:
            object.__setattr__(self, "endian", _enum(self.endian, Endian))

    def to_dict(self) -> dict[str, Any]:
        return {"name": "bytes"} if self.endian is None else super().to_dict()

    @classmethod
    def from_dict(cls, data: Any) -> BytesCodec:
        """Return the codec for an object of a metadata document, in which no byte order means that there is none."""
        return cls(endian=(data.get("configuration") or {}).get("endian"))


CLASSES["endian"] = BytesCodec


@dataclass(frozen=True, kw_only=True)
class Crc32cCodec(Named, BytesBytesCodec, name="crc32c"):
    """A checksum behind the bytes."""


@dataclass(frozen=True, kw_only=True)
class GzipCodec(Named, BytesBytesCodec, name="gzip"):
    """Compression with gzip."""

    level: int = 5

    def __post_init__(self) -> None:
        _integer("level", self.level, 0, 9)


@dataclass(frozen=True, kw_only=True)
class ZstdCodec(Named, BytesBytesCodec, name="zstd"):
    """Compression with Zstandard."""

    level: int = 0
    checksum: bool = False

    def __post_init__(self) -> None:
        _integer("level", self.level, -131072, 22)
        if not isinstance(self.checksum, bool):
            raise TypeError(f"expected checksum to be True or False, found {self.checksum!r}")


@dataclass(frozen=True, kw_only=True)
class BloscCodec(Named, BytesBytesCodec, name="blosc"):
    """Compression with Blosc; what is None is chosen for the data type."""

    _tunable_attrs: Any = field(default=(), init=False, compare=False)
    typesize: int | None = None
    cname: BloscCname | str = BloscCname.zstd
    clevel: int = 5
    shuffle: BloscShuffle | str | None = None
    blocksize: int = 0

    def __post_init__(self) -> None:
        chosen = {name for name in ("typesize", "shuffle") if getattr(self, name) is None}
        object.__setattr__(self, "_tunable_attrs", chosen)
        object.__setattr__(self, "typesize", 1 if self.typesize is None else self.typesize)
        _integer("typesize", self.typesize, 1)
        object.__setattr__(self, "cname", _enum(self.cname, BloscCname))
        object.__setattr__(self, "shuffle", _enum(self.shuffle or BloscShuffle.bitshuffle, BloscShuffle))
        _integer("clevel", self.clevel, 0, 9)
        _integer("blocksize", self.blocksize, 0)


@dataclass(frozen=True, kw_only=True)
class TransposeCodec(Named, ArrayArrayCodec, name="transpose"):
    """Another order of the axes."""

    order: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", tuple(self.order))


@dataclass(frozen=True, kw_only=True)
class ScaleOffset(Named, ArrayArrayCodec, name="scale_offset"):
    """``(x - offset) * scale``."""

    offset: float | str = 0
    scale: float | str = 1


@dataclass(frozen=True, kw_only=True)
class CastValue(Named, ArrayArrayCodec, name="cast_value"):
    """Numbers as those of another data type."""

    data_type: Any
    rounding: str = "nearest-even"
    out_of_range: str | None = None
    scalar_map: Any = None

    def __post_init__(self) -> None:
        # Objects of zarr.dtype have the name that documents have.
        to_json = getattr(self.data_type, "to_json", None)
        object.__setattr__(self, "data_type", to_json(zarr_format=3) if to_json else self.data_type)
        pairs = {
            direction: tuple(map(tuple, entries.items() if isinstance(entries, Mapping) else entries))
            for direction, entries in (self.scalar_map or {}).items()
        }
        object.__setattr__(self, "scalar_map", pairs or None)


@dataclass(frozen=True, kw_only=True)
class ShardingCodec(Named, ArrayBytesCodec, name="sharding_indexed"):
    """Chunks within shards."""

    chunk_shape: tuple[int, ...]
    codecs: tuple[Any, ...] = (BytesCodec(),)
    index_codecs: tuple[Any, ...] = (BytesCodec(), Crc32cCodec())
    index_location: ShardingCodecIndexLocation | str = ShardingCodecIndexLocation.end
    subchunk_write_order: InitVar[SubchunkWriteOrder] = "lexicographic"
    """It has no effect: inner chunks are always laid down in lexicographic order, and no document says which it is."""

    def __post_init__(self, subchunk_write_order: SubchunkWriteOrder) -> None:
        if subchunk_write_order not in get_args(SubchunkWriteOrder):
            raise ValueError(f"expected one of {get_args(SubchunkWriteOrder)}, found {subchunk_write_order!r}")
        shape = (self.chunk_shape,) if isinstance(self.chunk_shape, int) else tuple(self.chunk_shape)
        object.__setattr__(self, "chunk_shape", shape)
        object.__setattr__(self, "codecs", codecs_from_list(self.codecs))
        object.__setattr__(self, "index_codecs", codecs_from_list(self.index_codecs))
        object.__setattr__(self, "index_location", _enum(self.index_location, ShardingCodecIndexLocation))


class _VLen(Named, ArrayBytesCodec):
    def to_dict(self) -> dict[str, Any]:
        return {"name": self.codec_name, "configuration": {}}


@dataclass(frozen=True, kw_only=True)
class VLenUTF8Codec(_VLen, name="vlen-utf8"):
    """Texts of any length."""


@dataclass(frozen=True, kw_only=True)
class VLenBytesCodec(_VLen, name="vlen-bytes"):
    """Byte strings of any length."""
