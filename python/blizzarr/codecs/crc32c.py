"""``crc32c`` (bytes -> bytes): four bytes of checksum after the data.

https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/

>>> Crc32cCodec().to_json()
{'name': 'crc32c'}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Stage, Step

__all__ = ["Crc32cCodec"]


@dataclass(frozen=True, slots=True)
class Crc32cCodec(Codec):
    """A CRC-32C of the bytes, appended to them."""

    name: ClassVar[str] = "crc32c"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    fixed_size: ClassVar[bool] = True

    def step(self, chunk: Chunk) -> Step:
        return ("crc32c",)
