"""Decoding the document ``info`` of a Neuroglancer volume.

https://github.com/google/neuroglancer/blob/master/src/datasource/precomputed/volume.md
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from blizzarr.neuroglancer.members import Members, between, number, text, three
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

Triple = tuple[int, int, int]
CHUNK_LENGTH: Final = between(1, LARGEST)
OPTIONS: Final[dict[str, tuple[str, Callable[[Any], Any], str, Any]]] = {
    "jpeg_quality": ("jpeg", between(0, 100), "an integer in [0, 100]", None),
    "png_level": ("png", between(0, 9), "an integer in [0, 9]", None),
    "compressed_segmentation_block_size": (
        "compressed_segmentation",
        three(between(1, INT32)),
        "three integers",
        MISSING,
    ),
}
"""The members of a scale that belong to one encoding: which one, the parser and what it accepts, and the default."""


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
    jpeg_quality: int | None
    png_level: int | None
    """The level of compression; `None` for the default of whoever writes. Options of other encodings are `None`."""
    compressed_segmentation_block_size: Triple | None
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
    members = Members(document, "", problems)
    members.one_of("@type", (KIND,), KIND)
    kind = members.take("type", text, "a text")
    data_type = members.one_of("data_type", TYPES)
    channels = members.integer("num_channels", 1, INT64)
    given = members.take("scales", _list, "a list of objects")
    scales = [_scale(item, f"scales[{index}]", problems) for index, item in enumerate(given or ())]
    for index, scale in enumerate(scales):
        if scale is None or data_type is None or channels is None:
            continue
        wrong = encoding_problem(scale.encoding, data_type, channels)
        if wrong is not None:
            problems.add(f"scales[{index}].encoding", wrong, scale.encoding)
    if len(problems.items) > before:
        return None
    return Volume(kind, data_type, channels, tuple(scales), members.left)  # type: ignore[arg-type]  # all are there


def _scale(item: Any, path: str, problems: Problems) -> Scale | None:
    before = len(problems.items)
    if type(item) is not dict:
        problems.add(path, "an object", item)
        return None
    members = Members(item, f"{path}.", problems)
    given = members.take("chunk_sizes", lambda value: _list(value) or None, "a list of three lengths") or []
    chunks = list(map(three(CHUNK_LENGTH), given))
    for index, chunk in enumerate(chunks):
        if chunk is None:
            problems.add(f"{path}.chunk_sizes[{index}]", "three lengths", given[index])
    values = scale_members(members, chunks[0] if chunks else None)
    if values["sharding"] is not None and len(chunks) > 1:
        problems.add(f"{path}.chunk_sizes", "one chunk size, as it is sharded", len(chunks))
    if values["encoding"] == "jpeg" and values["jpeg_quality"] is None:
        values["jpeg_quality"] = QUALITY
    if len(problems.items) > before:
        return None
    return Scale(**values, chunk_sizes=tuple(chunks), extra=members.left)  # type: ignore[arg-type]  # none is wrong


def scale_members(members: Members, chunk: Triple | None) -> dict[str, Any]:
    """Return by name the members that a stored scale and the constraints of a spec on a scale have in common.

    - `chunk`: the shape of chunks, if it is known; sharded volumes have a largest number of chunks.
    """
    values: dict[str, Any] = {
        "key": members.take("key", _key, "a text"),
        "resolution": members.take("resolution", three(number), "three numbers"),
        **encoding_members(members, tuple(OPTIONS)),
    }
    sharding = members.left.pop("sharding", None)
    if sharding is not None:
        sharding = sharding_of(sharding, f"{members.where}sharding", members.problems)
    size = members.take("size", three(between(-INT64 - 1, INT64)), "three integers")
    if size is None and members.partial and "voxel_offset" in members.left:
        members.problems.add(f"{members.where}voxel_offset", "no offset without a size", members.left["voxel_offset"])
    no_offset = None if size is None else (0, 0, 0)
    offset = members.take("voxel_offset", three(between(-INT64 - 1, INT64)), "three integers", no_offset)
    if size is not None and offset is not None:
        where = f"{members.where}size"
        region = zip(offset, size, strict=True)
        if not all(length >= 0 and -LARGEST <= first <= LARGEST - length + 1 for first, length in region):
            members.problems.add(where, "with voxel_offset a valid region", [list(size), list(offset)])
        elif sharding is not None and chunk is not None and sum(index_bits(size, chunk)) > KEY_BITS:
            members.problems.add(where, f"keys of chunks of at most {KEY_BITS} bits, as it is sharded", list(size))
    return {**values, "sharding": sharding, "size": size, "voxel_offset": offset}


def encoding_members(members: Members, options: tuple[str, ...]) -> dict[str, Any]:
    """Return by name the encoding and these options, each of which is a problem if it belongs to another encoding."""
    encoding = members.one_of("encoding", ENCODINGS)
    values: dict[str, Any] = {"encoding": encoding}
    for name in options:
        owner, parse, expected, default = OPTIONS[name]
        values[name] = None
        if encoding == owner:
            values[name] = members.take(name, parse, expected, default)
        elif name in members.left:
            value = members.left.pop(name)
            members.problems.add(members.where + name, f'no such member, which only the encoding "{owner}" has', value)
    return values


def _key(value: Any) -> str | None:
    """Accept what can be a key: texts without lone surrogates, which JSON can express."""
    return None if text(value) is None or _HALF.search(value) else str(value)


def _list(value: Any) -> list[Any] | None:
    return value if type(value) is list else None
