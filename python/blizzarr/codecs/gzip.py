"""``gzip`` (bytes -> bytes): the format of RFC 1952."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer


@dataclass(frozen=True, slots=True)
class GzipCodec(Codec):
    """The codec ``gzip`` (bytes -> bytes): compresses with Deflate, in the format of RFC 1952.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/

    Parameters
    ----------
    level
        The level, from 0 (no compression) and 1 (fastest) to 9 (smallest).

    Examples
    --------
    >>> GzipCodec(level=1).to_json()
    {'name': 'gzip', 'configuration': {'level': 1}}
    """

    name: ClassVar[str] = "gzip"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("level", 0, 9),)

    level: int = 6

    def step(self, chunk: Chunk) -> Step:
        return ("gzip", self.level)
