"""Decoding the document ``info`` of a Neuroglancer volume.

https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/volume.md

Numbers are read as in TensorStore: integers may be written as ``64.0``, resolutions as strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from blizzarr.neuroglancer.sharding import KEY_BITS, Sharding, index_bits, sharding_of
from blizzarr.problems import MISSING, Problems, decoder

TYPES: Final = ("uint8", "uint16", "uint32", "int8", "int16", "int32", "uint64", "float32")
ENCODINGS: Final = ("raw", "png", "jpeg", "compressed_segmentation")

KIND: Final = "neuroglancer_multiscale_volume"
LARGEST: Final = (1 << 62) - 2
"""The greatest index; the least is its negative."""
INT64: Final = (1 << 63) - 1
INT32: Final = (1 << 31) - 1
QUALITY: Final = 75
_HALF: Final = re.compile("[\ud800-\udfff]")
_PLAIN: Final = re.compile(r"[^_\x80-\U0010ffff]*")
"""Strings without the underscores and non-ASCII digits that Python also accepts in numbers."""

Triple = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Scale:
    """One resolution of a volume."""

    key: str
    resolution: tuple[float, float, float]
    size: Triple
    voxel_offset: Triple
    chunk_sizes: tuple[Triple, ...]
    encoding: str
    sharding: Sharding | None
    block_size: Triple | None
    """The block size of ``compressed_segmentation``; `None` for other encodings."""
    jpeg_quality: int
    png_level: int
    extra: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Volume:
    """All resolutions of a volume."""

    kind: str
    """The member ``type``, usually ``image`` or ``segmentation``."""
    data_type: str
    num_channels: int
    scales: tuple[Scale, ...]
    extra: Mapping[str, Any]


def encoding_problem(encoding: str, data_type: str | None, channels: int | None) -> str | None:
    """Return why an encoding does not support a data type or number of channels; `None` if it does.

    >>> encoding_problem("jpeg", "uint8", 2)
    '"jpeg" encoding only supports 1 or 3 channels, not 2'
    """
    if encoding == "png":
        if data_type not in (None, "uint8", "uint16"):
            return f'"png" encoding only supported for uint8 and uint16, not for {data_type}'
        if channels is not None and channels > 4:
            return f'"png" encoding only supports 1 to 4 channels, not {channels}'
    if encoding == "jpeg":
        if data_type not in (None, "uint8"):
            return f'"jpeg" encoding only supported for uint8, not for {data_type}'
        if channels not in (None, 1, 3):
            return f'"jpeg" encoding only supports 1 or 3 channels, not {channels}'
    if encoding == "compressed_segmentation" and data_type not in (None, "uint32", "uint64"):
        return f"compressed_segmentation encoding only supported for uint32 and uint64, not for {data_type}"
    return None


@decoder
def volume_of(document: dict[str, Any], problems: Problems) -> Volume | None:
    """Decode a document; `None` if a problem was added."""
    before = len(problems.items)
    members = _Members(document, "", problems)
    members.take("@type", lambda value: value == KIND, f'"{KIND}"', KIND)
    kind = members.take("type", _is_text, "a text")
    data_type = members.take("data_type", lambda value: value in TYPES, f"one of {', '.join(TYPES)}")
    channels = members.integer("num_channels", 1, INT64)
    given = members.take("scales", lambda value: type(value) is list, "a list of objects")
    scales = [_scale(item, f"scales[{number}]", problems) for number, item in enumerate(given or ())]
    for number, scale in enumerate(scales):
        if scale is None or data_type is None or channels is None:
            continue
        wrong = encoding_problem(scale.encoding, data_type, channels)
        if wrong is not None:
            problems.add(f"scales[{number}].encoding", wrong, scale.encoding)
    if len(problems.items) > before:
        return None
    return Volume(kind, data_type, channels, tuple(scales), members.left)  # type: ignore[arg-type]  # all are there


def _scale(item: Any, path: str, problems: Problems) -> Scale | None:
    before = len(problems.items)
    if type(item) is not dict:
        problems.add(path, "an object", item)
        return None
    members = _Members(item, f"{path}.", problems)
    key = members.take("key", _is_key, "a text")
    resolution = members.triple("resolution", number_of, "three numbers")
    encoding = members.take("encoding", lambda value: value in ENCODINGS, f"one of {', '.join(ENCODINGS)}")
    quality = level = None
    if encoding == "jpeg":
        quality = members.integer("jpeg_quality", 0, 100, QUALITY)
    if encoding == "png":
        level = members.integer("png_level", 0, 9, -1)
    block = None
    if encoding == "compressed_segmentation":
        block = members.integers("compressed_segmentation_block_size", 1, INT32)
    for name, of in (
        ("jpeg_quality", "jpeg"),
        ("png_level", "png"),
        ("compressed_segmentation_block_size", "compressed_segmentation"),
    ):
        if name in members.left and encoding is not None:
            problems.add(f"{path}.{name}", f'no such member, which only the encoding "{of}" has', members.left[name])
    sharding = members.left.pop("sharding", None)
    shards = None if sharding is None else sharding_of(sharding, f"{path}.sharding", problems)
    size = members.integers("size", -INT64 - 1, INT64)
    offset = members.integers("voxel_offset", -INT64 - 1, INT64, (0, 0, 0))
    given = members.take("chunk_sizes", lambda value: type(value) is list and bool(value), "a list of three lengths")
    chunks = [
        _three(value, f"{path}.chunk_sizes[{number}]", _between(1, LARGEST), "three lengths", problems)
        for number, value in enumerate(given or ())
    ]
    if shards is not None and len(chunks) > 1:
        problems.add(f"{path}.chunk_sizes", "one chunk size, as it is sharded", len(chunks))
    if size is not None and offset is not None:
        region = zip(offset, size, strict=True)
        if not all(length >= 0 and -LARGEST <= first <= LARGEST - length + 1 for first, length in region):
            problems.add(f"{path}.size", "with voxel_offset a valid region", [list(size), list(offset)])
        elif shards is not None and chunks and chunks[0] and sum(index_bits(size, chunks[0])) > KEY_BITS:
            problems.add(f"{path}.size", f"keys of chunks of at most {KEY_BITS} bits, as it is sharded", list(size))
    if len(problems.items) > before:
        return None
    return Scale(
        key,
        resolution,
        size,  # type: ignore[arg-type]
        offset,  # type: ignore[arg-type]
        tuple(chunks),
        encoding,
        shards,
        block,
        QUALITY if quality is None else quality,
        -1 if level is None else level,
        members.left,
    )


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_key(value: Any) -> bool:
    """Return whether a value can be a key: a string without lone surrogates, which JSON can express."""
    return _is_text(value) and not _HALF.search(value)


def number_of(value: Any) -> float | None:
    """Return a number, which may be written as a string; `None` if it is not a number."""
    if type(value) not in (int, float, str) or (type(value) is str and not _PLAIN.fullmatch(value)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _between(least: int, most: int) -> Callable[[Any], int | None]:
    def integer(value: Any) -> int | None:
        if type(value) is float and isfinite(value) and value.is_integer():
            value = int(value)
        return value if type(value) is int and least <= value <= most else None

    return integer


def _three(value: Any, path: str, parse: Callable[[Any], Any], expected: str, problems: Problems) -> Any:
    numbers = [parse(item) for item in value] if type(value) is list else []
    if len(numbers) == 3 and None not in numbers:
        return tuple(numbers)
    problems.add(path, expected, value)
    return None


class _Members:
    """The members of an object, taken one by one; the remaining ones are unknown."""

    def __init__(self, document: Mapping[str, Any], where: str, problems: Problems) -> None:
        self.left = dict(document)
        self._place = where
        self._problems = problems

    def take(self, name: str, accepts: Callable[[Any], bool], expected: str, default: Any = MISSING) -> Any:
        value = self.left.pop(name, default)
        if value is not MISSING and accepts(value):
            return value
        self._problems.add(self._place + name, expected, value)
        return None

    def integer(self, name: str, least: int, most: int, default: Any = MISSING) -> int | None:
        if name not in self.left and default is not MISSING:
            return int(default)
        parse = _between(least, most)
        value = self.take(name, lambda value: parse(value) is not None, f"an integer in [{least}, {most}]")
        return parse(value)

    def triple(self, name: str, parse: Callable[[Any], Any], expected: str, default: Any = MISSING) -> Any:
        value = self.left.pop(name, default)
        if value is default is not MISSING:
            return default
        return _three(value, self._place + name, parse, expected, self._problems)

    def integers(self, name: str, least: int, most: int, default: Any = MISSING) -> Triple | None:
        return self.triple(name, _between(least, most), "three integers", default)
