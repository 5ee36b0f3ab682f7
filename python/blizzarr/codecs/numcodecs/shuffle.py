"""``numcodecs.shuffle`` (bytes -> bytes): the first bytes of all elements, then the second ones, and so on.

https://numcodecs.readthedocs.io/en/stable/filter/shuffle.html

>>> bytes(ShuffleCodec(elementsize=2).encode(b"abABxy"))
b'aAxbBy'
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

import numpy as np

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer
from blizzarr.codecs.numcodecs import library
from blizzarr.codecs.numcodecs.row import NumcodecsCodec
from blizzarr.errors import CodecError

__all__ = ["ShuffleCodec"]

_DEFAULT_SIZE: Final = 4
"""What documents of v1 and v2 mean that leave `elementsize` out."""


@dataclass(frozen=True, slots=True)
class ShuffleCodec(NumcodecsCodec):
    """Shuffled elements of `elementsize` bytes; left `None`, it is the size of the array's elements."""

    name: ClassVar[str] = "numcodecs.shuffle"
    stage: ClassVar[Stage] = Stage.COMPRESSOR
    options: ClassVar[tuple[Option, ...]] = (integer("elementsize", 0, 2**31 - 1, required=False),)
    fixed_size: ClassVar[bool] = True

    elementsize: int | None = None

    def standard(self, chunk: Chunk) -> Codec:
        return replace(self, elementsize=_DEFAULT_SIZE) if self.elementsize is None else self

    def resolve(self, chunk: Chunk) -> Self:
        if self.elementsize is not None or chunk.dtype is None:
            return self
        return replace(self, elementsize=chunk.dtype.itemsize)

    def step(self, chunk: Chunk) -> Step:
        return ("python", self.resolve(chunk))

    def encoded_size(self, decoded: int) -> int:
        """How many bytes so many become."""
        return decoded

    def encode(self, decoded: bytes) -> Any:
        """The bytes of the elements, sorted by their place in an element."""
        return self._moved(decoded, "encode")

    def decode(self, encoded: bytes, max_size: int) -> Any:
        """The elements."""
        return self._moved(encoded, "decode")

    def _moved(self, data: bytes, way: str) -> Any:
        size = self.elementsize or 1
        if size == 1:
            return data
        if len(data) % size:
            raise CodecError(f"expected a multiple of {size} bytes, found {len(data):,}")
        codec = library.make({"id": "shuffle", "elementsize": size})
        return getattr(codec, way)(np.frombuffer(data, np.uint8))
