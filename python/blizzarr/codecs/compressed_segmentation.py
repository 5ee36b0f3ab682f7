"""``compressed_segmentation`` (array -> bytes): labels in blocks that have few different ones, of Neuroglancer.

https://github.com/google/neuroglancer/blob/master/src/sliceview/compressed_segmentation/README.md

Of volumes with the axes x, y, z and channel, the first of which is the fastest: that is a transposition in front of
this codec. Only their documents can name it: it is in no registry.

>>> CompressedSegmentationCodec((8, 8, 4)).configuration()
{'block_size': [8, 8, 4]}
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from blizzarr.codecs.bytes import BytesCodec
from blizzarr.codecs.codec import Chunk, Codec, Stage, Step

__all__ = ["CompressedSegmentationCodec"]


@dataclass(frozen=True, slots=True)
class CompressedSegmentationCodec(Codec):
    """Blocks of labels; `block_size` is that of a block along x, y and z."""

    name: ClassVar[str] = "compressed_segmentation"
    stage: ClassVar[Stage] = Stage.SERIALIZER
    endian: ClassVar[str] = "little"

    block_size: tuple[int, int, int]

    def after(self, chunk: Chunk) -> Chunk:
        return chunk._replace(shape=None)

    def steps(self, chunk: Chunk) -> list[Step]:
        assert chunk.dtype is not None
        assert chunk.shape is not None
        # Chunks come here with the channel first, and x last.
        return [
            BytesCodec(self.endian).step(chunk),
            ("compressed_segmentation", chunk.shape, chunk.dtype.itemsize, self.block_size[::-1]),
        ]

    def configuration(self) -> dict[str, Any]:
        return {"block_size": list(self.block_size)}
