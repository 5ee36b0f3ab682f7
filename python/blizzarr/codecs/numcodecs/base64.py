"""``numcodecs.base64`` (bytes -> bytes): text of 64 characters, RFC 4648.

https://numcodecs.readthedocs.io/en/stable/other/base64.html

>>> Base64Codec().encode(b"abc")
b'YWJj'
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from typing import ClassVar

from blizzarr.codecs.codec import Chunk, Stage, Step
from blizzarr.codecs.numcodecs.row import NumcodecsCodec

__all__ = ["Base64Codec"]


@dataclass(frozen=True, slots=True)
class Base64Codec(NumcodecsCodec):
    """Base64 with ``+`` and ``/``, padded."""

    name: ClassVar[str] = "numcodecs.base64"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    fixed_size: ClassVar[bool] = True

    def step(self, chunk: Chunk) -> Step:
        return ("python", self)

    def encoded_size(self, decoded: int) -> int:
        """Return the encoded size of `decoded` bytes."""
        return -(-decoded // 3) * 4

    def encode(self, decoded: bytes) -> bytes:
        """Return the data as Base64 text."""
        return binascii.b2a_base64(decoded, newline=False)

    def decode(self, encoded: bytes, max_size: int) -> bytes:
        """Return the data of a Base64 text."""
        return binascii.a2b_base64(encoded, strict_mode=True)
