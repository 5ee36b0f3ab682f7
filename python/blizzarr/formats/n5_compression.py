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

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from blizzarr.codecs import BloscCodec, Codec, GzipCodec, ZlibCodec, ZstdCodec
from blizzarr.codecs.blosc import SHUFFLE_NUMBER, SHUFFLES
from blizzarr.codecs.codec import Option, flag
from blizzarr.codecs.numcodecs.compressors import DEFAULT_LEVEL, PRESET, BZ2Codec, LZMACodec
from blizzarr.dtypes import DataType
from blizzarr.problems import MISSING, Problems

_XZ: Final = 1
_PLACE: Final = "compression"

_OPTIONS: Final[Mapping[str, tuple[tuple[Option, Any], ...]]] = {
    "raw": (),
    "gzip": ((ZlibCodec.option("level"), -1), (flag("useZlib"), False)),
    "bzip2": ((replace(BZ2Codec.option("level"), name="blockSize"), 9),),
    "xz": ((PRESET, 6),),
    "blosc": (
        (BloscCodec.option("cname"), MISSING),
        (BloscCodec.option("clevel"), MISSING),
        (SHUFFLE_NUMBER, MISSING),
        (BloscCodec.option("blocksize"), 0),
    ),
    "zstd": ((ZstdCodec.option("level"), 0),),
}
"""The options of each compression, with their defaults."""
_NAMES: Final = ", ".join(_OPTIONS)


def options_of(value: Any, problems: Problems, others: bool = False) -> dict[str, Any] | None:
    """Return a compression with all its options; `None` if a problem was added. With `others`, others are ignored."""
    if type(value) is not dict:
        problems.add(_PLACE, "an object with a type", value)
        return None
    name = value.get("type", MISSING)
    if type(name) is not str:
        problems.add(f"{_PLACE}.type", f"one of {_NAMES}", name)
        return None
    if name not in _OPTIONS:
        problems.unknown(f"{_PLACE}.type", "compression of N5", name, f"there are {_NAMES}")
        return None
    before = len(problems.items)
    options = {"type": name}
    for option, default in _OPTIONS[name]:
        options[option.name] = value.get(option.name, default)
        if not option.accepts(options[option.name]):
            problems.add(f"{_PLACE}.{option.name}", option.expected, options[option.name])
    for other in value if not others else ():
        if other not in options:
            problems.add(f"{_PLACE}.{other}", f"no such option of {name}", value[other])
    return options if len(problems.items) == before else None


def from_n5(value: Any, dtype: DataType | None, problems: Problems) -> Codec | None:
    """Return the codec of a compression; `None` for no compression, or if a problem was added."""
    match options_of(value, problems, others=True):
        case {"type": "gzip", "level": level, "useZlib": zlib}:
            level = DEFAULT_LEVEL if level < 0 else level
            return ZlibCodec(level) if zlib else GzipCodec(level)
        case {"type": "bzip2", "blockSize": size}:
            return BZ2Codec(size)
        case {"type": "xz", "preset": preset}:
            return LZMACodec(_XZ, preset=preset)
        case {"type": "zstd", "level": level}:
            return ZstdCodec(level)
        case {"type": "blosc", "cname": cname, "clevel": clevel, "shuffle": shuffle, "blocksize": size}:
            return BloscCodec(cname, clevel, SHUFFLES[shuffle], 1 if dtype is None else dtype.itemsize, size)
    return None


def to_n5(codec: Codec | None, problems: Problems) -> dict[str, Any]:
    """Return the compression for a codec; a problem is added if N5 has none."""
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
            shuffle = SHUFFLES.index(codec.shuffle)
            options = {"cname": codec.cname, "clevel": codec.clevel, "shuffle": shuffle, "blocksize": codec.blocksize}
            return {"type": "blosc", **options}
    problems.add(_PLACE, f"a compression that N5 has: {_NAMES}", codec.to_json())
    return {}
