"""The constraints of a spec on a Neuroglancer volume, on one of its scales, and on the encoding of chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from blizzarr.errors import SpecError
from blizzarr.json_members import Members, as_integer, as_text, at_position, one_of
from blizzarr.json_values import dump, expected, quote
from blizzarr.neuroglancer.info import ENCODINGS, INT32, INT64, LARGEST, TYPES, Triple, encoding_problem, number_of
from blizzarr.neuroglancer.sharding import Sharding, check_key_bits, data_encoding, sharding_from_json
from blizzarr.spec.codec_spec import DriverCodec
from blizzarr.spec.dtype import DType, dtype_json


@dataclass(frozen=True, slots=True)
class ScaleConstraints:
    """Constraints on a scale; None where there is none."""

    key: str | None = None
    resolution: tuple[float, float, float] | None = None
    sharding: Sharding | None = None
    unsharded: bool = False
    """True if there must be no shards."""
    encoding: str | None = None
    jpeg_quality: int | None = None
    png_level: int | None = None
    compressed_segmentation_block_size: Triple | None = None
    size: Triple | None = None
    voxel_offset: Triple | None = None
    """The offset, which is zero if only a size is given."""
    chunk_size: Triple | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the members that are given."""
        members: dict[str, Any] = {}
        for member in fields(self):
            value = getattr(self, member.name)
            if member.name in ("sharding", "unsharded") or value is None:
                continue
            members[member.name] = list(value) if isinstance(value, tuple) else value
        if self.sharding is not None or self.unsharded:
            members["sharding"] = None if self.sharding is None else self.sharding.to_json()
        return dict(sorted(members.items()))


@dataclass(frozen=True, slots=True)
class MultiscaleConstraints:
    """Constraints on all scales; None where there is none."""

    kind: str | None = None
    dtype: DType | None = None
    num_channels: int | None = None

    def to_json(self, with_dtype: bool = False) -> dict[str, Any]:
        """Return the members that are given; the data type is also a member of the spec."""
        dtype = self.dtype.name if with_dtype and self.dtype is not None else None
        members = {"data_type": dtype, "num_channels": self.num_channels, "type": self.kind}
        return {name: value for name, value in members.items() if value is not None}


def check_dtype(dtype: DType) -> DType:
    """Raise if volumes do not have the data type."""
    if dtype.name not in TYPES:
        raise SpecError(f"{dtype.name} data type is not one of the supported data types: {', '.join(TYPES)}")
    return dtype


def multiscale(value: Any, dtype: DType | None) -> MultiscaleConstraints:
    """Parse the member ``multiscale_metadata`` for elements of this type."""

    def same(value: Any) -> DType:
        parsed = dtype_json(value)
        if dtype is not None and parsed != dtype:
            raise SpecError(f"Expected data type of {dtype.name} but received: {parsed.name}")
        return parsed

    members = Members(value)
    kind = members.take("type", as_text, None)
    given = members.take("data_type", same, dtype)
    channels = members.take("num_channels", as_integer(1, INT64), None)
    members.end()
    return MultiscaleConstraints(kind, given, channels)


def scale(value: Any, of: MultiscaleConstraints) -> ScaleConstraints:
    """Parse the member ``scale_metadata``."""
    members = Members(value)
    key = members.take("key", as_text, None)
    resolution = members.take("resolution", three(_number), None)
    unsharded = "sharding" in members.left and members.left["sharding"] is None
    sharding = members.take("sharding", lambda given: None if given is None else sharding_from_json(given), None)
    encoding, quality, level = encoding_members(members)
    block = None
    if encoding == "compressed_segmentation":
        block = members.take("compressed_segmentation_block_size", three(as_integer(1, INT32)), None)
    else:
        members.take("compressed_segmentation_block_size", _only("compressed_segmentation"), None)
    integers = three(as_integer(-INT64 - 1, INT64, "64-bit signed integer"))
    size = members.take("size", integers, None)

    def offset_of(given: Any) -> Any:
        if size is None:
            raise SpecError('cannot be specified without "size"')
        return integers(given)

    offset = members.take("voxel_offset", offset_of, None if size is None else (0, 0, 0))
    chunk = members.take("chunk_size", three(as_integer(1, LARGEST)), None)
    members.end()
    if chunk is not None and sharding is not None and size is not None:
        check_key_bits(size, chunk)
    if size is not None:
        _check_region(size, offset)
    if encoding is not None:
        wrong = encoding_problem(encoding, None if of.dtype is None else of.dtype.name, of.num_channels)
        if wrong is not None:
            raise SpecError(wrong)
    return ScaleConstraints(key, resolution, sharding, unsharded, encoding, quality, level, block, size, offset, chunk)


def encoding_members(members: Members) -> tuple[str | None, int | None, int | None]:
    """Take the encoding, and its options: the quality of ``jpeg``, the level of ``png``."""
    encoding = members.take("encoding", one_of(*ENCODINGS), None)
    quality = members.take("jpeg_quality", as_integer(0, 100) if encoding == "jpeg" else _only("jpeg"), None)
    level = members.take("png_level", as_integer(0, 9) if encoding == "png" else _only("png"), None)
    return encoding, quality, level


def three(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a parser of arrays of three elements."""

    def parse_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise expected(value, "array")
        if len(value) != 3:
            raise SpecError(f"Array has length {len(value)} but should have length 3")
        return tuple(at_position(position, value, parse) for position in range(3))

    return parse_all


def _number(value: Any) -> float:
    number = number_of(value)
    if number is None:
        raise expected(value, "64-bit floating-point number")
    return number


def _only(encoding: str) -> Callable[[Any], None]:
    def refuse(value: Any) -> None:
        raise SpecError(f"Only valid for {quote(encoding)} encoding")

    return refuse


def _check_region(size: Sequence[int], offset: Sequence[int]) -> None:
    """Raise unless the region is valid.

    >>> _check_region((1, 2, -1), (0, 0, 0))
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: "size" of [1,2,-1] and "voxel_offset" of [0,0,0] do not specify a valid region
    """
    for first, length in zip(offset, size, strict=True):
        if length < 0 or first < -LARGEST or first + length - 1 > LARGEST:
            raise SpecError(
                f'"size" of {dump(list(size))} and "voxel_offset" of {dump(list(offset))} do not specify a valid region'
            )


class PrecomputedCodec(DriverCodec):
    """Constraints on the encoding.

    >>> PrecomputedCodec("jpeg").merged(PrecomputedCodec(jpeg_quality=50)).to_json()
    {'encoding': 'jpeg', 'jpeg_quality': 50}
    """

    def __init__(
        self,
        encoding: str | None = None,
        jpeg_quality: int | None = None,
        png_level: int | None = None,
        shard_data_encoding: str | None = None,
    ) -> None:
        given = {"encoding": encoding, "jpeg_quality": jpeg_quality, "png_level": png_level}
        given["shard_data_encoding"] = shard_data_encoding
        super().__init__(**{name: value for name, value in given.items() if value is not None})

    @classmethod
    def take(cls, members: Members) -> PrecomputedCodec:
        return cls(*encoding_members(members), members.take("shard_data_encoding", data_encoding, None))

    def to_json(self) -> dict[str, Any]:
        # Options of an encoding stand beside it.
        encoding = self.given.get("encoding")
        other = {name for name, owner in (("jpeg_quality", "jpeg"), ("png_level", "png")) if owner != encoding}
        return {name: value for name, value in self.given.items() if name not in other}
