"""``crc32c`` (bytes -> bytes): four bytes of checksum after the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Stage, Step


@dataclass(frozen=True, slots=True)
class Crc32cCodec(Codec):
    """The codec ``crc32c`` (bytes -> bytes): appends a CRC-32C checksum of four bytes, and verifies it when reading.

    A chunk whose checksum does not match raises `ChecksumError`. There are no options.

    Specification: https://zarr-specs.readthedocs.io/en/latest/v3/codecs/crc32c/

    Examples
    --------
    >>> Crc32cCodec().to_json()
    {'name': 'crc32c'}
    """

    name: ClassVar[str] = "crc32c"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    fixed_size: ClassVar[bool] = True

    def step(self, chunk: Chunk) -> Step:
        return ("crc32c",)
