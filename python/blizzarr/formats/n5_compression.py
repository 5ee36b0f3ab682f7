"""The ``compression`` of N5: an object with a ``type`` and its options.

https://github.com/saalfeldlab/n5#file-system-specification; ``zstd`` as in TensorStore.

=========  ==============================  ============================
type       options with their defaults     codec
=========  ==============================  ============================
``raw``                                    none
``gzip``   level -1, useZlib false         ``gzip``, or ``zlib``
``bzip2``  blockSize 9                     ``bz2``
``xz``     preset 6                        ``lzma``
``blosc``  cname, clevel, shuffle,         ``blosc``
           blocksize 0
``zstd``   level 0                         ``zstd``
=========  ==============================  ============================

Other options, such as ``nthreads``, concern encoding only, and are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from blizzarr.codecs import BloscCodec, Codec, GzipCodec, ZlibCodec, ZstdCodec
from blizzarr.codecs.numcodecs.bz2 import BZ2Codec
from blizzarr.codecs.numcodecs.lzma import LZMACodec
from blizzarr.dtypes import DataType
from blizzarr.problems import MISSING, Problems

__all__ = ["from_n5", "to_n5"]

_USUAL: Final = 6
"""The compression level that -1 stands for."""
_XZ: Final = 1
_SHUFFLES: Final = ("noshuffle", "shuffle", "bitshuffle")
_CNAMES: Final = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
_PLACE: Final = "compression"


class _Options:
    """The options of a compression, each checked when it is read."""

    def __init__(self, document: Mapping[str, Any], problems: Problems) -> None:
        self._document = document
        self._problems = problems

    def integer(self, name: str, low: int, high: int, default: Any = MISSING) -> int:
        value = self._document.get(name, default)
        if type(value) is int and low <= value <= high:
            return value
        self._problems.add(f"{_PLACE}.{name}", f"an integer in [{low}, {high}]", value)
        return low

    def flag(self, name: str) -> bool:
        value = self._document.get(name, False)
        if type(value) is not bool:
            self._problems.add(f"{_PLACE}.{name}", "true or false", value)
        return value is True

    def one_of(self, name: str, values: tuple[str, ...]) -> str:
        value = self._document.get(name, MISSING)
        if type(value) is str and value in values:
            return value
        self._problems.add(f"{_PLACE}.{name}", f"one of {', '.join(values)}", value)
        return values[0]


def _gzip(options: _Options, dtype: DataType | None) -> Codec:
    level = options.integer("level", -1, 9, -1)
    level = _USUAL if level < 0 else level
    return ZlibCodec(level) if options.flag("useZlib") else GzipCodec(level)


def _bzip2(options: _Options, dtype: DataType | None) -> Codec:
    return BZ2Codec(options.integer("blockSize", 1, 9, 9))


def _xz(options: _Options, dtype: DataType | None) -> Codec:
    return LZMACodec(_XZ, preset=options.integer("preset", 0, 9, 6))


def _zstd(options: _Options, dtype: DataType | None) -> Codec:
    return ZstdCodec(options.integer("level", -131072, 22, 0))


def _blosc(options: _Options, dtype: DataType | None) -> Codec:
    return BloscCodec(
        options.one_of("cname", _CNAMES),
        options.integer("clevel", 0, 9),
        _SHUFFLES[options.integer("shuffle", 0, 2)],
        1 if dtype is None else dtype.itemsize,
        options.integer("blocksize", 0, 2**31 - 1, 0),
    )


_TYPES: Final[Mapping[str, Callable[[_Options, DataType | None], Codec] | None]] = {
    "raw": None,
    "gzip": _gzip,
    "bzip2": _bzip2,
    "xz": _xz,
    "blosc": _blosc,
    "zstd": _zstd,
}
_NAMES: Final = ", ".join(_TYPES)


def from_n5(value: Any, dtype: DataType | None, problems: Problems) -> Codec | None:
    """Return the codec of a compression; `None` for no compression, or if a problem was added.

    Examples
    --------
    >>> from_n5({"type": "gzip"}, None, Problems()), from_n5({"type": "raw"}, None, Problems())
    (GzipCodec(level=6), None)
    """
    if type(value) is not dict:
        problems.add(_PLACE, "an object with a type", value)
        return None
    name = value.get("type", MISSING)
    if type(name) is not str:
        problems.add(f"{_PLACE}.type", f"one of {_NAMES}", name)
        return None
    if name not in _TYPES:
        problems.unknown(f"{_PLACE}.type", "compression of N5", name, f"there are {_NAMES}")
        return None
    before = len(problems.items)
    make = _TYPES[name]
    codec = None if make is None else make(_Options(value, problems), dtype)
    return codec if len(problems.items) == before else None


def to_n5(codec: Codec | None, problems: Problems) -> dict[str, Any]:
    """Return the compression for a codec; a problem is added if N5 has none.

    Examples
    --------
    >>> to_n5(ZlibCodec(3), Problems())
    {'type': 'gzip', 'level': 3, 'useZlib': True}
    """
    match codec:
        case None:
            return {"type": "raw"}
        case GzipCodec():
            return {"type": "gzip", "level": codec.level, "useZlib": False}
        case ZlibCodec():
            return {"type": "gzip", "level": codec.level, "useZlib": True}
        case BZ2Codec():
            return {"type": "bzip2", "blockSize": codec.level}
        case LZMACodec(format=1, filters=None, preset=None | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9):
            return {"type": "xz", "preset": 6 if codec.preset is None else codec.preset}
        case ZstdCodec(checksum=False):
            return {"type": "zstd", "level": codec.level}
        case BloscCodec(shuffle=str()):
            shuffle = _SHUFFLES.index(codec.shuffle)
            options = {"cname": codec.cname, "clevel": codec.clevel, "shuffle": shuffle, "blocksize": codec.blocksize}
            return {"type": "blosc", **options}
    problems.add(_PLACE, f"a compression that N5 has: {_NAMES}", codec.to_json())
    return {}
