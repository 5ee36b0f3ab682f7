"""``n5`` (array -> bytes): the blocks of N5, a header and the elements, compressed or not.

https://github.com/saalfeldlab/n5#file-system-specification

Elements are big-endian, the first axis fastest, which is a transposition in front of this codec. The header stands
before what the compressor makes, so the compressor is an option of this codec, not one behind it. Only documents of N5
can name it: it is in no registry.

>>> from blizzarr.codecs.gzip import GzipCodec
>>> N5Codec(GzipCodec(level=1)).configuration()
{'compressor': {'name': 'gzip', 'configuration': {'level': 1}}}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Stage, Step

__all__ = ["N5Codec"]


@dataclass(frozen=True, slots=True)
class N5Codec(Codec):
    """Blocks; `compressor` makes bytes of bytes, and is `None` where elements are stored as they are."""

    name: ClassVar[str] = "n5"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    endian: ClassVar[str] = "big"

    compressor: Codec | None = None

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(shape=None)

    def steps(self, chunk: Chunk) -> list[Step]:
        assert chunk.dtype is not None
        assert chunk.shape is not None
        inner = None if self.compressor is None else self.compressor.step(chunk)
        # The header lists the axes as the array has them; elements come with the last one slowest.
        return [BytesCodec(self.endian).step(chunk), ("n5", chunk.shape[::-1], chunk.dtype.itemsize, inner)]

    def configuration(self) -> dict[str, Any]:
        return {"compressor": None if self.compressor is None else self.compressor.to_json()}
