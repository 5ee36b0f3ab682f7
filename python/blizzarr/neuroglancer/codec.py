"""The codec of ``neuroglancer_precomputed`` in a schema: the encoding of chunks, and that of chunks in shards."""

from __future__ import annotations

from typing import Any

from blizzarr.json_members import Members
from blizzarr.neuroglancer.constraints import encoding_members
from blizzarr.neuroglancer.sharding import data_encoding
from blizzarr.spec.codec_spec import DriverCodec


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
