"""``numcodecs.shuffle`` (bytes -> bytes): the first bytes of all elements, then the second ones, and so on.

https://numcodecs.readthedocs.io/en/stable/filter/shuffle.html

>>> ShuffleCodec(elementsize=2).config()
{'id': 'shuffle', 'elementsize': 2}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Self

from blizzarr.codecs.codec import Chunk, Codec, Option, Stage, Step, integer
from blizzarr.codecs.numcodecs.row import NumcodecsCodec

__all__ = ["ShuffleCodec"]

_DEFAULT_SIZE: Final = 4
"""The `elementsize` of documents of v1 and v2 that leave it out."""


@dataclass(frozen=True, slots=True)
class ShuffleCodec(NumcodecsCodec):
    """Shuffles the bytes of elements of `elementsize` bytes; None stands for the size of the array's elements."""

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
        return ("shuffle", self.resolve(chunk).elementsize or 1)
