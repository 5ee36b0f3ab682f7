"""The constraints of a spec on a Neuroglancer volume, on one of its scales, and on the encoding of chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from blizzarr import json_members
from blizzarr.errors import SpecError
from blizzarr.json_members import as_integer, as_object, as_text, refuse_all
from blizzarr.neuroglancer.info import (
    CHUNK_LENGTH,
    INT64,
    OPTIONS,
    TYPES,
    Triple,
    encoding_members,
    encoding_problem,
    scale_members,
)
from blizzarr.neuroglancer.members import Members, three
from blizzarr.neuroglancer.sharding import DATA_ENCODINGS, Sharding
from blizzarr.problems import Problems
from blizzarr.spec.codec_spec import DriverCodec
from blizzarr.spec.dtype import DType, dtype_json


@dataclass(frozen=True, slots=True)
class ScaleConstraints:
    """Constraints on a scale; None where there is none. TensorStore checks them in the order of the fields, too."""

    key: str | None = None
    encoding: str | None = None
    jpeg_quality: int | None = None
    png_level: int | None = None
    compressed_segmentation_block_size: Triple | None = None
    resolution: tuple[float, float, float] | None = None
    unsharded: bool = False
    """True if there must be no shards."""
    sharding: Sharding | None = None
    size: Triple | None = None
    voxel_offset: Triple | None = None
    """The offset, which is zero if only a size is given."""
    chunk_size: Triple | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the members that are given."""
        members: dict[str, Any] = {}
        for name in self.__match_args__:
            value = getattr(self, name)
            if name == "sharding":
                if self.unsharded or value is not None:
                    members[name] = None if value is None else value.to_json()
            elif name != "unsharded" and value is not None:
                members[name] = list(value) if isinstance(value, tuple) else value
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

    members = json_members.Members(value)
    kind = members.take("type", as_text, None)
    given = members.take("data_type", same, dtype)
    channels = members.take("num_channels", as_integer(1, INT64), None)
    members.end()
    return MultiscaleConstraints(kind, given, channels)


def scale(value: Any, of: MultiscaleConstraints) -> ScaleConstraints:
    """Parse the member ``scale_metadata``.

    >>> scale({"size": [1, 2, -1]}, MultiscaleConstraints())
    Traceback (most recent call last):
    ...
    blizzarr.errors.SpecError: size: expected with voxel_offset a valid region, found [[1, 2, -1], [0, 0, 0]]
    """
    problems = Problems()
    members = Members(as_object(value), "", problems, partial=True)
    unsharded = "sharding" in members.left and members.left["sharding"] is None
    chunk = members.take("chunk_size", three(CHUNK_LENGTH), "three lengths")
    values = scale_members(members, chunk)
    members.refuse_others()
    if values["encoding"] is not None:
        dtype = None if of.dtype is None else of.dtype.name
        wrong = encoding_problem(values["encoding"], dtype, of.num_channels)
        if wrong is not None:
            problems.add("encoding", wrong, values["encoding"])
    refuse_all(_errors(problems))
    return ScaleConstraints(**values, unsharded=unsharded, chunk_size=chunk)


def _errors(problems: Problems) -> list[SpecError]:
    return [SpecError(str(problem)) for problem in problems.items]


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
    def take(cls, members: json_members.Members) -> PrecomputedCodec:
        problems = Problems()
        own = Members(members.left, "", problems, partial=True)
        values = encoding_members(own, ("jpeg_quality", "png_level"))
        values["shard_data_encoding"] = own.one_of("shard_data_encoding", DATA_ENCODINGS)
        members.left = own.left
        members.wrong += _errors(problems)
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        # Options of an encoding stand beside it.
        encoding = self.given.get("encoding")
        return {
            name: value for name, value in self.given.items() if name not in OPTIONS or OPTIONS[name][0] == encoding
        }
