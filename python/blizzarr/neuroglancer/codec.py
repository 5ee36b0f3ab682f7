"""The codec of ``neuroglancer_precomputed`` in a schema: the encoding of chunks, and that of chunks in shards."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from blizzarr.errors import SpecError
from blizzarr.json_values import quote
from blizzarr.neuroglancer.constraints import encoding_members
from blizzarr.neuroglancer.sharding import data_encoding
from blizzarr.spec.members import Members


@dataclass(frozen=True, slots=True)
class PrecomputedCodec:
    """Constraints on the encoding.

    >>> PrecomputedCodec("jpeg").merged(PrecomputedCodec(jpeg_quality=50)).to_json()
    {'encoding': 'jpeg', 'jpeg_quality': 50}
    """

    encoding: str | None = None
    jpeg_quality: int | None = None
    png_level: int | None = None
    shard_data_encoding: str | None = None

    @classmethod
    def take(cls, members: Members) -> PrecomputedCodec:
        """Parse the members."""
        return cls(*encoding_members(members), members.take("shard_data_encoding", data_encoding, None))

    def merged(self, other: PrecomputedCodec) -> PrecomputedCodec:
        """Return the codec with the constraints of both."""
        codec = self
        for member in fields(self):
            mine, theirs = getattr(self, member.name), getattr(other, member.name)
            if mine is not None and theirs is not None and mine != theirs:
                raise SpecError(f"{quote(member.name)} mismatch")
            if mine is None and theirs is not None:
                codec = replace(codec, **{member.name: theirs})
        return codec

    def to_json(self) -> dict[str, Any]:
        """Return the members that are given."""
        values = {member.name: getattr(self, member.name) for member in fields(self)}
        # Options of an encoding stand beside it.
        if self.encoding != "jpeg":
            values["jpeg_quality"] = None
        if self.encoding != "png":
            values["png_level"] = None
        return {name: value for name, value in values.items() if value is not None}
