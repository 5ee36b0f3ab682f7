"""``gzip`` (bytes -> bytes): the format of RFC 1952.

https://zarr-specs.readthedocs.io/en/latest/v3/codecs/gzip/

>>> GzipCodec(level=1).to_json()
{'name': 'gzip', 'configuration': {'level': 1}}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer

__all__ = ["GzipCodec"]


@dataclass(frozen=True, slots=True)
class GzipCodec(Codec):
    """Gzip; `level` is from 0 (stored) over 1 (fast) to 9 (small)."""

    name: ClassVar[str] = "gzip"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("level", 0, 9),)

    level: int = 6

    def step(self, chunk: Chunk) -> Step:
        return ("gzip", self.level)
