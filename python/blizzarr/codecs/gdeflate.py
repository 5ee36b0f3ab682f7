"""``zarrs.gdeflate`` (bytes -> bytes): Deflate in pages of 64 KiB, which GPUs decode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer


@dataclass(frozen=True, slots=True)
class GdeflateCodec(Codec):
    """The codec ``zarrs.gdeflate`` (bytes -> bytes): compresses with Deflate, in pages of 64 KiB that GPUs decode.

    A page is read by itself. Of the other libraries, zarrs reads it (in Rust, with its feature ``gdeflate``), and
    writes it.

    Specification: https://codec.zarrs.dev/bytes_to_bytes/gdeflate

    Parameters
    ----------
    level
        The level, from 0 (no compression) and 1 (fastest) to 12 (smallest).

    Examples
    --------
    >>> GdeflateCodec(level=1).to_json()
    {'name': 'zarrs.gdeflate', 'configuration': {'level': 1}}
    """

    name: ClassVar[str] = "zarrs.gdeflate"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("level", 0, 12),)

    level: int = 6

    def step(self, chunk: Chunk) -> Step:
        return ("gdeflate", self.level)
